"""Relation labels to Wikidata's properties, and the datatype of their values.

The packaged table `data/relations.tsv` names the relations that REBEL was trained on and others that are
often met, with the labels they have had over the years: Wikidata renames properties, models do not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from leadline.errors import UsageError
from leadline.ordinary_file import text as ordinary_text

# Wikidata's names of the kinds of values: https://www.wikidata.org/wiki/Help:Data_type
DATATYPES = frozenset(
    (
        "commonsMedia",
        "external-id",
        "globe-coordinate",
        "math",
        "monolingualtext",
        "quantity",
        "string",
        "time",
        "url",
        "wikibase-item",
        "wikibase-property",
    )
)
_PROPERTY = re.compile(r"P[1-9][0-9]*\Z")
_FIX = "place of birth TAB P19 TAB wikibase-item"


@dataclass(frozen=True)
class Properties:
    """What a table of relations says.

    >>> known = properties()
    >>> known.id("Place of  birth"), known.id("born in"), known.id("P19"), known.id("likes")
    ('P19', 'P19', 'P19', None)
    >>> known.label("P19"), known.datatype("P569")
    ('place of birth', 'time')
    """

    ids: dict[str, str]
    labels: dict[str, str]
    datatypes: dict[str, str]

    def id(self, label: str) -> str | None:
        """The property with that label or alias, whatever its case; an id stands for itself."""
        found = self.ids.get(_plain(label))
        if found is None and _PROPERTY.match(label.strip()):
            return label.strip()
        return found

    def label(self, property_id: str) -> str | None:
        """Its name: the first that the table has for it."""
        return self.labels.get(property_id)

    def datatype(self, property_id: str) -> str | None:
        """What its values are, in Wikidata's words: wikibase-item, time, quantity, string, ..."""
        return self.datatypes.get(property_id)


def properties(file: Path | None = None) -> Properties:
    """The packaged table, or that of `file`: label TAB property id, and TAB datatype if you like.

    A property's first line has its name, further ones its aliases. Datatypes that `file` leaves out are
    those of the packaged table. Raises UsageError with file and line where a line is wrong.
    """
    if file is None:
        return _packaged()
    try:
        text = ordinary_text(file)
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(file)) from None
    except UnicodeDecodeError as error:
        raise UsageError(f"is not UTF-8 at byte {error.start}", where=str(file)) from None
    table = _read(text, str(file))
    return Properties(table.ids, table.labels, _packaged().datatypes | table.datatypes)


@cache
def _packaged() -> Properties:
    text = files("leadline.build").joinpath("data", "relations.tsv").read_text("utf-8")
    return _read(text, "relations.tsv")


def _read(text: str, name: str) -> Properties:
    ids: dict[str, str] = {}
    labels: dict[str, str] = {}
    datatypes: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        where = f"{name}:{number}"
        label, property_id, datatype, *more = [cell.strip() for cell in line.split("\t")] + ["", ""]
        if not label or not _PROPERTY.match(property_id) or any(more):
            raise UsageError(f"not a label, a tab and a property id: {line[:60]!r}", where=where, fix=_FIX)
        if datatype and datatype not in DATATYPES:
            raise UsageError(
                f"no datatype is called {datatype[:30]!r}",
                where=where,
                fix=f"one of {', '.join(sorted(DATATYPES))}",
            )
        if ids.setdefault(_plain(label), property_id) != property_id:
            raise UsageError(
                f"{label[:60]!r} stands for {ids[_plain(label)]} above and for {property_id} here",
                where=where,
            )
        if datatype and datatypes.setdefault(property_id, datatype) != datatype:
            raise UsageError(f"{property_id} had the datatype {datatypes[property_id]} above", where=where)
        labels.setdefault(property_id, label)
    return Properties(ids, labels, datatypes)


def _plain(label: str) -> str:
    return " ".join(label.replace("_", " ").split()).casefold()
