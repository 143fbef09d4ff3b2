"""Which readings of one item are the same answer, under each rule of sameness."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from leadline.answers.printed import from_text
from leadline.answers.reading import Reading
from leadline.answers.same_said import Said, partition_said
from leadline.answers.sameness import RULES, Rule, same
from leadline.bench.answer_form import AnswerForm
from leadline.bench.item import Item


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
    found = counted_classes(item, Counter(one for one in said if one[0] is not None))
    return {rule: [labels.get(one) for one in said] for rule, labels in found.items()}


def counted_classes(
    item: Item, counts: Mapping[Said, int], rules: Sequence[Rule] = RULES
) -> dict[Rule, dict[Said, str]]:
    """As `classes`, of an item of numbers or parts, for answers that were counted, in the order in which they
    were first said; each has a value.

    >>> item = Item(id="1", question="How much?", answer="0.909", answer_type="number")
    >>> counted_classes(item, {("0.909", "0.909"): 2, ("0.90909", "0.90909"): 1})["exact"]
    {('0.909', '0.909'): '0.909', ('0.90909', '0.90909'): '0.90909'}
    """
    said, times = list(counts), list(counts.values())
    found: dict[Rule, dict[Said, str]] = {}
    for rule in rules:
        sets = [[said[at] for at in members] for members in partition_said(item, said, times, rule)]
        names = _names(sets, counts)
        found[rule] = {one: name for members, name in zip(sets, names, strict=True) for one in members}
    return found


def _names(sets: Sequence[Sequence[Said]], counts: Mapping[Said, int]) -> list[str]:
    """A text for each set; "0.5" and "0.50" have one value and may be in two sets, which must differ."""
    taken: set[str] = set()
    names: list[str] = []
    for label, members in enumerate(sets):
        name = next(option for option in _options(members, counts, label) if option not in taken)
        taken.add(name)
        names.append(name)
    return names


def _options(members: Sequence[Said], counts: Mapping[Said, int], label: int) -> Iterator[str]:
    values: Counter[str] = Counter()
    for one in members:
        values[one[0] or ""] += counts[one]
    by_count = [value for value, _ in values.most_common()]
    yield from by_count
    yield from (one[1] for one in sorted(members, key=lambda one: -counts[one]) if one[1])
    for number in count(label + 1):
        yield f"{by_count[0]} ({number})"


def is_same_number(form: AnswerForm, rule: Rule, first: Said, second: Said) -> bool:
    """Two values with their printed numbers, under `rule`; without a printed number, equal values."""
    if first[0] == second[0]:
        return True
    if first[1] is None or second[1] is None:
        return False
    return same(from_text(first[1]), from_text(second[1]), rule, form.precision)
