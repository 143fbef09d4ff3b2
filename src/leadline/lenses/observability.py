"""Where can wobble show at all, and how much of it do the answers' own rates of being right leave room for?

p of a cell (one item under one configuration) is the share of its readings that are correct. A cell with
0 < p < 1 is unstable by definition; one with p = 1 hardly ever is (two right answers may differ); only where
p = 0 is it open. So a benchmark on which nearly all cells lie at p = 1 can show little wobble, whatever the
models do. `band` is the share of cells with 0.3 ≤ p ≤ 0.7, `band_half_open` that with 0.3 ≤ p < 0.7 (p takes
the values k/n only, and the ends are populated); both are decided on whole numbers. The predictions are those
of `lenses.structural`. An answer that cannot be read has no part in p; `p_one_of_asked` counts it as wrong.

Rows of one configuration do not depend on other configurations: Wilson intervals, means with a bootstrap over
items, and the calibrated prediction made from that configuration alone. Rows of all configurations pool cells
and draw items with all their cells. Source: Probity, section 4 and figure 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from leadline.lenses.figures import bootstrapped, count, left_out, mean, percent, ratio, share, unknown
from leadline.lenses.finding import Claim, ClaimStatus, Figure, Finding, Row
from leadline.lenses.panel import Panel
from leadline.lenses.registry import ALL_MODELS, Lens
from leadline.lenses.structural import Predicted, Tasks, predicted, tasks_of
from leadline.lenses.whole import Whole
from leadline.stats.alike import alike, share_of_alike
from leadline.stats.intervals import Interval
from leadline.stats.mean_of_ratios import bootstrap_mean_of_ratios

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

ALL_CONFIGURATIONS = "all configurations"
DEFINITION = (
    "p: share of a cell's readable answers that are correct; a cell is one item under one configuration. "
    "Cells with a single readable answer are left out: nothing can differ there. p = 1, of all asked: cells "
    "with no answer that is wrong, refused, empty, unreadable or failed, of all that were asked twice or "
    "more. Band: 0.3 ≤ p ≤ 0.7; half-open: 0.3 ≤ p < 0.7. Identical: cells whose readings are all the same. "
    "Expected wobble of a cell of n readings: lower 1 - pⁿ - (1 - p)ⁿ, if all wrong answers were one; upper "
    "1 - pⁿ, if none were alike; calibrated 0 at p = 1, 1 at 0 < p < 1, and at p = 0 the share of unstable "
    "cells at p = 0 of all other tasks. A task's value is the mean over its items within a configuration, "
    "then over configurations. Ceiling: the largest value among tasks of an accuracy of at least 0.9."
)
# A benchmark on which fewer cells than this lie in the band has little to tell about stability.
FEW = 0.10
_BINS = 20


def whole(study: Whole) -> list[Finding]:
    """Findings `overall`, `structural`, `distribution`, and for tasks `by task` and `ceiling`."""
    if not study.repeated:
        return []
    panel = study.panel.only(members=study.repeated)
    labels = [study.labels[number] for number in study.repeated]
    overall, structural = [], []
    own = predicted(panel, pooled=False)
    for at, label in enumerate(labels):
        keys = {"configuration": label}
        overall.append(Row(keys=keys, figures=_shares_of_one(panel, at)))
        structural.append(Row(keys=keys, figures=_expected_of_one(study, panel, own, at)))
    pooled = _pooled_shares(study, panel)
    overall.append(Row(keys={"configuration": ALL_CONFIGURATIONS}, figures=pooled))
    keys = {"configuration": ALL_CONFIGURATIONS}
    structural.append(Row(keys=keys, figures=_pooled_expected(study, panel, predicted(panel))))
    found = [
        _finding("overall", "How much room is there for wobble?", overall, _claims(pooled), _notes(panel)),
        _finding("structural", "Wobble, and what the rates of being right let expect", structural),
        _finding("distribution", "How often cells are right", _distribution(panel)),
    ]
    tasks = tasks_of(panel)
    if tasks.names:
        found.append(
            _finding("by task", "Wobble of tasks, and what to expect", _by_task(study, panel, tasks))
        )
        found.append(_finding("ceiling", "The most wobble by accuracy of the task", _ceilings(tasks)))
    return found


def _finding(
    table: str, title: str, rows: list[Row], claims: list[Claim] | None = None, notes: list[str] | None = None
) -> Finding:
    return Finding(
        lens="observability",
        table=table,
        model=ALL_MODELS,
        title=title,
        definition=DEFINITION,
        rows=tuple(rows),
        claims=tuple(claims or ()),
        notes=tuple(notes or ()),
    )


def shares(panel: Panel) -> dict[str, Mask]:
    """Which measured cells [configurations, items] each share of `overall` counts."""
    n, right, measured = panel.n.astype(np.int64), panel.right.astype(np.int64), panel.measured
    above = measured & (10 * right >= 3 * n)
    return {
        "p_one": measured & (right == n),
        "p_zero": measured & (right == 0),
        "band": above & (10 * right <= 7 * n),
        "band_half_open": above & (10 * right < 7 * n),
        "stable": measured & ~panel.unstable,
    }


def _always_right(panel: Panel) -> Mask:
    """Cells [configurations, items] all of whose answers, those that cannot be read included, are correct."""
    right: Mask = (panel.asked >= 2) & (panel.right == panel.asked)
    return right


def _shares_of_one(panel: Panel, at: int) -> dict[str, Figure]:
    measured, asked = int(panel.measured[at].sum()), int((panel.asked[at] >= 2).sum())
    figures = {name: share(int(cells[at].sum()), measured) for name, cells in shares(panel).items()}
    return {**figures, "p_one_of_asked": share(int(_always_right(panel)[at].sum()), asked)}


def _pooled_shares(study: Whole, panel: Panel) -> dict[str, Figure]:
    of, asked = panel.measured.sum(axis=0), (panel.asked >= 2).sum(axis=0)
    figures = {name: _over_read(study, cells.sum(axis=0), of) for name, cells in shares(panel).items()}
    return {**figures, "p_one_of_asked": _over_read(study, _always_right(panel).sum(axis=0), asked)}


def _expected_of_one(study: Whole, panel: Panel, models: Predicted, at: int) -> dict[str, Figure]:
    there = panel.measured[at]
    figures = {"observed": share(int(panel.unstable[at].sum()), int(there.sum()))}
    for name, values in _models(models).items():
        of_items = values[at, there]
        figures[name] = _undefined(of_items) or mean(np.sort(of_items), study.protocol)
    return figures


def _pooled_expected(study: Whole, panel: Panel, models: Predicted) -> dict[str, Figure]:
    of = panel.measured.sum(axis=0)
    figures = {"observed": _over_read(study, panel.unstable.sum(axis=0), of)}
    for name, values in _models(models).items():
        sums = np.where(panel.measured, values, 0.0).sum(axis=0)
        figures[name] = _undefined(sums[of > 0]) or _over_read(study, sums, of)
    return figures


def _over_read(study: Whole, sums: npt.NDArray[Any], of: npt.NDArray[Any]) -> Figure:
    """A ratio over the items that some configuration read: the others would only make draws without any."""
    there = of > 0
    return ratio(sums[there], of[there], study.protocol, empty="nothing was read twice")


def _models(models: Predicted) -> Mapping[str, Floats]:
    return {"lower": models.lower, "upper": models.upper, "calibrated": models.calibrated}


def _undefined(values: Floats) -> Figure | None:
    """No other task has a cell that is always wrong, from which to tell how often those are unstable."""
    if not np.isnan(values).any():
        return None
    return unknown("cells that are always wrong are in one task only", len(values))


def _distribution(panel: Panel) -> list[Row]:
    """Cells by p: exactly 0, twenty bins [a, b) of what lies between, exactly 1."""
    there = panel.measured
    n, right = panel.n[there].astype(np.int64), panel.right[there].astype(np.int64)
    unstable = panel.unstable[there]
    place = np.where(right == 0, 0, np.where(right == n, _BINS + 1, 1 + (_BINS * right) // n))
    cells = np.bincount(place, minlength=_BINS + 2)
    flips = np.bincount(place[unstable], minlength=_BINS + 2)
    edges = [f"{at / _BINS:.2f}" for at in range(_BINS + 1)]
    spans = [("0", "0"), *pairwise(edges), ("1", "1")]
    return [
        Row(
            keys={"from": low, "to": high},
            figures={
                "cells": count(int(its), of=len(n)),
                "unstable": count(int(unsteady), of=int(its)),
            },
        )
        for (low, high), its, unsteady in zip(spans, cells, flips, strict=True)
    ]


def _by_task(study: Whole, panel: Panel, tasks: Tasks) -> list[Row]:
    method = "mean over configurations of means over items"
    rows = []
    for at, name in enumerate(tasks.names):
        of = int(tasks.items[at])
        figures = {}
        for key, column in (
            ("observed", tasks.wobble),
            ("lower", tasks.lower),
            ("upper", tasks.upper),
            ("calibrated", tasks.calibrated),
            ("acc", tasks.accuracy),
        ):
            value = float(column[at])
            undefined = _undefined(np.array([value]))
            figures[key] = (
                undefined.model_copy(update={"denominator": of})
                if undefined
                else Figure(value=value, denominator=of, method=method)
            )
        # As in `_over_read`: an item that nobody read would only make draws without any.
        its = (panel.tasks == name) & panel.measured.any(axis=0)
        ends, how = _ends(study, panel.unstable[:, its], panel.measured[:, its], float(tasks.wobble[at]))
        figures["observed"] = figures["observed"].model_copy(
            update={"low": ends.low, "high": ends.high, "method": f"{method}; {how}"}
        )
        rows.append(Row(keys={"task": name}, figures=figures))
    return rows


def _ends(study: Whole, unstable: Mask, measured: Mask, value: float) -> tuple[Interval, str]:
    """The interval of a task's wobble, from cells [configurations, items], and what it is called."""
    if all(alike(flips, there) for flips, there in zip(unstable, measured, strict=True) if there.any()):
        return share_of_alike(value, unstable.shape[1]), "wilson over items"
    protocol = study.protocol
    ends = bootstrap_mean_of_ratios(unstable, measured, protocol.bootstrap_draws, protocol.bootstrap_seed)
    return ends, bootstrapped(protocol)


def _ceilings(tasks: Tasks) -> list[Row]:
    """The largest observed and predicted wobble for each tenth of accuracy that holds a task."""
    # Means are rounded to 12 digits, so that a task at 0.9 is in the tenth that begins there.
    tenth = np.minimum(np.floor(np.round(10 * tasks.accuracy, 9)), 9).astype(int)
    rows = []
    for at in range(10):
        inside = tenth == at
        its = int(inside.sum())
        if not its:
            continue
        most = f"the largest of {its} tasks"
        figures = {
            "tasks": count(its, of=len(tasks.names)),
            "largest_observed": _largest(tasks.wobble[inside], most),
            "largest_lower": _largest(tasks.lower[inside], most),
            "largest_upper": _largest(tasks.upper[inside], most),
            "mean_observed": Figure(
                value=float(tasks.wobble[inside].mean()), denominator=its, method=f"mean of {its} tasks"
            ),
        }
        rows.append(Row(keys={"from": f"{at / 10:.1f}", "to": f"{(at + 1) / 10:.1f}"}, figures=figures))
    return rows


def _largest(values: Floats, method: str) -> Figure:
    return Figure(value=float(values.max()), denominator=len(values), method=method)


def _claims(pooled: dict[str, Figure]) -> list[Claim]:
    band = pooled["band"]
    if band.value is None:
        return []
    held = band.high is not None and band.high < FEW
    return [
        Claim(
            text=f"Few cells are where right and wrong answers alternate: {percent(band.value)} have "
            f"0.3 ≤ p ≤ 0.7 ({percent(pooled['band_half_open'].value)} without 0.7 itself), "
            f"{percent(pooled['p_one'].value)} are right whenever they can be read. Counting answers that "
            f"cannot be, {percent(pooled['p_one_of_asked'].value)} of the cells asked are always right. "
            f"Few means less than {percent(FEW)}.",
            status=ClaimStatus.SUPPORTED if held else ClaimStatus.NOT_SUPPORTED,
            point=f"{percent(band.value)} ({band.numerator:.0f} of {band.denominator:.0f})",
            conservative=f"{percent(band.high)}, the interval's upper end",
        )
    ]


def _notes(panel: Panel) -> list[str]:
    notes = ["The row of all configurations draws items again, each with all its cells."]
    if single := int((panel.n == 1).sum()):
        notes.append(f"{left_out(single, 'cell')}: p is 0 or 1 there, and nothing can differ.")
    return notes


LENS = Lens("observability", order=54, whole=whole)
