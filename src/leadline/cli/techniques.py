"""`leadline techniques`: what can be done to a model, and with which prompts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="Look at the techniques and their prompts.", no_args_is_help=True, rich_markup_mode=None
)
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


@app.command("list", epilog="Example: leadline techniques list")
def list_techniques(as_json: AsJson = False) -> None:
    """List the techniques that a study can name."""
    from leadline.techniques.describe import described

    found = described()
    if as_json:
        typer.echo(json.dumps(found, indent=1, ensure_ascii=False))
        return
    width = max(len(one["name"]) for one in found)
    for one in found:
        typer.echo(f"{one['kind']:<9}  {one['name']:<{width}}  {one['summary']}")


@app.command(epilog="Example: leadline techniques show recite --style chat")
def show(
    name: Annotated[str, typer.Argument(help="A technique's name.")],
    style: Annotated[str, typer.Option(help="few-shot or chat.")] = "few-shot",
    prompts: Annotated[Path | None, typer.Option(help="A folder with your own prompt files.")] = None,
    write: Annotated[
        Path | None, typer.Option(help="Copy the prompt files into this folder, to change them there.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show a technique's settings, source and prompts.

    To use prompts of your own: copy the files with --write prompts, change them, and say `prompts: prompts`
    in study.yaml. Changed prompts make another configuration; its answers are kept apart.
    """
    from leadline.errors import UsageError
    from leadline.techniques.describe import copy_prompts, described_one

    if write is not None and write.exists() and not write.is_dir():
        raise UsageError("is a file, not a folder", where=str(write), fix="--write names a folder")
    one = described_one(name, style, prompts)
    if write is not None:
        for path in copy_prompts(name, style, write):
            typer.echo(path)
        return
    if as_json:
        typer.echo(json.dumps(one, indent=1, ensure_ascii=False))
        return
    typer.echo(f"{one['name']}: {one['summary']}")
    if one["citation"]:
        typer.echo(f"source: {one['citation']}")
    typer.echo("\nsettings (with their defaults):")
    for setting in one["settings"]:
        typer.echo(f"  {setting['name']}: {setting['default']}  # {setting['description']}")
    for prompt in one["prompts"]:
        typer.echo(f"\n--- {prompt['name']} ({prompt['origin']})\n{prompt['text'].rstrip()}")


@app.command(epilog="Example: leadline techniques fit caa:multiplier=2 --model smollm2")
def fit(
    name: Annotated[str, typer.Argument(help="NAME[:key=value,...]")],
    model: Annotated[str, typer.Option(help="A model's name, folder, .gguf file or org/name.")] = "smollm2",
    benchmark: Annotated[str, typer.Option(help="The questions that it is fitted on.")] = "facts",
    refit: Annotated[bool, typer.Option("--refit", help="Fit anew what is in the cache already.")] = False,
    dtype: Annotated[str, typer.Option(help="float32, bfloat16 or float16.")] = "float32",
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.")] = "auto",
    as_json: AsJson = False,
) -> None:
    """Fit a technique to a model, show what was fitted, and keep it.

    A study fits what it needs by itself, and finds what was fitted here.
    """
    import sys

    from rich.console import Console

    from leadline.models.fitting import fit as fitted_to
    from leadline.models.fitting import tables

    found = fitted_to(name, model, benchmark=benchmark, refit=refit, dtype=dtype, device=device)
    if as_json:
        typer.echo(json.dumps(found.about, indent=1, ensure_ascii=False))
        return
    console = Console(file=sys.stdout)
    for part in tables(found):
        console.print(part)
