"""Which readings of one item are the same answer, under each rule of sameness."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from functools import partial

from leadline.answers.printed import from_text
from leadline.answers.reading import Reading
from leadline.answers.sameness import RULES, Rule, classes_of, same
from leadline.bench.answer_form import AnswerForm
from leadline.bench.item import Item

Said = tuple[str | None, str | None]  # value and printed number


def classes(item: Item, readings: Sequence[Reading | Said]) -> dict[Rule, list[str | None]]:
    """For each rule, each reading's class: a value text that stands for it, equal for readings of one class.

    Readings (or pairs of value and printed number) belong to one item; one without a value has no class
    (None). What stands for a class is the most frequent of its values, the one seen first of several. For
    dates, enums, booleans and texts the rules coincide: equal values. Answers in parts are the same when each
    part is.

    >>> item = Item(id="1", question="How much?", answer="0.909", answer_type="number")
    >>> classes(item, [("0.909", "0.909"), ("0.90909", "0.90909"), (None, None)])["rounding"]
    ['0.909', '0.909', None]
    """
    said = [(one.value, one.number) if isinstance(one, Reading) else one for one in readings]
    if item.answer_type not in ("number", "parts"):
        return {rule: [value for value, _ in said] for rule in RULES}
    return {rule: _labels(item, said, rule) for rule in RULES}


def _labels(item: Item, said: Sequence[Said], rule: Rule) -> list[str | None]:
    places = [place for place, (value, _) in enumerate(said) if value is not None]
    kept = [said[place] for place in places]
    is_same = is_same_parts if item.answer_type == "parts" else is_same_number
    labels: list[str | None] = [None] * len(said)
    found = classes_of(kept, partial(is_same, item, rule))
    names = _names(kept, found)
    for place, label in zip(places, found, strict=True):
        labels[place] = names[label]
    return labels


def _names(said: Sequence[Said], found: Sequence[int]) -> list[str]:
    """A text for each class; "0.5" and "0.50" have one value and may be in two classes, which must differ."""
    names: list[str] = []
    for label in range(max(found, default=-1) + 1):
        members = Counter(one for one, its in zip(said, found, strict=True) if its == label)
        values: Counter[str] = Counter()
        for (value, _), count in members.items():
            values[value or ""] += count
        options = [value for value, _ in values.most_common()]
        options += [number for (_, number), _ in members.most_common() if number]
        options += [f"{options[0]} ({label + 1})"]
        names.append(next(option for option in options if option not in names))
    return names


def is_same_number(form: AnswerForm, rule: Rule, first: Said, second: Said) -> bool:
    """Two values with their printed numbers, under `rule`; without a printed number, equal values."""
    if first[0] == second[0]:
        return True
    if first[1] is None or second[1] is None:
        return False
    return same(from_text(first[1]), from_text(second[1]), rule, form.precision)


def is_same_parts(item: Item, rule: Rule, first: Said, second: Said) -> bool:
    """Each part is the same; a part that is lacking on both sides is."""
    if first[0] == second[0]:
        return True
    values = [json.loads(one[0] or "{}") for one in (first, second)]
    numbers = [json.loads(one[1] or "{}") for one in (first, second)]
    for part in item.fields:
        one, other = ((values[side].get(part.name), numbers[side].get(part.name)) for side in (0, 1))
        if one[0] is None or other[0] is None:
            if one[0] is not other[0]:
                return False
        elif not is_same_number(part, rule, one, other):
            return False
    return True
