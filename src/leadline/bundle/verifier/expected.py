"""What a figure should be, and whether it is: value, numerator, denominator, and both ends of its
interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, isfinite
from statistics import median
from typing import Any, Optional, Union

from leadline.bundle.verifier.alike import alike_difference, alike_share, are_alike
from leadline.bundle.verifier.drawn import Drawn
from leadline.bundle.verifier.faults import Book
from leadline.bundle.verifier.intervals import wilson_ends
from leadline.bundle.verifier.resampling import (
    TOLERANCE,
    Draws,
    end_distance,
    ends_fit,
    mean_draws,
    median_draws,
    ratio_draws,
)

Number = Optional[float]
# Exact ends, or the draws that the ends are judged by (made when they are needed).
Ends = Union[None, tuple[Number, Number], Callable[[], Sequence[float]]]
# Stands for a number that this figure leaves open.
ANY: Any = object()


class Expected:
    """A figure as it was computed a second time."""

    __slots__ = ("denominator", "ends", "numerator", "value")

    def __init__(self, value: Any, numerator: Any = None, denominator: Any = None, ends: Any = None) -> None:
        self.value, self.numerator, self.denominator, self.ends = value, numerator, denominator, ends


# Rows of a table: sorted (key, value) pairs -> name of a figure -> figure.
Table = dict[tuple[tuple[str, str], ...], dict[str, Expected]]


def row_key(**keys: str) -> tuple[tuple[str, str], ...]:
    """A row's keys as tables are looked up by."""
    return tuple(sorted(keys.items()))


def wilson_share(successes: int, total: int) -> Expected:
    """A share of independent things."""
    if total == 0:
        return Expected(None, successes, 0)
    return Expected(successes / total, successes, total, wilson_ends(successes, total))


def plain_count(number: float, of: Any = None) -> Expected:
    """A number of things."""
    return Expected(number, number, of)


def p_figure(p: float, disputed: int) -> Expected:
    """A p-value over so many disputed items."""
    return Expected(p, None, disputed)


def no_figure(denominator: Any = None, numerator: Any = None) -> Expected:
    """A figure that cannot be estimated."""
    return Expected(None, numerator, denominator)


def mean_figure(values: Sequence[float]) -> Expected:
    """A mean from 0 to 1 over items, items resampled."""
    return _mean(values, alike_share)


def difference_figure(values: Sequence[float]) -> Expected:
    """A mean difference over items, items resampled."""
    return _mean(values, alike_difference)


def _mean(values: Sequence[float], of_alike: Callable[[float, int], tuple[float, float]]) -> Expected:
    n = len(values)
    if not n:
        return Expected(None, None, 0)
    total = sum(values)
    if are_alike(values, [1] * n):
        return Expected(total / n, total, n, of_alike(total / n, n))
    return Expected(total / n, total, n, lambda: mean_draws(values))


def ratio_figure(above: Sequence[float], below: Sequence[float], is_share: bool = True) -> Expected:
    """Σ above / Σ below over items, items resampled with both their numbers."""
    top, bottom = sum(above), sum(below)
    if bottom == 0:
        return Expected(None, top, 0)
    if are_alike(above, below):
        items = sum(1 for one in below if one)
        return Expected(top / bottom, top, bottom, alike_share(top / bottom, items) if is_share else None)
    return Expected(top / bottom, top, bottom, lambda: ratio_draws(above, below))


def median_figure(values: Sequence[float]) -> Expected:
    """A median over items, items resampled."""
    if not values:
        return Expected(None, None, 0)
    return Expected(median(values), None, len(values), lambda: median_draws(values))


def same_number(found: Any, expected: Any) -> bool:
    """Equal to nine digits; None equals None alone."""
    if expected is ANY:
        return True
    if found is None or expected is None:
        return found is None and (expected is None or not isfinite(expected))
    return bool(abs(found - expected) <= 1e-9 * max(1.0, abs(found), abs(expected)))


def check_figure(
    place: str, lens: str, found: dict[str, Any], expected: Expected, theirs: int, book: Book
) -> None:
    """Hold a figure of findings.json against its second computation."""
    resampled = False
    for name in ("value", "numerator", "denominator"):
        own = getattr(expected, name)
        if hasattr(own, "agrees"):
            resampled = True
            if not own.agrees(found.get(name), getattr(own, "theirs", None) or theirs):
                book.fault(
                    "figure", f"{place}: {name} is {_shown(found.get(name))}, drawn again it is another"
                )
        elif not same_number(found.get(name), own):
            book.fault("figure", f"{place}: {name} is {_shown(found.get(name))}, recomputed {_shown(own)}")
    low, high, ends = found.get("low"), found.get("high"), expected.ends
    if found.get("level", 0.95) != 0.95:
        book.fault("figure", f"{place}: level is {found.get('level')}")
    if isinstance(ends, Drawn) or callable(ends):
        draws = ends.draws if isinstance(ends, Drawn) else ends()
        theirs = (ends.theirs if isinstance(ends, Drawn) else None) or theirs
        if isinstance(draws, Draws) and draws.may_be_withheld and low is None and high is None:
            pass
        elif not draws or (isinstance(draws, Draws) and draws.must_be_withheld):
            if low is not None or high is not None:
                book.fault("interval", f"{place}: an interval without draws")
        else:
            between = isinstance(ends, Drawn) and ends.between
            if not ends_fit((low, high), draws, theirs, between):
                _fault_of_ends(place, {"low": (low, 0.025), "high": (high, 0.975)}, draws, theirs, book)
        book.count(lens, "by resampling")
        return
    for name, end, own in (
        ("low", low, ends[0] if ends else None),
        ("high", high, ends[1] if ends else None),
    ):
        if not same_number(end, own):
            book.fault("interval", f"{place}: {name} is {_shown(end)}, recomputed {_shown(own)}")
    book.count(lens, "by resampling" if resampled else "exactly")


def _fault_of_ends(
    place: str, ends: dict[str, tuple[Number, float]], draws: Sequence[float], theirs: int, book: Book
) -> None:
    """Name the end that is farther off, and the other where it is off by itself, too."""
    off = {name: end_distance(end, draws, share, theirs) for name, (end, share) in ends.items()}
    for name, (end, share) in ends.items():
        if off[name] == max(off.values()) or off[name] > TOLERANCE:
            own = draws[min(len(draws) - 1, int(share * len(draws)))]
            book.fault("interval", f"{place}: {name} is {_shown(end)}, resampled about {_shown(own)}")


def check_table(finding: dict[str, Any], expected: Table, theirs: int, book: Book) -> None:
    """Hold a table of findings.json against its second computation, row by row and figure by figure."""
    lens, table = finding["lens"], finding["table"]
    where = f"{lens}, {table}, {finding['model']}"
    seen = set()
    for row in finding["rows"]:
        key = tuple(sorted(row["keys"].items()))
        named = ", ".join(f"{name} {value}" for name, value in row["keys"].items())
        if key in seen:
            book.fault("row", f"{where}: {named}: there twice")
        seen.add(key)
        own = expected.get(key)
        if own is None:
            book.fault("row", f"{where}: {named}: no such row was recomputed")
            book.count(lens, "not recomputed", len(row["figures"]))
            continue
        for name, figure in row["figures"].items():
            if name in own:
                check_figure(f"{where}: {named}: {name}", lens, figure, own[name], theirs, book)
            else:
                book.not_recomputed(f"{lens}, {table}: {name}")
                book.count(lens, "not recomputed")
        for name in own:
            if name not in row["figures"]:
                book.fault("row", f"{where}: {named}: {name} is missing")
    for key in expected:
        if key not in seen:
            book.fault(
                "row", f"{where}: {', '.join(f'{name} {value}' for name, value in key)}: the row is missing"
            )


def _shown(number: Any) -> str:
    if number is ANY:
        return "open"
    if number is None or number in (inf, -inf):
        return "nothing" if number is None else str(number)
    return f"{number:.12g}"
