"""A benchmark out of the items of logs, for answers whose benchmark lies nowhere else.

Questions with options become enums over their letters, with the options' texts as synonyms. Where all answers
of a task are plain numbers, or yes and no, or true and false, they are read as such; everything else is text.
The benchmark is written to a file that can be corrected: answers are kept raw and are read again.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from string import ascii_uppercase
from typing import Any

from pydantic import ValidationError

from leadline.bench import Benchmark, Item
from leadline.bench.complaint import complaint
from leadline.bench.item import MAX_CHARACTERS
from leadline.bench.problem import shortened
from leadline.errors import UsageError
from leadline.interop.log_ids import held, told
from leadline.interop.log_options import same_options
from leadline.interop.logs import Log, LoggedItem

# The key of an item of ours in what a tool keeps of a sample.
OURS = "leadline"
_NUMBER = re.compile(r"[-+−]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?%?")
_LETTER = re.compile(r"\s*[A-Z]\s*")
_TRUTHS = (frozenset({"yes", "no"}), frozenset({"true", "false"}))


@dataclass(frozen=True)
class LoggedBenchmark:
    """A benchmark made of logs, and what is worth saying of how its answers are read."""

    benchmark: Benchmark
    notes: tuple[str, ...] = ()


def logged_benchmark(logs: Sequence[Log]) -> LoggedBenchmark:
    """The benchmark that these logs ask, items in the order of the logs.

    Ids are those of the logs; where two tasks have an id in common, all are TASK/ID. Raises UsageError, with
    the places, where two logs of a task word an item differently, or where an item is none of ours.
    """
    tasks = items_of(logs)
    number = sum(len(found) for found in tasks.values())
    if not number:
        raise UsageError("the logs hold no item", where=str(logs[0].path) if logs else None)
    is_joined = len({name for found in tasks.values() for name in found}) < number
    items: list[Item] = []
    notes: list[str] = []
    for task, found in tasks.items():
        kind = kind_of(found.values())
        if kind != "text":
            notes.append(f"{task}: answers are read as {kind}s, since all of its targets are")
        for name, item in found.items():
            items.append(made_item(item, held(f"{task}/{name}" if is_joined else name), task, kind))
    if is_joined:
        notes += _same_questions(tasks)
    names = " + ".join(tasks)
    benchmark = Benchmark(
        name=_named(names),
        version="logs",
        title=_named(names),
        description="Items as logs of another tool have them. Correct what is wrong with them here: answers "
        "are kept raw, and are read again.",
        items=tuple(items),
    )
    return LoggedBenchmark(benchmark, tuple(notes))


def items_of(logs: Iterable[Log]) -> dict[str, dict[str, LoggedItem]]:
    """The items of logs by task and id. Raises UsageError where two logs of a task disagree."""
    tasks: dict[str, dict[str, LoggedItem]] = defaultdict(dict)
    for log in logs:
        found = tasks[log.task]
        for item in log.items():
            check_agrees(item, found.setdefault(item.id, item))
    return tasks


def check_agrees(one: LoggedItem, other: LoggedItem) -> None:
    """Raise UsageError where two logs say different things of an item. Options may stand in another order."""
    if one is other:
        return
    same = same_options(one.choices, other.choices)
    for what, here, there in (
        ("asks", one.question, other.question),
        ("has the options", () if same else one.choices, () if same else other.choices),
        ("has the answer", _right(one), _right(other)),
        ("shows the text", one.window, other.window),
        ("is described as", one.metadata.get(OURS), other.metadata.get(OURS)),
    ):
        if here != there:
            raise UsageError(
                f"item {shortened(one.id)} {what} {_apart(here, there)} here and {_apart(there, here)} in "
                f"{other.where}",
                where=one.where or None,
                fix="logs of two versions of a task: import them into two studies, or name the one that "
                "counts with --benchmark",
            )


def worded(item: LoggedItem) -> str:
    """The question with its options, as an item of ours asks it.

    >>> print(worded(LoggedItem("1", "Which?", ("A",), ("this", "that"))))
    Which?
    A) this
    B) that
    """
    if not item.choices:
        return item.question
    return "\n".join([item.question, *(f"{letter}) {text}" for letter, text in _options(item.choices))])


def item_of(item: LoggedItem, name: str, task: str, kind: str = "text") -> Item:
    """The item of ours, under the id `name`. Raises pydantic's ValidationError.

    What the log says of it in our own words ("leadline" in its metadata) counts before what can be told from
    questions, options and targets.
    """
    fields: dict[str, Any] = {
        "question": worded(item),
        "task": _name_of_group(item.task or task),
        "category": _name_of_group(item.metadata.get("category")),
        "window": item.window,
    }
    own = item.metadata.get(OURS)
    if not isinstance(own, Mapping):
        return Item.model_validate({**fields, **_answers(item, kind), "id": name})
    if not own.get("answer"):
        fields |= _golds(item)
    said = {key: value for key, value in own.items() if value is not None}
    return Item.model_validate({**fields, **said, "id": name})


def _answers(item: LoggedItem, kind: str) -> dict[str, Any]:
    """What is right, and how answers are read."""
    letters = _letters(item)
    if letters is None and item.choices and (off := [gold for gold in item.golds if _LETTER.fullmatch(gold)]):
        raise UsageError(
            f"item {shortened(item.id)} has the target {', '.join(off)}, which is none of its "
            f"{len(item.choices)} options",
            where=item.where or None,
            fix=f"targets are letters, of {len(ascii_uppercase)} options at most, or options' texts; or name "
            "a benchmark with --benchmark",
        )
    if letters is None:
        return {**_golds(item), "answer_type": "text" if item.choices else kind}
    if len(letters) > 1:  # all of them must be named, which no single label says
        raise UsageError(
            f"item {shortened(item.id)} has several right options at once, {', '.join(letters)}: no answer "
            "type of Leadline reads sets of options",
            where=item.where or None,
            fix="leave the task's logs out, or name a benchmark that says how it is read with --benchmark",
        )
    return {"answer": letters[0], "answer_type": "enum", "vocabulary": _vocabulary(item.choices)}


def _golds(item: LoggedItem) -> dict[str, Any]:
    golds = [gold for gold in item.golds if gold.strip()]
    return {"answer": golds[0] if golds else "", "aliases": golds[1:]}


def made_item(item: LoggedItem, name: str, task: str, kind: str = "text") -> Item:
    """As `item_of`; raises UsageError, with the place, for what is no item of ours."""
    try:
        return item_of(item, name, task, kind)
    except ValidationError as error:
        found = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in found["loc"] if isinstance(part, str))
        if place == "answer" and not any(gold.strip() for gold in item.golds):
            raise UsageError(
                f"item {shortened(item.id)} has no target: no answer to it could be right",
                where=item.where or None,
                fix="name a benchmark that has answers with --benchmark",
            ) from None
        what, remedy = complaint(found)
        raise UsageError(
            f"item {shortened(item.id)}: {place!r} {what}",
            where=item.where or None,
            fix=remedy or "name a benchmark that has these items with --benchmark",
        ) from None


def _same_questions(tasks: Mapping[str, Mapping[str, LoggedItem]]) -> Iterator[str]:
    """Tasks that ask the same under the same ids are likely one task under two names."""
    for one, other in combinations(tasks, 2):
        same = [
            name
            for name, item in tasks[one].items()
            if name in tasks[other] and tasks[other][name].question == item.question
        ]
        if same:
            yield (
                f"{one} and {other} ask {len(same):,} of the same questions, such as {told(same[0])}: they "
                "are items of their own; --task NAME makes one task of them, so that answers are compared"
            )


def kind_of(items: Iterable[LoggedItem]) -> str:
    """What all targets of a task are: number, boolean, or else text."""
    golds = [item.golds for item in items if not item.choices and OURS not in item.metadata]
    said = [gold.strip() for texts in golds for gold in texts]
    if not said or not all(golds):
        return "text"
    if all(_NUMBER.fullmatch(gold) for gold in said):
        return "number"
    words = {gold.casefold() for gold in said}
    return "boolean" if any(words <= truths for truths in _TRUTHS) else "text"


def _options(choices: Sequence[str]) -> list[tuple[str, str]]:
    """Options with their letters; after Z come numbers, as Inspect counts them."""
    marks = [*ascii_uppercase, *(str(number) for number in range(1, max(1, len(choices) - 25)))]
    return list(zip(marks, choices, strict=False))


def _right(item: LoggedItem) -> tuple[str, ...]:
    """What is right, whatever the order of the options."""
    options = dict(_options(item.choices))
    if len(set(item.choices)) < len(item.choices):
        return item.golds
    return tuple(sorted(options.get(gold.strip(), gold) for gold in item.golds)) if options else item.golds


def _letters(item: LoggedItem) -> tuple[str, ...] | None:
    """The letters of the options that are right; None where the targets are no options, or too many are."""
    if not 2 <= len(item.choices) <= len(ascii_uppercase) or not item.golds:
        return None
    options = _options(item.choices)
    by_text = {text.strip(): letter for letter, text in options}
    known = {letter for letter, _ in options}
    found = [gold.strip() if gold.strip() in known else by_text.get(gold.strip()) for gold in item.golds]
    return None if None in found else tuple(dict.fromkeys(letter for letter in found if letter))


def _vocabulary(choices: Sequence[str]) -> list[dict[str, object]]:
    """The letters; an option's text means its letter, unless another has the same or it is too long."""
    options = _options(choices)
    taken = {letter.casefold() for letter, _ in options}
    texts = [text.strip().casefold() for text in choices]
    return [
        {
            "value": letter,
            "synonyms": [text.strip()]
            if 0 < len(text.strip()) <= 200
            and texts.count(text.strip().casefold()) == 1
            and text.strip().casefold() not in taken
            else [],
        }
        for letter, text in options
    ]


def _name_of_group(name: object) -> str:
    """A name that can stand in tables; "" for what is none."""
    text = " ".join(name.split()) if isinstance(name, str) else ""
    return text if text.isprintable() and len(text) <= MAX_CHARACTERS["task"] else ""


def _named(name: str) -> str:
    """A benchmark's name: one line of at most 100 characters."""
    plain = "".join(mark if mark.isprintable() else " " for mark in name).strip() or "logs"
    return plain if len(plain) <= 100 else plain[:99] + "…"


def _plainly(value: object) -> str:
    """A value in plain words: of several texts, one after the other."""
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return ", ".join(value)
    return "nothing" if value is None else json.dumps(value, ensure_ascii=False, default=str)


def _apart(one: object, other: object) -> str:
    """The part of `one` around where it begins to differ from `other`."""
    here, there = (_plainly(value) for value in (one, other))
    same = next((n for n, (a, b) in enumerate(zip(here, there, strict=False)) if a != b), None)
    start = max(0, (min(len(here), len(there)) if same is None else same) - 15)
    return shortened(("…" if start else "") + here[start:])
