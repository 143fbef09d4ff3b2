"""What each benchmark found, as a table on the terminal: a function for each, by the benchmark's name.

A benchmark without one here is told by its goals alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

# Answers that each configuration of `stability.py` gives to an item.
SAMPLES = 20


def _table(title: str, columns: Sequence[str], left: Sequence[str] = ()) -> Table:
    """An empty table; columns hold numbers, but for those on the `left`."""
    made = Table(title=title)
    for column in columns:
        made.add_column(column, justify="left" if column in left else "right")
    return made


def scanning(console: Console, found: list[dict[str, Any]]) -> None:
    """MB a second of each way."""
    table = _table(
        "A corpus scanned for sentences: MB of uncompressed text, one process unless said",
        ("what", "files", "sentences", "MB", "MB / processor s", "MB / s", "peak memory"),
        left=("what",),
    )
    for row in found:
        table.add_row(
            row["what"],
            row.get("kind", ""),
            f"{row['sentences']:,}" if row["sentences"] else "",
            f"{row.get('megabytes', '')}",
            f"{row.get('per processor second', '')}",
            f"{row.get('per second', row.get('skipped', ''))}",
            f"{row['peak megabytes']:,} MB" if "peak megabytes" in row else "",
        )
    console.print(table)


def served(console: Console, found: list[dict[str, Any]]) -> None:
    """Requests a second."""
    table = _table(
        "Requests a second to a server that answers after 50 ms: best of alternating runs",
        ("connections", "one at a time", "leadline", "ratio", "openai package alone"),
    )
    for row in found:
        table.add_row(
            f"{row['connections']}",
            f"{row['serial_per_second']:.0f}",
            f"{row['per_second']:.0f}",
            f"{row['times_serial']:.0f}×",
            f"{row['openai_package_per_second']:.0f}",
        )
    console.print(table)


def sampling(console: Console, found: list[dict[str, Any]]) -> None:
    """Times of all ways, and the arithmetic that bounds ours."""
    table = _table(
        "K samples per prompt, T = 0.7, float32: medians of alternating runs",
        ("workload", "prompts × K", "tokens", "transformers", "lm-eval", "leadline", "floor", "over"),
        left=("workload",),
    )
    for row in found:
        table.add_row(
            row["workload"],
            f"{row['prompts']} × {row['k']}",
            f"{row['tokens']:,}",
            f"{row['transformers_s']:.0f} s",
            f"{row['lm_eval_s']:.0f} s",
            f"{row['leadline_s']:.1f} s",
            f"{row['floor_s']:.1f} s",
            f"{row['leadline_s'] / row['floor_s']:.2f}×",
        )
    console.print(table)
    for row in found:
        parts = ", ".join(f"{name} {share:.0%}" for name, share in row["profile"].items()) or "not profiled"
        console.print(f"where leadline's time goes, {row['workload']}: {parts}")


def protocol(console: Console, found: list[dict[str, Any]]) -> None:
    """Both sides' seconds by method, for all facts."""
    row = found[0]
    table = _table(
        f"The protocol on {row['facts']} facts; the script on {row['scripted']}, scaled",
        ("method", "script, answers", "script, ranks", "leadline", "ratio"),
        left=("method",),
    )
    scale = row["facts"] / row["scripted"]
    for group in row["leadline_together_s"]:
        answers, ranks = (
            scale * sum(sum(row[kind].get(method, ())) for method in group["methods"])
            for kind in ("script_answers_s", "script_ranks_s")
        )
        table.add_row(
            ", ".join(group["methods"]),
            f"{answers:.0f} s",
            f"{ranks:.0f} s" if ranks else "",
            f"{group['s']:.1f} s",
            f"{(answers + ranks) / group['s']:.1f}×",
        )
    script = scale * sum(row["script_by_item_s"])
    table.add_row(
        "all", f"{script:.0f} s", "", f"{row['leadline_s']:.1f} s", f"{script / row['leadline_s']:.1f}×"
    )
    console.print(table)
    for each in row["unequal"]:
        console.print(
            f"unequal: {each['method']}, {each['item']}: text and rank {each['leadline']}, "
            f"the script's {each['script']}",
            markup=False,
        )


def greedy(console: Console, found: list[dict[str, Any]]) -> None:
    """Times, and the outputs that are not equal."""
    row = found[0]
    console.print(
        f"greedy answers to {row['items']} facts, {row['tokens']:,} tokens: "
        f"lm-eval {row['lm_eval_s']:.1f} s, leadline {row['leadline_s']:.1f} s; {row['equal']} outputs equal"
    )
    for each in row["unequal"]:
        said = ", ".join(f"{name} {value!r}" for name, value in each.items())
        console.print(f"unequal: {said}", markup=False)


def techniques(console: Console, found: list[dict[str, Any]]) -> None:
    """Each technique's cost beside the baseline's."""
    table = _table(
        "16 answers under each technique beside greedy, float32: median ratio of pairs of runs",
        ("workload", "technique", "greedy", "with it", "ratio", "times the naive way"),
        left=("workload", "technique"),
    )
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


def audit(console: Console, found: list[dict[str, Any]]) -> None:
    """Speed and memory of the audit."""
    table = _table(
        "leadline audit of made-up filings, against reading and decoding the same files",
        ("items", "documents", "MB", "processes", "seconds", "MB/s", "reading alone", "peak memory"),
    )
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
    for row in found:
        for name, other in row["others"].items():
            console.print(
                f"{name} of the same quotes: {other['processor seconds']:.1f} s of processor, the audit "
                f"{row['processor seconds, all processes']:.1f} s; of {row['items']:,} items {name} flags "
                f"{other['sound items flagged']:,} that are sound and misses "
                f"{other['flagged items missed']:,}"
            )


def statistics(console: Console, found: list[dict[str, Any]]) -> None:
    """Scoring and statistics beside a script with pandas."""
    table = _table(
        "Scoring and statistics: processor seconds on one thread",
        ("answers", "leadline", "pandas", "ratio", "compared", "differ", "leadline MB"),
    )
    for row in found:
        ours = min(row["ours, each run"])
        table.add_row(
            f"{row['answers']:,}",
            f"{ours:.1f} s",
            f"{row['pandas, s']:,.0f} s",
            f"{row['pandas, s'] / ours:.0f}×",
            f"{row['figures compared']:,}" if row["figures compared"] else "scaled",
            f"{len(row.get('figures that differ', []))}",
            f"{row['ours, peak MB']:,}",
        )
    console.print(table)


def start_up(console: Console, found: list[dict[str, Any]]) -> None:
    """What commands take before their work, beside what they cannot do without."""
    table = _table(
        "Start-up: seconds, the least of alternating runs",
        ("what", "by the clock", "processor", "floor, processor", "over it"),
        left=("what",),
    )
    for row in found:
        table.add_row(
            row["what"],
            f"{row['seconds']:.2f} s",
            f"{row['processor seconds']:.2f} s",
            f"{row['floor, processor seconds']:.2f} s ({row['floor']})" if row["floor"] else "",
            f"{row['processor seconds'] / row['floor, processor seconds']:.1f}×" if row["floor"] else "",
        )
    console.print(table)


def stability(console: Console, found: list[dict[str, Any]]) -> None:
    """Seconds of reading and lenses."""
    table = _table(
        "All stability figures of made-up answers, 2,000 draws and 2,000 permutations",
        ("configurations × items × answers", "answers", "reading", "lenses", "figures", "peak memory"),
    )
    for row in found:
        reading = row.get("reading, seconds")
        table.add_row(
            f"{row['configurations']} × {row['items']:,} × {SAMPLES}",
            f"{row['answers']:,}",
            "" if reading is None else f"{reading:.1f} s",
            f"{row['lenses, seconds']:.1f} s",
            f"{row['figures']:,}",
            f"{row['peak megabytes']:,} MB",
        )
    console.print(table)


def serving(console: Console, found: list[dict[str, Any]]) -> None:
    """Answers a second and waits."""
    table = _table(
        "leadline serve: 32 clients at once beside one that waits for each answer",
        ("clients", "alone", "together", "ratio", "long run", "answers", "median wait", "memory"),
    )
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


def bfloat16(console: Console, found: list[dict[str, Any]]) -> None:
    """What half the bits bring, and what they change."""
    table = _table(
        "The same study in float32 and in bfloat16: medians of alternating runs",
        (
            "items",
            "float32",
            "bfloat16",
            "ratio",
            "greedy answers that differ",
            "right",
            "right in one alone",
        ),
    )
    for row in found:
        table.add_row(
            f"{row['items']:,}",
            f"{median(row['seconds']['float32']):.1f} s",
            f"{median(row['seconds']['bfloat16']):.1f} s",
            f"{row['ratio']:.2f}×",
            f"{row['other answers']} of {row['greedy answers']}",
            f"{row['right in float32']} / {row['right in bfloat16']}",
            f"{row['right in float32 alone']} / {row['right in bfloat16 alone']}",
        )
    console.print(table)


def together(console: Console, found: list[dict[str, Any]]) -> None:
    """What it brings to ask configurations together."""
    table = _table(
        "Baseline and two temperatures, apart and together: medians of alternating runs",
        (
            "benchmark",
            "items × samples",
            "tokens of a prompt",
            "apart",
            "together",
            "ratio",
            "same",
        ),
        left=("benchmark",),
    )
    for row in found:
        table.add_row(
            row["benchmark"],
            f"{row['items']} × {row['samples']}",
            f"{row['tokens of a prompt']:,.0f}",
            f"{median(row['seconds']['apart']):.1f} s",
            f"{median(row['seconds']['together']):.1f} s",
            f"{row['ratio']:.2f}×",
            f"{row['same answers']:,} of {row['answers']:,}",
        )
    console.print(table)
