"""Numbers that the report drew, and whether they may have come of its draws: judged by draws of our own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from typing import Optional

from leadline.bundle.verifier.resampling import TOLERANCE, Draws, end_fits


class Drawn:
    """A number, or the ends of an interval, that the report drew `theirs` times (None: as its bootstrap).

    `make` gives draws of our own. A value is compared as their quantile `share` or, where `share` is None,
    their mean. `between`: the report's quantiles may lie between two draws.
    """

    def __init__(
        self,
        make: Callable[[], Sequence[float]],
        theirs: Optional[int] = None,
        share: Optional[float] = None,
        between: bool = False,
    ) -> None:
        self.make, self.theirs, self.share, self.between = make, theirs, share, between
        self._kept: Optional[list[float]] = None

    @property
    def draws(self) -> list[float]:
        """Our draws, sorted; made once."""
        if self._kept is None:
            made = self.make()
            self._kept = made if isinstance(made, Draws) else sorted(made)
        return self._kept

    def agrees(self, value: Optional[float], theirs: int) -> bool:
        """Whether a value may be what the report's draws gave."""
        draws = self.draws
        if not draws or value is None:
            return not draws and value is None
        if self.share is not None:
            return end_fits(value, draws, self.share, theirs, self.between)
        return abs(value - sum(draws) / len(draws)) <= mean_reach(draws, theirs)


def mean_reach(draws: Sequence[float], theirs: int) -> float:
    """How far two means, of these draws and of `theirs` others, may lie apart."""
    middle = sum(draws) / len(draws)
    spread = sqrt(sum((draw - middle) ** 2 for draw in draws) / len(draws))
    return TOLERANCE * spread * sqrt(1 / theirs + 1 / len(draws)) + 1e-9 * max(1.0, abs(middle))


def tail_agrees(
    p: Optional[float], draws: Sequence[float], observed: float, theirs: int, sides: int = 1
) -> bool:
    """Whether p may be (1 + draws that reach `observed`) / (1 + draws), of `theirs` others. Ties reach."""
    if p is None or not draws:
        return p is None
    slack = 1e-9 * max(1.0, abs(observed))
    if sides == 2:
        reached = sum(abs(draw) >= abs(observed) - slack for draw in draws)
    else:
        reached = sum(draw >= observed - slack for draw in draws)
    share = (1 + reached) / (1 + len(draws))
    # At the end of the scale a share of no spread would allow no other draw at all.
    wide = max(share * (1 - share), 4 / min(theirs, len(draws)) * (1 - 4 / min(theirs, len(draws))))
    return 0 < p <= 1 and abs(p - share) <= TOLERANCE * sqrt(wide * (1 / theirs + 1 / len(draws)))


class Tail:
    """A p-value that the report drew: how many of `theirs` draws reach what was observed."""

    def __init__(self, drawn: Drawn, observed: float, sides: int = 1) -> None:
        self.drawn, self.observed, self.sides = drawn, observed, sides

    def agrees(self, value: Optional[float], theirs: int) -> bool:
        """Whether `value` may be it."""
        return tail_agrees(value, self.drawn.draws, self.observed, self.drawn.theirs or theirs, self.sides)
