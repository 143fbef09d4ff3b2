"""What it brings that configurations which ask the same are asked together, and that it changes no answer.

    python benchmarks/run.py --only together

The same study twice, alternating: as `leadline run` asks it, and with each configuration by itself. Greedy
answers and K samples at two temperatures, of short questions (`facts`, a few examples before each) and of
questions on a window of a text (`licences`), which is where a prompt costs more than its answers.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from leadline.models.local import LocalModel
from leadline.models.resolve import resolve
from leadline.study import run
from leadline.study.configuration import Configuration
from leadline.study.progress import Quiet
from leadline.study.store import open_store
from leadline.study.study import Study, open_study

CONFIG = """
name: together
benchmark: {benchmark}
models: [smollm2]
items: {items}
sampling: {{temperatures: [0.7, 1.2], vote: {vote}}}
beyond_sampling: off
"""
# Benchmark → items and samples.
WORKLOADS = {"facts": (64, 20), "licences": (16, 10)}
QUICK = {"facts": (4, 2), "licences": (1, 2)}

Answers = dict[tuple[str, str, int], str]


def measure(*, repeats: int, quick: bool, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """A row for each workload: seconds either way, the ratio, how many answers came out the same."""
    model = LocalModel(resolve("smollm2"))
    found = []
    for benchmark, (items, vote) in (QUICK if quick else WORKLOADS).items():
        seconds: dict[str, list[float]] = {"apart": [], "together": []}
        answers: dict[str, Answers] = {}
        tokens = 0.0
        for _ in range(repeats):
            for way, taken_all in seconds.items():
                text = CONFIG.format(benchmark=benchmark, items=items, vote=vote)
                taken, answers[way], tokens = _asked(text, model, way)
                taken_all.append(taken)
                say(f"{benchmark}, {way}: {taken:.1f} s")
        same = sum(text == answers["apart"].get(key) for key, text in answers["together"].items())
        found.append(
            {
                "benchmark": benchmark,
                "items": items,
                "samples": vote,
                "tokens of a prompt": tokens,
                "seconds": seconds,
                "ratio": median(seconds["apart"]) / median(seconds["together"]),
                "answers": len(answers["apart"]),
                "same answers": same,
            }
        )
    return found


def _each_alone(study: Study, entry: object) -> list[tuple[Configuration, ...]]:
    return [(one,) for one in study.configurations]


def _asked(text: str, model: LocalModel, way: str) -> tuple[float, Answers, float]:
    """Seconds of a run, its answers, and the mean length of their prompts."""
    together = run.asked_together
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "study.yaml").write_text(text, encoding="utf-8")
        study = open_study(folder)
        try:
            if way == "apart":
                run.asked_together = _each_alone
            started = time.perf_counter()
            run.run_study(study, Quiet(), load=lambda *_: model)
            taken = time.perf_counter() - started
        finally:
            run.asked_together = together
        with open_store(folder, write=False) as store:
            rows = [(one, row) for one in store.configurations() for row in store.responses(one)]
        answers = {(one, row.key.item, row.key.sample): row.text for one, row in rows}
        return taken, answers, sum(row.tokens_in for _, row in rows) / len(rows)
