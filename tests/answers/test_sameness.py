"""When two numbers are one answer, and the largest set of answers of which every two are."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.answers.classes import classes
from leadline.answers.cliques import largest_clique
from leadline.answers.numbers import find_numbers
from leadline.answers.reading import Reading, State
from leadline.answers.same_sets import partition
from leadline.answers.sameness import RULES, Rule, default_rule, rounded, same
from leadline.bench.answer_form import Part
from leadline.bench.item import Item

NUMBERS = st.one_of(
    st.decimals(min_value=Decimal("0.88"), max_value=Decimal("0.93"), places=2),
    st.decimals(min_value=Decimal("0.90"), max_value=Decimal("0.92"), places=3),
    st.decimals(min_value=Decimal("0.905"), max_value=Decimal("0.915"), places=4),
    st.sampled_from([Decimal("0.9"), Decimal("0.90"), Decimal(1), Fraction(10, 11), Fraction(9, 10)]),
)


def test_published_cases() -> None:
    assert same(Decimal("0.909"), Decimal("0.9090909090909091"), "rounding")
    assert not same(Decimal("0.909"), Decimal("0.9090909090909091"), "exact")
    assert same(Decimal("0.909"), Decimal("0.9094"), "rounding")
    assert not same(Decimal("0.909"), Decimal("0.9096"), "rounding")
    assert not same(Decimal(123456), Decimal(123457), "rounding")
    assert not same(Decimal("0.5"), Decimal("0.51"), "rounding")
    assert same(Decimal("0.909"), Decimal("0.9096"), "declared", Decimal("0.01"))


def test_exact_is_equality_of_doubles() -> None:
    assert same(Decimal("0.1"), Decimal("0.1000000000000000055511151231257827"), "exact")
    assert not same(Decimal("0.5079365079365079"), Decimal("0.5079365079365081"), "exact")
    assert same(Fraction(1, 3), Decimal(repr(1 / 3)), "exact")
    assert not same(Decimal("1E+400"), Decimal("2E+400"), "exact")


def test_declared_rounds_halves_away_from_zero() -> None:
    assert [rounded(Decimal(text), Decimal("0.01")) for text in ("0.005", "-0.005", "0.0049", "0.015")] == [
        1,
        -1,
        0,
        2,
    ]
    assert not same(Decimal(1), Decimal("1.1"), "declared") and same(Decimal(1), Decimal("1.0"), "declared")


def test_the_default_is_declared_where_declared() -> None:
    assert (default_rule(Decimal("0.1")), default_rule(None)) == ("declared", "rounding")


def test_printed_numbers_compare_with_the_digits_that_they_were_printed_in() -> None:
    first, second = find_numbers("$1.25M and 1,254,000")
    assert same(first, second, "rounding") and not same(first, second, "exact")
    five, more = find_numbers("5 million; 5,400,000")
    assert not same(five, more, "rounding")


@given(NUMBERS, NUMBERS, st.sampled_from(RULES), st.sampled_from([None, Decimal("0.01"), Decimal("0.003")]))
@settings(max_examples=300, deadline=None)
def test_sameness_is_symmetric_and_holds_of_equals(
    one: Decimal, other: Decimal, rule: Rule, step: Decimal | None
) -> None:
    assert same(one, other, rule, step) == same(other, one, rule, step)
    assert same(one, one, rule, step)
    if Fraction(one) == Fraction(other):
        assert same(one, other, rule, step)


def largest_by_trying(values: list[Decimal], rule: Rule) -> int:
    return max(
        size
        for size in range(len(values) + 1)
        for some in combinations(values, size)
        if all(same(one, other, rule) for one, other in combinations(some, 2))
    )


@given(st.lists(NUMBERS, min_size=1, max_size=8), st.sampled_from(RULES))
@settings(max_examples=300, deadline=None)
def test_the_first_class_is_the_largest_set_of_pairwise_same_values(
    values: list[Decimal], rule: Rule
) -> None:
    found = partition(values, rule)
    for label in range(max(found) + 1):
        left = [value for value, its in zip(values, found, strict=True) if its >= label]
        members = [value for value, its in zip(values, found, strict=True) if its == label]
        assert all(same(one, other, rule) for one, other in combinations(members, 2))
        assert len(members) == largest_by_trying(left, rule)
    is_stable = all(same(one, other, rule) for one, other in combinations(values, 2))
    assert is_stable == (max(found) == 0)


@given(st.lists(NUMBERS, min_size=1, max_size=12), st.randoms())
@settings(max_examples=100, deadline=None)
def test_the_sizes_of_the_first_class_do_not_depend_on_the_order(
    values: list[Decimal], random: object
) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert partition(values, "rounding").count(0) == partition(shuffled, "rounding").count(0)


def test_of_two_sets_of_one_size_the_value_seen_first_counts() -> None:
    assert partition([Decimal(2), Decimal(1), Decimal(1), Decimal(2), Decimal(3)], "rounding") == [
        0,
        1,
        1,
        0,
        2,
    ]
    assert partition([], "rounding") == []


def test_values_on_a_line_are_not_taken_greedily() -> None:
    # 0.91 is same as each of the others, which fall into 0.906.. and 0.913..: the larger side takes 0.91
    # along.
    texts = ["0.9131", "0.91", "0.906", "0.9061", "0.90612"]
    assert partition([Decimal(text) for text in texts], "rounding") == [1, 0, 0, 0, 0]


def test_hundreds_of_different_values_take_a_moment() -> None:
    tenths = [Decimal(7 * at % 1000 + 9000) / Decimal(10**4) for at in range(300)]
    values = [round(value, 2 + at % 3) for at, value in enumerate(tenths)]
    found = partition(values, "rounding")
    assert 5 <= found.count(0) < 200


def test_a_clique_by_weight() -> None:
    assert largest_clique([0b010, 0b101, 0b010], [1, 1, 5], 0b111) == 0b110
    assert largest_clique([0b010, 0b101, 0b010], [1, 1, 1], 0b111) == 0b011
    assert largest_clique([], [], 0) == 0


def number_item(**settings: object) -> Item:
    return Item(id="1", question="How much?", answer="0.909", answer_type="number", **settings)  # type: ignore[arg-type]


def test_classes_are_labelled_by_their_most_frequent_value() -> None:
    said = [("0.90909", "0.90909"), ("0.909", "0.909"), ("0.909", "0.909"), (None, None), ("0.95", "0.95")]
    found = classes(number_item(), said)
    assert found["exact"] == ["0.90909", "0.909", "0.909", None, "0.95"]
    assert found["rounding"] == ["0.909", "0.909", "0.909", None, "0.95"]
    assert classes(number_item(precision=Decimal("0.1")), said)["declared"] == ["0.909"] * 3 + [None, "0.95"]


def test_two_classes_never_share_a_label() -> None:
    said = [("0.501", "0.501"), ("0.5", "0.50"), ("0.5", "0.50"), ("0.499", "0.499"), ("0.5", "0.5")]
    for labels in classes(number_item(), said).values():
        assert all(label is not None for label in labels)
    split = classes(number_item(), [("0.5", "0.50"), ("0.501", "0.501"), ("0.501", "0.501"), ("0.5", "0.5")])
    assert split["exact"] == ["0.5", "0.501", "0.501", "0.5"]
    assert len(set(split["rounding"])) == 2


def test_readings_and_pairs_may_be_given_alike() -> None:
    readings = [Reading(State.OK, value="1", number="1"), Reading(State.REFUSED)]
    assert classes(number_item(), readings)["exact"] == ["1", None]


def test_a_value_in_another_unit_is_the_same_as_itself_only() -> None:
    assert classes(number_item(), [("5 EUR", None), ("5 EUR", None), ("5", "5")])["rounding"] == [
        "5 EUR",
        "5 EUR",
        "5",
    ]


def test_other_types_are_the_same_where_equal() -> None:
    item = Item(id="1", question="?", answer="2020", answer_type="date")
    found = classes(item, [("2020", None), ("2020-06", None)])
    assert all(found[rule] == ["2020", "2020-06"] for rule in RULES)


@pytest.mark.parametrize(("rule", "expected"), [("exact", 2), ("rounding", 1)])
def test_parts_are_the_same_when_each_part_is(rule: Rule, expected: int) -> None:
    fields = (Part(name="a", answer_type="number"), Part(name="b"))
    item = Item(id="1", question="?", answer='{"a": 1, "b": "x"}', answer_type="parts", fields=fields)
    said = [
        ('{"a": "0.909", "b": "x"}', '{"a": "0.909", "b": null}'),
        ('{"a": "0.9091", "b": "x"}', '{"a": "0.9091", "b": null}'),
    ]
    assert len(set(classes(item, said)[rule])) == expected
    different = [said[0], ('{"a": "0.909", "b": "y"}', '{"a": "0.909", "b": null}')]
    assert len(set(classes(item, different)[rule])) == 2
