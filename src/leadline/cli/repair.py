"""`leadline repair`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from leadline.cli.run import AsJson, QuietFlag
from leadline.errors import EXIT_FINDINGS


def repair(
    benchmark: Annotated[str, typer.Argument(help="A benchmark folder, or a bundled name.")],
    audit: Annotated[
        Path | None, typer.Option(help="Its audit's JSON.  [default: it is audited now]")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="The folder to make.  [default: NAME-repaired beside the benchmark]")
    ] = None,
    only_repaired: Annotated[
        bool, typer.Option("--only-repaired", help="Write the repaired items alone, without the others.")
    ] = False,
    listed: Annotated[int, typer.Option("--list", min=0, help="How many flagged items are named.")] = 20,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be repaired, and write nothing.")
    ] = False,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes that audit side by side.  [default: one per core]")
    ] = None,
    quiet: QuietFlag = False,
    as_json: AsJson = False,
) -> None:
    """Re-cut the windows of flagged items around their evidence, at the same length, as a new version.

    The window is centred on the quote in its source and verified by the audit's own matcher. Where that
    cannot be, the item is left as it was, with the reason: computational items, evidence in no document
    held, spans too far apart, and more. The new folder holds the paired items with copies of the sources;
    repair.json and pairing.csv say which window came from where.

    Exit code 1 when items are flagged and none could be repaired.
    """
    from leadline.audit.document import load_audit
    from leadline.audit.repair import repair as repaired
    from leadline.audit.repair_files import check_place, write_repair
    from leadline.bench import is_bundled, load_benchmark
    from leadline.bench.stream import open_stream
    from leadline.documents import Sources
    from leadline.errors import UsageError
    from leadline.report.repair_text import pairing_csv, repair_lines

    loaded, folder = load_benchmark(benchmark), open_stream(benchmark).folder
    if folder is None:
        raise UsageError(
            "a bare item file has no sources to cut windows from",
            where=benchmark,
            fix="a benchmark folder with sources/",
        )
    if is_bundled(benchmark):  # it lies within the package: not beside it
        place = out or Path(f"{loaded.name}-repaired")
    else:
        name = folder.resolve().name if Path(benchmark).is_dir() else Path(benchmark).stem
        place = out or folder.parent / f"{name}-repaired"
    if not dry_run:
        check_place(folder, place)
    if audit is not None:
        document = load_audit(audit)
    else:
        from leadline.report.audit_progress import audit_progress
        from leadline.report.audit_report import Selection, audit_benchmark

        with audit_progress(quiet) as progress:
            document = audit_benchmark(benchmark, Selection(), workers=workers, progress=progress)
    where = str(audit) if audit is not None else None
    found = repaired(loaded, document, Sources.of(folder), only_repaired=only_repaired, where=where)
    if found.benchmark is not None and not dry_run:
        write_repair(found, folder, place, pairing_csv(found.document))
    if as_json:
        typer.echo(found.document.model_dump_json(by_alias=True, indent=2, exclude_none=True))
    else:
        for line in repair_lines(found.document, listed):
            typer.echo(line)
        if found.benchmark is not None and not dry_run:
            typer.echo(f"written {place}\nnext    leadline audit {shlex.quote(str(place))}")
    if found.benchmark is None and found.document.items:
        raise typer.Exit(EXIT_FINDINGS)
