"""The declared unit chooses among candidates: of "81,575 thousand shares (5.99%)", the percentage.

Where a candidate bears the declared unit, those in other units and those that count other things ("1 tablet",
"81,575 thousand shares") are none. A bare number stays: it may be in the declared unit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from leadline.answers.printed import value_text
from leadline.answers.units import Quantity

# Words that may follow a number without being what it counts.
_NO_NOUNS = frozenset(
    {
        "of", "to", "and", "or", "in", "for", "per", "is", "are", "was", "were", "at", "by", "the", "before",
        "after", "from", "because", "since", "as", "which", "so", "based", "on", "with", "that", "would",
        "plus", "minus", "times", "than", "not", "but", "if", "when", "then", "that's", "equals", "makes",
        "gives", "over", "out", "approximately", "about", "rounded", "total", "more", "less",
    }
)  # fmt: skip
_NOUN = re.compile(r"[ \u00a0-]([a-z]{3,}|of (?=[\d$€£]))")
_JOINED = re.compile(r"\s*(?:[-–—~/]|to|or|and)\s*", re.IGNORECASE)


def in_declared_unit(text: str, found: Sequence[Quantity], unit: str | None) -> list[Quantity]:
    """`found` without what is in another unit, if one at least bears the declared one."""
    if unit is None or not any(one.bears for one in found):
        return list(found)
    others = [not one.bears and _is_other(text, one) for one in found]
    for at in range(len(found) - 2, -1, -1):  # the first end of a range counts what the second does
        between = text[found[at].end : found[at + 1].start]
        if others[at + 1] and not found[at].bears and _JOINED.fullmatch(between):
            others[at] = True
    return [
        _converted(one) if at and others[at - 1] else one for at, one in enumerate(found) if not others[at]
    ]


def _converted(one: Quantity) -> Quantity:
    """After an amount in another unit, brackets hold the same one in this unit: "€5 ($5.50)" is no minus."""
    number = one.number
    if not (number.text.endswith(")") and number.ambiguous and number.value < 0 and one.printed is not None):
        return one
    notes = tuple(note for note in one.notes if "brackets" not in note)
    return replace(one, value=value_text(-one.printed), printed=-one.printed, notes=notes)


def _is_other(text: str, one: Quantity) -> bool:
    if one.printed is None or one.number.magnitude:
        return True
    noun = _NOUN.match(text, one.end)
    return noun is not None and noun[1] not in _NO_NOUNS
