"""Two workers with a share of the cores each, beside one process with all of them, on the same study.

    python benchmarks/workers.py [--quick]

SmolLM2-135M asked greedily and sampled, alternating: in this process, in two processes, by two workers of a
Ray cluster that is started for it. Seconds by the clock, until the first answer is stored (the start) and to
the end; of the processor too where its time can be told. Answers are compared: a ratio counts only where they
are the same.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from statistics import median
from typing import Any

CONFIG = """
name: workers
benchmark: facts
models: [smollm2]
items: {items}
max_tokens: 16
techniques: [dola]
sampling: {{temperatures: [0.7], vote: {vote}}}
beyond_sampling: off
"""
WAYS = ("alone", "process", "ray")


def measure(*, repeats: int, quick: bool, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """A row for each run: the way, what it took, and whether the answers are the same."""
    rows: list[dict[str, Any]] = []
    first: dict[tuple[str, ...], str] | None = None
    for number in range(1 if quick else repeats):
        for way in WAYS:
            row, answers = _run(way, items=8 if quick else 96, vote=2 if quick else 20)
            first = first or answers
            rows.append(row | {"repeat": number, "same answers": answers == first})
            say(f"workers: {json.dumps(rows[-1])}")
    return rows


def _run(way: str, items: int, vote: int) -> tuple[dict[str, Any], dict[tuple[str, ...], str]]:
    from leadline.study.progress import Quiet
    from leadline.study.run import run_study
    from leadline.study.store import open_store
    from leadline.study.study import open_study
    from leadline.workers.choose import engine_for_models

    class First(Quiet):
        at = 0.0

        def advance(self, answers: int, tokens: int) -> None:
            self.at = self.at or time.perf_counter()

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "study.yaml").write_text(CONFIG.format(items=items, vote=vote), "utf-8")
        workers: AbstractContextManager[Any] | None = None if way == "alone" else engine_for_models(way, 2)
        study, told = open_study(Path(folder)), First()
        began, busy = time.perf_counter(), _processor()
        outcome = run_study(study, told, workers=workers)
        ended, spent = time.perf_counter(), _processor() - busy
        with open_store(study.folder, write=False) as store:
            answers = {
                (configuration, one.key.item, str(one.key.sample)): one.text
                for configuration in store.configurations()
                for one in store.responses(configuration)
            }
    row: dict[str, Any] = {
        "way": way,
        "answers": outcome.drawn,
        "seconds": round(ended - began, 2),
        "first answer after": round(told.at - began, 2),
        # Ray's workers are no children of this process.
        "seconds of the processor": round(spent, 2) if way != "ray" else None,
        "load": round(os.getloadavg()[0], 1),
    }
    return row, answers


def _processor() -> float:
    """Of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main() -> None:
    """Measure, and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few answers, once")
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    rows = measure(
        repeats=given.repeats, quick=given.quick, say=lambda line: print(line, file=sys.stderr, flush=True)
    )
    for way in WAYS:
        mine = [row for row in rows if row["way"] == way]
        seconds = [row["seconds"] for row in mine]
        start = median(row["first answer after"] for row in mine)
        same = all(row["same answers"] for row in mine)
        spread = f"{min(seconds):.1f} to {max(seconds):.1f}"
        print(f"{way}: {median(seconds):.1f} s ({spread}), first after {start:.1f} s, same answers: {same}")


if __name__ == "__main__":
    main()
