"""Checks a benchmark: its files first, then the rules for its kind."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterator
from pathlib import Path

from leadline.bench.answer_rules import ANSWER_RULES, GoldReader, gold_readable
from leadline.bench.benchmark import Benchmark
from leadline.bench.fact_rules import FACT_RULES
from leadline.bench.folding import normalise
from leadline.bench.item import Item
from leadline.bench.loading import Inspection, inspect_benchmark
from leadline.bench.opened import AS_IT_SAYS, Reading
from leadline.bench.problem import MAX_PROBLEMS, Problem
from leadline.bench.prompt_rules import Filling, prompts_fill, prompts_show
from leadline.bench.rule import Breach, Rule

# The published correctness rule looks for the answer inside of words; "Au" is in "because".
SHORT_ANSWER = 3
# Embeddings, overrides and isolates of the direction of writing; the separators of lines and paragraphs.
HIDDEN = frozenset((*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x2028, 0x2029))


def enough_items(benchmark: Benchmark) -> Iterator[Breach]:
    """A benchmark has two items at least: one has no share, no interval and no few-shot example."""
    if len(benchmark.items) < 2:
        yield Breach(None, "there is only one item", "at least 2")


def answers_have_letters(benchmark: Benchmark) -> Iterator[Breach]:
    """Every valid answer has letters or digits left in normal form, else no response can contain it."""
    for item in _text_items(benchmark):
        for answer in item.valid_answers:
            if not normalise(answer):
                yield Breach(item, f"the answer {answer!r} has no letters or digits", "write it in words")


def aliases_differ(benchmark: Benchmark) -> Iterator[Breach]:
    """No valid answer is another one again: case, accents, blanks and signs make no difference anyhow."""
    for item in _text_items(benchmark):
        seen: dict[str, str] = {}
        for answer in (item.answer, *item.aliases):
            folded = normalise(answer)
            if folded in seen:
                yield Breach(item, f"the alias {answer!r} reads the same as {seen[folded]!r}", "drop it")
            seen.setdefault(folded, answer)


def one_answer(benchmark: Benchmark) -> Iterator[Breach]:
    """A question that is asked twice has the same answer both times (windows apart)."""
    seen: dict[tuple[str, str | None], Item] = {}
    for item in benchmark.items:
        first = seen.setdefault((normalise(item.question), item.window), item)
        if normalise(first.answer) != normalise(item.answer):
            message = f"item {first.id} asks the same question and answers {first.answer!r}"
            yield Breach(item, message, "keep the right one")


def answers_not_short(benchmark: Benchmark) -> Iterator[Breach]:
    """Answers of one or two characters occur in other words by accident."""
    for item in _text_items(benchmark):
        for answer in item.valid_answers:
            if 0 < len(normalise(answer)) < SHORT_ANSWER:
                message = f"the answer {answer!r} is so short that other words contain it"
                yield Breach(item, message, "watch the count of items on which the two rules differ")


def questions_ask(benchmark: Benchmark) -> Iterator[Breach]:
    """A question ends in a question mark (of any script)."""
    for item in benchmark.items:
        if not any(mark in item.question for mark in "?？؟;՞"):
            yield Breach(item, "the question has no question mark")


def no_control_characters(benchmark: Benchmark) -> Iterator[Breach]:
    """Questions and answers are text: no NUL and no other control character but tabs and line ends."""
    for item in benchmark.items:
        for name, text in _shown(item):
            for code in sorted({ord(sign) for sign in text if _is_control(sign)}):
                yield Breach(item, f"the {name} contains the control character U+{code:04X}", "remove it")


def no_hidden_signs(benchmark: Benchmark) -> Iterator[Breach]:
    """Signs that turn the direction of writing, or end a line unseen, rarely stand in a text on purpose."""
    for item in benchmark.items:
        for name, text in _shown(item):
            for code in sorted({ord(sign) for sign in text} & HIDDEN):
                what = unicodedata.name(chr(code)).lower()
                yield Breach(item, f"the {name} contains an unseen sign, U+{code:04X} ({what})", "remove it")


RULES = (
    Rule("enough-items", enough_items),
    Rule("answers-have-letters", answers_have_letters),
    Rule("aliases-differ", aliases_differ),
    Rule("one-answer", one_answer),
    Rule("no-control-characters", no_control_characters),
    Rule("answers-not-short", answers_not_short, severity="warning"),
    Rule("questions-ask", questions_ask, severity="warning"),
    Rule("no-hidden-signs", no_hidden_signs, severity="warning"),
    *ANSWER_RULES,
)


def rules_for(kind: str) -> tuple[Rule, ...]:
    """The rules that a benchmark of this kind keeps."""
    return (*RULES, *FACT_RULES) if kind == "facts" else RULES


def answers_readable(types: Collection[str]) -> Rule:
    """A warning, once for each answer type that is not among `types`, those that responses can be read as."""

    def check(benchmark: Benchmark) -> Iterator[Breach]:
        of_type: dict[str, list[Item]] = defaultdict(list)
        for item in benchmark.items:
            if item.answer_type not in types:
                of_type[item.answer_type].append(item)
        for answer_type, items in of_type.items():
            number = f"{len(items):,} item{'' if len(items) == 1 else 's'}"
            message = f"answers of type {answer_type!r} cannot be read yet ({number}): no study can ask them"
            yield Breach(items[0], message, f"types that can be read: {', '.join(sorted(types))}")

    return Rule("answers-readable", check, severity="warning")


def validate(
    ref: str | Path,
    readable: Collection[str] | None = None,
    gold: GoldReader | None = None,
    reading: Reading = AS_IT_SAYS,
    fill: Filling | None = None,
) -> tuple[Inspection, tuple[Problem, ...]]:
    """All that is wrong with the benchmark at `ref` (a bundled name or a path), in the order of its lines.

    Rules run over the items that could be read; if there are others, what concerns the set as a whole is not
    judged. `readable` are the answer types that can be read, and `gold` says why a gold answer is not read as
    its own type (None: not looked at), and `fill` fills prompts (likewise). `reading` is for bare files: see
    `inspect_benchmark`. At most `MAX_PROBLEMS` problems.

    Raises UsageError when there is no benchmark at `ref` at all.
    """
    inspection = inspect_benchmark(ref, reading)
    problems = list(inspection.problems)
    if (benchmark := inspection.benchmark) is not None:
        rules = rules_for(benchmark.kind)
        if readable is not None:
            rules = (*rules, answers_readable(readable))
        if gold is not None:
            rules = (*rules, gold_readable(gold))
        if fill is not None:
            rules = (*rules, prompts_fill(fill), prompts_show(fill))
        for rule in rules:
            problems.extend(
                Problem(
                    where=breach.where
                    or (inspection.positions[breach.item.id] if breach.item else inspection.source),
                    message=breach.message,
                    item=breach.item.id if breach.item else None,
                    fix=breach.fix,
                    rule=rule.name,
                    severity=rule.severity,
                )
                for breach in rule.check(benchmark)
                # A set that lacks its faulty items is another set: "only one item" would be false.
                if breach.item or not inspection.problems
            )
    return inspection, tuple(_by_line(problems)[:MAX_PROBLEMS])


def _by_line(problems: list[Problem]) -> list[Problem]:
    """Problems of one file together and in the order of its lines; those of the whole file last."""
    files: dict[str, list[tuple[float, int, Problem]]] = defaultdict(list)
    for order, problem in enumerate(problems):
        file, line, _ = split_where(problem.where)
        files[file].append((line or float("inf"), order, problem))
    return [problem for entries in files.values() for _, _, problem in sorted(entries, key=lambda e: e[:2])]


def split_where(where: str) -> tuple[str, int | None, int | None]:
    """ "file:line:column" as its parts; line and column are None where it has none."""
    head, _, tail = where.rpartition(":")
    if not (head and tail.isdecimal()):
        return where, None, None
    file, _, line = head.rpartition(":")
    if file and line.isdecimal():
        return file, int(line), int(tail)
    return head, int(tail), None


def _shown(item: Item) -> Iterator[tuple[str, str]]:
    """What people and models see of an item, with its name."""
    yield "question", item.question
    yield "answer", item.answer
    yield from (("alias", alias) for alias in item.aliases)


def _is_control(sign: str) -> bool:
    return unicodedata.category(sign) == "Cc" and sign not in "\t\n\r"


def _text_items(benchmark: Benchmark) -> Iterator[Item]:
    return (item for item in benchmark.items if item.answer_type == "text")
