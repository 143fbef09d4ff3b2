"""`leadline init` and `leadline run`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from leadline.study.config import Exclude
    from leadline.study.sharing import Workers
    from leadline.study.study import Study

Folder = Annotated[Path, typer.Argument(help="The study's folder (with its study.yaml).", show_default=True)]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON on standard output.")]
AuditFile = Annotated[
    Path | None,
    typer.Option(
        "--audit",
        help="An audit's JSON: leave out the items that it flags (or see --exclude), and tell apart what is "
        "steady by its verdicts. Takes the place of the study's own `exclude` and `audit`.",
    ),
]
Excluded = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude",
        help="With --audit, which verdicts exclude an item: flagged (the default), 'evidence absent', "
        "computational, 'label untraceable', 'answer stated', 'not checkable'; or none: then no item is left "
        "out. Repeat for several.",
    ),
]
Adjudications = Annotated[
    Path | None,
    typer.Option(
        "--adjudications",
        metavar="FILE|none",
        help="People's decisions on labels: read the answers with those of this file, or with none. Takes "
        "the place of the study's own `adjudications`.",
    ),
]
QuietFlag = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on standard error.")]


def init(
    folder: Annotated[Path, typer.Argument(help="The folder to make.")],
    benchmark: Annotated[str, typer.Option(help="A bundled benchmark's name, or a path.")] = "facts",
    model: Annotated[
        str,
        typer.Option(
            help="A catalogue name, a folder, a .gguf file, a Hugging Face id, or inspect:PROVIDER/MODEL."
        ),
    ] = "smollm2",
    items: Annotated[int | None, typer.Option(min=1, help="Ask only this many items.")] = None,
    base_url: Annotated[
        str | None,
        typer.Option(help="Of a model behind an API: its address, such as http://127.0.0.1:8000/v1."),
    ] = None,
) -> None:
    """Make a study: a folder with a commented study.yaml and its JSON schema for editors."""
    from leadline.models.served.reference import is_served
    from leadline.study.new import new_study

    file = new_study(folder, benchmark, model, items, base_url)
    dry = " --dry-run" if is_served(model) else ""
    typer.echo(f"{file}\nnext: leadline run {shlex.quote(str(folder))}{dry}")


def excluding(audit: Path | None, verdicts: list[str] | None) -> Exclude | None:
    """What --audit and --exclude say, or None where they say nothing."""
    from leadline.errors import UsageError
    from leadline.study.population import NONE, exclude_by

    if audit is None:
        if verdicts == [NONE]:
            return exclude_by(Path(), verdicts)
        if verdicts:
            raise UsageError("--exclude needs the audit whose verdicts it names", fix="--audit audit.json")
        return None
    return exclude_by(audit, verdicts or ["flagged"])


def opened(
    folder: Path,
    exclude: Exclude | None,
    audit: Path | None,
    adjudications: Path | None,
    *,
    quiet: bool = False,
) -> Study:
    """The study under what the flags say; what is not applied of people's decisions is told on stderr."""
    from leadline.cli.plain_text import printable
    from leadline.study.study import open_study

    study = open_study(folder, exclude, audit, adjudications)
    for remark in () if quiet else study.population.decisions.remarks:
        typer.echo(f"note: {printable(remark)}", err=True)
    return study


def run(
    folder: Folder = Path(),
    audit: AuditFile = None,
    exclude: Excluded = None,
    adjudications: Adjudications = None,
    quiet: QuietFlag = False,
    as_json: AsJson = False,
    no_report: Annotated[bool, typer.Option("--no-report", help="Only ask; write no report.")] = False,
    accept_changes: Annotated[
        bool,
        typer.Option(
            "--accept-changes",
            help="Go on although a model, an item's wording or the code changed since earlier answers were "
            "drawn; database, manifest and report keep a record of it.",
        ),
    ] = False,
    retry_failed: Annotated[
        bool,
        typer.Option(
            "--retry-failed",
            help="Ask again what a provider refused for good (too long, a bad request); what failed in "
            "passing is asked again in any case.",
        ),
    ] = False,
    refill_empty: Annotated[
        bool,
        typer.Option(
            "--refill-empty",
            help="Ask again what was answered with nothing. The empty answers are set aside, and manifest "
            "and report say how many.",
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be asked and what it may cost.")
    ] = False,
    engine: Annotated[
        str | None,
        typer.Option(
            "--engine",
            help="Spread the models of this machine over workers: process (on this machine), or ray (on a "
            "cluster).  [default: in this process]",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="With --engine, how many work side by side.  [default: one for each accelerator, else for "
            "every 4 cores]",
        ),
    ] = None,
    ray_address: Annotated[
        str | None,
        typer.Option(
            help="Of a running Ray cluster: auto, or HOST:PORT.  [default: one is started on this machine]"
        ),
    ] = None,
) -> None:
    """Ask the models everything that the study lacks, then write its report.

    Stop it at any moment and run it again: stored answers are never asked twice. Calls that failed, also in
    earlier runs, a provider that refuses everything, and a budget that is used up make the exit code 3, with
    a report of what is there.
    """
    import json
    from dataclasses import asdict

    from leadline.cli.dry_run import show_dry_run
    from leadline.cli.show import show_report
    from leadline.cli.sigterm import sigterm_interrupts
    from leadline.errors import LeadlineError
    from leadline.study.asking import counted
    from leadline.study.progress import reporter
    from leadline.study.run import run_study

    study = opened(folder, excluding(audit, exclude), audit, adjudications, quiet=quiet)
    progress = reporter(quiet)
    crew = _workers(engine, workers, ray_address, progress.note)
    if dry_run:
        show_dry_run(study, as_json, retry_failed=retry_failed, refill_empty=refill_empty)
        return
    try:
        with sigterm_interrupts(), progress:
            outcome = run_study(
                study,
                progress,
                accept_changes=accept_changes,
                retry_failed=retry_failed,
                refill_empty=refill_empty,
                workers=crew,
            )
    except KeyboardInterrupt:
        if not quiet:
            typer.echo("interrupted; what was answered is stored, run again to go on", err=True)
        raise  # exit code 130
    if not quiet:
        refilled = f" ({outcome.refilled:,} of them in place of empty ones)" if outcome.refilled else ""
        typer.echo(
            f"{counted(outcome.drawn, 'answer')} drawn{refilled}, {outcome.kept:,} "
            f"{'was' if outcome.kept == 1 else 'were'} there; {outcome.seconds:,.1f} s",
            err=True,
        )
    if not no_report and (outcome.drawn or outcome.kept or not outcome.stopped):
        show_report(study, None, as_json, quiet)
    elif as_json:
        always = ("drawn", "kept", "failed", "seconds")
        told = {key: value for key, value in asdict(outcome).items() if value or key in always}
        typer.echo(json.dumps(told))
    if outcome.stopped:
        left = f"; {outcome.left.words}" if outcome.left else ""
        raise LeadlineError(f"{outcome.stopped}{left}", where=str(folder), fix=outcome.fix)
    if outcome.lacking:
        what, fix = outcome.lacking
        raise LeadlineError(what, where=str(folder), fix=fix)


def _workers(
    engine: str | None, workers: int | None, address: str | None, tell: Callable[[str], None]
) -> Workers | None:
    """What --engine, --workers and --ray-address ask for; None: everything in this process. `tell` is given
    a line before something that takes long."""
    from typing import get_args

    from leadline.bench.problem import did_you_mean
    from leadline.errors import UsageError
    from leadline.workers.choose import EngineName, engine_for_models

    if address is not None and engine != "ray":
        raise UsageError("an address of a Ray cluster is given", fix="add --engine ray")
    if engine is None:
        if workers is not None:
            raise UsageError(
                "--workers says how many, not where", fix="add --engine process, or --engine ray"
            )
        return None
    if engine not in get_args(EngineName):
        known = did_you_mean(engine, get_args(EngineName), otherwise="engines: process, ray")
        raise UsageError(f"no engine is called {engine!r}", fix=known)
    return engine_for_models(engine, workers, address, tell)
