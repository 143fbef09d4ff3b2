"""How a figure is printed: "12.5 % (5/40) [5.5, 26.1]". Every rounding of every report happens here.

A figure's key says what kind of number it is; a key that is not listed is judged by its value: a quotient
of its own counts is a share, everything else a plain number, so that a new lens needs no entry.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, ROUND_UP, Decimal
from enum import StrEnum

from leadline.lenses.finding import Figure

MINUS = "\N{MINUS SIGN}"
ABSENT = "\N{EN DASH}"


class Kind(StrEnum):
    """What a number is, which decides how it is rounded and what unit follows it."""

    SHARE = "share"  # 0.125 -> 12.5 %
    DIFFERENCE = "difference"  # 0.042 -> +4.2 pp
    COUNT = "count"  # 1234 -> 1,234
    SIGNED_COUNT = "signed count"  # 3 -> +3
    P_VALUE = "p value"  # 0.0004 -> <0.001
    COEFFICIENT = "coefficient"  # 0.8912 -> 0.89
    INDEX = "index"  # 0.1874 -> 0.187
    RATIO = "ratio"  # 2.64149 -> 2.64×
    SHIFT = "shift"  # 0.5 -> +0.50
    NUMBER = "number"  # three significant digits or whole


KINDS = {
    "difference": Kind.DIFFERENCE,
    "fall": Kind.DIFFERENCE,
    "fall_newcombe": Kind.DIFFERENCE,
    "acc_rise": Kind.DIFFERENCE,
    "acc_change": Kind.DIFFERENCE,
    "wobble_change": Kind.DIFFERENCE,
    "net": Kind.SIGNED_COUNT,
    "kendall_sgr": Kind.COEFFICIENT,
    "kendall_dgr": Kind.COEFFICIENT,
    "median_log2_shift": Kind.SHIFT,
    "acc": Kind.SHARE,
    "dispersion": Kind.INDEX,
    "dispersion_difference": Kind.INDEX,
    "p_median": Kind.INDEX,
    "plain_p_median": Kind.INDEX,
    "mean": Kind.SHARE,
    "median": Kind.SHARE,
    "mean_untied": Kind.SHARE,
    "chance": Kind.SHARE,
    "null_mean": Kind.SHARE,
    "cross_mean": Kind.SHARE,
    "corrected_all_tasks": Kind.INDEX,
    "median_corrected_all_tasks": Kind.INDEX,
    "random_median": Kind.INDEX,
    "median_ratio": Kind.RATIO,
    "median_conservative": Kind.RATIO,
    "r": Kind.INDEX,
    "r_squared": Kind.INDEX,
    "corrected": Kind.INDEX,
    "median_corrected": Kind.INDEX,
    "median_r": Kind.INDEX,
    "residual_rho_lower": Kind.INDEX,
    "residual_rho_upper": Kind.INDEX,
    "observed": Kind.SHARE,
    "lower": Kind.SHARE,
    "upper": Kind.SHARE,
    "calibrated": Kind.SHARE,
    "mean_observed": Kind.SHARE,
    "largest_observed": Kind.SHARE,
    "largest_lower": Kind.SHARE,
    "largest_upper": Kind.SHARE,
    "ceiling_observed": Kind.SHARE,
    "ceiling_lower": Kind.SHARE,
    "ceiling_upper": Kind.SHARE,
    "slope": Kind.INDEX,
    "intercept": Kind.INDEX,
}


@dataclass(frozen=True)
class Printed:
    """A figure in three pieces, so that a page may set the counts and the interval smaller than the value."""

    value: str
    counted: str = ""  # "5/40"
    interval: str = ""  # "[5.5, 26.1]"

    def __str__(self) -> str:
        counted = f"({self.counted})" if self.counted else ""
        return " ".join(piece for piece in (self.value, counted, self.interval) if piece)


def kind_of(key: str, figures: Iterable[Figure]) -> Kind:
    """What kind of number a column of figures is; one column never mixes units."""
    if key in KINDS:
        return KINDS[key]
    if key.endswith(("_margin", "_difference")) or key.startswith("difference"):
        return Kind.DIFFERENCE
    if key in ("p", "p_tasks", "p_holm") or key.endswith(("_p", "_p_holm")):
        return Kind.P_VALUE
    if key == "ratio" or key.endswith("_ratio"):
        return Kind.RATIO
    if key.rsplit("_", maxsplit=1)[-1] in ("rho", "rbo"):
        return Kind.INDEX
    valued = [figure for figure in figures if figure.value is not None]
    if valued and all(figure.method == "count" for figure in valued):
        return Kind.COUNT
    if valued and all(map(_is_quotient, valued)):
        return Kind.SHARE
    whole = all(float(figure.value or 0).is_integer() and figure.low is None for figure in valued)
    return Kind.COUNT if valued and whole else Kind.NUMBER


def printed(key: str, figure: Figure | None, kind: Kind | None = None) -> Printed:
    """The figure as text. A figure that cannot be estimated is a dash with its counts, if it has any.

    `kind` is that of the column which the figure stands in; by default it is judged alone.
    """
    if figure is None:
        return Printed("")
    kind = kind or kind_of(key, [figure])
    counted = _counted(figure, kind)
    if figure.value is None or not math.isfinite(figure.value):
        return Printed(ABSENT, counted)
    interval = ""
    if figure.low is not None and figure.high is not None:
        interval = f"[{_bare(figure.low, kind)}, {_bare(figure.high, kind)}]"
    if kind is Kind.P_VALUE and _none_reached(figure):
        return Printed(f"<{_significant(figure.value)}", counted, interval)
    return Printed(_with_unit(figure.value, kind), counted, interval)


def percent(share: float) -> str:
    """0.125 -> "12.5 %"."""
    return _with_unit(share, Kind.SHARE)


def count(number: float) -> str:
    """1234.0 -> "1,234"; a fraction keeps one digit."""
    return _fixed(number, 0 if float(number).is_integer() else 1)


def plural(number: int, noun: str) -> str:
    """1, "item" -> "1 item"; 2, "item" -> "2 items"."""
    return f"{count(number)} {noun}" if number == 1 else f"{count(number)} {noun}s"


def _is_quotient(figure: Figure) -> bool:
    value, numerator, denominator = figure.value, figure.numerator, figure.denominator
    if value is None or numerator is None or not denominator or not 0 <= value <= 1:
        return False
    return math.isclose(value, numerator / denominator, abs_tol=1e-9)


def _counted(figure: Figure, kind: Kind) -> str:
    if figure.denominator is None or kind in (Kind.P_VALUE, Kind.COEFFICIENT, Kind.SIGNED_COUNT):
        return ""
    if kind is Kind.RATIO and figure.denominator < 1:
        return ""  # a quotient of two shares: neither was counted
    if figure.numerator is None or kind in (Kind.DIFFERENCE, Kind.SHIFT, Kind.INDEX):
        return f"n={count(figure.denominator)}"
    return f"{count(figure.numerator)}/{count(figure.denominator)}"


def _with_unit(value: float, kind: Kind) -> str:
    match kind:
        case Kind.SHARE:
            return f"{_bare(value, kind)} %"
        case Kind.DIFFERENCE:
            return f"{_bare(value, kind)} pp"
        case Kind.P_VALUE:
            return "<0.001" if value < 0.001 else _fixed(value, 3)
        case Kind.RATIO:
            return f"{_bare(value, kind)}×"
        case _:
            return _bare(value, kind)


def _none_reached(figure: Figure) -> bool:
    """Whether a permutation p is the resolution of its permutations, 1 / (R + 1): none reached the data."""
    named = re.search(r"([\d,]+) permutations", figure.method)
    draws = float(named[1].replace(",", "")) if named else figure.denominator
    if figure.value is None or not draws or "permutation" not in figure.method:
        return False
    return math.isclose(figure.value, 1 / (draws + 1))


def _significant(value: float) -> str:
    """0.00049975 -> "0.0005": one significant digit, rounded up so that "less than" stays true."""
    exact = Decimal(repr(value))
    digit = Decimal(1).scaleb(exact.adjusted())
    return f"{exact.quantize(digit, rounding=ROUND_UP):f}"


def _bare(value: float, kind: Kind) -> str:
    if not math.isfinite(value):
        return f"{MINUS}∞" if value < 0 else "∞"
    match kind:
        case Kind.SHARE:
            return _fixed(value, 1, scale=100)
        case Kind.DIFFERENCE:
            return _fixed(value, 1, scale=100, signed=True)
        case Kind.COUNT:
            return count(value)
        case Kind.SIGNED_COUNT:
            return _fixed(value, 0, signed=True)
        case Kind.P_VALUE:
            return _fixed(value, 3)
        case Kind.COEFFICIENT:
            return _fixed(value, 2)
        case Kind.INDEX:
            return _fixed(value, 3)
        case Kind.RATIO:
            return _fixed(value, 1 if abs(value) >= 100 else 2)
        case Kind.SHIFT:
            return _fixed(value, 2, signed=True)
        case Kind.NUMBER:
            size = abs(value)
            return _fixed(value, 0 if size >= 100 else 1 if size >= 10 else 2)


def _fixed(value: float, digits: int, *, scale: int = 1, signed: bool = False) -> str:
    """Round half up, as readers do by hand, on the shortest decimal form (0.0625 is 6.3 %, not 6.2 %)."""
    exact = Decimal(repr(float(value))) * scale
    rounded = exact.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP)
    text = f"{abs(rounded):,}"
    if rounded < 0:
        return MINUS + text
    return f"+{text}" if signed and rounded > 0 else text
