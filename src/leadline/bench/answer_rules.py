"""Rules for what is declared about answers: gold answers keep to their vocabulary, and can be read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from leadline.bench.answer_form import Term
from leadline.bench.benchmark import Benchmark
from leadline.bench.folding import normalise
from leadline.bench.item import Item
from leadline.bench.problem import did_you_mean, shortened
from leadline.bench.rule import Breach, Rule

# Says why a gold answer cannot be read as the item's own type, "" if it can.
GoldReader = Callable[[Item], str]


def in_vocabulary(benchmark: Benchmark) -> Iterator[Breach]:
    """The answer to an enum is a value of its vocabulary or a synonym; so is each enum among the parts."""
    for item in benchmark.items:
        if item.answer_type == "enum" and item.vocabulary:
            for answer in item.valid_answers:
                if fix := _outside(answer, item.vocabulary):
                    yield Breach(item, f"the answer {shortened(answer)} is not in the vocabulary", fix)
        elif item.answer_type == "parts":
            answers = _parts(item)
            for part in item.fields:
                value = answers.get(part.name)
                if part.answer_type == "enum" and part.vocabulary and value is not None:
                    text = value if isinstance(value, str) else json.dumps(value)
                    if fix := _outside(text, part.vocabulary):
                        message = f"{part.name}: the answer {shortened(text)} is not in the vocabulary"
                        yield Breach(item, message, fix)


def vocabulary_declared(benchmark: Benchmark) -> Iterator[Breach]:
    """An enum without a vocabulary has no values: answers are compared as words."""
    lacking = [item for item in benchmark.items if item.answer_type == "enum" and not item.vocabulary]
    if lacking:
        message = f"{len(lacking):,} items of type 'enum' have no vocabulary"
        yield Breach(lacking[0], message, "declare it for the task: vocabulary: [yes, no]")


def tasks_declared(benchmark: Benchmark) -> Iterator[Breach]:
    """Where tasks are declared, every item's task is among them, and each of them has items."""
    declared = {task.name for task in benchmark.tasks}
    if not declared:
        return
    known = f"declared: {', '.join(sorted(declared))}"
    for item in benchmark.items:
        if item.task not in declared:
            what = f"the task {shortened(item.task)} is not declared" if item.task else "it has no task"
            yield Breach(item, what, did_you_mean(item.task, declared, otherwise=shortened(known, 200)[1:-1]))
    used = {item.task for item in benchmark.items}
    for name in sorted(declared - used):
        yield Breach(None, f"the task {shortened(name)} is declared and has no items")


ANSWER_RULES = (
    Rule("in-vocabulary", in_vocabulary),
    Rule("vocabulary-declared", vocabulary_declared, severity="warning"),
    Rule("tasks-declared", tasks_declared, severity="warning"),
)


def gold_readable(read: GoldReader) -> Rule:
    """Every gold answer can be read as what its item says that it is."""

    def check(benchmark: Benchmark) -> Iterator[Breach]:
        for item in benchmark.items:
            if why := read(item):
                message = f"the answer {shortened(item.answer)} is not read as {item.answer_type!r}: {why}"
                yield Breach(item, message, "write it plainly, or correct answer_type or what is declared")

    return Rule("gold-readable", check)


def _outside(answer: str, vocabulary: tuple[Term, ...]) -> str:
    """A hint, if `answer` is no word of the vocabulary."""
    words = [word for term in vocabulary for word in (term.value, *term.synonyms)]
    # Words of signs alone, such as "+" and "-", are compared as they are.
    folded = {normalise(word) or word.strip() for word in words}
    if (normalise(answer) or answer.strip()) in folded:
        return ""
    return did_you_mean(answer, words, otherwise=f"one of: {', '.join(term.value for term in vocabulary)}")


def _parts(item: Item) -> Mapping[str, Any]:
    try:
        parts = json.loads(item.answer)
    except ValueError:
        return {}
    return parts if isinstance(parts, dict) else {}
