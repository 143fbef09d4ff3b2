"""`leadline review`: what people decide about labels."""

from __future__ import annotations

import typer

app = typer.Typer(
    help="Doubts for a person to look at, decisions on labels, and blind readings of a benchmark.",
    no_args_is_help=True,
)
