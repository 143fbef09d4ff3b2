"""`make bench`: every benchmark side by side in one process, as a table of ratios and as JSON.

    python benchmarks/run.py [--repeats 2] [--quick]

Timings of one machine and one hour mean little on their own; ratios of alternating runs do.
"""

from __future__ import annotations

import argparse
import json
import platform
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import audit
import sampling
import scanning
import served_requests
import serving
import stability
import techniques
import torch
from rich.console import Console
from rich.table import Table

RESULTS = Path(__file__).parent / "results"


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
        **{name: metadata.version(name) for name in ("leadline", "torch", "transformers")},
    }


def _cpuinfo() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []


def main() -> None:
    """Run, print, keep."""
    parser = argparse.ArgumentParser(description="Measure speed against other ways of decoding.")
    parser.add_argument("--repeats", type=int, default=2, help="alternating runs; the best counts")
    parser.add_argument("--quick", action="store_true", help="4 prompts and K=5: only to see that it works")
    parser.add_argument(
        "--only",
        choices=("sampling", "techniques", "audit", "stability", "serving", "served", "scanning"),
        help="one of the benchmarks",
    )
    arguments = parser.parse_args()
    about = machine()
    console = Console(width=110)
    console.print(" · ".join(f"{name} {value}" for name, value in about.items()))
    for name, measure, show in (
        ("sampling", sampling.measure, _show_sampling),
        ("techniques", techniques.measure, _show_techniques),
        ("audit", audit.measure, _show_audit),
        ("stability", stability.measure, _show_stability),
        ("serving", serving.measure, _show_serving),
        ("served", served_requests.measure, _show_served),
        ("scanning", scanning.measure, _show_scanning),
    ):
        if arguments.only not in (None, name):
            continue
        found = measure(repeats=arguments.repeats, quick=arguments.quick, say=console.print)
        show(console, found)
        if arguments.quick:
            continue
        RESULTS.mkdir(exist_ok=True)
        path = RESULTS / f"{name}.json"
        measured = datetime.now(UTC).isoformat(timespec="seconds")
        document = {"measured": measured, "machine": about, name: found}
        path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        console.print(f"kept in {path}")


def _show_scanning(console: Console, found: list[dict[str, Any]]) -> None:
    table = Table(title="A corpus scanned for sentences: MB of uncompressed text, one process unless said")
    for column in ("what", "sentences", "MB", "MB / processor s", "MB / s", "peak memory"):
        table.add_column(column, justify="left" if column == "what" else "right")
    for row in found:
        table.add_row(
            row["what"],
            f"{row['sentences']:,}" if row["sentences"] else "",
            f"{row.get('megabytes', '')}",
            f"{row.get('per processor second', '')}",
            f"{row.get('per second', row.get('skipped', ''))}",
            f"{row['peak megabytes']:,} MB" if "peak megabytes" in row else "",
        )
    console.print(table)


def _show_served(console: Console, found: list[dict[str, Any]]) -> None:
    table = Table(title="Requests a second to a server that answers after 50 ms: best of alternating runs")
    for column in ("connections", "one at a time", "leadline", "ratio", "openai package alone"):
        table.add_column(column, justify="right")
    for row in found:
        table.add_row(
            f"{row['connections']}",
            f"{row['serial_per_second']:.0f}",
            f"{row['per_second']:.0f}",
            f"{row['times_serial']:.0f}×",
            f"{row['openai_package_per_second']:.0f}",
        )
    console.print(table)


def _show_sampling(console: Console, found: list[dict[str, Any]]) -> None:
    table = Table(title="K samples per prompt, T = 0.7, float32: best of alternating runs")
    columns = (
        "workload",
        "prompts × K",
        "tokens",
        "transformers",
        "leadline",
        "ratio",
        "floor",
        "over floor",
    )
    for column in columns:
        table.add_column(column, justify="left" if column == "workload" else "right")
    for row in found:
        table.add_row(
            row["workload"],
            f"{row['prompts']} × {row['k']}",
            f"{row['tokens']:,}",
            f"{row['transformers_s']:.1f} s",
            f"{row['leadline_s']:.1f} s",
            f"{row['ratio']:.1f}×",
            f"{row['floor_s']:.1f} s",
            f"{row['leadline_s'] / row['floor_s']:.2f}×",
        )
    console.print(table)
    for row in found:
        parts = ", ".join(f"{name} {share:.0%}" for name, share in row["profile"].items())
        console.print(f"where leadline's time goes, {row['workload']}: {parts}")


def _show_techniques(console: Console, found: list[dict[str, Any]]) -> None:
    table = Table(
        title="16 answers under each technique beside greedy, float32: median ratio of pairs of runs"
    )
    for column in ("workload", "technique", "greedy", "with it", "ratio", "times the naive way"):
        table.add_column(column, justify="left" if column in ("workload", "technique") else "right")
    for row in found:
        table.add_row(
            row["workload"],
            row["technique"],
            f"{row['greedy_seconds']:.2f} s",
            f"{row['seconds']:.2f} s",
            f"{row['ratio']:.2f}×",
            f"{row['speed_up']:.0f}×",
        )
    console.print(table)


def _show_audit(console: Console, found: list[dict[str, Any]]) -> None:
    table = Table(title="leadline audit of made-up filings, against reading and decoding the same files")
    columns = ("items", "documents", "MB", "processes", "seconds", "MB/s", "reading alone", "peak memory")
    for column in columns:
        table.add_column(column, justify="right")
    for row in found:
        table.add_row(
            f"{row['items']:,}",
            f"{row['documents']:,}",
            f"{row['megabytes']:,}",
            f"{row['workers']}",
            f"{row['seconds']:.1f} s",
            f"{row['megabytes per second']:.1f}",
            f"{row['reading alone, seconds']:.1f} s",
            f"{row['peak megabytes, all processes']:,} MB",
        )
    console.print(table)


def _show_stability(console: Console, found: list[dict[str, Any]]) -> None:
    table = Table(title="All stability figures of made-up answers, 2,000 draws and 2,000 permutations")
    columns = ("configurations × items × answers", "answers", "reading", "lenses", "figures", "peak memory")
    for column in columns:
        table.add_column(column, justify="right")
    for row in found:
        reading = row.get("reading, seconds")
        table.add_row(
            f"{row['configurations']} × {row['items']:,} × {stability.SAMPLES}",
            f"{row['answers']:,}",
            "" if reading is None else f"{reading:.1f} s",
            f"{row['lenses, seconds']:.1f} s",
            f"{row['figures']:,}",
            f"{row['peak megabytes']:,} MB",
        )
    console.print(table)


def _show_serving(console: Console, found: list[dict[str, Any]]) -> None:
    table = Table(title="leadline serve: 32 clients at once beside one that waits for each answer")
    columns = ("clients", "alone", "together", "ratio", "long run", "answers", "median wait", "memory")
    for column in columns:
        table.add_column(column, justify="right")
    for row in found:
        table.add_row(
            f"{row['clients']}",
            f"{row['alone, answers a second']:.1f} /s",
            f"{row['together, answers a second']:.1f} /s",
            f"{row['ratio']:.1f}×",
            f"{row['long run, seconds']:.0f} s",
            f"{row['long run, answers']:,}",
            f"{row['median wait, seconds']:.1f} s",
            f"{row['memory before, megabytes']:,} → {row['memory after, megabytes']:,} MB",
        )
    console.print(table)


if __name__ == "__main__":
    main()
