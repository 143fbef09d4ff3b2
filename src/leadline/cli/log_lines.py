"""What the commands that import logs of other tools have in common: their options, and what they print."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leadline.cli.plain_text import count, print_json, printable

if TYPE_CHECKING:
    from leadline.interop.logs import ImportedLog, LogImport, ScoreComparison

StudyOption = Annotated[Path, typer.Option(help="The study's folder; made where there is none.")]
BenchmarkOption = Annotated[
    str | None,
    typer.Option(
        help="What was asked: a bundled benchmark, a folder, or a file of items.  [default: the study's; "
        "one is made of the logs' items, in STUDY/benchmark, where there is no study]"
    ),
]
BaselineOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The configuration that a new study compares the others with."),
]
ConfigurationOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The configuration of all these logs; several runs of a task are then repeats of it.  [default: "
        "the model, and what tells its logs apart]",
    ),
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="The model that reports file these answers under.  [default: recorded]"
    ),
]
TaskOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="The task of all these logs, where tools call one task by several names."
    ),
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Check everything, store nothing.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on standard error.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


@contextmanager
def answers_read(quiet: bool) -> Iterator[Callable[[int], None]]:
    """Says how many answers were read, on a terminal, on a line that goes away again."""
    if quiet or not sys.stderr.isatty():
        yield lambda answers: None
        return
    from rich.console import Console

    with Console(stderr=True).status("reading logs") as status:
        yield lambda answers: status.update(f"reading logs: {answers:,} answers")


def tell(done: LogImport, as_json: bool) -> None:
    """Print what became of logs: as JSON, or in lines of which the last says how to go on."""
    if as_json:
        print_json(_plain(done))
        return
    for line in _lines(done):
        typer.echo(printable(line))
    if not done.dry:
        typer.echo(f"next: leadline report {shlex.quote(str(done.study))}")


def _lines(done: LogImport) -> Iterator[str]:
    for name in done.again:
        yield f"{name}: imported before, nothing to do"
    for log in done.logs:
        yield f"{log.path.name}: {_log(log)}"
        for note in log.notes:
            yield f"  {note}"
    if not done.logs:
        if done.skipped:
            yield _skipped(done)
        return
    if done.made:
        of_items = f", with a benchmark of {count(done.items, 'item')} out of the logs"
        yield (
            f"{done.study}: {'would be made' if done.dry else 'a new study'}"
            f"{of_items if done.made_benchmark else ''}"
        )
    verb = "would be stored" if done.dry else "stored"
    yield (
        f"{verb}: {count(done.stored, 'answer')} of {count(len(done.configurations), 'configuration')} "
        f"to {count(done.items, 'item')}"
    )
    if done.known:
        were = "was there already, or stands" if done.known == 1 else "were there already, or stand"
        yield f"skipped: {count(done.known, 'answer')} that {were} in two of the logs"
    if done.skipped:
        yield _skipped(done)
    if done.failed:
        yield f"of these failed calls: {done.failed:,}"
    if done.empty:
        yield f"without a text, kept as empty answers: {done.empty:,}"
    for compared in done.scores:
        yield _compared(compared)
    for note in done.notes:
        yield f"note: {note}"


def _skipped(done: LogImport) -> str:
    are = "is no log" if done.skipped == 1 else "are no logs"
    return f"skipped: {count(done.skipped, 'file')} that {are}"


def _log(log: ImportedLog) -> str:
    said = f"{count(log.answers, 'answer')} to {log.task} as {log.configuration}"
    return said if log.status in ("", "success") else f"{said}; status {log.status}"


def _compared(one: ScoreComparison) -> str:
    from leadline.interop.log_ids import told

    where = f"{one.configuration}, scorer {one.scorer}"
    if not one.differ:
        return f"{where}: agrees with our readings on all {count(one.answers, 'answer')}"
    return (
        f"{where}: holds {one.theirs:,} of {count(one.answers, 'answer')} right, our readings {one.ours:,}; "
        f"they differ on {one.differ:,}, first on item {told(one.example)}"
    )


def _plain(done: LogImport) -> dict[str, object]:
    return {
        "study": str(done.study),
        "made": done.made,
        "made_benchmark": done.made_benchmark,
        "dry_run": done.dry,
        "logs": [{**vars(log), "path": str(log.path), "notes": list(log.notes)} for log in done.logs],
        "stored": done.stored,
        "known": done.known,
        "failed_calls": done.failed,
        "empty_answers": done.empty,
        "items": done.items,
        "configurations": [{"model": model, "configuration": name} for model, name in done.configurations],
        "scores": [vars(one) for one in done.scores],
        "notes": list(done.notes),
        "imported_before": list(done.again),
        "items_added": done.grown,
        "files_skipped": done.skipped,
    }
