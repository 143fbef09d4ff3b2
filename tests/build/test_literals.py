"""Dates, numbers and texts as answers: to the precision and in the unit that Wikidata's statements have."""

from __future__ import annotations

import datetime
import json
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.build.filters.literals import LiteralsStage
from leadline.build.records import Drop, Fact
from leadline.build.wikidata.dates import Date, as_written, date_names, of_statement, read_date
from leadline.build.wikidata.entity import Time
from leadline.build.wikidata.quantities import amount_names, read_amount, unit_of, units
from tests.build.entity_work import (
    entity,
    fact,
    job_in,
    judged,
    made,
    needs_wikidata,
    real,
    reasons,
    statement,
)

ABSTRACTS = Path(__file__).parents[3] / "shared" / "data" / "build" / "rebel" / "sample.jsonl"
needs_abstracts = pytest.mark.skipif(not ABSTRACTS.exists(), reason=f"needs the real triples in {ABSTRACTS}")


def dates_of_the_abstracts() -> Iterator[tuple[str, str]]:
    """Each date that stands as an object in 1,000 real abstracts: what the text says, and what is stored."""
    with ABSTRACTS.open(encoding="utf-8") as file:
        for line in file:
            for triple in json.loads(line)["triples"]:
                stored = triple["object"]["uri"]
                if "dateTime" in stored:
                    yield triple["object"]["surfaceform"], stored.partition("^^")[0]


@needs_abstracts
def test_all_dates_of_real_abstracts_are_read_and_lie_within_what_is_stored_for_them() -> None:
    read = Counter[str]()
    for said, stored in dates_of_the_abstracts():
        text, iso = read_date(said), read_date(stored)
        assert text is not None, said
        assert iso is not None, stored
        assert iso.within(text), (said, stored)
        read[text.precision] += 1
    # 573 dates; 273 are years, all stored as a 1 January; "13June 1852" is a day too.
    assert read == {"day": 292, "year": 273, "month": 8}


@needs_abstracts
def test_no_year_that_is_stored_as_a_first_of_january_is_asked_for_as_a_day(tmp_path: Path) -> None:
    """Both ways in which the year may come: as the text has it, and as the stored 1 January."""
    years = [(said, stored) for said, stored in dates_of_the_abstracts() if said.isdigit()]
    assert len(years) == 273
    claims = {
        f"P{number}": [{"time": f"+{said}-00-00T00:00:00Z", "precision": 9}]
        for number, (said, _) in enumerate(years, 1)
    }
    job = job_in(tmp_path, [made(entity("Q1", **claims))], filter={"literals": "date"})
    for number in (0, 1):
        facts = [_dated(f"P{place}", pair[number]) for place, pair in enumerate(years, 1)]
        for (said, _), result in zip(years, judged(LiteralsStage(), job, *facts), strict=True):
            assert isinstance(result, Fact)
            assert (result.precision, result.object_names) == ("year", (said,))


def _dated(relation: str, said: str) -> Fact:
    return fact("Q1", relation, None, said=said, kind="date")


def _literals(
    folder: Path, *facts: Fact, claims: dict[str, list[Any]] | None = None, **options: Any
) -> list[Fact | Drop]:
    asked = options.pop("literals", ["date", "quantity", "string"])
    job = job_in(folder, [made(entity("Q1", **(claims or {})))], filter={"literals": asked}, **options)
    return judged(LiteralsStage(), job, *facts)


def test_literals_are_let_go_unless_they_are_asked_for(tmp_path: Path) -> None:
    facts = (
        fact("Q1", "P1", "Q2"),
        fact("Q1", "P1", None, said="1913", kind="date"),
        fact("Q1", "P1", None, said="12", kind="quantity"),
        fact("Q1", "P1", None, said="ABC", kind="string"),
        fact("Q1", "P1", None, said="ABC", kind="unknown"),
    )
    every = ["", "literal-date", "literal-quantity", "literal-string", "literal-string"]
    assert reasons(_literals(tmp_path, *facts, literals=[])) == every
    assert reasons(_literals(tmp_path / "2", *facts, literals="quantity")) == [*every[:2], "", *every[3:]]


DAY = {"time": "+1913-05-02T00:00:00Z", "precision": 11}
MONTH = {"time": "+1913-05-00T00:00:00Z", "precision": 10}
YEAR = {"time": "+1913-01-01T00:00:00Z", "precision": 9}
DECADE = {"time": "+1913-00-00T00:00:00Z", "precision": 8}
CENTURY = {"time": "+1901-00-00T00:00:00Z", "precision": 7}
IDES = {
    "time": "-0044-03-15T00:00:00Z",
    "precision": 11,
    "calendarmodel": "http://www.wikidata.org/entity/Q1985786",
}

# What the text says, Wikidata's statement, the precision that is asked for, the answer.
DATES = [
    ("2 May 1913", DAY, "day", "2 May 1913"),
    ("2 May 1913", MONTH, "month", "May 1913"),
    ("2 May 1913", YEAR, "year", "1913"),
    ("May 1913", DAY, "month", "May 1913"),
    ("1913", DAY, "year", "1913"),
    ("1 January 1913", YEAR, "year", "1913"),
    ("1913-01-01T00:00:00Z", YEAR, "year", "1913"),
    ("1913-01-01T00:00:00Z", DAY, "year", "1913"),
    ("1913-01-01T00:00:00Z", {"time": "+1913-01-01T00:00:00Z", "precision": 11}, "day", "1 January 1913"),
    ("1913-05-02T00:00:00Z", DAY, "day", "2 May 1913"),
    # Without a statement the text is believed, as long as its day is one.
    ("2 May 1913", None, "day", "2 May 1913"),
    ("1913", None, "year", "1913"),
    ("2 May 1913", {"time": "+1915-00-00T00:00:00Z", "precision": 9}, "day", "2 May 1913"),
    # Caesar died on a day of the Julian calendar, and so say books.
    ("15 March 44 BC", IDES, "day", "15 March 44 BC"),
    ("44 BC", IDES, "year", "44 BC"),
    ("13 March 44 BC", IDES, "day", "13 March 44 BC"),
]


@pytest.mark.parametrize(("said", "held", "precision", "answer"), DATES)
def test_a_date_is_answered_to_the_precision_that_text_and_statement_share(
    said: str, held: Any, precision: str, answer: str, tmp_path: Path
) -> None:
    (found,) = _literals(tmp_path, _dated("P1", said), claims={"P1": [held] if held else []})
    assert isinstance(found, Fact)
    assert (found.precision, found.object_names[0]) == (precision, answer)


@pytest.mark.parametrize(
    ("said", "held", "reason"),
    [
        ("1913-01-01T00:00:00Z", None, "imprecise-date"),
        ("2 May 1913", DECADE, "imprecise-date"),
        ("2 May 1913", CENTURY, "imprecise-date"),
        ("the 1910s", YEAR, "imprecise-date"),
        ("20th century", None, "imprecise-date"),
        ("next spring", YEAR, "unread"),
    ],
)
def test_what_is_less_than_a_year_or_may_be_a_year_is_let_go(
    said: str, held: Any, reason: str, tmp_path: Path
) -> None:
    assert reasons(_literals(tmp_path, _dated("P1", said), claims={"P1": [held] if held else []})) == [reason]


def test_the_statement_of_the_best_rank_says_the_precision(tmp_path: Path) -> None:
    claims = {"P1": [statement(DAY), statement(YEAR, "preferred"), statement(MONTH, "deprecated")]}
    (found,) = _literals(tmp_path, _dated("P1", "2 May 1913"), claims=claims)
    assert isinstance(found, Fact)
    assert found.precision == "year"


def test_months_are_those_of_the_articles_language(tmp_path: Path) -> None:
    articles = {"jsonl": "a.jsonl", "language": "de"}
    (found,) = _literals(tmp_path, _dated("P1", "2. Mai 1913"), claims={"P1": [DAY]}, articles=articles)
    assert isinstance(found, Fact)
    assert found.object_names == ("2. Mai 1913", "2 Mai 1913", "1913-05-02")


def test_a_quantity_has_the_unit_of_its_statement(tmp_path: Path) -> None:
    height = {"amount": "+1234", "unit": "http://www.wikidata.org/entity/Q11573"}
    number = fact("Q1", "P1", None, said="1,234 m", kind="quantity")
    bare = fact("Q1", "P2", None, said="+61^^http://www.w3.org/2001/XMLSchema#decimal", kind="quantity")
    other = fact("Q1", "P3", None, said="some", kind="quantity")
    found = _literals(
        tmp_path, number, bare, other, claims={"P1": [height], "P2": [{"amount": "+61", "unit": "1"}]}
    )
    assert reasons(found) == ["", "", "unread"]
    assert isinstance(found[0], Fact)
    assert isinstance(found[1], Fact)
    assert (found[0].unit, found[0].object_names[0]) == ("Q11573", "1,234 metres")
    assert {"1234 m", "1,234 m"} <= set(found[0].object_names)
    assert (found[1].unit, found[1].object_names) == ("1", ("61", "+61"))


@needs_wikidata
def test_real_dates_keep_their_precision() -> None:
    births = [claim.value for claim in real("Q970917").claims["P569"]]
    assert [of_statement(one) for one in births if isinstance(one, Time)] == [
        Date(1869, 11, 0, "month"),
        Date(1990, 11, 0, "month"),
        Date(1990),
    ]
    # The end of a school time: "+1974-01-01" of precision 9 is a year.
    ends = [claim.qualifiers["P582"][0].value for claim in real("Q42").claims["P69"]]
    assert [of_statement(one) for one in ends if isinstance(one, Time)] == [Date(1974), Date(1970)]


@pytest.mark.parametrize(
    ("time", "precision", "expected"),
    [
        ("+1990-11-00T00:00:00Z", 10, Date(1990, 11, 0, "month")),
        ("+1990-00-00T00:00:00Z", 11, Date(1990)),  # a precision that the value has not
        ("+1990-11-00T00:00:00Z", 11, Date(1990, 11, 0, "month")),
        ("-0055-00-00T00:00:00Z", 9, Date(-54)),
        ("+1987-00-00T00:00:00Z", 8, Date(1980, precision="decade")),
        ("+1901-00-00T00:00:00Z", 7, Date(20, precision="century")),
        ("+2000-00-00T00:00:00Z", 7, Date(20, precision="century")),
        ("+1801-01-01T00:00:00Z", 7, Date(19, precision="century")),
        ("-13798000000-00-00T00:00:00Z", 3, None),
        ("+2000-00-00T00:00:00Z", 6, None),
        ("yesterday", 11, None),
    ],
)
def test_wikidatas_times_are_dates_to_their_precision(
    time: str, precision: int, expected: Date | None
) -> None:
    assert of_statement(Time(time=time, precision=precision)) == expected


# Julian days and their Gregorian ones, from tables: Newton's birth, the October revolution, the reform.
@pytest.mark.parametrize(
    ("julian", "gregorian"),
    [
        ("+1642-12-25", (1643, 1, 4)),
        ("+1917-10-25", (1917, 11, 7)),
        ("+1582-10-04", (1582, 10, 14)),
        ("+1582-10-05", (1582, 10, 15)),
        ("+1900-02-29", (1900, 3, 13)),
        ("+0300-02-28", (300, 2, 28)),
    ],
)
def test_julian_days_are_told_in_the_gregorian_calendar(julian: str, gregorian: tuple[int, int, int]) -> None:
    time = Time(time=f"{julian}T00:00:00Z", precision=11, julian=True)
    assert of_statement(time) == Date(*gregorian, "day")
    year, month, day = map(int, julian[1:].split("-"))
    assert as_written(time) == Date(year, month, day, "day")


@given(st.dates(min_value=datetime.date(101, 1, 1)), st.sampled_from(["en", "de", "fr", "es", "it", "nl"]))
def test_a_date_that_was_written_is_read_again(day: datetime.date, language: str) -> None:
    whole = Date(day.year, day.month, day.day, "day")
    for date in (whole, whole.to("month"), whole.to("year")):
        for name in date_names(date, language):
            assert read_date(name, language) == date, name


@given(st.integers(-5000, 9000).filter(bool), st.integers(1, 12), st.integers(1, 28))
def test_a_day_lies_within_its_month_year_decade_and_century(year: int, month: int, day: int) -> None:
    date = Date(year, month, day, "day")
    for precision in ("month", "year", "decade", "century"):
        wide = date.to(precision)  # type: ignore[arg-type]
        assert wide.precision == precision
        assert date.within(wide)
        assert not wide.within(date)
        assert not Date(year + 100, month, day, "day").within(wide)


@given(st.text(max_size=30))
def test_any_text_is_a_date_or_none(text: str) -> None:
    date = read_date(text)
    assert date is None or date_names(date)


@given(st.decimals(min_value=-(10**9), max_value=10**9, places=2), st.sampled_from(["1", *units()]))
def test_a_quantity_that_was_written_is_read_again(number: Decimal, unit: str) -> None:
    for name in amount_names(number, unit):
        read = read_amount(name)
        assert read is not None, name
        assert read.number == number
        assert unit_of(read.unit) == (None if unit == "1" else unit), name


@pytest.mark.parametrize("text", ["twelve", "", "$5", "1.2.3", "12,34", "5-6"])
def test_what_is_no_single_number_is_none(text: str) -> None:
    assert read_amount(text) is None
