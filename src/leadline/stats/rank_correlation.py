"""Agreement of two rankings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import kendalltau


def kendall_tau_b(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Kendall's τ_b of two scorings of the same things: 1 the same order, -1 reversed; ties are allowed for.

    None when it is not defined: fewer than two things, or one scoring ties them all.
    Source: M. G. Kendall, Biometrika 33 (1945) 239–251.
    """
    if len(first) != len(second):
        raise ValueError(f"rankings of {len(first)} and {len(second)} things")
    if len(first) < 2 or len(set(first)) < 2 or len(set(second)) < 2:
        return None
    tau = float(kendalltau(first, second, variant="b").statistic)
    return None if np.isnan(tau) else tau
