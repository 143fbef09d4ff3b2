"""`leadline review items`: labels become a benchmark."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from leadline.cli.plain_text import count, print_json, printable
from leadline.cli.run import AsJson


def items(
    source: Annotated[
        str,
        typer.Argument(
            metavar="BENCHMARK|LABELS", help="The benchmark on whose documents was labelled, or labels.jsonl."
        ),
    ],
    out: Annotated[Path, typer.Option(help="The folder to make.")],
    window: Annotated[
        int, typer.Option(min=1, max=2_000_000, help="Longest window around the quotes, in characters.")
    ] = 4_000,
    name: Annotated[
        str | None, typer.Option(help="What the new benchmark is called.  [default: its folder's name]")
    ] = None,
    version: Annotated[
        str | None,
        typer.Option(help="Its version.  [default: 1; with old items the next one, such as 1.0+labelled.1]"),
    ] = None,
    with_old: Annotated[
        bool,
        typer.Option(
            "--with-old", help="The benchmark's own items first: a new version of it, with more items."
        ),
    ] = False,
    into: Annotated[
        Path | None, typer.Option(help="The review folder, where it is another than `serve` chooses itself.")
    ] = None,
    sources: Annotated[
        Path | None,
        typer.Option(help="Folder of the documents.  [default: the benchmark's; beside a file of labels]"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a benchmark of the labels that were committed: items, windows around their quotes, their sources.

    A label whose quotes do not stand in its documents any more is left out, with the reason, and so is what
    the text could not settle. labels.jsonl in the new folder says who labelled what, when, and where the
    quotes stand. With --with-old it is the benchmark itself and these items: what was there stays as it is,
    and its decisions come along.
    """
    from leadline.documents import Sources
    from leadline.review.found_labels import find_labels
    from leadline.review.new_items import new_items
    from leadline.review.new_items_folder import write_new_items
    from leadline.review.passages import Documents

    found = find_labels(
        source, out, name=name, version=version, with_old=with_old, into=into, sources=sources
    )
    held = Sources(found.sources)
    made = new_items(found.labels, Documents(held), found.about, window, found.old)
    write_new_items(made, held, out)
    if as_json:
        left_out = [
            {"item": one.item, "question": one.question, "reason": one.reason} for one in made.left_out
        ]
        print_json(
            {"folder": str(out), "items": len(made.benchmark.items), "new": made.new, "left_out": left_out}
        )
        return
    holds = count(len(made.benchmark.items), "item")
    more = f", {made.new:,} of them new (version {made.benchmark.version})" if with_old else ""
    typer.echo(printable(f"written {out}: {holds}{more}"))
    for one in made.left_out:
        typer.echo(printable(f"left out {one.item}: {one.reason}"))
    place = shlex.quote(str(out))
    typer.echo(printable(f"next    leadline bench validate {place}; leadline audit {place}"))
