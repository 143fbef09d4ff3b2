"""Numbers as texts write them, and the units that Wikidata's quantities have."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from importlib.resources import files

_NUMBER = re.compile(
    r"(?P<sign>[+−-]?)(?P<number>\d{1,3}(?:[, \u00a0\u202f]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?:\s*(?P<scale>thousand|million|billion|trillion))?(?:[\s-]*(?P<unit>[^\d\s.,:;+-]\D*))?",
    re.IGNORECASE,
)
_SCALES = {"": 1, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}


@dataclass(frozen=True)
class Amount:
    """A number that a text says, and what stands behind it ("" or "km")."""

    number: Decimal
    unit: str = ""


@dataclass(frozen=True)
class Unit:
    """A unit: its item, one and several of it, and its symbol ("" where it has none)."""

    id: str
    one: str
    many: str
    symbol: str


def read_amount(text: str) -> Amount | None:
    """The number that a whole text is, with its unit; None where it is none.

    >>> read_amount("1,234.5 km"), read_amount("+61").number, read_amount("3.5 million").number
    (Amount(number=Decimal('1234.5'), unit='km'), Decimal('61'), Decimal('3500000.0'))
    """
    said = " ".join(unicodedata.normalize("NFC", text).split()).partition("^^")[0]
    match = _NUMBER.fullmatch(said)
    if match is None:
        return None
    digits = re.sub(r"[^\d.]", "", match["number"])
    number = Decimal(digits) * _SCALES[(match["scale"] or "").casefold()]
    return Amount(-number if match["sign"] in ("-", "−") else number, (match["unit"] or "").strip())


@lru_cache
def units() -> Mapping[str, Unit]:
    """The common units by the id of their item.

    >>> units()["Q11573"].symbol
    'm'
    """
    text = files("leadline.build").joinpath("data/units.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    return {row[0]: Unit(row[0], row[1], row[2], row[3] if len(row) > 3 else "") for row in rows}


def unit_of(words: str) -> str | None:
    """The id of the unit that words or a symbol name; None where it is not in the table.

    >>> unit_of("kilometres"), unit_of("km²"), unit_of("pages")
    ('Q828224', 'Q712226', None)
    """
    return _by_name().get(_folded(words)) if words else None


def amount_names(number: Decimal, unit_id: str) -> tuple[str, ...]:
    """How a quantity is written: with its unit in words and by its symbol, and bare where it has none.

    >>> amount_names(Decimal("+1234"), "Q11573")
    ('1,234 metres', '1234 metres', '1,234 m', '1234 m')
    """
    plain = f"{number:f}"
    plain = plain.rstrip("0").rstrip(".") if "." in plain else plain
    grouped = f"{Decimal(plain):,f}"
    unit = units().get(unit_id)
    written = tuple(dict.fromkeys((grouped, plain)))
    if unit is None:
        return written
    names = [f"{one} {unit.one if plain in ('1', '-1') else unit.many}" for one in written]
    if unit.symbol:
        names += [f"{one} {unit.symbol}" for one in written]
    return tuple(dict.fromkeys(names))


@lru_cache
def _by_name() -> Mapping[str, str]:
    names = ((_folded(name), one.id) for one in units().values() for name in (one.one, one.many, one.symbol))
    return {name: unit for name, unit in names if name}


def _folded(words: str) -> str:
    return unicodedata.normalize("NFKC", words).casefold().strip(" .")
