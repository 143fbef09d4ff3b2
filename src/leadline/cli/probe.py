"""`leadline probe`: what a technique does to the distribution of the next token."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer


def probe(
    prompts: Annotated[
        Path,
        typer.Option(
            help='JSON Lines: {"id", "prompt" or "messages", "gold" if any}.', exists=True, dir_okay=False
        ),
    ],
    model: Annotated[str, typer.Option(help="A model's name, folder, .gguf file or org/name.")] = "smollm2",
    technique: Annotated[
        list[str] | None,
        typer.Option(help="NAME[:key=value,...]; may be given several times.  [default: greedy]"),
    ] = None,
    benchmark: Annotated[
        str, typer.Option(help="What a technique is fitted on, where it is fitted.")
    ] = "facts",
    top: Annotated[int, typer.Option(min=1, max=100_000, help="How many of the best tokens.")] = 20,
    max_new_tokens: Annotated[int, typer.Option(min=1, max=4096, help="Longest continuation.")] = 16,
    dtype: Annotated[str, typer.Option(help="float32, bfloat16 or float16.")] = "float32",
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.")] = "auto",
    as_json: Annotated[
        bool, typer.Option("--json", help="One line of JSON per prompt and technique.")
    ] = False,
) -> None:
    """Show what techniques do to the next token: best tokens, the gold token's rank, the continuation.

    Without --json a table per prompt sets each token's place under the baseline beside its place under the
    technique. A text is taken as it stands, messages go through the model's chat template.
    """
    from leadline.models.probing import probe_model, tables

    found = probe_model(
        model,
        technique or ["greedy"],
        prompts,
        benchmark=benchmark,
        top=top,
        max_new_tokens=max_new_tokens,
        dtype=dtype,
        device=device,
        beside_baseline=not as_json,
    )
    if as_json:
        for one in found:
            typer.echo(json.dumps(asdict(one), ensure_ascii=False))
        return
    from rich.console import Console

    console = Console(file=sys.stdout)
    for table in tables(found, top):
        console.print(table)
