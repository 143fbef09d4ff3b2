"""How long all stability figures take: on the size of the published study, and on millions of answers.

    python benchmarks/stability.py --configurations 12 --items 470
    python benchmarks/stability.py --configurations 25 --items 20000 --stored

The answers are made up: each configuration has a chance of its own to be sure of an item, and where it is not
sure, one value is given more often than the others. A third of the items ask for numbers. With `--stored` the
answers are recorded in a study first, and reading them back is part of what is measured, as in
`leadline report`; without it the lenses alone are, on a readings frame.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from leadline.lenses.protocol import Member, Protocol, Stability

SAMPLES = 20
TASKS = 60
CATEGORIES = 8
# The published study's size through the lenses alone, then 0.1, 1 and 10 million stored answers.
SIZES = ((12, 470, False), (25, 200, True), (25, 2000, True), (25, 20_000, True))


def measure(*, repeats: int, quick: bool, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """Each size once, in a process of its own: memory is that of this size alone."""
    del repeats
    found = []
    for configurations, items, stored in SIZES[:2] if quick else SIZES:
        say(f"{configurations} configurations × {items:,} items × {SAMPLES}")
        command = [sys.executable, __file__, "--configurations", str(configurations), "--items", str(items)]
        printed = subprocess.run(
            command + ["--stored"] * stored, check=True, capture_output=True, text=True
        ).stdout
        found.append(json.loads(printed[printed.index("{") :]))
    return found


# Everything that can be asked for: a named subset, two runs that should be the same.
EVERYTHING = Stability(
    subsets=(("half", tuple(f"model-{number:02d}" for number in range(1, 7))),),
    equivalence=(("model-01", "model-02"),),
)


def asked(configurations: int) -> tuple[Member, ...]:
    """The configurations, on three serving paths, two and two of a family."""
    return tuple(
        Member(
            f"model-{number:02d}",
            "answers",
            serving=("local", "direct", "routed")[number % 3],
            family=f"family {number // 2}",
        )
        for number in range(configurations)
    )


def codes(configurations: int, items: int, seed: int = 0) -> Iterator[npt.NDArray[np.int64]]:
    """Which of an item's values each answer gives [items, samples], configuration by configuration.

    Value 0 is the gold answer. Nine in ten cells are sure of one value, as in the published study.
    """
    rng = np.random.default_rng(seed)
    hardness = rng.beta(0.4, 2.0, size=items)
    for number in range(configurations):
        favourite = np.where(rng.random(items) < hardness, rng.integers(1, 4, size=items), 0)
        doubt = np.where(rng.random(items) < 0.1 + 0.2 * (number % 5 == 0), rng.beta(1, 4, size=items), 0.0)
        strays = rng.random((items, SAMPLES)) < doubt[:, None]
        yield np.where(strays, rng.integers(0, 5, size=(items, SAMPLES)), favourite[:, None])


def number_text(item: int, value: int) -> str:
    """The text of a numeric value; value 4 is value 0 with more digits."""
    gold = 1 + (item * 7919) % 9973 / 1000
    return f"{gold:.3f}1" if value == 4 else f"{gold + value:.3f}"


def is_number(item: int) -> bool:
    """A third of the items ask for numbers."""
    return item % 3 == 0


def text(item: int, value: int) -> str:
    """What is answered."""
    return number_text(item, value) if is_number(item) else ("Arden", "Brook", "Cove", "Dale", "Elm")[value]


def frame(configurations: int, items: int) -> Any:
    """The answers as a readings frame, without a study."""
    import polars as pl

    from leadline.lenses.frame import READINGS

    names = [f"item-{number:06d}" for number in range(items)]
    values = np.array([[text(item, value) for value in range(5)] for item in range(items)])
    rounded = values.copy()
    rounded[::3, 4] = values[::3, 0]
    numeric = np.arange(items) % 3 == 0
    parts = []
    for number, code in enumerate(codes(configurations, items)):
        item = np.repeat(np.arange(items), SAMPLES)
        given, own = values[item, code.ravel()], rounded[item, code.ravel()]
        of_numbers = pl.Series(numeric[item])
        table = pl.DataFrame(
            {
                "item": pl.Series(names).gather(item),
                "category": pl.Series([f"category {task % CATEGORIES}" for task in range(TASKS)]).gather(
                    item % TASKS
                ),
                "task": pl.Series([f"task {task:02d}" for task in range(TASKS)]).gather(item % TASKS),
                "sample": np.tile(np.arange(SAMPLES), items),
                "text": given,
                "value": own,
                "_exact": given,
                "correct": own == values[item, 0],
                # An item in twelve is flagged, and left out of the population; both readings are told.
                "audit": np.where(item % 12, "clean", "evidence absent"),
                "excluded": np.where(item % 12, "", "evidence absent"),
                "stated": np.where(item % 10, "stated", "not stated"),
                "_numeric": of_numbers,
            }
        )
        exact = pl.when("_numeric").then(pl.col("_exact"))
        parts.append(
            table.with_columns(
                pl.lit(f"model-{number:02d}").alias("model"),
                pl.lit("answers").alias("configuration"),
                pl.lit("ok").alias("state"),
                pl.when("_numeric").then(pl.lit("number")).otherwise(pl.lit("text")).alias("answer_type"),
                exact.alias("value_exact"),
                pl.when("_numeric").then(pl.col("value")).alias("value_rounding"),
                pl.col("correct").alias("correct_strict"),
            )
            .with_columns(
                pl.lit(None, dtype=kind).alias(name)
                for name, kind in READINGS.items()
                if name not in table.columns
                and name not in ("model", "configuration", "state", "answer_type")
                and name not in ("value_exact", "value_rounding", "correct_strict")
            )
            .select(pl.col(name).cast(kind) for name, kind in READINGS.items())
        )
    return pl.concat(parts)


def store(folder: Path, configurations: int, items: int) -> None:
    """Make a study of recorded answers."""
    from leadline.study.recording import RecordedAnswer, record

    bench = folder / "benchmark"
    bench.mkdir(parents=True)
    (bench / "benchmark.yaml").write_text('name: made-up\nversion: "1"\n', encoding="utf-8")
    with (bench / "items.jsonl").open("w", encoding="utf-8") as out:
        for number in range(items):
            item = {
                "id": f"item-{number:06d}",
                "question": f"Question {number}?",
                "answer": text(number, 0),
                "answer_type": "number" if is_number(number) else "text",
                "task": f"task {number % TASKS:02d}",
                "category": f"category {number % TASKS % CATEGORIES}",
            }
            out.write(json.dumps(item) + "\n")
    (folder / "study.yaml").write_text("name: made-up\nbenchmark: benchmark\n", encoding="utf-8")
    for number, code in enumerate(codes(configurations, items)):
        answers = (
            RecordedAnswer(f"item-{item:06d}", sample, text(item, int(value)))
            for item, row in enumerate(code)
            for sample, value in enumerate(row)
        )
        record(folder, f"model-{number:02d}", "answers", {}, answers)


def run(configurations: int, items: int, stored: bool) -> dict[str, Any]:
    """Make the answers, then measure: reading them (if stored) and all lenses; peak memory of the process."""
    from leadline.lenses.registry import run_lenses

    answers = configurations * items * SAMPLES
    about: dict[str, Any] = {"configurations": configurations, "items": items, "answers": answers}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "study"
        if stored:
            # In a process of its own: the memory that making them takes is not the report's.
            begun = time.perf_counter()
            make = [sys.executable, __file__, "--make", str(folder)]
            sizes = ["--configurations", str(configurations), "--items", str(items)]
            subprocess.run(make + sizes, check=True)
            about["recording, seconds"] = round(time.perf_counter() - begun, 1)
            from leadline.study.members import members, protocol
            from leadline.study.readings import readings
            from leadline.study.store import open_store
            from leadline.study.study import open_study

            begun = time.perf_counter()
            study = open_study(folder)
            with open_store(folder, write=False) as opened:
                parts = protocol(study, members(study, opened))
                table = readings(study, opened)
            about["reading, seconds"] = round(time.perf_counter() - begun, 1)
        else:
            parts, table = (
                Protocol("", (), members=asked(configurations), stability=EVERYTHING),
                frame(configurations, items),
            )
        begun = time.perf_counter()
        findings = run_lenses(table, parts)
        about["lenses, seconds"] = round(time.perf_counter() - begun, 1)
    about["figures"] = sum(len(row.figures) for finding in findings for row in finding.rows)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    about["peak megabytes"] = round(peak)
    return about


def main() -> None:
    """One size; prints JSON."""
    parser = argparse.ArgumentParser(description="Measure the stability lenses on made-up answers.")
    parser.add_argument("--configurations", type=int, default=12)
    parser.add_argument("--items", type=int, default=470)
    parser.add_argument("--stored", action="store_true", help="record the answers first, and read them back")
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.make:
        store(arguments.make, arguments.configurations, arguments.items)
        return
    print(json.dumps(run(arguments.configurations, arguments.items, arguments.stored)))


if __name__ == "__main__":
    main()
