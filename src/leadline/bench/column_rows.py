"""Rows of columnar files: Parquet, and the Arrow files of datasets; a part in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from leadline.bench.class_labels import METADATA_KEY, Naming, naming
from leadline.bench.problem import Problems, shortened
from leadline.bench.row import Row
from leadline.errors import LeadlineError
from leadline.ordinary_file import opened

_AT_ONCE = 200
# Parquet is read in pieces of about this size on disk. Each reads its whole row group, which may be the whole
# file, so there are never more than so many.
_SLICE_BYTES = 16 * 1024 * 1024
_MAX_SLICES = 64


def parquet_rows(path: Path, problems: Problems) -> Iterator[Row]:
    """The rows of a Parquet file, nested columns as dicts and lists, classes by name. Raises OSError."""
    import polars as pl

    with opened(path) as file:
        if file.read(4) != b"PAR1":
            problems.add(str(path), "not a Parquet file: it does not begin as one", fix="is it whole?")
            problems.cut_short()
            return
    try:
        # In slices: polars' own batches run ahead of a slow reader until the whole file is in memory.
        whole = pl.scan_parquet(path, glob=False)
        named = naming(path, pl.read_parquet_metadata(path).get(METADATA_KEY))
        height = int(whole.select(pl.len()).collect().item())
        at_once = max(_SLICE_BYTES * height // max(path.stat().st_size, 1), height // _MAX_SLICES, 1)
        for start in range(0, height, at_once):
            frame = whole.slice(start, at_once).collect()
            for number, values in enumerate(frame.iter_rows(named=True), start=start + 1):
                yield Row(f"{path}:{number}", named(values) if named else values)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        panicked = isinstance(error, pl.exceptions.PanicException)  # which speaks of polars' code
        said = "polars panicked over it" if panicked else _first_line(error)
        problems.add(str(path), f"broken Parquet: {said}", fix="is the file whole?")
        problems.cut_short()


def arrow_rows(path: Path, problems: Problems) -> Iterator[Row]:
    """The rows of an Arrow file, streamed or seekable, with classes by name. Raises OSError."""
    try:
        import pyarrow as pa
        from pyarrow import ipc
    except ModuleNotFoundError:
        fix = 'pip install "leadline[arrow]"'
        raise LeadlineError(
            "Arrow files are read with pyarrow, which is not here", where=str(path), fix=fix
        ) from None
    with opened(path):  # so that a file that is not there is told as everywhere
        pass
    number = 0
    named: Naming | None = None
    try:
        with pa.memory_map(str(path)) as source:
            for batch in _batches(ipc, pa, source):
                batch.validate(full=True)  # an offset that leads out of its buffer would be followed
                if not number:
                    written = (batch.schema.metadata or {}).get(METADATA_KEY.encode(), b"")
                    named = naming(path, written.decode("utf-8", "replace"))
                for start in range(0, batch.num_rows, _AT_ONCE):
                    for values in batch.slice(start, _AT_ONCE).to_pylist():
                        number += 1
                        yield Row(f"{path}:{number}", named(values) if named else values)
    except (pa.ArrowException, OSError) as error:
        problems.add(str(path), f"broken Arrow file: {_first_line(error)}", fix="is the file whole?")
        problems.cut_short()


def _batches(ipc: Any, pa: Any, source: Any) -> Iterator[Any]:
    try:
        reader = ipc.open_stream(source)
    except pa.ArrowInvalid:
        source.seek(0)
        with ipc.open_file(source) as reader:
            for index in range(reader.num_record_batches):
                yield reader.get_batch(index)
    else:
        yield from reader


def _first_line(error: BaseException) -> str:
    line = next(iter(str(error).splitlines()), type(error).__name__)
    return shortened(line, 120)
