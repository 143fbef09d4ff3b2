"""How long scoring and statistics of recorded answers take, beside a script with pandas.

    python benchmarks/statistics_pandas.py

The script is `pandas_figures.py`. Both get the same answers, made up as in `stability.py` and worn as answers
are ("The answer is Brook.", "**3.141**"); ours from a study's database, the script from a Parquet file. Each
runs in a process of its own, on one thread; processor seconds count, without imports. 112,800 answers (12
configurations × 470 items × 20) are gone through whole on both sides, and every figure of the script is
compared with ours: values to 1e-9, Wilson's ends too; an end of our bootstrap intervals must lie where the
script's draws put it.

Ours computes the four lenses whole, with claims and with tables that the script lacks. Of 10 million answers
the script would take hours: its parts are measured at 0.1 and 1 million, with a share of the draws of each
loop, and a straight line is laid through the two.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

from goals import Goal
from stability import CATEGORIES, SAMPLES, TASKS, codes, is_number, text

LENSES = ("wobble", "observability", "reliability", "transfer")
PUBLISHED, MILLIONS = (12, 470), (25, 20_000)
STEPS = ((25, 200), (25, 2_000))  # what the script's time at `MILLIONS` is told from
WORN = ("{}", "{}.", "**{}**", "The answer is {}.", "Answer: {}")
REASON = "docs/performance.md, Scoring and statistics"
# The script's draws have to put an end of ours between these shares; both scatter by a third of a hundredth.
LOW, HIGH = (0.003, 0.047), (0.953, 0.997)
ONE_THREAD = {"OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def measure(*, repeats: int, quick: bool, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """A row for the published size and, unless `quick`, one for 10 million answers."""
    if quick:
        return [_published((6, 120), 1, 0.02, say)]
    return [_published(PUBLISHED, repeats, 1.0, say), _millions(say)]


def goals(found: list[dict[str, Any]]) -> list[Goal]:
    """At least twenty times the script's speed, at either size."""
    made = []
    for row in found:
        ratios = [row["pandas, s"] / seconds for seconds in row["ours, each run"]]
        how = (
            f"{row['figures compared']:,} figures the same; processor time, one thread"
            if row["figures compared"]
            else "the script's time from 0.1 and 1 million answers and a share of its draws"
        )
        made.append(
            Goal(
                number="4a" if row["figures compared"] else "4b",
                what=f"scoring and statistics of {row['answers']:,} answers",
                against="pandas, numpy per draw",
                target=20,
                ratio=row["pandas, s"] / median(row["ours, each run"]),
                low=min(ratios),
                high=max(ratios),
                how=how,
                reason=REASON,
            )
        )
    return made


def _published(
    size: tuple[int, int], repeats: int, share: float, say: Callable[[str], None]
) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        say(f"statistics of {size[0]} × {size[1]} × {SAMPLES} answers")
        _side("make", folder, size)
        ours = [_side("ours", folder, size) for _ in range(max(1, repeats))]
        theirs = _side("pandas", folder, size, share)
        ours += [_side("ours", folder, size)]
    return _row(size, ours, theirs["parts"]) | {
        "figures compared": theirs["compared"],
        "figures that differ": theirs["differ"],
        "share of draws": share,
        "pandas, peak MB": theirs["peak MB"],
    }


def _millions(say: Callable[[str], None]) -> dict[str, Any]:
    parts = []
    for size, share in zip(STEPS, (0.05, 0.01), strict=True):
        with tempfile.TemporaryDirectory() as folder:
            say(f"the script on {size[0]} × {size[1]:,} × {SAMPLES} answers, {share:.0%} of its draws")
            _side("make", folder, size)
            parts.append(_side("pandas", folder, size, share)["parts"])
    with tempfile.TemporaryDirectory() as folder:
        say(f"statistics of {MILLIONS[0]} × {MILLIONS[1]:,} × {SAMPLES} answers")
        _side("make", folder, MILLIONS)
        ours = [_side("ours", folder, MILLIONS)]
    few, many, all_ = (size[1] for size in (*STEPS, MILLIONS))
    line = {
        name: parts[1][name] + max(0.0, parts[1][name] - parts[0][name]) * (all_ - many) / (many - few)
        for name in parts[1]
    }
    return _row(MILLIONS, ours, line) | {"figures compared": 0, "pandas, parts at": parts}


def _row(size: tuple[int, int], ours: list[dict[str, Any]], parts: dict[str, float]) -> dict[str, Any]:
    best = min(ours, key=lambda one: one["seconds"])
    return {
        "configurations": size[0],
        "items": size[1],
        "answers": size[0] * size[1] * SAMPLES,
        "ours, each run": [one["seconds"] for one in ours],
        "ours, parts": best["parts"],
        "ours, figures": best["figures"],
        "ours, peak MB": best["peak MB"],
        "pandas, s": round(sum(parts.values()), 2),
        "pandas, parts": {name: round(seconds, 2) for name, seconds in parts.items()},
    }


def _side(what: str, folder: str, size: tuple[int, int], share: float = 1.0) -> Any:
    command = [sys.executable, __file__, "--side", what, folder, *map(str, (*size, share))]
    done = subprocess.run(command, env=os.environ | ONE_THREAD, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{what} failed: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def _worn(item: int, value: int, place: int) -> str:
    return WORN[(place * 7 + item) % 11 % len(WORN)].format(text(item, value))


def _make(folder: Path, configurations: int, items: int) -> dict[str, Any]:
    """The study, and the same as Parquet files."""
    import polars as pl

    from leadline.study.recording import RecordedAnswer, record

    bench = folder / "study" / "benchmark"
    bench.mkdir(parents=True)
    (bench / "benchmark.yaml").write_text('name: made-up\nversion: "1"\n', encoding="utf-8")
    rows = [
        {
            "item": f"item-{number:06d}",
            "task": f"task {number % TASKS:02d}",
            "category": f"category {number % TASKS % CATEGORIES}",
            "answer_type": "number" if is_number(number) else "text",
            "gold": text(number, 0),
        }
        for number in range(items)
    ]
    with (bench / "items.jsonl").open("w", encoding="utf-8") as out:
        for number, row in enumerate(rows):
            item = {name: row[name] for name in ("task", "category", "answer_type")}
            item |= {"id": row["item"], "question": f"Question {number}?", "answer": row["gold"]}
            out.write(json.dumps(item) + "\n")
    pl.DataFrame(rows).write_parquet(folder / "items.parquet")
    (folder / "study" / "study.yaml").write_text("name: made-up\nbenchmark: benchmark\n", encoding="utf-8")
    parts = []
    for number, code in enumerate(codes(configurations, items)):
        said = [
            [_worn(item, value, place) for place, value in enumerate(row)]
            for item, row in enumerate(code.tolist())
        ]
        answers: Iterator[RecordedAnswer] = (
            RecordedAnswer(rows[item]["item"], sample, answer)
            for item, its in enumerate(said)
            for sample, answer in enumerate(its)
        )
        record(folder / "study", f"model-{number:02d}", "answers", {}, answers)
        parts.append(
            pl.DataFrame(
                {
                    "configuration": f"model-{number:02d}",
                    "item": [row["item"] for row in rows for _ in range(SAMPLES)],
                    "sample": list(range(SAMPLES)) * items,
                    "text": [answer for its in said for answer in its],
                }
            )
        )
    pl.concat(parts).write_parquet(folder / "answers.parquet")
    return {}


def _ours(folder: Path) -> dict[str, Any]:
    from leadline.lenses.registry import all_lenses, compared
    from leadline.lenses.whole import Whole
    from leadline.study.members import members, protocol
    from leadline.study.readings import readings
    from leadline.study.store import open_store
    from leadline.study.study import open_study

    lenses = [lens for lens in all_lenses() if lens.name in LENSES]
    begun = time.process_time()
    study = open_study(folder / "study")
    with open_store(study.folder, write=False) as store:
        rules = protocol(study, members(study, store))
        frame = compared(readings(study, store), rules.stability.sameness)
    parts = {"reading": time.process_time() - begun}
    whole = Whole(frame, frame, rules)
    found = []
    for lens in lenses:
        start = time.process_time()
        found += lens.whole(whole) if lens.whole else []
        parts[lens.name] = time.process_time() - start
    seconds = time.process_time() - begun
    figures = [
        [
            [one.lens, one.table, *row.keys.values(), name],
            figure.value,
            figure.low,
            figure.high,
            figure.method,
        ]
        for one in found
        for row in one.rows
        for name, figure in row.figures.items()
    ]
    (folder / "ours.json").write_text(json.dumps(figures), encoding="utf-8")
    return {"seconds": round(seconds, 3), "parts": _rounded(parts), "figures": len(figures)} | _peak()


def _pandas(folder: Path, share: float) -> dict[str, Any]:
    import pandas as pd
    from pandas_figures import Stopwatch, figures

    reading = Stopwatch(1.0)
    with reading.part("reading"):
        answers, items = (pd.read_parquet(folder / f"{name}.parquet") for name in ("answers", "items"))
    found, watch = figures(answers, items, share)
    parts = reading.seconds | watch.seconds
    ours = folder / "ours.json"
    compared, differ = (
        _compared(json.loads(ours.read_text("utf-8")), found, share) if ours.exists() else (0, [])
    )
    return {"parts": _rounded(parts), "compared": compared, "differ": differ} | _peak()


def _compared(ours: list[Any], found: dict[Any, Any], share: float) -> tuple[int, list[str]]:
    """How many figures were compared, and those that differ."""
    import numpy as np

    known = {tuple(key): rest for key, *rest in ours}
    differ = []
    for key, theirs in found.items():
        value, low, high, method = known.get(key, (None, None, None, "absent"))
        if theirs.is_drawn and share < 1.0:
            continue
        near = 1e-9 if not theirs.is_drawn else 6 * theirs.error
        same = value is not None and abs(value - theirs.value) <= near
        if (
            theirs.is_drawn and theirs.drawn is not None and not same
        ):  # of few distinct values, one may be skipped
            least, most = np.nanquantile(theirs.drawn, (0.4, 0.6))
            same = value is not None and least - 1e-9 <= value <= most + 1e-9
        if theirs.low is not None and method == "wilson":
            same = same and max(abs(low - theirs.low), abs(high - theirs.high)) <= 1e-9
        if theirs.drawn is not None and method.startswith("bootstrap") and share == 1.0 and same:
            drawn = theirs.drawn[~np.isnan(theirs.drawn)]
            for end, shares in ((low, LOW), (high, HIGH)):
                if end is not None:
                    least, most = np.quantile(drawn, shares)
                    same = same and least - 1e-9 <= end <= most + 1e-9
        if not same:
            differ.append(f"{' · '.join(key)}: {value} [{low}, {high}] {method}, not {theirs.value}")
    return len(found), differ


def _rounded(parts: dict[str, float]) -> dict[str, float]:
    return {name: round(seconds, 3) for name, seconds in parts.items()}


def _peak() -> dict[str, int]:
    return {"peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10}


def main() -> None:
    """All of it as JSON, or one side of it."""
    parser = argparse.ArgumentParser(description="Scoring and statistics beside a script with pandas.")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--side", nargs=5, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.side:
        what, folder, configurations, items, share = given.side
        match what:
            case "make":
                found: Any = _make(Path(folder), int(configurations), int(items))
            case "ours":
                found = _ours(Path(folder))
            case _:
                found = _pandas(Path(folder), float(share))
        print(json.dumps(found))
        return
    say = lambda line: print(line, file=sys.stderr, flush=True)  # noqa: E731
    print(json.dumps(measure(repeats=given.repeats, quick=given.quick, say=say), indent=1))


if __name__ == "__main__":
    main()
