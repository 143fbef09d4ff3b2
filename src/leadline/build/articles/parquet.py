"""Pages of Parquet files with columns id, title and text, such as Hugging Face's wikimedia/wikipedia."""

from __future__ import annotations

from collections.abc import Iterator

from leadline.build.articles.blocks import Block
from leadline.build.articles.json_lines import page_of
from leadline.build.articles.page import Fault, Page

_COLUMNS = ("id", "title", "text")
_MORE = ("entity", "wikidata_id", "revision", "timestamp")
_SLICE = 1_000  # rows in memory


def pages(block: Block) -> Iterator[Page | Fault]:
    """The pages of a block in order; its rows are read a thousand at a time."""
    import polars

    try:
        table = polars.scan_parquet(block.path)
        names = table.collect_schema().names()
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException, OSError) as error:
        yield Fault(block.name, f"is no Parquet file: {_first(error)}", page=False)
        return
    lacking = [name for name in _COLUMNS if name not in names]
    if lacking:
        has = ", ".join(names[:12])
        yield Fault(block.name, f"lacks the columns {', '.join(lacking)}; it has {has}", page=False)
        return
    stop = block.start if block.stop is None else block.stop
    if block.most is not None:
        stop = min(stop, block.start + block.most)
    for start in range(block.start, stop, _SLICE):
        try:
            part = table.select(*_COLUMNS, *(name for name in _MORE if name in names))
            rows = part.slice(start, min(_SLICE, stop - start)).collect().to_dicts()
        except (polars.exceptions.PolarsError, polars.exceptions.PanicException, OSError) as error:
            yield Fault(f"{block.name}: row {start + 1:,}", f"cannot be read: {_first(error)}", page=False)
            return
        for at, row in enumerate(rows, start + 1):
            yield page_of(row, f"{block.name}: row {at:,}")


def _first(error: Exception) -> str:
    return str(error).strip().partition("\n")[0][:200]
