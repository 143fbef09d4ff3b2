"""Exact McNemar test: does one way of answering win more of the disputed items than chance would?"""

from __future__ import annotations

from leadline.stats.binomials import fair_tail


def mcnemar_exact(recovered: int, broken: int) -> float:
    """Two-sided exact p-value over the items on which two ways of answering disagree; 1 when there are none.

    Source: Q. McNemar, Psychometrika 12 (1947) 153–157; exact binomial form.
    """
    if recovered + broken == 0:
        return 1.0
    return min(1.0, 2 * fair_tail(min(recovered, broken), recovered + broken))


def smallest_p(items: int) -> float:
    """The smallest p-value that `items` disputed items can give: all of them on one side."""
    return mcnemar_exact(items, 0)
