"""Scores of blind packs in the data statement: of each its name, rows, shares, intervals, and what it is."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from leadline.bundle.packs import FOLDER, PackFiles

TO_FILL = "**TO FILL**"


def agreement_lines(packs: Sequence[PackFiles], has_statement: bool = False) -> list[str]:
    """A list of the agreement of blind readings with the labels; `has_statement`: the benchmark brings a
    statement of its own, which was written before."""
    scores = [(pack, name) for pack in packs for name in pack.scores]
    if not scores:
        return [f"- Agreement between annotators: {TO_FILL}"]
    number = f"{len(scores):,} score{'s' * (len(scores) != 1)}"
    before = "; what its makers state of agreement, below, is of before" if has_statement else ""
    return [
        f"- Agreement between annotators: measured on blind packs, {number}, each by itself{before}.",
        *(f"  - {_told(pack, name)}" for pack, name in scores),
    ]


def authors_of(packs: Sequence[PackFiles]) -> list[str]:
    """Whom packs and their scores name as author of the labels, each once."""
    found: dict[str, str] = {}
    for pack in packs:
        for one in pack.told.values():
            if isinstance(author := one.get("author"), str) and author:
                found.setdefault(_key(author), author)
    return list(found.values())


def same_name(one: str, other: str) -> bool:
    """Whether two names are alike but for capitals and blanks.

    >>> same_name("Ann  LEE", "ann lee")
    True
    """
    return _key(one) == _key(other)


def _key(name: str) -> str:
    return unicodedata.normalize("NFC", " ".join(unicodedata.normalize("NFC", name).lower().split()))


def _told(pack: PackFiles, name: str) -> str:
    score = pack.told[name]
    overall = score["groups"][0]
    agreement = overall["all_rows"]
    parts = [f"{_share(agreement['agree'])} of {score['rows']:,} rows agree"]
    if agreement.get("weighted") is not None:
        parts.append(
            f"weighted to the {overall['items']:,} items {_share(score['weighted'])} "
            f"({score['weighted']['method']})"
        )
    if score["unsettled"]:
        parts.append(f"{score['unsettled']:,} rows the text could not settle, counted as disagreement")
    for coefficient in ("kappa", "alpha"):
        parts.append(f"{coefficient} {_coefficient(agreement[coefficient])}")
    parts.append(f"drawn from {score.get('population', '')}".strip())
    second = "second scoring, " if score.get("earlier") else ""
    sentence = " ".join(str(score["sentence"]).split())
    lacks = "" if pack.scored[name] else " Its sheet is not in this release: it cannot be counted again."
    return f"{FOLDER}/{pack.name}/{name}: {second}{score['agreement']}; {'; '.join(parts)}. {sentence}{lacks}"


def _share(figure: Mapping[str, Any]) -> str:
    if figure["value"] is None:
        return "no share"
    of = (
        f" ({figure['numerator']:.0f}/{figure['denominator']:.0f})"
        if figure.get("numerator") is not None
        else ""
    )
    return f"{100 * figure['value']:.1f} %{of}{_interval(figure, 100, 1)}"


def _coefficient(figure: Mapping[str, Any]) -> str:
    if figure["value"] is None:
        return f"not estimable ({figure['note']})"
    note = f" ({figure['note']})" if figure.get("note") else ""
    return f"{figure['value']:.3f}{_interval(figure, 1, 3)} (n={figure['denominator']:.0f}){note}"


def _interval(figure: Mapping[str, Any], times: float, digits: int) -> str:
    if figure["low"] is None or figure["high"] is None:
        return ""
    return f" [{times * figure['low']:.{digits}f}, {times * figure['high']:.{digits}f}]"
