"""`leadline build`: fact benchmarks from Wikipedia."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leadline.cli.plain_text import print_json, printable
from leadline.cli.run import AsJson, QuietFlag
from leadline.errors import EXIT_FINDINGS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leadline.build.funnel import Step
    from leadline.workers.choose import EngineName

PlanFile = Annotated[Path, typer.Argument(help="The plan: a YAML file, see docs/building.md.")]
Workers = Annotated[
    int | None,
    typer.Option(min=1, help="Processes that work side by side.  [default: one per core]"),
]
EngineOption = Annotated[
    str,
    typer.Option("--engine", help="Where work over shards runs: process (this machine), or ray (a cluster)."),
]
Address = Annotated[
    str | None,
    typer.Option(
        help="Of a running Ray cluster: auto, or HOST:PORT.  [default: one is started on this machine]"
    ),
]

app = typer.Typer(
    help="Build a fact benchmark from Wikipedia: extract, link, filter, and verify in a training corpus.\n\n"
    "Every stage can be interrupted and run again; what is done is kept while its settings and inputs stay.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

# A command of one step and the last stage that belongs to it.
_UNTIL = {
    "articles": "articles",
    "extract": "extract",
    "link": "link",
    "filter": "cardinality",
    "frequency": "frequency",
    "questions": "questions",
    "presence": "presence",
}


@app.command(epilog="Example: leadline build run plan.yaml --workers 8")
def run(
    plan: PlanFile,
    workers: Workers = None,
    engine: EngineOption = "process",
    ray_address: Address = None,
    quiet: QuietFlag = False,
    as_json: AsJson = False,
) -> None:
    """Do everything that is lacking, and write the benchmark, its funnel, statistics and manifest."""
    _build(plan, None, workers, engine, ray_address, quiet, as_json)


def _step(name: str, what: str) -> None:
    def step(
        plan: PlanFile,
        workers: Workers = None,
        engine: EngineOption = "process",
        ray_address: Address = None,
        quiet: QuietFlag = False,
        as_json: AsJson = False,
    ) -> None:
        _build(plan, _UNTIL[name], workers, engine, ray_address, quiet, as_json)

    step.__doc__ = f"{what} Does the stages before it where they are lacking."
    app.command(name, epilog=f"Example: leadline build {name} plan.yaml")(step)


_step("articles", "Pages of a dump as articles: plain text, sentences, links.")
_step("extract", "Triplets from the articles' sentences.")
_step("link", "Names to Wikidata ids.")
_step("filter", "Let go what is unknown, uninformative, ambiguous or given away, each with its reason.")
_step("frequency", "Page views of subjects, and head, torso and tail.")
_step("questions", "The cap of each relation, and a question for each fact.")
_step("presence", "Look for the supporting sentences in the training corpus.")


def _build(
    file: Path,
    until: str | None,
    workers: int | None,
    engine: EngineName | str,
    ray_address: str | None,
    quiet: bool,
    as_json: bool,
) -> None:
    from leadline.build.extract.account import why_nothing
    from leadline.build.finish import Finished, finish
    from leadline.build.funnel import ScanFaults, funnel, scan_faults
    from leadline.build.funnel import as_json as funnel_json
    from leadline.build.plan_file import read_plan
    from leadline.build.progress import progress
    from leadline.build.run import run_build
    from leadline.build.standing import standing
    from leadline.build.workspace import Workspace
    from leadline.cli.build_page import page_of
    from leadline.cli.sigterm import sigterm_interrupts
    from leadline.report.build_page import write_build_page
    from leadline.workers.choose import chosen_engine

    plan = read_plan(file)
    work = Workspace(plan.work)
    with (
        sigterm_interrupts(),
        progress(quiet) as shown,
        chosen_engine(engine, workers, ray_address, plan.work, shown.note) as chosen,
    ):
        finished: Finished | None = None
        steps: tuple[Step, ...] = ()
        faults: ScanFaults | None = None
        nothing = ""

        def ending() -> None:
            nonlocal finished, steps, faults, nothing
            now = standing(plan, work)
            if until is None:
                finished = finish(plan, work, now)
                write_build_page(page_of(plan, finished.found), work.folder / "stats.html")
            steps = finished.found.funnel if finished else funnel(plan, work, now)
            faults = scan_faults(plan, work, now)
            if any(step.stage == "extract" and not step.kept for step in steps):
                nothing = why_nothing(work.stage("extract").counts(), plan.extract.method)

        outcome = run_build(plan, chosen, shown, until=until, then=ending)
    if as_json:
        print_json(
            {
                "done": outcome.done,
                "kept": outcome.kept,
                "items": finished.items if finished else None,
                "benchmark": str(work.benchmark) if finished and finished.items else None,
                "funnel": funnel_json(steps),
                "scan": vars(faults) if faults else None,
                "nothing": nothing or None,
            }
        )
    else:
        for line in told(steps):
            typer.echo(line)
        if faults:
            typer.echo(printable(faults.line()))
        if finished and finished.items:
            typer.echo(f"written {work.benchmark} ({finished.items:,} items), {work.folder / 'stats.html'}")
            typer.echo(f"next    leadline bench validate {shlex.quote(str(work.benchmark))}")
        elif nothing:
            typer.echo(nothing)
        elif finished:
            typer.echo("no fact is left: the funnel above says where they went")
    if nothing or (finished and not finished.items):
        raise typer.Exit(EXIT_FINDINGS)


def told(steps: Sequence[Step]) -> list[str]:
    """The funnel for a terminal."""
    wide = max((len(step.stage) for step in steps), default=0)
    lines = []
    for step in steps:
        reasons = ", ".join(f"{reason} {number:,}" for reason, number in step.dropped.items())
        dropped = f"  {step.lost:,} dropped: {reasons}" if step.lost else ""
        lines.append(f"{step.stage:<{wide}}  {step.taken:>9,} {step.unit:<5} {step.kept:>9,} kept{dropped}")
    return lines


@app.command(epilog="Example: leadline build explain plan.yaml 'Ada Lovelace'")
def explain(
    plan: PlanFile,
    fact: Annotated[
        str,
        typer.Argument(
            help="A fact's id, a Wikidata id, or a part of its subject, relation, object, page or question."
        ),
    ],
    limit: Annotated[int, typer.Option(min=1, help="At most so many facts.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Tell why a fact is in the benchmark, or where and why it was dropped.

    Exit code 1 when no stage has seen such a fact, and all are what the plan asks for.
    """
    from leadline.build.explain import histories, pages
    from leadline.build.plan_file import read_plan
    from leadline.build.standing import standing
    from leadline.build.workspace import Workspace

    read = read_plan(plan)
    work = Workspace(read.work)
    now = standing(read, work)
    found = histories(read, work, fact, limit, now)
    dropped = pages(work, fact, limit) if "articles" in now.current else []
    if as_json:
        print_json(
            {
                "facts": [
                    {
                        "fact": one.fact.model_dump(mode="json"),
                        "history": [vars(event) for event in one.events],
                    }
                    for one in found.histories
                ],
                "more": found.more,
                "out_of_date": now.first if now.stale else None,
                "pages": [page.model_dump(mode="json") for page in dropped],
            }
        )
    else:
        for line in now.lines(read):
            typer.echo(printable(line))
        for page in dropped:
            detail = f" ({page.detail})" if page.detail else ""
            typer.echo(printable(f"page {page.title}: dropped as {page.reason}{detail}"))
        for one in found.histories:
            ids = (one.fact.subject_id, one.fact.relation_id, one.fact.object_id)
            names = f"{one.fact.subject} | {one.fact.relation} | {one.fact.object}"
            names += f"  ({' '.join(known for known in ids if known)})" if any(ids) else ""
            typer.echo(printable(f"{one.fact.id}  {names}  (page {one.fact.title})"))
            for event in one.events:
                words = event.words or "unchanged"
                typer.echo(printable(f"  {event.stage:<12} {event.outcome:<8} {words}"))
        if found.more:
            typer.echo(f"and {found.more:,} more facts: --limit {limit + found.more}")
        if not found.histories and not dropped:
            typer.echo(printable(f"no stage has seen {fact}"))
    if not found.histories and not dropped and not now.stale:
        raise typer.Exit(EXIT_FINDINGS)


@app.command(epilog="Example: leadline build stats plan.yaml --json | jq .relations")
def stats(
    plan: PlanFile,
    out: Annotated[
        Path | None, typer.Option(help="The page to write.  [default: stats.html in the build's folder]")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Domains, bins, relations, presence and the funnel of what was built, as a page and as numbers."""
    from leadline.build.plan_file import read_plan
    from leadline.build.standing import standing
    from leadline.build.stats import statistics
    from leadline.build.workspace import Workspace
    from leadline.cli.build_page import page_of
    from leadline.report.build_page import write_build_page

    read = read_plan(plan)
    work = Workspace(read.work)
    now = standing(read, work)
    found = statistics(read, work, now)
    page = out or read.work / "stats.html"
    if found.last_stage:
        write_build_page(page_of(read, found), page)
    if as_json:
        print_json(found.as_json())
        return
    for line in now.lines(read):
        typer.echo(printable(line))
    if found.last_stage:
        for line in found.lines():
            typer.echo(printable(line))
        typer.echo(f"written {page}")


@app.command("table", epilog="Example: leadline build table domains > my-domains.yaml")
def table(
    name: Annotated[str, typer.Argument(help="domains, templates, relations or uninformative.")],
) -> None:
    """Print a packaged table, to edit and name in a plan."""
    from leadline.build.tables import table as packaged

    typer.echo(packaged(name), nl=False)
