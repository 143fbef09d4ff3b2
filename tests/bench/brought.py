"""Files of others, and `leadline bench import` of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner, Result

from leadline.cli.bench import app
from leadline.errors import LeadlineError

runner = CliRunner()
pa = pytest.importorskip("pyarrow")

ROWS: list[dict[str, Any]] = [
    {"key": 1, "q": "One?", "a": ["A"]},
    {"key": 2, "q": "Two?", "a": []},
    {"key": 3, "q": "Three?", "a": ["C", "D"]},
]
NAMED = ["--column", "question=q", "--column", "answer=a"]


CARD = """---
license: cc-by-4.0
pretty_name: Rivers
configs:
- config_name: large
  data_files:
  - split: train
    path: [large/part-*]
- config_name: small
  data_files: small/*.parquet
---
# Rivers

How it was made.
"""


def bring(*arguments: str) -> Result:
    return runner.invoke(app, ["import", *arguments])


def refused(result: Result) -> str:
    assert isinstance(result.exception, LeadlineError), result.output
    return str(result.exception)


def parquet(path: Path, rows: list[dict[str, Any]] = ROWS) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(rows).write_parquet(path)
    return path


def saved(path: Path, rows: list[dict[str, Any]] = ROWS, shards: int = 2) -> Path:
    """As datasets' `save_to_disk` leaves one split: Arrow streams, and a state that lists them."""
    path.mkdir(parents=True)
    whole = pa.Table.from_pylist(rows)
    names = []
    for shard in range(shards):
        part = whole.slice(shard * 2, 2)
        name = f"data-{shard:05d}-of-{shards:05d}.arrow"
        with pa.OSFile(str(path / name), "wb") as sink, pa.ipc.new_stream(sink, part.schema) as writer:
            writer.write_table(part, max_chunksize=1)
        names.append({"filename": name})
    (path / "state.json").write_text(json.dumps({"_data_files": names, "_split": "train"}))
    (path / "dataset_info.json").write_text("{}")
    return path
