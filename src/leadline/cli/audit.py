"""`leadline audit`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from leadline.cli.run import QuietFlag
from leadline.errors import EXIT_FINDINGS, LeadlineError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from leadline.audit.document import AuditDocument
    from leadline.report.audit_texts import ItemTexts

Form = Literal["table", "json", "csv", "markdown", "html", "sarif"]


def audit(
    benchmark: Annotated[str, typer.Argument(help="A benchmark folder, a .jsonl file, or a bundled name.")],
    out: Annotated[
        list[Path] | None,
        typer.Option(
            help="Write the audit to a file; its ending says how: .html, .json, .csv, .md, .sarif. "
            "May be given several times."
        ),
    ] = None,
    form: Annotated[Form, typer.Option("--format", help="What is printed on standard output.")] = "table",
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    max_flagged: Annotated[
        str, typer.Option(help="How many flagged items are let pass: a number, or a share such as 2%.")
    ] = "0",
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            help="A failure type that does not count: evidence-absent, computational, label-untraceable, "
            "answer-stated, unclassified. May be given several times."
        ),
    ] = None,
    require_checked: Annotated[
        bool, typer.Option("--require-checked", help="Items that could not be checked count as well.")
    ] = False,
    task: Annotated[
        list[str] | None, typer.Option(help="Only the items of this task. May be given several times.")
    ] = None,
    item: Annotated[
        list[str] | None,
        typer.Option(help="Only this item, in full, with its window. May be given several times."),
    ] = None,
    listed: Annotated[
        int, typer.Option("--list", min=0, help="How many flagged items the table names.")
    ] = 10,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes that check side by side. [default: one per core]")
    ] = None,
    quiet: QuietFlag = False,
) -> None:
    """Check that a benchmark's questions can be answered from what the model is shown.

    Looks for each label's quote in its window and in its source, tells the kinds of failure apart, and tests
    itself on the benchmark first. Exit codes: 0 nothing flagged (or no more than --max-flagged), 1 flagged,
    2 the input is wrong, 3 the self-test failed, and there are no verdicts.
    """
    from leadline.report.audit_files import check_folder, form_of, rendered, repository_root, write_audit
    from leadline.report.audit_gate import judge, read_gate

    if as_json and form not in ("table", "json"):
        raise UsageError(f"--json and --format {form} exclude each other", fix="give one of them")
    form = "json" if as_json else form
    gate = read_gate(max_flagged, ignore or [], require_checked)
    forms = {form, *(form_of(path) for path in out or [])}
    for path in out or []:
        check_folder(path)

    from leadline.report.audit_page import MOST_ITEMS
    from leadline.report.audit_progress import audit_progress
    from leadline.report.audit_report import Selection, audit_benchmark, texts_of
    from leadline.report.audit_terminal import printable
    from leadline.report.audit_texts import shown_in_full
    from leadline.report.audit_words import failed_trials

    selection = Selection(tuple(task or ()), tuple(item or ()))
    with audit_progress(quiet) as progress:
        document = audit_benchmark(benchmark, selection, workers=workers, progress=progress)
    wanted = list(document.items) if item else shown_in_full(document, MOST_ITEMS) if "html" in forms else []
    texts = texts_of(benchmark, wanted)
    root = repository_root(Path.cwd())
    write_audit(document, out or [], gate, root, texts)
    if form == "table" and item:
        _print_items(document, texts)
    elif form == "table":
        print_summary(document, listed)
    else:
        typer.echo(rendered(document, form, gate, root, texts), nl=False)
    if not quiet:
        for path in out or []:
            typer.echo(f"written: {path}", err=True)
    if not document.self_test.passed:
        raise LeadlineError(
            "the checker failed its self-test on this benchmark, so there are no verdicts: "
            + printable(failed_trials(document)),
            where=benchmark,
        )
    outcome = judge(document, gate)
    if form == "table" or not quiet:
        typer.echo(outcome.sentence, err=form != "table")
    if not outcome.passes:
        raise typer.Exit(EXIT_FINDINGS)


def print_summary(document: AuditDocument, listed: int, by_group: bool = True) -> None:
    """Print who was audited, the self-test, the counts, and at most `listed` of the flagged items."""
    from leadline.report.audit_terminal import audit_summary

    _console().print(audit_summary(document, listed, by_group))


def _print_items(document: AuditDocument, texts: Mapping[str, ItemTexts]) -> None:
    from leadline.report.audit_item import audit_item
    from leadline.report.audit_terminal import audit_head

    console = _console()
    console.print(audit_head(document))
    for verdict in document.items:
        console.print()
        console.print(audit_item(verdict, texts.get(verdict.item)))
    console.print()


def _console() -> Console:
    from rich.console import Console

    console = Console()
    # A file or a pipe is as wide as need be.
    return console if console.is_terminal else Console(width=max(120, console.width))
