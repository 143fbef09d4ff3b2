"""Is wobble more than difficulty, and are there tasks that are answered right and yet not steadily?

Wobble and accuracy come from the same answers: an item that is right every time is hardly ever unstable.
Their correlation over tasks (rho) is therefore no evidence of anything but that, and is reported to say so.
What remains of it once the wobble that the rates of being right let expect is taken away is `residual_rho`:
the correlation over tasks of accuracy with wobble less its calibrated prediction; beside it the same with the
lower and the upper prediction (see `lenses.structural`). If its sign hangs on the prediction, it says
nothing.

Intervals draw tasks again, each with its wobble, accuracy and predictions as they are.
Source: Probity, section 4 and the table of claims.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from leadline.lenses.figures import decimal, percent, share, unknown
from leadline.lenses.finding import Claim, ClaimStatus, Figure, Finding, Row
from leadline.lenses.registry import ALL_MODELS, Lens
from leadline.lenses.structural import (
    CORRECT,
    UNSTABLE,
    Ceiling,
    Tasks,
    ceiling,
    correct_but_unstable,
    tasks_of,
)
from leadline.lenses.whole import Whole
from leadline.stats.intervals import NO_INTERVAL
from leadline.stats.rank_bootstrap import bootstrap_spearman
from leadline.stats.rank_correlation import FEWEST, spearman

Floats = npt.NDArray[np.float64]

DEFINITION = (
    "Over tasks, each with its mean over items within a configuration and then over configurations. rho: "
    "Spearman's correlation of wobble and accuracy. Residual rho: that of accuracy and of wobble less the "
    "wobble expected from the share of right answers (calibrated; also less the lower and the upper model). "
    f"Correct but unstable: accuracy at least {CORRECT}, wobble at least {UNSTABLE}; out of the tasks of "
    "that accuracy. Ceiling: the largest wobble expected (lower, upper) and observed among those tasks."
)
# "They do not occur" may be said when no more than this share of tasks can be expected to be so.
_RARE = 0.05


def whole(study: Whole) -> list[Finding]:
    """The finding `overall`; none when no configuration was asked twice or the benchmark has no tasks."""
    if not study.repeated:
        return []
    panel = study.panel.only(members=study.repeated)
    tasks = tasks_of(panel)
    if not tasks.names:
        return []
    top = ceiling(tasks)
    # Right answers that differ wobble at p = 1, where every prediction is 0: then none of them is a bound.
    differ = bool((panel.unstable & (panel.right == panel.n)).any())
    figures = {
        "rho": _rho(study, tasks, tasks.wobble),
        "residual_rho": _rho(study, tasks, tasks.wobble - tasks.calibrated),
        "residual_rho_lower": _rho(study, tasks, tasks.wobble - tasks.lower),
        "residual_rho_upper": _rho(study, tasks, tasks.wobble - tasks.upper),
        "correct_but_unstable": share(
            len(correct_but_unstable(tasks)), top.tasks, empty=f"no task has an accuracy of {CORRECT}"
        ),
        "ceiling_lower": _most(top.lower, top.tasks),
        "ceiling_upper": _most(top.upper, top.tasks),
        "ceiling_observed": _most(top.observed, top.tasks),
    }
    return [
        Finding(
            lens="difficulty",
            table="overall",
            model=ALL_MODELS,
            title="Is wobble more than difficulty?",
            definition=DEFINITION,
            rows=(Row(keys={}, figures=figures),),
            claims=(_merely(figures), _zone(figures["correct_but_unstable"], top, differ)),
            notes=tuple(_notes(tasks)),
        )
    ]


def _rho(study: Whole, tasks: Tasks, wobble: Floats) -> Figure:
    wobble = np.round(wobble, 12)  # differences of rounded means tie again
    defined = ~np.isnan(wobble)
    value = float(spearman(wobble, tasks.accuracy))
    if np.isnan(value):
        few = int(defined.sum()) < FEWEST
        why = f"fewer than {FEWEST} tasks" if few else "all tasks are alike"
        if not defined.all():
            why = "cells that are always wrong are in one task only"
        return unknown(why, int(defined.sum()))
    draws, seed = study.protocol.bootstrap_draws, study.protocol.bootstrap_seed
    ends = bootstrap_spearman(wobble, tasks.accuracy, draws, seed)
    return Figure(
        value=value,
        denominator=int(defined.sum()),
        low=ends.low,
        high=ends.high,
        method=f"bootstrap over tasks, {draws} draws, seed {seed}",
        note="" if ends != NO_INTERVAL else "no interval: not defined in more than one draw in ten",
    )


def _most(value: float | None, tasks: int) -> Figure:
    if value is None:
        return unknown(f"no task has an accuracy of {CORRECT}", 0)
    return Figure(value=value, denominator=tasks, method=f"the largest of {tasks} tasks")


def _merely(figures: dict[str, Figure]) -> Claim:
    text = "Instability is not merely difficulty"
    rho, residual = figures["rho"], figures["residual_rho"]
    if rho.value is None:
        return Claim(text=f"{text}: {rho.note}.", status=ClaimStatus.NOT_ESTIMABLE)
    return Claim(
        text=f"{text}: a correlation of wobble and accuracy (ρ = {decimal(rho.value)}) cannot show it, as "
        "both come from the same answers and an item that is always right hardly wobbles.",
        status=ClaimStatus.NOT_SUPPORTED,
        point=f"ρ = {_told(rho)}",
        conservative=f"residual ρ = {_told(residual)} after the structural term; with the lower model "
        f"{_told(figures['residual_rho_lower'])}, with the upper {_told(figures['residual_rho_upper'])}",
    )


def _told(rho: Figure) -> str:
    if rho.value is None:
        return f"n/a ({rho.note})"
    span = (
        f" [{decimal(rho.low)}, {decimal(rho.high)}]" if rho.low is not None and rho.high is not None else ""
    )
    return f"{decimal(rho.value)}{span}"


def _zone(zone: Figure, top: Ceiling, differ: bool) -> Claim:
    text = (
        f"Tasks that are correct (accuracy ≥ {CORRECT}) but unstable (wobble ≥ {UNSTABLE:.2f}) do not occur"
    )
    if zone.value is None or top.highest is None or zone.high is None:
        return Claim(text=f"{text}: {zone.note}.", status=ClaimStatus.NOT_ESTIMABLE)
    counted = f"{zone.numerator:.0f} of {zone.denominator:.0f} tasks"
    if top.highest < UNSTABLE and not differ:
        return Claim(
            text=f"{text}: {counted}, and none could have: their answers are right so often that a wobble of "
            f"{UNSTABLE:.2f} is out of reach.",
            status=ClaimStatus.UNREACHABLE,
            point=counted,
            conservative=f"ceiling {top.lower:.3f} < {UNSTABLE:.2f} (upper model {top.upper:.3f}, "
            f"observed {top.observed:.3f})",
        )
    held = zone.numerator == 0 and zone.high <= _RARE
    return Claim(
        text=f"{text}: {counted}.",
        status=ClaimStatus.SUPPORTED if held else ClaimStatus.NOT_SUPPORTED,
        point=counted,
        conservative=f"up to {percent(zone.high)} of tasks of that accuracy; a wobble of {top.highest:.3f} "
        "was in reach",
    )


def _notes(tasks: Tasks) -> list[str]:
    zone = correct_but_unstable(tasks)
    return [f"Correct but unstable: {', '.join(zone)}."] if zone else []


LENS = Lens("difficulty", order=55, whole=whole)
