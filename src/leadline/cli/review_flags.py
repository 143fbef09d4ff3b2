"""`leadline review flags`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leadline.cli.run import AsJson

if TYPE_CHECKING:
    from leadline.bench.adjudications import Adjudication
    from leadline.bench.benchmark import Benchmark
    from leadline.review.flags import FlagList

Into = Annotated[
    Path | None,
    typer.Option(
        "--into",
        help="The review folder. [default: review/ in the benchmark's folder; NAME-review here for a bundled "
        "one or a bare file]",
    ),
]


def flags(
    about: Annotated[
        str,
        typer.Argument(
            metavar="STUDY|BENCHMARK",
            help="The study's folder (with its study.yaml); with --audit also a benchmark's name, folder or "
            "file, before any model answered.",
        ),
    ] = ".",
    audit: Annotated[
        Path | None,
        typer.Option("--audit", help="The audit's JSON whose flags are listed. [default: the study's own]"),
    ] = None,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            help="Write the list to a file; its ending says how: .jsonl (to be read again), .csv, .md, "
            ".html. May be given several times."
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also the items that a decision in force has settled.")
    ] = False,
    blind: Annotated[
        bool,
        typer.Option(
            "--blind", help="Only which items: no label, no answer, not why. For who has yet to read."
        ),
    ] = False,
    listed: Annotated[int, typer.Option("--list", min=0, help="How many of each kind are printed.")] = 20,
    adjudications: Annotated[
        Path | None,
        typer.Option(
            help="The file of decisions, or none. [default: the study's; else where review decide writes]"
        ),
    ] = None,
    into: Into = None,
    as_json: AsJson = False,
) -> None:
    """List the items that a person should look at: configurations agree against the label, the audit flags
    them, or the answers are unstable in every configuration.

    A flag proposes; it never changes a label. Items that were decided on are left out and counted.
    """
    from leadline.review.flags import blinded, places
    from leadline.review.flags_text import form_of, write_list

    for path in out or []:
        form_of(path)
    benchmark, found = _found(about, audit, adjudications, into, everything)
    questions = {item.id: item.question for item in benchmark.items}
    if blind:
        found = blinded(found, benchmark)
        questions = {place: item.question for place, item in places(benchmark).items()}
    for path in out or []:
        write_list(found, path, questions)
    if as_json:
        from leadline.cli.plain_text import print_json

        print_json(found.model_dump(mode="json", exclude_defaults=True))
    else:
        _show(found, listed)
    for path in out or []:
        typer.echo(f"written: {path}", err=True)


def _found(
    about: str, audit: Path | None, named: Path | None, into: Path | None, everything: bool
) -> tuple[Benchmark, FlagList]:
    """The benchmark as annotated, and the flags on it: of a study, or of an audit alone."""
    from leadline.bench import load_benchmark
    from leadline.review.flagging import flags_of, flags_of_audit
    from leadline.study.study import open_study

    if audit is None or is_study(Path(about)):
        study = open_study(Path(about), None, audit)
        own = study.population.decisions.file
        decisions = _decisions(study.whole, own, named, into)
        return study.whole, flags_of(study, decisions, with_decided=everything)
    benchmark = load_benchmark(about)
    decisions = _decisions(benchmark, None, named, into)
    return benchmark, flags_of_audit(benchmark, audit, decisions, with_decided=everything)


def is_study(folder: Path) -> bool:
    """Whether a folder is a study's: a benchmark's has no study.yaml."""
    from leadline.study.config_file import STUDY_FILE

    return (folder / STUDY_FILE).exists()


def _decisions(
    benchmark: Benchmark, own: Path | None, named: Path | None, into: Path | None
) -> tuple[Adjudication, ...]:
    """Those in the file that is named, that the study applies (`own`), or that decisions are written to."""
    from leadline.bench.adjudications import read_adjudications
    from leadline.review.places import adjudications_file, review_folder
    from leadline.study.decisions import NONE

    if named is not None:
        return () if str(named) == NONE else read_adjudications(named)
    path = own or adjudications_file(benchmark, review_folder(benchmark, into))
    return read_adjudications(path) if path.exists() else ()


def _show(found: FlagList, listed: int) -> None:
    from leadline.cli.plain_text import print_table, printable
    from leadline.review.flags import SENTENCE
    from leadline.review.flags_text import counted, sections, short

    typer.echo(printable(f"{found.benchmark} {found.version}: {counted(found)}"))
    for section in sections(found):
        rows = section.rows[:listed]
        if rows:
            typer.echo(f"\n{section.title}")
            print_table(section.columns, short(rows))
        if more := len(section.rows) - len(rows):
            typer.echo(f"... and {more:,} more {section.title.lower()}; --list or --out shows them")
    if found.notes or found.flags:
        typer.echo()
    for note in found.notes:
        typer.echo(printable(note))
    if found.flags:
        typer.echo(SENTENCE)
