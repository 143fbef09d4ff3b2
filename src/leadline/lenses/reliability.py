"""Is the order of tasks by wobble the same when only half of the answers are looked at?

Each configuration's samples are split into those of even and those of odd number. r is Spearman's
correlation, over tasks, of the wobble that the two halves show; corrected = 2r / (1 + r) is what it says of
all samples, if the score were a sum over samples. Wobble is not quite one: an item that has wavered once
cannot waver more. Two whole runs agree better than r and less than the corrected value says, so the claim
prints both.
The published figure goes over the tasks that wobble in some configuration, so that it moves a little when a
configuration joins the study; `corrected_all_tasks` goes over all tasks and hangs on nobody else.

An item counts in a half that holds at least two of its readings: one reading cannot disagree with itself.
(The published computation calls it stable.) Not estimable: fewer than three tasks; a half in which all tasks
wobble alike; r = -1. Of negative r the corrected value has no lower bound: it is shown as it comes and is no
reliability, only a sign that the halves do not agree. Intervals draw tasks again (bootstrap), those of one
configuration the tasks that both of its halves measure; the spread over random halves says how much hangs on
the split. This is a control on the measurement, not a result about models.
Sources: Probity, section 4 and appendix D; the bound of 0.7 is J. C. Nunnally's, Psychometric Theory (1978).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leadline.lenses.figures import count, decimal, unknown
from leadline.lenses.finding import Claim, ClaimStatus, Figure, Finding, Row
from leadline.lenses.registry import ALL_MODELS, Lens
from leadline.lenses.split_halves import SPLITS, SplitHalves, split_halves
from leadline.lenses.whole import Whole
from leadline.stats.intervals import NO_INTERVAL, Interval
from leadline.stats.rank_bootstrap import percentiles, resamples
from leadline.stats.rank_correlation import FEWEST, spearman_resampled
from leadline.stats.split_half import spearman_brown

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

DEFINITION = (
    "r: Spearman's correlation over tasks between the wobble on samples of even and of odd number. "
    "Corrected: 2r / (1 + r), what r says of all samples together (Spearman and Brown). Both go over the "
    "tasks that wobble in some configuration, as published; the figure for all tasks does not hang on the "
    "other configurations. An item counts in a half with at least two of its readings. Random halves: median "
    f"and middle 95 % of the corrected value over {SPLITS:,} random splits of the samples."
)
# What is customarily asked of a measure before differences between single things are read from it.
RELIABLE = 0.7
# Up to so many tasks with wobble, both halves are nearly all ties and agree too easily.
_FEW = 5


@dataclass(frozen=True)
class _Over:
    """Everything about one choice of tasks."""

    tasks: int
    pairs: npt.NDArray[np.int64]  # tasks that both halves measure [configurations]
    r: Floats  # [configurations]
    drawn: Floats  # r in each bootstrap draw of all tasks [configurations, draws]
    alone: Floats  # r in each draw of a configuration's own tasks, those of `pairs` [configurations, draws]

    @property
    def corrected(self) -> Floats:
        """2r / (1 + r) [configurations]."""
        return spearman_brown(self.r)


def whole(study: Whole) -> list[Finding]:
    """Findings `overall` and `by configuration`; none when no configuration was asked twice."""
    if not study.repeated:
        return []
    halves = split_halves(study.panel.only(members=study.repeated))
    active, everything = halves.active, np.asarray(halves.measured.any(axis=0))
    draws, seed = study.protocol.bootstrap_draws, study.protocol.bootstrap_seed
    over = _over(halves, active, draws, seed)
    over_all = over if active.all() else _over(halves, everything, draws, seed)
    random = spearman_brown(halves.random(active, study.protocol.stability.permutation_seed))
    rows = []
    for at, number in enumerate(study.repeated):
        figures = {
            "r": _figure(study, over, at, halves.why(at, active)),
            "corrected": _figure(study, over, at, halves.why(at, active), corrected=True),
            "random_median": _random(study, random[at], int(over.pairs[at]), halves.why(at, active)),
            "corrected_all_tasks": _figure(study, over_all, at, halves.why(at, everything), corrected=True),
            "unsteady_tasks": count(int(halves.unsteady[at].sum()), of=int(halves.measured[at].sum())),
        }
        rows.append(Row(keys={"configuration": study.labels[number]}, figures=figures))
    # Where no configuration has a value, the first one's reason stands for all.
    why = halves.why(0, active)
    overall = {
        "median_corrected": _median(study, over, why),
        "median_r": _median(study, over, why, corrected=False),
        "random_median": _random(study, _medians(random), over.tasks, why),
        "median_corrected_all_tasks": _median(study, over_all, why),
        "estimable": count(int((~np.isnan(over.corrected)).sum()), of=len(study.repeated)),
        "unsteady_tasks": count(int(active.sum()), of=int(halves.measured.any(axis=0).sum())),
    }
    found = [
        _finding(
            "overall",
            "Do two halves of the answers tell the same of the tasks?",
            [Row(keys={}, figures=overall)],
            _claim(overall),
            _notes(study, halves),
        ),
    ]
    if everything.sum() >= FEWEST:
        found.append(_finding("by configuration", "Split-half reliability by configuration", rows))
    return found


def _finding(
    table: str, title: str, rows: Sequence[Row], claims: Sequence[Claim] = (), notes: Sequence[str] = ()
) -> Finding:
    return Finding(
        lens="reliability",
        table=table,
        model=ALL_MODELS,
        title=title,
        definition=DEFINITION,
        rows=tuple(rows),
        claims=tuple(claims),
        notes=tuple(notes),
    )


def _over(halves: SplitHalves, chosen: Mask, draws: int, seed: int) -> _Over:
    even, odd = halves.even[:, chosen], halves.odd[:, chosen]
    blocks = [
        [spearman_resampled(one, other, weights) for one, other in zip(even, odd, strict=True)]
        for weights in resamples(int(chosen.sum()), draws, seed)
    ]
    drawn = np.concatenate(blocks, axis=1) if blocks else np.full((len(even), draws), np.nan)
    there = ~(np.isnan(even) | np.isnan(odd))
    alone = drawn.copy()
    for at in np.flatnonzero(there.any(axis=1) & ~there.all(axis=1)):
        one, other = even[at, there[at]], odd[at, there[at]]
        alone[at] = np.concatenate(
            [spearman_resampled(one, other, weights) for weights in resamples(len(one), draws, seed)]
        )
    return _Over(int(chosen.sum()), there.sum(axis=1), halves.r(chosen), drawn, alone)


def _method(study: Whole) -> str:
    return (
        f"bootstrap over tasks, {study.protocol.bootstrap_draws} draws, seed {study.protocol.bootstrap_seed}"
    )


def _figure(study: Whole, over: _Over, at: int, why: str, corrected: bool = False) -> Figure:
    value = over.corrected[at] if corrected else over.r[at]
    if np.isnan(value):
        return unknown(why, int(over.pairs[at]))
    ends = percentiles(over.alone[at])
    if corrected and ends.low is not None and ends.high is not None:
        # The correction keeps the order, so that the ends may be corrected after they were found.
        low, high = (None if np.isnan(end) else float(end) for end in spearman_brown([ends.low, ends.high]))
        ends = Interval(low, high)
    return _with(value, int(over.pairs[at]), ends, _method(study))


def _with(value: float, denominator: int, ends: Interval, method: str) -> Figure:
    note = "" if ends != NO_INTERVAL else "no interval: not defined in more than one draw in ten"
    return Figure(
        value=float(value), denominator=denominator, low=ends.low, high=ends.high, method=method, note=note
    )


def _random(study: Whole, corrected: Floats, tasks: int, why: str) -> Figure:
    defined = corrected[~np.isnan(corrected)]
    if len(defined) == 0:
        return unknown(why or "defined in no random split", tasks)
    left_out = len(corrected) - len(defined)
    low, high = (float(np.quantile(defined, at)) for at in (0.025, 0.975))
    return Figure(
        value=float(np.median(defined)),
        denominator=tasks,
        low=low,
        high=high,
        method=f"middle 95 % of {SPLITS} random halves, seed {study.protocol.stability.permutation_seed}",
        note=f"not defined in {left_out} splits" if left_out else "",
    )


def _medians(corrected: Floats) -> Floats:
    """The median over configurations [draws] of [configurations, draws]; nan where none is defined."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # "All-NaN slice": then the median is nan, as meant
        found: Floats = np.nanmedian(corrected, axis=0)
    return found


def _median(study: Whole, over: _Over, why: str, corrected: bool = True) -> Figure:
    values, drawn = (over.corrected, spearman_brown(over.drawn)) if corrected else (over.r, over.drawn)
    defined = int((~np.isnan(values)).sum())
    if not defined:
        return unknown(why, 0)
    ends = percentiles(_medians(drawn))
    return _with(float(np.nanmedian(values)), defined, ends, _method(study))


def _claim(overall: dict[str, Figure]) -> list[Claim]:
    median, halves = overall["median_corrected"], overall["median_r"]
    text = "The order of tasks by wobble can be told from half of the answers"
    if median.value is None or halves.value is None:
        return [Claim(text=f"{text}: {median.note}.", status=ClaimStatus.NOT_ESTIMABLE)]
    held = median.low is not None and median.low >= RELIABLE
    low = "no interval" if halves.low is None else f"at least {decimal(halves.low)}"
    return [
        Claim(
            text=f"{text}: median reliability {decimal(median.value)} over {median.denominator:.0f} "
            f"configurations; {RELIABLE} is what is customarily asked of its "
            "interval's lower end.",
            status=ClaimStatus.SUPPORTED if held else ClaimStatus.NOT_SUPPORTED,
            point=f"{decimal(median.value)}",
            conservative=f"{decimal(halves.value)} between the halves as they are, {low}",
        )
    ]


def _notes(study: Whole, halves: SplitHalves) -> list[str]:
    few = [
        study.labels[number]
        for at, number in enumerate(study.repeated)
        if 0 < halves.unsteady[at].sum() <= _FEW and halves.tasks > 2 * _FEW
    ]
    notes = []
    if few:
        notes.append(
            f"At most {_FEW} tasks wobble in: {', '.join(few)}. Nearly all tasks are then tied at zero in "
            "both halves, which agree easily; the median hardly hangs on these."
        )
    if outside := int((study.panel.tasks == "").sum()):
        notes.append(f"{outside} items belong to no task and are left out.")
    return notes


LENS = Lens("reliability", order=53, whole=whole)
