"""An entity of Wikidata as this program holds it: names in the languages wanted, statements, pages.

The model is Wikibase's (https://www.mediawiki.org/wiki/Wikibase/DataModel) without hashes and references.
"""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict, JsonValue

SnakType = Literal["value", "novalue", "somevalue"]
Rank = Literal["preferred", "normal", "deprecated"]
Precision = Literal["day", "month", "year", "decade", "century", "millennium", "older"]

_FROZEN = ConfigDict(frozen=True, extra="forbid")
_ID = re.compile(r"[QPL][1-9][0-9]{0,17}")
# Labels that hold in every language, since 2024: a person's name is often there and nowhere else.
ANY_LANGUAGE = "mul"


class Time(BaseModel):
    """A point in time: `time` is "+1990-11-00T00:00:00Z", in the calendar named; month and day may be 00.

    `precision` is Wikibase's: 11 day, 10 month, 9 year, 8 decade, 7 century, 6 millennium, less: coarser;
    12 to 14 (hour to second) are not in use. A year "-0055" is 55 BC: there is no year 0.
    """

    model_config = _FROZEN

    time: str
    precision: int
    julian: bool = False


class Quantity(BaseModel):
    """A number: `amount` in decimal ("+12.5"), its `unit` (an item's id, or "1" for none) and its bounds."""

    model_config = _FROZEN

    amount: str
    unit: str = "1"
    lower: str | None = None
    upper: str | None = None


class Text(BaseModel):
    """A text and its language."""

    model_config = _FROZEN

    text: str
    language: str


class Coordinate(BaseModel):
    """A place on a globe, in degrees; `globe` is an item's id (Q2: the earth)."""

    model_config = _FROZEN

    latitude: float
    longitude: float
    precision: float | None = None
    globe: str = "Q2"


class Other(BaseModel):
    """A value of a form that this program does not know, as it came."""

    model_config = _FROZEN

    json_value: JsonValue


Value = str | Time | Quantity | Text | Coordinate | Other
"""A value. An entity's id is a str, as are strings and addresses: the datatype tells them apart."""


class Snak(BaseModel):
    """A property's value, or that there is none (novalue), or that it is not known (somevalue)."""

    model_config = _FROZEN

    snaktype: SnakType = "value"
    value: Value | None = None
    datatype: str = ""

    @property
    def entity(self) -> str | None:
        """The id of the entity that the value is; None where it is something else.

        >>> Snak(value="Q42", datatype="wikibase-item").entity
        'Q42'
        """
        return self.value if isinstance(self.value, str) and self.datatype.startswith("wikibase-") else None


class Claim(Snak):
    """A statement: its rank, its main value, and qualifiers by property (P580 start time, P582 end time)."""

    rank: Rank = "normal"
    qualifiers: dict[str, tuple[Snak, ...]] = {}


class Entity(BaseModel):
    """An item or property. `id` is its own, `asked_as` an id merged into it by which it was asked for.

    `labels`, `aliases` and `sitelinks` are of the languages wanted alone ("en", "mul"; "enwiki").
    """

    model_config = _FROZEN

    id: str
    labels: dict[str, str] = {}
    aliases: dict[str, tuple[str, ...]] = {}
    claims: dict[str, tuple[Claim, ...]] = {}
    sitelinks: dict[str, str] = {}
    datatype: str | None = None  # of a property
    asked_as: str | None = None

    def label(self, language: str) -> str | None:
        """Its label in a language, or the one that holds in all."""
        return self.labels.get(language) or self.labels.get(ANY_LANGUAGE)

    def names(self, language: str) -> tuple[str, ...]:
        """What it is called in a language, the label first, each name once; without demonyms (P1549).

        Names of other languages are left out: "Bielefeld" has 40 of them, and "Bilefeldo" is no answer to a
        question in English. The page's title stands in for a label that lacks, without what is put in
        brackets to tell pages apart.
        """
        found = [self.labels.get(language, ""), self.labels.get(ANY_LANGUAGE, "")]
        if not any(found):
            found.append(_BRACKETS.sub("", self.sitelinks.get(f"{language}wiki", "")))
        found += self.aliases.get(language, ())
        found += self.aliases.get(ANY_LANGUAGE, ())
        demonyms = {
            claim.value.text.casefold()
            for claim in self.claims.get("P1549", ())
            if isinstance(claim.value, Text) and claim.value.language.partition("-")[0] == language
        }
        cleaned = (" ".join(name.split()) for name in found)
        kept = [name for name in cleaned if name and name.casefold() not in demonyms]
        return tuple(dict.fromkeys(kept))

    def best(self, property_id: str) -> tuple[Claim, ...]:
        """The statements of the best rank there is, deprecated ones never: what Wikidata calls truthy."""
        claims = self.claims.get(property_id, ())
        preferred = tuple(claim for claim in claims if claim.rank == "preferred")
        return preferred or tuple(claim for claim in claims if claim.rank == "normal")


_BRACKETS = re.compile(r"\s*\([^()]*\)$")


def is_entity_id(text: str) -> bool:
    """Whether a text has the form of an entity's id.

    >>> is_entity_id("Q42"), is_entity_id("P31"), is_entity_id("Q042"), is_entity_id("42")
    (True, True, False, False)
    """
    return _ID.fullmatch(text) is not None


def id_order(entity_id: str) -> tuple[str, int, str]:
    """A key by which ids stand in the order of their numbers.

    >>> sorted(["Q10", "Q9", "P31"], key=id_order)
    ['P31', 'Q9', 'Q10']
    """
    digits = entity_id[1:]
    number = int(digits) if digits.isascii() and digits.isdigit() else -1
    return entity_id[:1], number, entity_id


def precision_name(precision: int) -> Precision:
    """The name of a time's precision.

    >>> precision_name(11), precision_name(9), precision_name(3)
    ('day', 'year', 'older')
    """
    names: dict[int, Precision] = {10: "month", 9: "year", 8: "decade", 7: "century", 6: "millennium"}
    return "day" if precision >= 11 else names.get(precision, "older")
