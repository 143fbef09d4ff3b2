"""Two runs of what should be the same: differing answers against deals of the pooled ones and against
resamples."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from math import sqrt
from typing import Any, Optional

from leadline.bundle.verifier.cells import Sides
from leadline.bundle.verifier.drawn import Drawn, Tail
from leadline.bundle.verifier.expected import (
    Expected,
    Table,
    mean_figure,
    no_figure,
    plain_count,
    ratio_figure,
    row_key,
    wilson_share,
)
from leadline.bundle.verifier.intervals import holm_corrected, normal_cdf
from leadline.bundle.verifier.loading import Answer, value_under
from leadline.bundle.verifier.resampling import TOLERANCE
from leadline.bundle.verifier.small_changes import OneOf, smallest_changes

_DEALS = 1000
_POWER = 0.8


# Of fewer items the smallest change that is found is simulated.
_FEW = 30


class Near:
    """A number that hangs on the report's draws and may be off by so much."""

    def __init__(self, value: Optional[float], reach: float) -> None:
        self.value, self.reach = value, reach
        self.theirs: Optional[int] = None

    def agrees(self, found: Optional[float], theirs: int) -> bool:
        """Whether it is near enough."""
        if found is None or self.value is None:
            return found is None and self.value is None
        return abs(found - self.value) <= self.reach + 1e-9


class Said:
    """What a run gave for an item, a state that is no answer counting as one of its own."""

    __slots__ = ("counts", "modal", "n", "readable")

    def __init__(self, answers: Sequence[Answer]) -> None:
        # A tuple, so that no value can be taken for a state.
        given = [
            value_under(one, "shared") if one.state == "ok" else ("no answer", one.state) for one in answers
        ]
        self.counts: Counter[Any] = Counter(given)
        self.n = len(given)
        self.readable = sum(one.state == "ok" for one in answers)
        self.modal = _mode(self.counts) if given else None


# Of one run: item -> what it gave.
Run = dict[str, Said]


def distance(first: Counter[Any], second: Counter[Any]) -> float:
    """Half the sum of differences of the two runs' shares of each answer."""
    n, m = sum(first.values()), sum(second.values())
    return sum(abs(first[value] / n - second[value] / m) for value in {*first, *second}) / 2


def equivalence_tables(sides: Sides, rows: Sequence[dict[str, Any]]) -> dict[str, Table]:
    """The pairs that the report shows: the study's own, whose names may fit several models."""
    if not sides.stability["equivalence"]:
        return {}
    runs: dict[str, Run] = {}
    for label, member in zip(sides.labels, sides.members):
        cells = sides.bundle.cells.get((member["model"], member["configuration"]), {})
        runs[label] = {item: Said(answers) for item, answers in cells.items()}
    table: Table = {}
    for row in rows:
        keys = row["keys"]
        if keys["configuration"] in runs and keys["other"] in runs:
            figures = _pair(runs[keys["configuration"]], runs[keys["other"]], sides)
            table[row_key(**keys)] = figures
    for figures in table.values():
        figures["variation_p_holm"] = no_figure()
    # A pair without an item that both were asked is not tested, and counts in no correction.
    tested = [row for row in rows if row["figures"]["variation_p"].get("value") is not None]
    reported = [float(row["figures"]["variation_p"]["value"]) for row in tested]
    for row, corrected in zip(tested, holm_corrected(reported)):
        key = row_key(**row["keys"])
        if key in table:
            table[key]["variation_p_holm"] = Expected(corrected, None, table[key]["items"].value)
    return {"pairs": table}


class Deals:
    """Each item's pooled answers dealt out to the two runs again."""

    def __init__(self, pairs: Sequence[tuple[Said, Said]]) -> None:
        rng = random.Random(f"deals {len(pairs)}")
        self.differing = [0.0] * _DEALS
        self.variation = [0.0] * _DEALS
        self.means: list[float] = []
        self.spreads: list[float] = []
        for one, other in pairs:
            pool = [
                value for cell in (one, other) for value, times in cell.counts.items() for _ in range(times)
            ]
            if len({*pool}) == 1:
                self.means.append(0.0)
                self.spreads.append(0.0)
                continue
            seen = []
            for deal in range(_DEALS):
                rng.shuffle(pool)
                first, second = Counter(pool[: one.n]), Counter(pool[one.n :])
                # Counters keep the order of the deal, so that a tie goes to the first.
                self.differing[deal] += _mode(first) != _mode(second)
                seen.append(distance(first, second))
                self.variation[deal] += seen[-1]
            middle = sum(seen) / _DEALS
            self.means.append(middle)
            self.spreads.append(sum((value - middle) ** 2 for value in seen) / _DEALS)


def _mode(counts: Counter[Any]) -> Any:
    most = max(counts.values())
    return next(value for value, number in counts.items() if number == most)


def _pair(first: Run, second: Run, sides: Sides) -> dict[str, Expected]:
    items = sorted(set(first) & set(second))
    pairs = [(first[item], second[item]) for item in items]
    n = len(items)
    theirs = sides.stability["permutations"]
    population = len({item for side in sides.sides() for item in side})
    if not n:
        names = ("differing", "variation", "variation_p", "detectable")
        return {"items": plain_count(0, population), **{name: no_figure(0) for name in names}}
    differing = sum(one.modal != other.modal for one, other in pairs)
    distances = [distance(one.counts, other.counts) for one, other in pairs]
    deals = Deals(pairs)
    figures = {
        "items": plain_count(n, population),
        "readable": ratio_figure([one.readable for one, _ in pairs], [one.n for one, _ in pairs]),
        "readable_other": ratio_figure(
            [other.readable for _, other in pairs], [other.n for _, other in pairs]
        ),
        "differing": wilson_share(differing, n),
        "variation": mean_figure(distances),
    }
    for name, draws, observed in (
        ("differing", deals.differing, float(differing)),
        ("variation", deals.variation, sum(distances)),
    ):
        shares = Drawn(lambda draws=draws: [draw / n for draw in draws], theirs, between=True)  # type: ignore[misc]
        sums = Drawn(lambda draws=draws: draws, theirs)  # type: ignore[misc]
        figures[f"{name}_expected"] = Expected(shares, sums, n, shares)
        figures[f"{name}_p"] = Expected(Tail(sums, observed), None, n)
    figures.update(_resampled(pairs, differing, n, theirs))
    if n <= _FEW:  # too few items for the normal distribution
        pools = [([*one.counts.elements(), *other.counts.elements()], one.n) for one, other in pairs]
        able = smallest_changes(pools)
        of_items = [None if changed is None else changed / n for changed in able]
        figures["detectable"] = Expected(OneOf(of_items), OneOf(able), n)
        return figures
    least = _detectable(pairs, deals)
    reach = max(1.0, 0.25 * least) if least is not None else 0.0
    figures["detectable"] = Expected(
        Near(least / n if least is not None else None, reach / n), Near(least, reach), n
    )
    return figures


def _resampled(pairs: Sequence[tuple[Said, Said]], observed: int, n: int, theirs: int) -> dict[str, Expected]:
    """The published null, and how far its figures may be off for having been drawn `theirs` times an item."""
    rng = random.Random("resampled modes")
    chances = []
    for one, _ in pairs:
        values, weights = list(one.counts), list(one.counts.values())
        if len(values) == 1:
            chances.append(0.0)
            continue
        draws = 2 * _DEALS
        chances.append(
            sum(_mode(Counter(rng.choices(values, weights, k=one.n))) != one.modal for _ in range(draws))
            / draws
        )
    expected, spread = _moments(chances)
    replicas = []
    for _ in range(200):
        drawn = [
            min(1.0, max(0.0, rng.gauss(p, sqrt(p * (1 - p) / theirs)))) if 0 < p < 1 else p for p in chances
        ]
        mean, sd = _moments(drawn)
        replicas.append((mean, _tail(drawn, observed), (observed - mean) / sd if sd else 0.0))
    off = [_spread([replica[at] for replica in replicas]) for at in range(3)]
    reach = [1.2 * TOLERANCE * one + 1e-6 for one in off]
    z = (observed - expected) / spread if spread else None
    return {
        "resampled_expected": Expected(Near(expected / n, reach[0] / n), Near(expected, reach[0]), n),
        "resampled_p": Expected(Near(_tail(chances, observed), reach[1] + 0.01), None, n),
        "resampled_z": Expected(Near(z, reach[2]), None, n),
    }


def _moments(chances: Sequence[float]) -> tuple[float, float]:
    return sum(chances), sqrt(sum(p * (1 - p) for p in chances))


def _spread(values: Sequence[float]) -> float:
    middle = sum(values) / len(values)
    return sqrt(sum((value - middle) ** 2 for value in values) / len(values))


def _tail(chances: Sequence[float], observed: int) -> float:
    """The chance of at least so many of independent events."""
    masses = [1.0]
    for p in chances:
        masses = [
            (masses[k] * (1 - p) if k < len(masses) else 0.0) + (masses[k - 1] * p if k else 0.0)
            for k in range(len(masses) + 1)
        ]
    return min(1.0, sum(masses[observed:]))


def _detectable(pairs: Sequence[tuple[Said, Said]], deals: Deals) -> Optional[int]:
    """How many items, answered altogether otherwise by the second run, push the distance out of 95 % of
    deals with 80 % chance: by the normal distribution, from each item's own mean and spread over deals."""
    n = len(pairs)
    whole_mean, whole_spread = sum(deals.means), sum(deals.spreads)
    rng = random.Random("detectable")
    altered = []
    for one, other in pairs:
        pool = ["old"] * one.n + ["new"] * other.n
        seen = []
        for _ in range(40):
            rng.shuffle(pool)
            seen.append(distance(Counter(pool[: one.n]), Counter(pool[one.n :])))
        altered.append((sum(seen) / len(seen), _spread(seen) ** 2))
    moved_mean = sum(mean for mean, _ in altered) / n
    moved_spread = sum(spread for _, spread in altered) / n
    for changed in range(1, n + 1):
        stay = 1 - changed / n
        observed = stay * whole_mean + changed
        null = stay * whole_mean + changed * moved_mean
        null_sd = sqrt(stay * whole_spread + changed * moved_spread)
        observed_sd = sqrt(stay * whole_spread) or 1e-9
        if normal_cdf((observed - null - 1.6449 * null_sd) / observed_sd) >= _POWER:
            return changed
    return None
