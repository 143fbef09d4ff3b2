"""`leadline demo`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from leadline.cli.run import AsJson, QuietFlag

Part = Literal["facts", "documents"]


def demo(
    out: Annotated[Path, typer.Option(help="The folder of the demo's studies.")] = Path("demo"),
    only: Annotated[Part | None, typer.Option(help="One part alone.")] = None,
    items: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="How many items to ask in each part.  [default: 48 facts, with --full 200; all of licences]",
        ),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="All kinds of techniques: prompting, decoding, steering, stacks.")
    ] = False,
    quiet: QuietFlag = False,
    as_json: AsJson = False,
) -> None:
    """The main job on a real model, in two parts: facts from memory, and questions on documents.

    Fetches SmolLM2-135M-Instruct once (93 MB). Facts: greedy decoding, sampling, RECITE and GenRead, what
    they recover and what they break, and how steady they are; the study is in the folder --out. Documents: an
    audit of the bundled questions on licence texts (and of some with planted faults), then 20 answers to each
    clean question, and how steady they are; in its folder `licences`. Takes some minutes on two cores; run it
    again to go on or to look again.

    With --full the first part also asks under DoLa, DeCoRe, Activation Decoding, Contrastive Decoding, SLED,
    ITI, CAA, SADI and more: half an hour on two cores.
    """
    found: dict[str, Any] = {}
    if only != "documents":
        found["facts"] = _facts(out, items, full, quiet, as_json)
    if only != "facts":
        found["documents"] = _documents(out / "licences", items, quiet, as_json)
    if as_json:
        typer.echo(json.dumps(found, ensure_ascii=False, indent=1))


def _facts(out: Path, items: int | None, full: bool, quiet: bool, as_json: bool) -> Any:
    from leadline.study.config_file import STUDY_FILE
    from leadline.study.new import demo_study

    if not (out / STUDY_FILE).exists():
        demo_study(out, items, full)
    elif not quiet:
        typer.echo(f"going on with the study in {out} as its {STUDY_FILE} describes it", err=True)
    return _run(out, quiet, as_json)


def _documents(out: Path, items: int | None, quiet: bool, as_json: bool) -> Any:
    from leadline.cli.show import print_finding
    from leadline.study.config_file import STUDY_FILE
    from leadline.study.new import documents_demo_study

    _audit("licences/planted", out, "planted", quiet, as_json)  # its faults are there to be found
    _audit("licences", out, "audit", quiet, as_json)
    if not (out / STUDY_FILE).exists():
        documents_demo_study(out, items)
    findings = _run(out, quiet, as_json)
    if not as_json:
        print_finding(out, "wobble", "by category")
    return findings


def _audit(benchmark: str, out: Path, name: str, quiet: bool, as_json: bool) -> None:
    """Audit a bundled benchmark into `out`, and print the summary unless JSON is wanted."""
    from leadline.cli.audit import print_summary
    from leadline.report.audit_files import repository_root, write_audit
    from leadline.report.audit_gate import read_gate
    from leadline.report.audit_page import MOST_ITEMS
    from leadline.report.audit_progress import audit_progress
    from leadline.report.audit_report import Selection, audit_benchmark, texts_of
    from leadline.report.audit_texts import shown_in_full

    out.mkdir(parents=True, exist_ok=True)
    paths = [out / f"{name}.{ending}" for ending in ("html", "json")]
    with audit_progress(quiet) as progress:
        document = audit_benchmark(benchmark, Selection((), ()), progress=progress)
    texts = texts_of(benchmark, shown_in_full(document, MOST_ITEMS))
    write_audit(document, paths, read_gate("0", [], False), repository_root(Path.cwd()), texts)
    if not as_json:
        print_summary(document, 3, by_group=False)
        typer.echo(f"{'audit':<9} {paths[0]}\n")


def _run(folder: Path, quiet: bool, as_json: bool) -> Any:
    """Run the study; its findings where they are wanted as JSON, else they are printed."""
    from leadline.cli.run import run
    from leadline.report.study_report import report_study
    from leadline.study.study import open_study

    if not as_json:
        run(folder, quiet=quiet)
        return None
    run(folder, quiet=quiet, no_report=True)
    return json.loads(report_study(open_study(folder)).paths.findings.read_text(encoding="utf-8"))
