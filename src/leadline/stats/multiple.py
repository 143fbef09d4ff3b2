"""Correction for several comparisons made at once."""

from __future__ import annotations

from collections.abc import Sequence

from statsmodels.stats.multitest import multipletests


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values, in the order given; reject where one is at most the level wanted.

    Controls the chance of any false claim among them, whatever their dependence.
    Source: S. Holm, Scandinavian Journal of Statistics 6 (1979) 65–70.
    """
    if not p_values:
        return []
    return [float(p) for p in multipletests(p_values, method="holm")[1]]
