"""Rules for benchmarks of kind `facts`: (subject, relation, answer) with one short answer each.

A fact measures what a model knows only if the question does not give the answer away, one answer is right,
and no relation dominates the figures. A new rule is one function and one line in `FACT_RULES`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from leadline.bench.benchmark import Benchmark
from leadline.bench.folding import normalise, tokens
from leadline.bench.item import Item
from leadline.bench.rule import Breach, Rule

# A relation above this share would speak for the whole set; below so many items shares say nothing.
MAX_RELATION_SHARE = 0.08
RELATION_SHARE_FROM = 100
# Shorter words (of, la, II) are shared by chance.
_MIN_SHARED_LETTERS = 3
# Two words are of one stem when one begins with the whole other: "Mexico", "Mexican" is left alone, "Darwin",
# "Darwinism" is not. Shorter prefixes would join "Mars" and "Marseille".
_MIN_STEM_LETTERS = 5
_FUNCTION_WORDS = frozenset({"the", "and", "for", "from", "with"})


def parts_present(benchmark: Benchmark) -> Iterator[Breach]:
    """Subject, relation and domain are given."""
    for item in benchmark.items:
        parts = {"subject": item.subject, "relation": item.task, "domain": item.category}
        if absent := [name for name, value in parts.items() if not (value or "").strip()]:
            yield Breach(
                item, f"no {' and no '.join(absent)}", "a fact has a subject, a relation and a domain"
            )


def asked_once(benchmark: Benchmark) -> Iterator[Breach]:
    """A relation of a subject is asked once."""
    seen: dict[tuple[str, str], Item] = {}
    for item in benchmark.items:
        if item.subject and item.task:
            first = seen.setdefault((normalise(item.subject), normalise(item.task)), item)
            if first is not item:
                message = f"{item.subject!r}, {item.task!r} is also asked by item {first.id}"
                yield Breach(item, message, "keep one of them")


def no_lexical_overlap(benchmark: Benchmark) -> Iterator[Breach]:
    """Subject and answer share no word and no stem: the answer could be copied from the question."""
    for item in benchmark.items:
        for ours in _words(item.subject or ""):
            for theirs in _words(item.answer):
                if ours == theirs or _same_stem(ours, theirs):
                    words = f"{ours!r}" if ours == theirs else f"the stem of {ours!r} and {theirs!r}"
                    yield Breach(item, f"subject and answer share {words}", "ask for something else")


def answer_not_in_question(benchmark: Benchmark) -> Iterator[Breach]:
    """No valid answer stands in the question, as whole words."""
    for item in benchmark.items:
        question = [token.text for token in tokens(item.question)]
        for answer in item.valid_answers:
            words = [token.text for token in tokens(answer)]
            if words and any(question[at : at + len(words)] == words for at in range(len(question))):
                yield Breach(
                    item, f"the question contains the answer {answer!r}", "reword it, or drop the alias"
                )


def no_relation_dominates(benchmark: Benchmark) -> Iterator[Breach]:
    """No relation makes up more than 8 % of a set of 100 items or more."""
    total = len(benchmark.items)
    if total < RELATION_SHARE_FROM:
        return
    for relation, count in Counter(item.task for item in benchmark.items).most_common():
        if count > MAX_RELATION_SHARE * total:
            share = f"{count} of {total} items ({count / total:.1%})"
            yield Breach(None, f"relation {relation!r} has {share}", f"at most {MAX_RELATION_SHARE:.0%}")


def _words(text: str) -> list[str]:
    words = (token.text for token in tokens(text))
    return [word for word in words if len(word) >= _MIN_SHARED_LETTERS and word not in _FUNCTION_WORDS]


def _same_stem(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    return len(shorter) >= _MIN_STEM_LETTERS and longer.startswith(shorter)


FACT_RULES = (
    Rule("parts-present", parts_present),
    Rule("asked-once", asked_once),
    Rule("no-lexical-overlap", no_lexical_overlap),
    Rule("answer-not-in-question", answer_not_in_question),
    Rule("no-relation-dominates", no_relation_dominates),
)
