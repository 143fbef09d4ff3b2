"""`leadline review serve`: the pages on which people label, adjudicate and re-annotate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def serve(
    benchmark: Annotated[
        str | None, typer.Argument(help="A benchmark's name, folder or file: label new items of its sources.")
    ] = None,
    study: Annotated[
        Path | None, typer.Option(help="A study: decide on what its answers make doubtful.")
    ] = None,
    flags: Annotated[
        Path | None, typer.Option(help="Decide on the items of this list of flags (leadline review flags).")
    ] = None,
    audit: Annotated[
        Path | None,
        typer.Option(help="Decide on what this audit's JSON flags; no model need have answered."),
    ] = None,
    pack: Annotated[
        Path | None, typer.Option(help="Answer this blind pack again (leadline review pack).")
    ] = None,
    questions: Annotated[
        Path | None, typer.Option(help="Label these questions: JSONL or CSV, without answers.")
    ] = None,
    reader: Annotated[
        str, typer.Option(help="Who reads.  [default: each browser is asked]", show_default=False)
    ] = "",
    into: Annotated[
        Path | None,
        typer.Option(help="Folder for what is written.  [default: review/ in the benchmark's folder]"),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; others than loopback's are not encrypted.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes one that is free.")] = 8090,
    hide_quotes: Annotated[
        bool, typer.Option("--hide-quotes", help="Show doubted items without their quotes before a reading.")
    ] = False,
) -> None:
    """Serve the pages on which people label new items, decide on doubts, and answer a blind pack.

    Prints an address with a token; open it in a browser. Every answer is saved as it is typed. The key and
    the models' answers are shown only after a reading is committed. Stop it with Ctrl-C, and go on whenever
    you like.
    """
    from leadline.errors import UsageError

    try:
        from leadline.review.start import ServeOptions, start
    except ImportError as error:
        if error.name not in ("starlette", "uvicorn"):
            raise
        raise UsageError(
            f"the review pages need the extra 'review' ({error.name} is missing)",
            fix="pip install 'leadline[review]'",
        ) from error
    start(
        ServeOptions(
            benchmark=benchmark,
            study=study,
            flags=flags,
            audit=audit,
            pack=pack,
            questions=questions,
            reader=reader,
            into=into,
            host=host,
            port=port,
            hide_quotes=hide_quotes,
        )
    )
