"""Correction for several comparisons made at once."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values, in the order given; reject where one is at most the level wanted.

    Controls the chance of any false claim among them, whatever their dependence.
    Source: S. Holm, Scandinavian Journal of Statistics 6 (1979) 65–70.
    """
    if not p_values:
        return []
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    for done, place in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - done) * p_values[place]))
        adjusted[place] = largest
    return adjusted
