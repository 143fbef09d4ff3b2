"""Readings written out by hand, for examples small enough to check on paper."""

from __future__ import annotations

from typing import Any

import polars as pl

from leadline.lenses.finding import Figure, Finding
from leadline.lenses.frame import readings_frame
from leadline.lenses.protocol import Method, Partition, Protocol
from leadline.lenses.view import View
from leadline.lenses.whole import Whole

GREEDY_AND_M = Protocol(baseline="greedy", methods=(Method("m"),), bootstrap_draws=200)


def reading(
    configuration: str, item: str, value: str | None = None, sample: int = 0, **more: Any
) -> dict[str, Any]:
    """One reading. The value "gold" is correct, others are not; None is an empty answer."""
    row = {
        "model": "small",
        "configuration": configuration,
        "item": item,
        "category": "",
        "task": "",
        "sample": sample,
        "state": "empty" if value is None else "ok",
        "text": value or "",
        "value": value,
        "correct": value == "gold",
        "correct_strict": value == "gold",
        "leads": value is not None,
        "tokens_in": 100,
        "tokens_out": 5,
    }
    return {**row, **more}


def samples(configuration: str, item: str, *values: str | None, **more: Any) -> list[dict[str, Any]]:
    """The samples 0, 1, ... of one item."""
    return [reading(configuration, item, value, sample, **more) for sample, value in enumerate(values)]


def answers(configuration: str, right: str, **more: Any) -> list[dict[str, Any]]:
    """One sample per item: "110" makes items i0 and i1 right and i2 wrong; "-" leaves an item out."""
    return [
        reading(configuration, f"i{at}", "gold" if digit == "1" else "other", **more)
        for at, digit in enumerate(right)
        if digit != "-"
    ]


def view(rows: list[dict[str, Any]], protocol: Protocol = GREEDY_AND_M) -> View:
    return View("small", readings_frame(rows), protocol)


def whole(rows: list[dict[str, Any]] | pl.DataFrame, protocol: Protocol = GREEDY_AND_M) -> Whole:
    """All configurations of these readings side by side."""
    frame = rows if isinstance(rows, pl.DataFrame) else readings_frame(rows)
    return Whole(frame.filter(pl.col("excluded").fill_null("") == ""), frame, protocol)


def table(findings: list[Finding], name: str) -> Finding:
    """The finding with this table; there is exactly one."""
    (found,) = [finding for finding in findings if finding.table == name]
    return found


def figures(finding: Finding, **keys: str) -> dict[str, Figure]:
    """The figures of the row with exactly these keys."""
    (found,) = [row.figures for row in finding.rows if row.keys == keys]
    return found


def with_partition(k: int = 4, sweep: int = 6, **method: Any) -> Protocol:
    """Greedy against m and the temperature t, with one partition p of `k` samples."""
    return Protocol(
        baseline="greedy",
        methods=(Method("m", **method), Method("t", vote=2, beyond_vote=4, is_sampling=True)),
        partitions=(Partition(temperature=0.7, configuration="p", k=k, sweep=sweep),),
        bootstrap_draws=200,
    )


def shuffled(frame: pl.DataFrame, seed: int) -> pl.DataFrame:
    return frame.sample(fraction=1.0, shuffle=True, seed=seed)
