"""Studies of many configurations, made by a hidden chance for each cell: what should be found is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import polars as pl

from leadline.lenses.finding import Finding
from leadline.lenses.frame import READINGS
from leadline.lenses.protocol import Protocol
from leadline.lenses.whole import Whole
from tests.lenses.small import shuffled

QUICK = Protocol(baseline="", methods=(), bootstrap_draws=200)


def frame_of(
    values: npt.NDArray[np.int64], tasks: list[str], configurations: list[str] | None = None
) -> pl.DataFrame:
    """Readings of `values` [configurations, items, samples]: 0 is the gold answer, -1 was not readable."""
    number, items = values.shape[:2]
    names = configurations or [f"m{at}" for at in range(number)]
    place = np.indices(values.shape).reshape(3, -1)
    code = values.reshape(-1)
    said = np.array(["gold", *(f"wrong {at}" for at in range(1, int(values.max(initial=0)) + 1)), ""])
    columns = {
        "model": np.array(names)[place[0]],
        "configuration": np.full(code.size, "tau-0.7"),
        "item": np.array([f"i{at:04d}" for at in range(items)])[place[1]],
        "task": np.array(tasks)[place[1]],
        "sample": place[2],
        "state": np.where(code < 0, "unreadable", "ok"),
        "value": said[code],
        "correct": code == 0,
    }
    frame = pl.DataFrame({name: columns.get(name, [None] * code.size) for name in READINGS}, schema=READINGS)
    return frame.with_columns(value=pl.when(pl.col("state") == "ok").then("value"))


def whole_of(frame: pl.DataFrame, protocol: Protocol = QUICK) -> Whole:
    """What a lens over the whole study is given."""
    return Whole(frame, frame, protocol)


def with_draws(draws: int) -> Protocol:
    """The quick protocol with more draws."""
    return replace(QUICK, bootstrap_draws=draws)


def wavering(
    seed: int, configurations: int = 4, tasks: int = 30, per_task: int = 6, samples: int = 20
) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Cells that waver by task: some hardly, some often; with the name of each item's task."""
    rng = np.random.default_rng(seed)
    shape = (configurations, tasks * per_task)
    by_task = np.repeat(rng.beta(0.4, 4, tasks), per_task)
    chance = np.clip(by_task * rng.gamma(0.7, 1.5, shape), 0, 1)
    strays = rng.random((*shape, samples)) < chance[:, :, None]
    return np.where(strays, 1 + rng.integers(0, 2, strays.shape), 0), [
        f"t{at:02d}" for at in range(tasks) for _ in range(per_task)
    ]


def unchanged_by_order_and_copies(make: object, frame: pl.DataFrame) -> bool:
    """Whether a lens finds the same whatever the order of the rows, and when rows are there twice."""
    found: list[Finding] = make(whole_of(frame))  # type: ignore[operator]
    again = make(whole_of(shuffled(frame, seed=5)))  # type: ignore[operator]
    twice = make(whole_of(pl.concat([frame, frame.head(frame.height // 2)])))  # type: ignore[operator]
    return bool(found) and found == again == twice
