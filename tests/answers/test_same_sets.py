"""Sets of the same answers, found without comparing every two: they are those that comparing finds."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from leadline.answers.classes import classes, counted_classes, is_same_number
from leadline.answers.printed import Exact, printed_text, value_text
from leadline.answers.same_said import Said
from leadline.answers.same_sets import partition
from leadline.answers.sameness import RULES, Rule, classes_of, same
from leadline.bench.answer_form import Part
from leadline.bench.item import Item

# Numbers that are near one another at many units, and often halfway between two multiples of one.
NEAR: st.SearchStrategy[Exact] = st.one_of(
    st.builds(
        lambda digits, exponent: Decimal(digits).scaleb(exponent),
        st.integers(-21, 21) | st.sampled_from([95, 105, 115, 145, 149, 150, 1145, 1495, 1500, 14995]),
        st.integers(-4, 3),
    ),
    st.builds(Fraction, st.integers(-40, 40), st.integers(1, 40)),
    st.sampled_from([Decimal("0.9"), Decimal("0.90"), Decimal("0.0"), Decimal("-0.00"), Decimal("1E+400")]),
    st.sampled_from([Decimal("1.5E+400"), Fraction(10**400), Fraction(1, 10**400), Decimal("1.2E-390")]),
)
ROUNDINGS = st.builds(
    round,
    st.decimals(min_value=Decimal("0.9"), max_value=Decimal("1.25"), places=6),
    st.integers(1, 6),
)
STEPS = st.sampled_from([None, Decimal("0.1"), Decimal("0.03"), Decimal(5)])


def by_comparing(item: Item, said: Sequence[Said], rule: Rule) -> list[str | None]:
    """The definition: compare every two, search the largest set, name it by its most frequent value."""
    kept = [one for one in said if one[0] is not None]
    found = classes_of(kept, lambda one, other: is_same(item, rule, one, other))
    names: list[str] = []
    for label in range(max(found, default=-1) + 1):
        members = Counter(one for one, its in zip(kept, found, strict=True) if its == label)
        values: Counter[str] = Counter()
        for (value, _), count in members.items():
            values[value or ""] += count
        options = [value for value, _ in values.most_common()]
        options += [number for (_, number), _ in members.most_common() if number]
        options += [f"{options[0]} ({label + 1})"]
        names.append(next(option for option in options if option not in names))
    labels = iter(found)
    return [None if one[0] is None else names[next(labels)] for one in said]


def is_same(item: Item, rule: Rule, first: Said, second: Said) -> bool:
    if item.answer_type == "number":
        return is_same_number(item, rule, first, second)
    values = [json.loads(one[0] or "{}") for one in (first, second)]
    numbers = [json.loads(one[1] or "{}") for one in (first, second)]
    for part in item.fields:
        one, other = ((values[side].get(part.name), numbers[side].get(part.name)) for side in (0, 1))
        if (one[0] is None) != (other[0] is None):
            return False
        if one[0] is not None and not is_same_number(part, rule, one, other):
            return False
    return True


def said_of(number: Exact | str | None) -> Said:
    if number is None or isinstance(number, str):
        return number, None
    return value_text(number), printed_text(number)


@given(st.lists(NEAR | ROUNDINGS, max_size=14), st.sampled_from(RULES), STEPS)
@example([Decimal("1.148"), Decimal("1.15"), Decimal("1.2"), Decimal("1.1")], "rounding", None)
@settings(max_examples=250)
def test_numbers_are_parted_as_comparing_every_two_parts_them(
    numbers: list[Exact], rule: Rule, step: Decimal | None
) -> None:
    keys = [(Fraction(one), type(one), str(one), one) for one in numbers]
    expected = classes_of(keys, lambda one, other: same(one[3], other[3], rule, step))
    assert partition(numbers, rule, step) == expected


@given(st.lists(st.tuples(NEAR | ROUNDINGS, st.integers(1, 4)), max_size=9), STEPS, st.randoms())
@settings(max_examples=120)
def test_answers_are_named_as_comparing_every_two_names_them(
    counted: list[tuple[Exact, int]], step: Decimal | None, order: random.Random
) -> None:
    item = Item(id="1", question="?", answer="1", answer_type="number", precision=step)
    said = [said_of(number) for number, count in counted for _ in range(count)]
    said += [said_of("5 EUR"), said_of("5 EUR"), said_of("7 EUR"), said_of(None)][: len(counted)]
    order.shuffle(said)
    found = classes(item, said)
    for rule in RULES:
        assert found[rule] == by_comparing(item, said, rule)


@given(
    st.lists(
        st.tuples(
            st.none() | ROUNDINGS, st.none() | NEAR | st.just("5 EUR"), st.sampled_from(["x", "y", None])
        ),
        max_size=12,
    ),
    STEPS,
)
@settings(max_examples=120)
def test_answers_in_parts_are_parted_as_comparing_every_two_parts_them(
    answers: list[tuple[Exact | None, Exact | str | None, str | None]], step: Decimal | None
) -> None:
    fields = (
        Part(name="a", answer_type="number", precision=step),
        Part(name="b", answer_type="number"),
        Part(name="c"),
    )
    item = Item(id="1", question="?", answer='{"a": 1}', answer_type="parts", fields=fields)
    said: list[Said] = []
    for answer in answers:
        parts = [said_of(part) for part in answer]
        value, number = (
            json.dumps({name: part[at] for name, part in zip("abc", parts, strict=True)}) for at in (0, 1)
        )
        said.append((value, number))
    found = classes(item, said)
    for rule in RULES:
        assert found[rule] == by_comparing(item, said, rule)


def random_number(rng: random.Random) -> Exact:
    return Decimal(f"{rng.random() * 3:.{rng.choice((2, 3, 4, 6, 9, 12))}f}")


def halfway(rng: random.Random) -> Exact:
    return Decimal(rng.randrange(1, 10**5) * 10 + 5).scaleb(-rng.randrange(2, 12))


def around_one(rng: random.Random) -> Exact:
    return Decimal("0.51") if rng.random() < 0.001 else Decimal(f"0.51{rng.randrange(5 * 10**9):010d}")


@pytest.mark.parametrize("make", [random_number, halfway, around_one])
def test_thirty_thousand_numbers_take_seconds(make: Callable[[random.Random], Exact]) -> None:
    rng = random.Random(1)
    counts = Counter(said_of(make(rng)) for _ in range(30_000))
    assert len(counts) > 10_000
    item = Item(id="1", question="?", answer="1", answer_type="number", precision=Decimal("0.01"))
    began = time.process_time()
    found = counted_classes(item, counts)
    assert time.process_time() - began < 10  # comparing every two: hours
    # What was called the same is, and names are of one set each.
    by_name: dict[str, list[Said]] = {}
    for one, name in found["rounding"].items():
        by_name.setdefault(name, []).append(one)
    assert sum(len(members) > 1 for members in by_name.values()) > 0
    for members in list(by_name.values())[:2000]:
        assert all(is_same_number(item, "rounding", *two) for two in combinations(members[:20], 2))
