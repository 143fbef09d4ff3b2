"""`leadline import`: answers that were given elsewhere, into a study."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from leadline.cli import import_inspect, import_lm_eval, import_openai_batch

if TYPE_CHECKING:
    from leadline.interop.table import TableImport

app = typer.Typer(
    help="Bring in answers that were given elsewhere: no model is needed to report on them.",
    no_args_is_help=True,
)
FormatName = Literal["csv", "tsv", "jsonl", "json", "parquet", "arrow"]
# Smaller files are read before a bar is looked at.
_LARGE = 5_000_000


@app.callback()
def _group() -> None: ...


@app.command(
    epilog="Example: leadline import table runs.csv --study my-study --benchmark my-benchmark\n\n"
    "Example: leadline import table runs/*.jsonl --study my-study --map item=doc_id --map text=resps.0 "
    "--configuration llama-8b\n\n"
    "Example: leadline import table runs.parquet --study my-study --map configuration=system "
    "--map sample=epoch --dry-run"
)
def table(
    files: Annotated[list[Path], typer.Argument(help="CSV, TSV, JSON lines, JSON, Parquet, Arrow.")],
    study: Annotated[
        Path, typer.Option(help="The study's folder; made where there is none (then --benchmark is needed).")
    ],
    benchmark: Annotated[
        str | None,
        typer.Option(help="What was asked: a bundled benchmark, a folder, or a file of items."),
    ] = None,
    mapped: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="WHAT=COLUMN",
            help="Which column holds the item, configuration, sample, text (or value), error, model, "
            "serving, family, finish, tokens_in or tokens_out. a.b is b inside of a; item=task+id joins two. "
            "What is not said is guessed.",
        ),
    ] = None,
    configuration: Annotated[
        str | None, typer.Option(metavar="NAME", help="The configuration of all rows.")
    ] = None,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="The model of all rows.")] = None,
    serving: Annotated[
        str | None, typer.Option(metavar="PATH", help="How the answers came: local, direct, routed, ...")
    ] = None,
    family: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Configurations of one family are no independent witnesses."),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The configuration that a new study compares the others with."),
    ] = None,
    form: Annotated[
        FormatName | None, typer.Option("--format", help="What the files are, where names do not tell.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check everything, store nothing.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress on standard error.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Store recorded answers of a table in a study, a row an answer.

    All rows or none: at the first fault nothing is stored. Answers that are there already are skipped, so
    a longer file can be imported again. Without a column of samples, answers of an item are numbered in the
    order of the file.
    """
    from leadline.cli.plain_text import print_json, printable
    from leadline.interop.table import import_table
    from leadline.interop.table_columns import parsed_columns

    constants = {"configuration": configuration, "model": model, "serving": serving, "family": family}
    columns = parsed_columns(mapped or ())
    with _progress(files, quiet) as progress:
        done = import_table(
            files,
            study,
            benchmark=benchmark,
            columns=columns,
            constants={role: name for role, name in constants.items() if name is not None},
            form=form,
            baseline=baseline,
            dry=dry_run,
            progress=progress,
        )
    if as_json:
        print_json(_plain(done))
        return
    for line in _lines(done):
        typer.echo(printable(line))
    if not done.dry:
        typer.echo(f"next: leadline report {shlex.quote(str(done.study))}")


app.command(
    epilog="Example: leadline import inspect logs/ --study my-study --baseline gpt-4o-mini\n\n"
    "Example: leadline import inspect logs/*.eval --study my-study --benchmark my-benchmark --dry-run"
)(import_inspect.inspect)
app.command(
    name="lm-eval",
    epilog="Example: leadline import lm-eval results/ --study my-study --baseline pythia-160m\n\n"
    "Example: leadline import lm-eval results/ --study my-study --task hellaswag --choice acc_norm",
)(import_lm_eval.lm_eval)
app.command(
    name="openai-batch",
    epilog="Example: leadline import openai-batch output.jsonl errors.jsonl --study my-study --benchmark "
    "my-benchmark --id-pattern '{item}-{sample}'",
)(import_openai_batch.openai_batch)


def _plain(done: TableImport) -> dict[str, object]:
    return {
        "study": str(done.study),
        "made": done.made,
        "dry_run": done.dry,
        "columns": dict(done.columns.columns),
        "guessed": list(done.columns.guessed),
        "rows": done.rows,
        "stored": done.stored,
        "known": done.known,
        "failed_calls": done.failed,
        "empty_answers": done.empty,
        "items": done.items,
        "configurations": [{"model": model, "configuration": name} for model, name in done.configurations],
        "imported_before": list(done.again),
    }


def _lines(done: TableImport) -> Iterator[str]:
    from leadline.cli.plain_text import count

    columns = done.columns
    said = [
        f"{role} = {column}{' (guessed)' if role in columns.guessed else ''}"
        for role, column in columns.columns.items()
    ]
    if columns.exported:
        said = ["as `leadline export answers` has them"]
    said += [f"{role} = {name!r} (all rows)" for role, name in columns.constants.items()]
    if "sample" not in columns.columns:
        said.append("sample = order of the file")
    yield f"columns: {', '.join(said)}"
    for name in done.again:
        yield f"{name}: imported before, nothing to do"
    if not done.rows:
        return
    if done.made:
        yield f"{done.study}: {'would be made' if done.dry else 'a new study'}"
    verb = "would be stored" if done.dry else "stored"
    yield (
        f"{verb}: {count(done.stored, 'answer')} of {count(len(done.configurations), 'configuration')} "
        f"to {count(done.items, 'item')}"
    )
    if done.known:
        yield f"skipped: {count(done.known, 'answer')} that were there already, or stand twice in the table"
    if done.failed:
        yield f"of these failed calls: {done.failed:,}"
    if done.empty:
        yield f"without a text, kept as empty answers: {done.empty:,}"


@contextmanager
def _progress(files: list[Path], quiet: bool) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal where the files are large; its end is estimated from their lines."""
    size = sum(path.stat().st_size for path in files if path.is_file())
    if quiet or size < _LARGE or not sys.stderr.isatty():
        yield lambda rows: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    parts = (TextColumn("reading rows"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*parts, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=_rows(files))
        yield lambda rows: bar.update(task, completed=rows)


def _rows(files: list[Path]) -> int | None:
    """About how many rows there are: lines of text, None for other formats."""
    if any(path.suffix.lower() not in (".csv", ".tsv", ".tab", ".jsonl", ".ndjson") for path in files):
        return None
    lines = 0
    for path in files:
        with path.open("rb") as file:
            while chunk := file.read(1 << 20):
                lines += chunk.count(b"\n")
    return lines
