"""`leadline review decide` and `leadline review decisions`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from leadline.cli.review_flags import Into
from leadline.cli.run import AsJson

if TYPE_CHECKING:
    from leadline.review.decide import Written
    from leadline.review.decision_list import DecisionList

Benchmark = Annotated[str, typer.Argument(help="A benchmark folder, a .jsonl file, or a bundled name.")]
Outcome = Literal["upheld", "rejected", "excluded-ambiguous", "withdrawn"]


def decide(
    benchmark: Benchmark,
    item: Annotated[str, typer.Argument(help="The item's id.")],
    outcome: Annotated[
        Outcome,
        typer.Option(
            # As bench.outcomes has it, which it would take a tenth of a second to import.
            help="upheld: the label is wrong, or the text does not give it. rejected: the label stands. "
            "excluded-ambiguous: the item admits more than one reading. withdrawn: the decision in force is "
            "taken back."
        ),
    ],
    reason: Annotated[str, typer.Option(help="Why, for whoever asks later.")],
    reader: Annotated[str, typer.Option(help="Who read the text and decides.")],
    reading: Annotated[
        str, typer.Option(help="What the reader answered before seeing the label and models' answers.")
    ] = "",
    corrected: Annotated[
        str | None,
        typer.Option(help="With upheld: the answer that the text gives. Without it the item is left out."),
    ] = None,
    source: Annotated[
        str, typer.Option(help="The document that was read: its name among the benchmark's sources.")
    ] = "",
    start: Annotated[
        int | None, typer.Option("--from", min=0, help="The first character that was read, from 0.")
    ] = None,
    end: Annotated[int | None, typer.Option("--to", min=1, help="Where reading ended, exclusive.")] = None,
    flags: Annotated[
        Path | None,
        typer.Option(help="The flag list (.jsonl) that raised the doubt: the decision keeps what it said."),
    ] = None,
    into: Into = None,
    as_json: AsJson = False,
) -> None:
    """Write down what a person decided about one item: a line at the end of adjudications.jsonl.

    Nothing is ever changed in that file, nor in the benchmark: decisions are a layer, and the last one on an
    item counts. It is about question, window and label as they are now; if one of them changes, it is stale.
    """
    from leadline.bench import load_benchmark
    from leadline.review.decide import decide as written
    from leadline.review.flag_files import read_flags
    from leadline.review.flags import as_recorded
    from leadline.review.places import adjudications_file, own_folder, review_folder
    from leadline.review.text_read import text_read

    about = load_benchmark(benchmark)
    done = written(
        about,
        adjudications_file(about, review_folder(about, into)),
        item,
        outcome,
        reason=reason,
        reader=reader,
        reading=reading,
        corrected=corrected,
        read=text_read(about, source, start, end),
        flag=as_recorded(read_flags(flags, about), item) if flags else {},
    )
    if as_json:
        from leadline.cli.plain_text import print_json

        print_json({"file": str(done.file), **done.decision.model_dump(mode="json", exclude_defaults=True)})
        return
    _say(done, own_folder(about) is not None)


def decisions(benchmark: Benchmark, into: Into = None, as_json: AsJson = False) -> None:
    """List the decisions on a benchmark's items: which are in force, which no longer count and why."""
    from leadline.bench import load_benchmark
    from leadline.review.decision_list import decision_list
    from leadline.review.places import adjudications_file, review_folder

    about = load_benchmark(benchmark)
    found = decision_list(about, adjudications_file(about, review_folder(about, into)))
    if as_json:
        from leadline.cli.plain_text import print_json

        print_json(found.values)
        return
    _list(found)


def _say(done: Written, beside: bool) -> None:
    """`beside`: the file lies beside benchmark.yaml, where studies look for it."""
    from leadline.cli.plain_text import printable

    for note in done.notes:
        typer.echo(printable(f"note: {note}"), err=True)
    decision = done.decision
    said = f"{decision.item}: {decision.outcome}"
    if decision.corrected is not None:
        said += f", the label is read as {decision.corrected!r}"
    typer.echo(printable(f"{said} ({decision.reader}, {decision.date})"))
    typer.echo(printable(f"written: {done.file}"), err=True)
    if not beside:
        typer.echo(printable(f"applied with: --adjudications {shlex.quote(str(done.file))}"), err=True)


def _list(found: DecisionList) -> None:
    from leadline.cli.plain_text import print_table, printable
    from leadline.review.flags_text import short

    typer.echo(printable(found.sentence))
    if found.rows:
        typer.echo()
        print_table(found.columns, short(found.rows))
