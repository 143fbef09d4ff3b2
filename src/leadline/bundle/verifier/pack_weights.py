"""Shares of agreement with each stratum of a pack weighted by its size in the population, counted again."""

from __future__ import annotations

from math import isclose
from typing import Any, Optional

from leadline.bundle.verifier.intervals import wilson_ends


def weighted_fault(head: dict[str, Any], score: dict[str, Any]) -> str:
    """Why a weighted share is not that of its strata, or stands where rows weigh alike; "" where none is.

    Wilson's interval over Kish's effective number of rows: L. Kish, Survey Sampling (1965), section 11.7.
    """
    strata = {(one["category"], one["answer_type"]): one for one in score["groups"] if one["by"] == "stratum"}
    weights = {(one["category"], one["answer_type"]): one["items"] / one["drawn"] for one in head["strata"]}
    if not _same(score["weighted"], _own(list(strata.values()), weights, False)):
        return "the weighted share is not that of its strata"
    for group in score["groups"]:
        its = [
            one
            for (category, kind), one in strata.items()
            if group["category"] in (None, category) and group["answer_type"] in (None, kind)
        ]
        is_unequal = len({weights[one["category"], one["answer_type"]] for one in its}) > 1
        for name in ("all_rows", "settled"):
            if group[name] is None:
                continue
            own = _own(its, weights, name == "settled") if is_unequal else None
            if not _same(group[name]["weighted"], own):
                return f"a weighted share ({group['by']}, {name}) is not that of its strata"
    return ""


def _own(
    strata: list[dict[str, Any]], weights: dict[tuple[str, str], float], settled: bool
) -> Optional[tuple[float, ...]]:
    """Value, ends, rows; None where there are no rows."""
    above = below = squares = rows = 0.0
    for one in strata:
        weight = weights[one["category"], one["answer_type"]]
        number = one["rows"] - one["unsettled"] * settled
        above += weight * one["all_rows"]["agree"]["numerator"]
        below += weight * number
        squares += weight**2 * number
        rows += number
    if not rows:
        return None
    value, effective = min(1.0, above / below), below**2 / squares
    return (value, *wilson_ends(value * effective, effective), rows)


def _same(told: Optional[dict[str, Any]], own: Optional[tuple[float, ...]]) -> bool:
    if told is None or own is None:
        return told is None and own is None
    names = ("value", "low", "high", "denominator")
    return all(isclose(told[name], one, rel_tol=1e-9, abs_tol=1e-9) for name, one in zip(names, own))
