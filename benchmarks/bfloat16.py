"""What `dtype: bfloat16` brings and what it costs: seconds, and answers that become others.

    python benchmarks/run.py --only bfloat16

The same study twice, alternating: greedy answers and K samples at T = 0.7, once in float32 and once in
bfloat16. Half as many bits of the mantissa are no small thing, so beside the ratio stands how many greedy
answers differ and how many of each are right, on the same items.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import polars as pl

from leadline.engine.packed import has_bfloat16
from leadline.study.progress import Quiet
from leadline.study.readings import readings
from leadline.study.run import run_study
from leadline.study.store import open_store
from leadline.study.study import open_study

CONFIG = """
name: bfloat16
benchmark: facts
models: [{{ref: smollm2, dtype: {dtype}}}]
items: {items}
sampling: {{temperatures: [0.7], vote: {vote}}}
beyond_sampling: off
"""
DTYPES = ("float32", "bfloat16")


def measure(*, repeats: int, quick: bool, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """One row: seconds of each, the ratio, and what became of the greedy answers."""
    items, vote = (8, 2) if quick else (200, 5)
    seconds: dict[str, list[float]] = {dtype: [] for dtype in DTYPES}
    greedy: dict[str, pl.DataFrame] = {}
    for _ in range(repeats):
        for dtype in DTYPES:
            taken, greedy[dtype] = _run(dtype, items, vote)
            seconds[dtype].append(taken)
            say(f"{dtype}: {taken:.1f} s")
    both = greedy["float32"].join(greedy["bfloat16"], on="item", suffix="_other")
    right, right_other = pl.col("correct"), pl.col("correct_other")
    return [
        {
            "items": items,
            "samples": vote,
            "seconds": seconds,
            "ratio": median(seconds["float32"]) / median(seconds["bfloat16"]),
            "processor multiplies in bfloat16": has_bfloat16(),
            "greedy answers": both.height,
            "other answers": both.filter(pl.col("text") != pl.col("text_other")).height,
            "right in float32": both.filter(right).height,
            "right in bfloat16": both.filter(right_other).height,
            "right in float32 alone": both.filter(right & ~right_other).height,
            "right in bfloat16 alone": both.filter(~right & right_other).height,
        }
    ]


def _run(dtype: str, items: int, vote: int) -> tuple[float, pl.DataFrame]:
    """Seconds without loading, and the greedy answers: `item`, `text`, `correct`."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "study.yaml").write_text(CONFIG.format(dtype=dtype, items=items, vote=vote), "utf-8")
        study = open_study(folder)
        began: list[float] = []

        class First(Quiet):
            def begin(self, *given: Any, **more: Any) -> None:
                """The model is loaded when the first configuration begins."""
                began.append(time.perf_counter())

        run_study(study, First())
        taken = time.perf_counter() - began[0]
        with open_store(folder, write=False) as store:
            found = readings(study, store)
        return taken, found.filter(pl.col("configuration") == "greedy").select("item", "text", "correct")
