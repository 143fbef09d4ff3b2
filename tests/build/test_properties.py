"""REBEL's relations have their Wikidata properties."""

from __future__ import annotations

import bz2
import json
from collections import Counter
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from leadline.build.link.literals import read_date, read_quantity
from leadline.build.link.properties import properties
from leadline.errors import UsageError

DATA = Path(__file__).parents[3] / "shared" / "data" / "build"
needs_data = pytest.mark.skipif(not DATA.exists(), reason=f"needs the real inputs in {DATA}")


def _triples() -> Iterator[dict[str, Any]]:
    with (DATA / "rebel" / "sample.jsonl").open(encoding="utf-8") as file:
        for line in file:
            yield from json.loads(line)["triples"]


@needs_data
def test_all_230_relations_that_rebel_knows_have_a_property_and_a_datatype() -> None:
    labels = [
        line.split("\t")[0] for line in (DATA / "rebel" / "relations_count.tsv").read_text().splitlines()
    ]
    assert len(labels) == 230
    known = properties()
    assert [label for label in labels if known.id(label) is None] == []
    assert [label for label in labels if known.datatype(known.id(label) or "") is None] == []
    assert len({known.id(label) for label in labels}) == 230


@needs_data
def test_the_property_of_every_triple_in_the_sample_is_the_one_it_names() -> None:
    triples = list(_triples())
    known = properties()
    wrong = Counter(
        (triple["predicate"]["surfaceform"], triple["predicate"]["uri"])
        for triple in triples
        if known.id(triple["predicate"]["surfaceform"]) != triple["predicate"]["uri"]
    )
    assert len(triples) == 2868
    assert wrong == {}


@needs_data
def test_datatypes_are_those_of_the_samples_objects() -> None:
    known = properties()
    for triple in _triples():
        value = triple["object"]["uri"]
        kind = (
            "time"
            if value.endswith("dateTime")
            else "quantity"
            if value.endswith("decimal")
            else "wikibase-item"
        )
        assert known.datatype(triple["predicate"]["uri"]) == kind, triple["predicate"]


def _snaks(entity: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for statements in entity.get("claims", {}).values():
        for statement in statements:
            yield statement["mainsnak"]
            for qualifiers in statement.get("qualifiers", {}).values():
                yield from qualifiers


@needs_data
def test_datatypes_are_those_of_wikidata_itself() -> None:
    with bz2.open(DATA / "wikidata" / "twenty_entities.json.bz2", "rt", encoding="utf-8") as file:
        entities = [json.loads(line.strip().rstrip(",")) for line in file if line.startswith("{")]
    known = properties()
    checked = set()
    for entity in entities:
        for snak in _snaks(entity):
            ours = known.datatype(snak["property"])
            assert ours in (None, snak["datatype"]), snak["property"]
            checked |= {snak["property"]} if ours else set()
    assert len(checked) >= 60


def test_the_table_is_in_the_order_of_its_ids_and_says_nothing_twice() -> None:
    lines = files("leadline.build").joinpath("data", "relations.tsv").read_text("utf-8").splitlines()
    numbers = [int(line.split("\t")[1][1:]) for line in lines]
    assert numbers == sorted(numbers)
    labels = [line.split("\t")[0].casefold() for line in lines]
    assert [label for label, times in Counter(labels).items() if times > 1] == []


@pytest.mark.parametrize(
    ("label", "property_id"),
    [
        ("place of birth", "P19"),
        ("born in", "P19"),
        ("Birthplace", "P19"),
        ("date_of_birth", "P569"),
        ("has part(s)", "P527"),
        ("Gram staining", "P2597"),
        ("made from material", "P186"),
        ("material used", "P186"),
        ("P36", "P36"),
        ("P999999", "P999999"),
        ("Q36", None),
        ("fond of", None),
        ("", None),
    ],
)
def test_labels_of_all_years_and_ids_are_understood(label: str, property_id: str | None) -> None:
    assert properties().id(label) == property_id


def test_a_table_of_ones_own_takes_the_packaged_ones_place(tmp_path: Path) -> None:
    path = tmp_path / "relations.tsv"
    path.write_text("# mine\nwas born in\tP19\nheight in cm\tP2048\ninvented\tP99999\ttime\n", "utf-8")
    mine = properties(path)
    assert mine.id("was born in") == "P19"
    assert mine.id("place of birth") is None
    assert mine.label("P19") == "was born in"
    assert (mine.datatype("P19"), mine.datatype("P2048"), mine.datatype("P99999")) == (
        "wikibase-item",
        "quantity",
        "time",
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\tP1\nb P2\n", 2),
        ("a\tQ1\n", 1),
        ("\tP1\n", 1),
        ("a\tP1\titem\n", 1),
        ("a\tP1\n\nA\tP2\n", 3),
        ("a\tP1\ttime\nb\tP1\tstring\n", 2),
        ("a\tP1\ttime\tmore\n", 1),
    ],
)
def test_a_wrong_line_of_a_table_is_named(tmp_path: Path, text: str, line: int) -> None:
    path = tmp_path / "relations.tsv"
    path.write_text(text, "utf-8")
    with pytest.raises(UsageError, match=rf"relations\.tsv:{line}: "):
        properties(path)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("October 8, 1951", "1951-10-08 day"),
        ("8 October 1951", "1951-10-08 day"),
        ("8th of October, 1951", "1951-10-08 day"),
        ("Oct. 8, 1951", "1951-10-08 day"),
        ("Sept 1951", "1951-09 month"),
        ("December 1714", "1714-12 month"),
        ("1913", "1913 year"),
        ("c. 1913", "1913 year"),
        ("AD 79", "0079 year"),
        ("44 BC", "-0044 year"),
        ("15 March 44 BC", "-0044-03-15 day"),
        ("the 1990s", "1990s decade"),
        ("19th century", "19c century"),
        ("5th century BC", "-5c century"),
        ("1951-10-08", "1951-10-08 day"),
        ("+1990-11-00T00:00:00Z", "1990-11 month"),
        ("+1990-00-00T00:00:00Z", "1990 year"),
        ("-0044-03-15T00:00:00Z", "-0044-03-15 day"),
        ("29 February 1900", "1900-02-29 day"),  # of the Julian calendar
        ("29 February 1901", None),
        ("31 June 1934", None),
        ("March 2", None),
        ("01/02/1990", None),
        ("11 August 184827 June 1934", None),
        ("1914–1918", None),
        ("61", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_a_date_is_read_as_far_as_it_is_said(text: str, meant: str | None) -> None:
    date = read_date(text)
    assert (f"{date.text} {date.precision}" if date else None) == meant


@needs_data
def test_all_573_dates_of_the_sample_are_read_and_agree_with_their_value() -> None:
    unread, dates = [], 0
    for triple in _triples():
        value = triple["object"]["uri"]
        if not value.endswith("dateTime"):
            continue
        dates += 1
        date = read_date(triple["object"]["surfaceform"])
        if date is None:
            unread.append(triple["object"]["surfaceform"])
        elif date.precision in ("day", "month", "year"):
            assert value.startswith(date.text), triple["object"]
    assert unread == []
    assert dates == 573


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("61", "61|"),
        ("+61", "61|"),
        ("−5 °C", "-5|°C"),
        ("1,234.50 km", "1234.5|km"),
        ("1 234 567", "1234567|"),
        ("3.2 million", "3200000|"),
        ("4 billion US dollars", "4000000000|US dollars"),
        ("70km²", "70|km²"),
        ("12%", "12|%"),
        ("1,23", None),
        ("7 or 8", None),
        ("seven", None),
        ("", None),
    ],
)
def test_a_quantity_is_a_number_and_its_unit(text: str, meant: str | None) -> None:
    quantity = read_quantity(text)
    assert (f"{quantity.number}|{quantity.unit}" if quantity else None) == meant
