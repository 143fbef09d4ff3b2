"""Fisher's exact test: do two groups of items share in something more unequally than chance would have it?"""

from __future__ import annotations


def fisher_p(successes_1: int, trials_1: int, successes_2: int, trials_2: int) -> float:
    """Two-sided exact p-value of two shares being equal; 1 when a group is empty.

    Tables no likelier than the one seen, at the same margins, are added up.
    Source: R. A. Fisher, Journal of the Royal Statistical Society 98 (1935) 39–82.

    >>> round(fisher_p(3, 4, 1, 4), 6)
    0.485714
    """
    if not 0 <= successes_1 <= trials_1 or not 0 <= successes_2 <= trials_2:
        raise ValueError(f"{successes_1} of {trials_1} and {successes_2} of {trials_2}")
    if trials_1 == 0 or trials_2 == 0:
        return 1.0
    from scipy.stats import fisher_exact  # late: over half a second

    table = [[successes_1, trials_1 - successes_1], [successes_2, trials_2 - successes_2]]
    return min(1.0, float(fisher_exact(table).pvalue))


def smallest_fisher_p(trials_1: int, trials_2: int) -> float:
    """The smallest p-value that groups of these sizes can give: all of one, none of the other.

    >>> round(smallest_fisher_p(3, 3), 6)
    0.1
    """
    return min(fisher_p(trials_1, trials_1, 0, trials_2), fisher_p(0, trials_1, trials_2, trials_2))
