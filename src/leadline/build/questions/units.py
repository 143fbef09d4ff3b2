"""Units of quantities: from Wikidata's items to what a benchmark's `unit` says."""

from __future__ import annotations

# Wikidata's ids are facts about Wikidata; the names are those that `leadline read --unit` knows.
_UNITS = {
    "Q11573": "m",
    "Q174728": "cm",
    "Q174789": "mm",
    "Q828224": "km",
    "Q3710": "ft",
    "Q218593": "in",
    "Q482798": "yd",
    "Q253276": "mi",
    "Q93318": "nmi",
    "Q25343": "m²",
    "Q712226": "km²",
    "Q35852": "ha",
    "Q81292": "acre",
    "Q232291": "mi²",
    "Q11570": "kg",
    "Q41803": "g",
    "Q191118": "t",
    "Q100995": "lb",
    "Q11574": "s",
    "Q7727": "min",
    "Q25235": "h",
    "Q573": "day",
    "Q23387": "week",
    "Q5151": "month",
    "Q577": "year",
    "Q25267": "°C",
    "Q180154": "km/h",
    "Q11229": "percent",
    "Q4917": "USD",
    "Q4916": "EUR",
    "Q25224": "GBP",
    "Q8146": "JPY",
}
# Counts of things: a number without a unit.
_COUNTED = frozenset(("1", "", "Q199", "Q5", "Q33999", "Q63248569"))


def unit_of(unit: str | None, written: str = "") -> str | None:
    """What a benchmark calls a unit; "" for plain numbers, None for one that is not known.

    `unit` is an item's id or "1"; `written`, how the text names it, is taken where there is no id.

    >>> unit_of("Q828224"), unit_of("1"), unit_of(None, "km"), unit_of("Q42")
    ('km', '', 'km', None)
    """
    if unit is None:
        return written if not written or written in _UNITS.values() else None
    return "" if unit in _COUNTED else _UNITS.get(unit)
