"""`make bench`: Leadline against what people would use instead, in one process, as one table and as JSON.

    python benchmarks/run.py [--quick] [--repeats 2] [--only NAME ...] [--all]

Timings of one machine and one hour mean little on their own; ratios of alternating runs do. By default the
benchmarks that goals are set for run; `--all` runs the others too. What a benchmark found is kept in
`results/NAME.json`, and the goals, from these files where a benchmark did not run now, in
`results/goals.json`.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import platform
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import tables
import torch
from goals import Goal, document, table
from rich.console import Console

RESULTS = Path(__file__).parent / "results"

# Name (of the result's file, of --only and of the function in tables.py) → module. The module has `measure`;
# where goals are set, also `goals`.
HELD = {
    "sampling": "sampling",
    "protocol": "protocol",
    "greedy": "against_lm_eval",
    "statistics": "statistics_pandas",
    "scanning": "scanning",
    "audit": "audit",
    "start_up": "start_up",
}
OTHERS = {
    "techniques": "techniques",
    "bfloat16": "bfloat16",
    "together": "together",
    "stability": "stability",
    "serving": "serving",
    "served": "served_requests",
}


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    model = next(
        (line.split(":", 1)[1].strip() for line in _cpuinfo() if line.startswith("model name")),
        platform.processor(),
    )
    return {
        "processor": model,
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in ("leadline", "torch", "transformers", "lm-eval")},
    }


def _cpuinfo() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []


def main(given: Sequence[str] | None = None) -> list[Goal]:
    """Run, print, keep. Returns the goals that were measured."""
    parser = argparse.ArgumentParser(description="Measure Leadline against what people would use instead.")
    parser.add_argument("--repeats", type=int, default=2, help="alternating runs")
    parser.add_argument("--quick", action="store_true", help="tiny: only to see that it works; keeps nothing")
    parser.add_argument("--all", action="store_true", help="also benchmarks that no goal is set for")
    parser.add_argument("--only", nargs="+", choices=(*HELD, *OTHERS), help="these benchmarks")
    arguments = parser.parse_args(given)
    about = machine()
    console = Console(width=110)
    console.print(" · ".join(f"{name} {value}" for name, value in about.items()))
    names = arguments.only or [*HELD, *(OTHERS if arguments.all else ())]
    repeats = 1 if arguments.quick else arguments.repeats
    made: list[Goal] = []
    for name in names:
        module = importlib.import_module({**HELD, **OTHERS}[name])
        started = time.perf_counter()
        found = module.measure(repeats=repeats, quick=arguments.quick, say=console.print)
        gc.collect()
        if (show := getattr(tables, name, None)) is not None:
            show(console, found)
        console.print(f"{name} took {time.perf_counter() - started:.0f} s")
        if hasattr(module, "goals"):
            made += module.goals(found)
        if not arguments.quick:
            _keep(name, about, found)
    if not arguments.quick:
        made += _earlier([name for name in HELD if name not in names], console)
        _keep("goals", about, document(made))
    if made:
        console.print(table(made))
    return made


def _keep(name: str, about: dict[str, Any], found: list[dict[str, Any]]) -> None:
    RESULTS.mkdir(exist_ok=True)
    measured = datetime.now(UTC).isoformat(timespec="seconds")
    text = json.dumps({"measured": measured, "machine": about, name: found}, indent=1)
    (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def _earlier(names: Sequence[str], console: Console) -> list[Goal]:
    """Goals of benchmarks that did not run now, from what is kept of them."""
    made: list[Goal] = []
    for name in names:
        module, path = importlib.import_module(HELD[name]), RESULTS / f"{name}.json"
        if not hasattr(module, "goals") or not path.exists():
            continue
        kept = json.loads(path.read_text(encoding="utf-8"))
        try:
            made += module.goals(kept[name])
        except KeyError:  # kept by an earlier form of the benchmark
            continue
        console.print(f"{name}: as measured {kept['measured']}")
    return made


if __name__ == "__main__":
    main()
