"""How many answers Wikidata's statements leave: on real entities, counted by hand."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.build.records import Statement
from leadline.build.wikidata.dates import Date, read_date
from leadline.build.wikidata.quantities import Amount
from leadline.build.wikidata.single import Counted, count, over
from tests.build.entity_work import entity, made, needs_wikidata, real, statement

# Subject, property, what a text says, values that count, rank, ended, deprecated, novalue, where it stands,
# and how the numbers come about.
REAL = [
    # Bielefeld's mayors: one preferred without an end; four normal ones, all with an end, of two of which
    # Q1278930 is the value (he was mayor twice).
    ("Q2112", "P6", "Q2097128", 1, "preferred", 4, 0, 0, "counts"),
    ("Q2112", "P6", "Q1278930", 1, "preferred", 4, 0, 0, "ended"),
    # Bielefeld's inhabitants: 16 normal numbers of as many years, and the preferred one of 2021-12-31. No
    # statement has an end: of a series of points in time the rank alone decides.
    ("Q2112", "P1082", Amount(Decimal(334002)), 1, "preferred", 0, 0, 0, "counts"),
    ("Q2112", "P1082", Amount(Decimal(328864)), 1, "preferred", 0, 0, 0, "lower rank"),
    ("Q2112", "P1082", Amount(Decimal(1)), 1, "preferred", 0, 0, 0, "nowhere"),
    # Its countries: Germany preferred, since 1990; the German Empire and West Germany, ended.
    ("Q2112", "P17", "Q183", 1, "preferred", 2, 0, 0, "counts"),
    ("Q2112", "P17", "Q713750", 1, "preferred", 2, 0, 0, "ended"),
    # What it is: five classes, and one that is deprecated.
    ("Q2112", "P31", "Q1549591", 5, "normal", 0, 1, 0, "counts"),
    ("Q2112", "P31", "Q1964689", 5, "normal", 0, 1, 0, "deprecated"),
    # Douglas Adams's wife: one statement, from 1991 to his death in 2001. Nothing counts today.
    ("Q42", "P26", "Q14623681", 0, "normal", 1, 0, 0, "ended"),
    ("Q42", "P26", "Q350", 0, "normal", 1, 0, 0, "nowhere"),
    # His schools: both with an end; one end is +1974-01-01 of precision 9, a year.
    ("Q42", "P69", "Q691283", 0, "normal", 2, 0, 0, "ended"),
    ("Q42", "P569", read_date("11 March 1952"), 1, "normal", 0, 0, 0, "counts"),
    ("Q42", "P569", read_date("1952"), 1, "normal", 0, 0, 0, "counts"),
    ("Q42", "P569", read_date("12 March 1952"), 1, "normal", 0, 0, 0, "nowhere"),
    ("Q42", "P19", "Q350", 1, "normal", 0, 0, 0, "counts"),
    ("Q42", "P106", "Q28389", 7, "normal", 0, 0, 0, "counts"),
    # Henning Christophersen: a position without dates, and one that has ended.
    ("Q646148", "P39", "Q5449541", 1, "normal", 1, 0, 0, "counts"),
    ("Q646148", "P39", "Q6866144", 1, "normal", 1, 0, 0, "ended"),
    # Three dates of birth: 1869-11, 1990-11 and 1990. The last holds the second: two values.
    ("Q970917", "P569", read_date("November 1990"), 2, "normal", 0, 0, 0, "counts"),
    ("Q970917", "P569", read_date("5 November 1869"), 2, "normal", 0, 0, 0, "counts"),
    ("Q970917", "P569", read_date("1991"), 2, "normal", 0, 0, 0, "nowhere"),
    # A cove in Antarctica has no country.
    ("Q58984", "P17", "Q33", 0, "normal", 0, 0, 1, "nowhere"),
    # Five authors, of whom two are not known: each of them is one.
    ("Q22002395", "P50", "Q1128109", 5, "normal", 0, 0, 0, "counts"),
    # Protected in two ways, one of them since 1996 (given as a first of January of precision 9).
    ("Q217447", "P1435", "Q9259", 2, "normal", 0, 0, 0, "counts"),
    # Founded in 1214: any day of that year agrees, and literals.py lets none be asked for.
    ("Q2112", "P571", read_date("1 January 1214"), 1, "normal", 0, 0, 0, "counts"),
    # The universe began 13.8 thousand million years ago: no date that could be asked for.
    ("Q1", "P580", read_date("1900"), 1, "normal", 0, 0, 0, "nowhere"),
    # Nothing is said.
    ("Q42", "P6", "Q350", 0, "none", 0, 0, 0, "nowhere"),
]

# The same for all times: of every rank but deprecated, ended or not.
EVER = [
    # Douglas Adams married once.
    ("Q42", "P26", "Q14623681", 1, "normal", 1, 0, 0, "counts"),
    # Two schools, one after the other.
    ("Q42", "P69", "Q691283", 2, "normal", 2, 0, 0, "counts"),
    # Five statements on mayors, of whom one was it twice: four people. Each of them is a right answer.
    ("Q2112", "P6", "Q2097128", 4, "preferred", 4, 0, 0, "counts"),
    ("Q2112", "P6", "Q1278930", 4, "preferred", 4, 0, 0, "counts"),
    # Germany, and before it the German Empire and West Germany.
    ("Q2112", "P17", "Q713750", 3, "preferred", 2, 0, 0, "counts"),
    # Seventeen numbers of inhabitants, one of them (333786) twice.
    ("Q2112", "P1082", Amount(Decimal(328864)), 16, "preferred", 0, 0, 0, "counts"),
    # What is deprecated was never right.
    ("Q2112", "P31", "Q1964689", 5, "normal", 0, 1, 0, "deprecated"),
    # Henning Christophersen, who is dead, held two positions.
    ("Q646148", "P39", "Q5449541", 2, "normal", 1, 0, 0, "counts"),
    # A cove that never had a country.
    ("Q58984", "P17", "Q33", 0, "normal", 0, 0, 1, "nowhere"),
]


@needs_wikidata
@pytest.mark.parametrize(
    ("name", "property_id", "said", "values", "rank", "ended", "deprecated", "novalue", "match", "ever"),
    [(*one, False) for one in REAL] + [(*one, True) for one in EVER],
)
def test_real_entities_have_the_values_that_a_reader_counts(
    name: str,
    property_id: str,
    said: Any,
    values: int,
    rank: Any,
    ended: int,
    deprecated: int,
    novalue: int,
    match: str,
    ever: bool,
) -> None:
    counted = count(real(name).claims.get(property_id, ()), said, ever=ever)
    agrees = match == "counts"
    assert counted.statement == Statement(
        values=values,
        rank=rank,
        agrees=agrees,
        ended=ended,
        deprecated=deprecated,
        novalue=novalue,
        ever=ever,
    )
    assert counted.match == match


@needs_wikidata
def test_a_monthly_series_without_a_preferred_value_has_as_many_values_as_numbers() -> None:
    claims = real("Q271094").claims["P1082"]
    amounts = {claim.value.amount for claim in claims}  # type: ignore[union-attr]
    counted = count(claims, Amount(Decimal("287733")))
    assert len(claims) == 196
    assert counted.statement.values == len(amounts)
    assert counted.statement.rank == "normal"


@needs_wikidata
@pytest.mark.parametrize(("name", "is_over"), [("Q42", True), ("Q646148", True), ("Q2112", False)])
def test_the_dead_are_over_and_a_city_is_not(name: str, is_over: bool) -> None:
    assert over(real(name)) is is_over


@needs_wikidata
def test_nobody_is_over_before_his_death() -> None:
    assert not over(real("Q42"), Date(2001, 5, 10, "day"))
    assert over(real("Q42"), Date(2001, 5, 11, "day"))


def _count(*statements: dict[str, Any], said: Any = "Q1", **options: Any) -> Counted:
    return count(made(entity("Q9", P1=list(statements))).claims.get("P1", ()), said, **options)


DAY = {"time": "+2009-05-01T00:00:00Z", "precision": 11}
LATER = {"time": "+2031-00-00T00:00:00Z", "precision": 9}


@pytest.mark.parametrize("property_id", ["P570", "P576", "P582", "P2669", "P3999", "P585"])
def test_what_is_dead_dissolved_or_ended_is_over_also_at_an_unknown_time(property_id: str) -> None:
    assert over(made(entity("Q9", **{property_id: [statement(DAY)]})))
    assert over(made(entity("Q9", **{property_id: [statement("somevalue")]})))
    assert not over(made(entity("Q9", **{property_id: [statement("novalue")]})))
    assert not over(made(entity("Q9", **{property_id: [statement(DAY, "deprecated")]})))
    assert not over(made(entity("Q9", **{property_id: [statement(LATER)]})), Date(2022, 3, 1, "day"))


def test_of_all_times_a_former_value_of_lower_rank_is_a_second_answer() -> None:
    listed = (statement("Q1", "preferred"), statement("Q2", P582=DAY))
    assert _count(*listed).statement.values == 1
    assert _count(*listed, ever=True).statement.values == 2
    assert _count(*listed, said="Q2", ever=True).match == "counts"


def test_of_all_times_the_same_value_under_two_ranks_is_one() -> None:
    counted = _count(statement("Q1", "preferred"), statement("Q1", P582=DAY), ever=True)
    assert (counted.statement.values, counted.match) == (1, "counts")


def test_an_end_that_is_said_to_be_none_is_no_end_and_an_unknown_one_is() -> None:
    assert _count(statement("Q1", P582="novalue")).match == "counts"
    assert _count(statement("Q1", P582="somevalue")).match == "ended"
    assert _count(statement("Q1", P582=DAY)).match == "ended"


def test_a_reason_for_the_end_is_an_end() -> None:
    assert _count(statement("Q1", P1534="Q93190")).match == "ended"


def test_what_ends_or_begins_after_the_date_of_the_dump_has_not_done_so() -> None:
    state = Date(2022, 3, 1, "day")
    assert _count(statement("Q1", P582=LATER), state=state).match == "counts"
    assert _count(statement("Q1", P580=LATER), state=state).match == "ended"
    assert _count(statement("Q1", P580=DAY), state=state).match == "counts"
    # Without a date of the dump every date is taken to have come.
    assert _count(statement("Q1", P582=LATER)).match == "ended"
    assert _count(statement("Q1", P580=LATER)).match == "counts"


def test_a_merged_id_is_the_value_that_it_was_merged_into() -> None:
    moved = {"Q1": "Q2"}
    counted = _count(statement("Q1"), statement("Q2"), said="Q2", resolve=lambda one: moved.get(one, one))
    assert (counted.statement.values, counted.statement.agrees) == (1, True)


def test_a_preferred_statement_that_has_ended_does_not_bring_back_normal_ones() -> None:
    counted = _count(statement("Q1", "preferred", P582=DAY), statement("Q2"), said="Q2")
    assert (counted.statement.values, counted.match) == (0, "lower rank")


def test_a_preferred_novalue_is_no_answer_though_there_was_one() -> None:
    counted = _count(statement("novalue", "preferred"), statement("Q1"))
    assert (counted.statement.values, counted.statement.novalue, counted.match) == (0, 1, "lower rank")


def test_a_day_in_two_calendars_is_one_value() -> None:
    julian = "http://www.wikidata.org/entity/Q1985786"
    newton = statement({"time": "+1642-12-25T00:00:00Z", "precision": 11, "calendarmodel": julian})
    again = statement({"time": "+1643-01-04T00:00:00Z", "precision": 11})
    for said in ("25 December 1642", "4 January 1643"):
        counted = _count(newton, again, said=read_date(said))
        assert (counted.statement.values, counted.statement.agrees) == (1, True)
    assert _count(newton, said=read_date("24 December 1642")).match == "nowhere"


@given(
    st.permutations(
        [
            ("+1990-11-05", 11),
            ("+1990-11-00", 11),
            ("+1990-00-00", 11),
            ("+1990-01-01", 9),
            ("+1990-12-00", 10),
        ]
    )
)
def test_dates_within_each_other_are_one_value_in_any_order(drawn: list[tuple[str, int]]) -> None:
    """Also where a precision is said that the value has not: the year 1990, to the day."""
    listed = [statement({"time": f"{day}T00:00:00Z", "precision": precision}) for day, precision in drawn]
    assert _count(*listed, said=read_date("1990")).statement.values == 2  # 5 November, December


def test_a_number_agrees_within_its_bounds_and_not_in_another_unit() -> None:
    metre = "http://www.wikidata.org/entity/Q11573"
    height = statement({"amount": "+100", "unit": metre, "upperBound": "+105", "lowerBound": "+95"})
    assert _count(height, said=Amount(Decimal(104), "m")).match == "counts"
    assert _count(height, said=Amount(Decimal(104))).match == "counts"
    assert _count(height, said=Amount(Decimal(106), "m")).match == "nowhere"
    assert _count(height, said=Amount(Decimal(100), "feet")).match == "nowhere"


STATEMENTS = st.lists(
    st.tuples(
        st.sampled_from(["Q1", "Q2", "Q3", "novalue", "somevalue"]),
        st.sampled_from(["preferred", "normal", "deprecated"]),
        st.sampled_from([{}, {"P582": DAY}, {"P582": "novalue"}, {"P580": DAY}]),
    ),
    max_size=8,
)


@given(STATEMENTS, st.randoms(use_true_random=False))
def test_the_count_does_not_depend_on_the_order_of_statements_nor_on_deprecated_ones(
    drawn: list[tuple[str, str, dict[str, Any]]], random: Any
) -> None:
    listed = [statement(value, rank, **qualifiers) for value, rank, qualifiers in drawn]
    first = _count(*listed).statement
    random.shuffle(listed)
    assert _count(*listed).statement == first
    without = [one for one in listed if one["rank"] != "deprecated"]
    assert _count(*without).statement == first.model_copy(update={"deprecated": 0})


@given(STATEMENTS)
def test_counts_are_those_of_the_definition(drawn: list[tuple[str, str, dict[str, Any]]]) -> None:
    """The rules once more, without the code: sets of values of the best rank whose end is not a day."""
    counted = _count(*(statement(value, rank, **qualifiers) for value, rank, qualifiers in drawn)).statement
    best = [one for one in drawn if one[1] == "preferred"] or [one for one in drawn if one[1] == "normal"]
    now = [value for value, _, qualifiers in best if qualifiers.get("P582") != DAY]
    known = {value for value in now if value.startswith("Q")}
    assert counted.values == len(known) + now.count("somevalue")
    assert counted.novalue == now.count("novalue")
    assert counted.agrees == ("Q1" in known)


@given(STATEMENTS)
def test_of_all_times_the_values_are_those_of_all_statements_but_deprecated_ones(
    drawn: list[tuple[str, str, dict[str, Any]]],
) -> None:
    listed = [statement(value, rank, **qualifiers) for value, rank, qualifiers in drawn]
    counted = _count(*listed, ever=True).statement
    held = [value for value, rank, _ in drawn if rank != "deprecated"]
    assert counted.values == len({one for one in held if one.startswith("Q")}) + held.count("somevalue")
    assert counted.values >= _count(*listed).statement.values
    assert counted.agrees == ("Q1" in held)
