"""`leadline bench fetch-sources`."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leadline.cli.plain_text import printable
from leadline.cli.run import QuietFlag
from leadline.errors import EXIT_FAILED, UsageError

if TYPE_CHECKING:
    from leadline.bench.item import Item
    from leadline.documents import FetchOutcome, FetchStep, IndexEntry

# Seconds between two lines in a log.
_INTERVAL = 10.0
_MIB = 1024 * 1024


def fetch_sources(
    benchmark: Annotated[str, typer.Argument(help="A benchmark folder.")],
    user_agent: Annotated[
        str | None,
        typer.Option(
            envvar="LEADLINE_USER_AGENT",
            help='Who asks, such as "Jane Doe jane@example.org". SEC EDGAR and Wikipedia refuse clients '
            "that give no contact.",
        ),
    ] = None,
    rate: Annotated[
        float, typer.Option(min=0.001, max=100, help="Requests a second to one host, at most.")
    ] = 2.0,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Ask again for what is held; fetch what has changed.")
    ] = False,
    attempts: Annotated[
        int, typer.Option(min=1, max=20, help="How often a passing failure is tried, in all.")
    ] = 5,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="How long a server may be silent, in seconds.")
    ] = 30.0,
    max_size: Annotated[float, typer.Option(min=0.001, help="The largest document, in MiB.")] = 128.0,
    ignore_robots: Annotated[
        bool,
        typer.Option("--ignore-robots", help="Fetch what robots.txt asks not to; for hosts that let you."),
    ] = False,
    private: Annotated[
        bool,
        typer.Option("--private", help="Ask this machine's own servers and private networks, too."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
    quiet: QuietFlag = False,
) -> None:
    """Fetch the documents that a benchmark's items point to, into its folder sources/.

    Each URL is fetched once and kept as it came; sources/index.jsonl says which file is which URL. What is
    held is not asked for again, so a run that was stopped goes on where it was. Exit codes: 0 all there,
    2 the input is wrong, 3 some could not be had.
    """
    from leadline import __version__
    from leadline.bench.stream import open_stream
    from leadline.documents import FetchSettings, Sources, fetch

    stream = open_stream(benchmark)
    if stream.folder is None:
        raise UsageError(
            "is one file, with no folder for its sources", where=benchmark, fix="make a folder of it"
        )
    settings = FetchSettings(
        user_agent=user_agent if user_agent is not None else f"leadline/{__version__}",
        rate=rate,
        timeout=timeout,
        attempts=attempts,
        max_bytes=int(max_size * _MIB),
        refresh=refresh,
        robots=not ignore_robots,
        private=private,
    )
    pointers = (pointer for placed in stream for pointer in _pointers(placed.item))
    with _progress(quiet) as report:
        outcome = fetch(pointers, Sources.of(stream.folder).folder, settings, report)
    if as_json:
        typer.echo(json.dumps(_as_data(outcome), ensure_ascii=False, indent=2))
    else:
        _print_outcome(outcome, contact=user_agent is not None)
    if outcome.failed:
        raise typer.Exit(EXIT_FAILED)


def _pointers(item: Item) -> Iterator[str]:
    yield item.source
    for evidence in item.evidence:
        yield evidence.source


def _as_data(outcome: FetchOutcome) -> dict[str, Any]:
    groups = {
        name: [
            {key: value for key, value in asdict(entry).items() if value} for entry in getattr(outcome, name)
        ]
        for name in ("fetched", "unchanged", "held", "failed")
    }
    return {
        "folder": str(outcome.folder),
        **groups,
        "changed": list(outcome.changed),
        "missing": list(outcome.missing),
    }


def _print_outcome(outcome: FetchOutcome, *, contact: bool) -> None:
    if outcome.failed:
        _print_failed(outcome.failed)
        if not contact and any(entry.status in (403, 429) for entry in outcome.failed):
            typer.echo(
                'hint: some hosts refuse who gives no contact: --user-agent "Jane Doe jane@example.org"',
                err=True,
            )
    if outcome.missing:
        names = ", ".join(printable(name[:60]) for name in outcome.missing[:3])
        more = ", ..." if len(outcome.missing) > 3 else ""
        folder = printable(str(outcome.folder))
        typer.echo(f"note: {len(outcome.missing):,} names are not in {folder}: {names}{more}", err=True)
    counts = [
        f"{len(outcome.fetched):,} fetched ({sum(entry.size for entry in outcome.fetched) / 1e6:,.1f} MB)",
        f"{len(outcome.unchanged):,} unchanged",
        f"{len(outcome.held):,} held already",
        f"{len(outcome.failed):,} failed",
    ]
    if outcome.changed:
        counts[0] += f", of which {len(outcome.changed):,} had changed"
    typer.echo(printable(f"{outcome.folder}: {', '.join(counts)}"))


def _print_failed(failed: tuple[IndexEntry, ...]) -> None:
    """Which, and why: a drawn table on a terminal, tab-separated lines elsewhere."""
    rows = [(printable(entry.url), printable(entry.error)) for entry in failed]
    if not sys.stdout.isatty():
        for row in (("url", "why not"), *rows):
            typer.echo("\t".join(row))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    table.add_column("url", overflow="fold")
    table.add_column("why not", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console().print(table)


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[FetchStep], None] | None]:
    """A bar on a terminal, a line now and then in a log, nothing when quiet. On stderr."""
    if quiet:
        yield None
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("fetching"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("", total=None)
            yield lambda step: bar.update(task, completed=step.done, total=step.total)
    else:
        yield _log()


def _log() -> Callable[[FetchStep], None]:
    said = time.monotonic()

    def advance(step: FetchStep) -> None:
        nonlocal said
        if time.monotonic() - said >= _INTERVAL:
            said = time.monotonic()
            print(f"fetching: {step.done:,} of {step.total:,}", file=sys.stderr, flush=True)

    return advance
