"""How long commands take before their work, beside what they cannot do without.

    python benchmarks/start_up.py

`leadline --help` stands beside an interpreter that does nothing and one that imports typer; `leadline report`
on a small study (132 recorded answers to 12 questions) beside one that imports polars, pydantic and jinja2,
and beside one that imports scipy.stats and statsmodels, which reports did without a need. The least of
alternating runs counts, by the clock and of the processor. Bytecode lies in a folder of its own, warm, so
that a setting of this machine (PYTHONDONTWRITEBYTECODE) does not decide.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from goals import Goal

ROOT = Path(__file__).parents[1]
REASON = "docs/performance.md, Start-up"
PYTHON = (sys.executable, "-c")
FLOORS = {
    "python alone": (*PYTHON, "pass"),
    "typer": (*PYTHON, "import typer"),
    "polars, pydantic, jinja2": (*PYTHON, "import typer, polars, numpy, pydantic, jinja2"),
    "scipy.stats, statsmodels": (*PYTHON, "import scipy.stats, statsmodels.stats.proportion"),
}
FLOOR_OF = {"leadline --help": "typer", "leadline report": "polars, pydantic, jinja2"}


def measure(*, repeats: int, quick: bool, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """A row for each command and each floor; ten alternating runs, two if `quick`."""
    del repeats
    runs = 2 if quick else 10
    say(f"start-up: {runs} alternating runs")
    with tempfile.TemporaryDirectory() as folder:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"PYTHONPYCACHEPREFIX": f"{folder}/bytecode", "OMP_NUM_THREADS": "1"}
        leadline = (sys.executable, "-m", "leadline")
        study = f"{folder}/study"
        examples = ROOT / "examples"
        answers = str(examples / "recorded-answers" / "answers.jsonl")
        bench = ("--benchmark", str(examples / "quickstart" / "rivers.jsonl"), "--baseline", "greedy")
        _run((*leadline, "import", "table", answers, "--study", study, *bench), environment)
        commands = {
            "leadline --help": (*leadline, "--help"),
            "leadline report": (*leadline, "report", study),
            **FLOORS,
        }
        best = dict.fromkeys(commands, (float("inf"), float("inf")))
        for number in range(runs + 1):
            for name, command in commands.items():
                spent = _run(command, environment)
                if number:  # the first run writes bytecode
                    best[name] = (min(best[name][0], spent[0]), min(best[name][1], spent[1]))
    rows = []
    for name, (seconds, worked) in best.items():
        floor = FLOOR_OF.get(name, "")
        rows.append(
            {
                "what": name,
                "seconds": round(seconds, 3),
                "processor seconds": round(worked, 3),
                "floor": floor,
                "floor, processor seconds": round(best[floor][1], 3) if floor else 0.0,
            }
        )
    return rows


def goals(found: list[dict[str, Any]]) -> list[Goal]:
    """How much of a command's time is its floor: 1 would be nothing but imports. No goal is set."""
    made = []
    for number, row in enumerate(one for one in found if one["floor"]):
        ratio = row["floor, processor seconds"] / row["processor seconds"]
        made.append(
            Goal(
                number=f"6{'ab'[number]}",
                what=f"{row['what']}: {row['processor seconds']:.2f} s",
                against=f"importing {row['floor']} (a bound)",
                target=None,
                ratio=ratio,
                low=ratio,
                high=ratio,
                how="processor time, the least of alternating runs",
                reason=REASON,
            )
        )
    return made


def _run(command: tuple[str, ...], environment: dict[str, str]) -> tuple[float, float]:
    """Seconds by the clock and of the processor."""
    before, clock = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    worked = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return time.perf_counter() - clock, worked


if __name__ == "__main__":
    print(json.dumps(measure(repeats=1, quick="--quick" in sys.argv, say=print), indent=1))
