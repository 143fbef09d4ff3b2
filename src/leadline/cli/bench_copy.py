"""`leadline bench copy`: a benchmark as a folder of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from leadline.cli.plain_text import count, print_json, printable


def copy(
    name: Annotated[str, typer.Argument(help="A bundled benchmark, a benchmark folder, or a file of items.")],
    out: Annotated[Path, typer.Argument(help="The folder to make.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Copy a benchmark, with its sources, into a folder that you may change.

    The copy has the same content hash: audits and decisions about the one apply to the other.
    """
    from leadline.bench import load_benchmark, open_stream, write_benchmark
    from leadline.bench.whole_file import whole_folder
    from leadline.documents import Sources
    from leadline.errors import UsageError

    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError("is there already", where=str(out), fix="name a place that is free")
    if out.resolve() == Path.cwd():  # the copy takes its place, and the shell would stand in nothing
        raise UsageError("is the folder that you are in", where=str(out), fix="name a new folder")
    stream = open_stream(name)  # where a bundled one is unpacked lives as long as this does
    benchmark = load_benchmark(name)
    with whole_folder(out) as folder:
        write_benchmark(benchmark, folder)
        documents = Sources.of(stream.folder).copy_to(folder / "sources") if stream.folder else 0
    if as_json:
        told = {"folder": str(out), "items": len(benchmark.items), "sources": documents}
        print_json({**told, "content_hash": benchmark.content_hash})
        return
    held = f", {count(documents, 'source')}" if documents else ""
    typer.echo(
        printable(f"{out}: {benchmark.name} {benchmark.version}, {count(len(benchmark.items), 'item')}{held}")
    )
