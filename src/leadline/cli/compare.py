"""`leadline compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from leadline.cli.run import AsJson


def compare(
    first: Annotated[str, typer.Argument(metavar="A", help="What B is compared with.")],
    second: Annotated[str, typer.Argument(metavar="B", help="STUDY, STUDY:NAME or STUDY:MODEL/NAME.")],
    study: Annotated[
        Path | None, typer.Option("--study", help="A and B are configurations of this study.")
    ] = None,
    items: Annotated[
        int | None, typer.Option("--items", min=0, help="Flipped items listed each way. [default: 5]")
    ] = None,
    flips_only: Annotated[bool, typer.Option("--flips-only", help="Only the flipped items.")] = False,
    as_json: AsJson = False,
) -> None:
    """Set two configurations side by side on the items that both answered: who is right more often, by how
    much, with which interval, and which items flipped each way.

    \b
      leadline compare --study my-study greedy recite
      leadline compare monday:greedy tuesday:greedy
      leadline compare my-study:small/greedy my-study:large/greedy --json

    Needs no model. Items are paired by id and wording. With --json all flipped items are listed.
    """
    from leadline.study.comparing import compare as compared

    found = compared(first, second, study)
    if as_json:
        from leadline.cli.plain_text import print_json
        from leadline.report.comparison import as_json as values

        print_json(values(found, items))
        return
    from rich.console import Console

    from leadline.report.terminal_comparison import comparison_shown

    console = Console()
    if not console.is_terminal:  # a file or a pipe is as wide as need be
        console = Console(width=max(120, console.width))
    console.print(comparison_shown(found, 5 if items is None else items, flips_only))
