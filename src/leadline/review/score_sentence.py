"""What a score must be called, in a sentence: whose agreement it is, by the names given, and how blind.

The sentence is repeated wherever the score is released, and `verify.py` makes it again from the score.
"""

from __future__ import annotations

import unicodedata
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict

from leadline.lenses.finding import Figure
from leadline.review.reader import same_reader

Relation = Literal["intra-annotator", "inter-annotator", "unknown"]


class EarlierScore(BaseModel):
    """A score of the same reader on the same pack that was there already: its file, and what it said."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    file: str
    created: datetime
    sheet: str
    agree: Figure
    kappa: Figure


class Stood(BaseModel):
    """Whether the reader had seen keys of the benchmark when the score was made: how many of its items, and
    how many of the pack's rows, have a reading or a decision in that name."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    items: int = 0
    rows: int = 0


def relation_of(reader: str, author: str) -> Relation:
    """What agreement of a reader with the author's labels is.

    >>> relation_of("ann  LEE", "Ann Lee"), relation_of("Ann Lee", "Bo Li"), relation_of("Ann Lee", "")
    ('intra-annotator', 'inter-annotator', 'unknown')
    """
    if not author:
        return "unknown"
    return "intra-annotator" if same_reader(reader, author) else "inter-annotator"


def called(relation: Relation) -> str:
    """Its name."""
    return "annotator agreement of unknown kind" if relation == "unknown" else f"{relation} agreement"


def score_sentence(
    reader: str, author: str, sheet: str, earlier: EarlierScore | None = None, stood: Stood | None = None
) -> str:
    """What has to be said with the score of `reader`; `sheet` is the sha256 of the sheet that was scored.

    >>> score_sentence("Bo Li", "Ann Lee", "")[:60]
    'This is inter-annotator agreement by the names given: Ann Le'
    """
    relation = relation_of(reader, author)
    parts = (
        _sentence(relation, reader, author),
        "The two names are alike; whether they are two people's is not known."
        if relation == "inter-annotator" and _alike(reader, author)
        else "",
        _again(earlier, sheet),
        _stood(stood or Stood(), reader),
    )
    return " ".join(filter(None, parts))


def _sentence(relation: Relation, reader: str, author: str) -> str:
    match relation:
        case "intra-annotator":
            return (
                "This is intra-annotator agreement by the names given and must be reported in those words: "
                f"{author} labelled these items and read them again. It says how far one person repeats own "
                "labels; only an independent reader yields inter-annotator agreement."
            )
        case "inter-annotator":
            return (
                f"This is inter-annotator agreement by the names given: {author} labelled these items, "
                f"{reader} read them again."
            )
        case "unknown":
            return (
                "Whether this is inter- or intra-annotator agreement cannot be told, as nobody is named as "
                "author of the labels; until it is, it must be read as intra-annotator agreement."
            )


def _alike(one: str, other: str) -> bool:
    """Whether two names have the same last word and first letter, marks and width of letters left aside."""
    first, second = (
        "".join(
            sign for sign in unicodedata.normalize("NFKD", name).casefold() if not unicodedata.combining(sign)
        ).split()
        for name in (one, other)
    )
    return (first[0][0], first[-1]) == (second[0][0], second[-1])


def _again(earlier: EarlierScore | None, sheet: str) -> str:
    if earlier is None:
        return ""
    first = f"the first ({earlier.file}, {earlier.created:%Y-%m-%d}) was {_percent(earlier.agree)}"
    if earlier.sheet == sheet:
        return (
            f"It is a second scoring: {first}. The sheet is the same: rules or names differ, no answer does."
        )
    return (
        f"It is a second scoring: {first}, and listed the disagreements with their labels, so that the key "
        "was seen in between; the sheet was changed since. Only the first is of a blind reading."
    )


def _stood(stood: Stood, reader: str) -> str:
    if not stood.items:
        return ""
    return (
        f"{reader} is not known to be blind: {stood.items:,} item{'s' * (stood.items != 1)} of this "
        f"benchmark, {stood.rows:,} of the pack's rows, had been read or decided on in that name, with the "
        "label shown."
    )


def _percent(figure: Figure) -> str:
    if figure.value is None or figure.numerator is None:
        return "no share"
    return f"{100 * figure.value:.1f} % ({figure.numerator:.0f}/{figure.denominator:.0f})"
