"""Checks a benchmark: its files first, then the rules for its kind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from leadline.bench.benchmark import Benchmark, Inspection, inspect_benchmark
from leadline.bench.fact_rules import FACT_RULES
from leadline.bench.folding import normalise
from leadline.bench.item import Item
from leadline.bench.problem import MAX_PROBLEMS, Problem
from leadline.bench.rule import Breach, Rule

# The published correctness rule looks for the answer inside of words; "Au" is in "because".
SHORT_ANSWER = 3


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


RULES = (
    Rule("enough-items", enough_items),
    Rule("answers-have-letters", answers_have_letters),
    Rule("aliases-differ", aliases_differ),
    Rule("one-answer", one_answer),
    Rule("answers-not-short", answers_not_short, severity="warning"),
    Rule("questions-ask", questions_ask, severity="warning"),
)


def rules_for(kind: str) -> tuple[Rule, ...]:
    """The rules that a benchmark of this kind keeps."""
    return (*RULES, *FACT_RULES) if kind == "facts" else RULES


def validate(ref: str | Path) -> tuple[Inspection, tuple[Problem, ...]]:
    """All that is wrong with the benchmark at `ref` (a bundled name or a path), in the order of its lines.

    Rules run over the items that could be read. At most `MAX_PROBLEMS` problems. Raises UsageError when there
    is no benchmark at `ref` at all.
    """
    inspection = inspect_benchmark(ref)
    problems = list(inspection.problems)
    if (benchmark := inspection.benchmark) is not None:
        for rule in rules_for(benchmark.kind):
            problems.extend(
                Problem(
                    where=inspection.positions[breach.item.id] if breach.item else inspection.source,
                    message=breach.message,
                    item=breach.item.id if breach.item else None,
                    fix=breach.fix,
                    rule=rule.name,
                    severity=rule.severity,
                )
                for breach in rule.check(benchmark)
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


def _text_items(benchmark: Benchmark) -> Iterator[Item]:
    return (item for item in benchmark.items if item.answer_type == "text")
