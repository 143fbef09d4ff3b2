"""`leadline models`: what this machine has, and how a model gets onto it."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from leadline.errors import EXIT_FINDINGS, EXIT_OK

app = typer.Typer(
    no_args_is_help=True,
    help="Fetch, list and inspect the models that answer.\n\n"
    "REF is a name from `leadline models list`, a model folder, a .gguf file, or a Hugging Face id org/name.",
)

_Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
_Ref = Annotated[str, typer.Argument(metavar="REF", help="Name, folder, .gguf file or org/name[@revision].")]
_Offline = Annotated[bool, typer.Option("--offline", help="Use what is on this machine, fetch nothing.")]


@app.command("list")
def list_models(as_json: _Json = False) -> None:
    """Show the catalogue and the converted models in the cache.

    Example: leadline models list --json
    """
    from leadline.models.shelf import shelf

    rows = shelf()
    if as_json:
        typer.echo(json.dumps([row.model_dump(mode="json") for row in rows], indent=2))
        return
    width = max(len(row.name) for row in rows)
    for row in rows:
        size = _megabytes(row.size) if row.size else "-"
        licence = f" [{row.licence}]" if row.licence else ""
        typer.echo(f"{row.name:<{width}}  {row.state:<11}  {size:>8}  {row.description}{licence}")


@app.command("get")
def get_model(ref: _Ref, offline: _Offline = False, as_json: _Json = False) -> None:
    """Fetch a model and make it ready to load; prints its folder.

    Example: leadline models get smollm2
    """
    from leadline.models.progress import on_stderr
    from leadline.models.resolve import resolve

    files = resolve(ref, progress=on_stderr(), offline=offline)
    if as_json:
        record = {
            "name": files.name,
            "kind": files.kind,
            "folder": str(files.folder),
            "digest": files.digest,
            "revision": files.revision,
            "source": files.source,
        }
        typer.echo(json.dumps(record, indent=2))
    else:
        typer.echo(files.folder)


@app.command("info")
def model_info(ref: _Ref, as_json: _Json = False) -> None:
    """Describe a model on this machine: architecture, size, licence, digest, place.

    Example: leadline models info smollm2
    """
    from leadline.models.describe import describe
    from leadline.models.progress import on_stderr
    from leadline.models.resolve import resolve

    card = describe(resolve(ref, progress=on_stderr(), offline=True))
    if as_json:
        typer.echo(card.model_dump_json(indent=2))
        return
    for name, value in card.model_dump().items():
        label = name.replace("_", " ")
        typer.echo(f"{label:<16} {_readable(name, value)}")


@app.command("check")
def check_model(ref: _Ref, as_json: _Json = False) -> None:
    """Read a model of the cache again, byte by byte, and compare with what was written.

    Exits with 1 when a file has changed. Example: leadline models check smollm2
    """
    from leadline.errors import UsageError
    from leadline.models import cache
    from leadline.models.shelf import key_of

    key = key_of(ref)
    try:
        entry = cache.look_up(key)
        if entry is None:
            raise UsageError(f"{key} is not in the cache", fix=f"leadline models get {ref}")
        changed = [f"{name} has changed" for name in cache.check_files(entry)]
    except cache.DamagedError as reason:
        changed = [str(reason)]
    if as_json:
        typer.echo(json.dumps({"name": key, "whole": not changed, "problems": changed}, indent=2))
    else:
        for line in changed or ["every file is as it was written"]:
            typer.echo(f"{key}: {line}")
        if changed:
            typer.echo(f"`leadline models remove {ref}`, then `get` it again", err=True)
    raise typer.Exit(EXIT_FINDINGS if changed else EXIT_OK)


@app.command("remove")
def remove_model(ref: _Ref) -> None:
    """Delete a converted model from the cache.

    Example: leadline models remove smollm2
    """
    from leadline.errors import UsageError
    from leadline.models import cache
    from leadline.models.progress import on_stderr
    from leadline.models.shelf import key_of

    key = key_of(ref)
    if not cache.remove(key, on_stderr()):
        raise UsageError(f"{key} is not in the cache", fix="`leadline models list` shows what is")
    typer.echo(f"removed {key}")


def _readable(name: str, value: object) -> str:
    if value is None:
        return "not stated"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name == "size" and isinstance(value, int):
        return _megabytes(value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f} MB"
