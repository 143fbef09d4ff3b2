"""A benchmark, or a study with its answers, as the folder of a dataset that Hugging Face's tools load.

    export_dataset(load_benchmark("facts"), Path("facts-dataset"))
    datasets.load_dataset("facts-dataset")["test"]

The folder has a card (README.md) that says which files are what. `leadline` itself takes the folder as a
benchmark, with the same content.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from leadline.bench import Benchmark, Item
from leadline.interop.export_answers import export_answers
from leadline.interop.export_place import new_folder, told_by_polars
from leadline.study.study import Study

_TEXT = pl.String
# The columns of items; those that no item fills are left out.
COLUMNS: dict[str, Any] = {
    "id": _TEXT,
    "question": _TEXT,
    "answer": _TEXT,
    "aliases": pl.List(_TEXT),
    "answer_type": _TEXT,
    "unit": _TEXT,
    "precision": _TEXT,
    "locale": _TEXT,
    "date_order": _TEXT,
    "vocabulary": pl.List(pl.Struct({"value": _TEXT, "synonyms": pl.List(_TEXT)})),
    "fields": _TEXT,  # JSON: the parts of an answer differ in what they declare
    "category": _TEXT,
    "task": _TEXT,
    "subject": _TEXT,
    "window": _TEXT,
    "evidence": pl.List(pl.Struct({"quote": _TEXT, "source": _TEXT})),
    "source": _TEXT,
    "prompt": _TEXT,
}
_NEEDED = ("id", "question", "answer", "answer_type")
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


@dataclass(frozen=True)
class ExportedDataset:
    """The folder, the number of items, and that of answers (None for a benchmark)."""

    folder: Path
    items: int
    answers: int | None


def export_dataset(
    benchmark: Benchmark, out: Path, *, study: Study | None = None, force: bool = False
) -> ExportedDataset:
    """Write README.md and data/items.parquet into the folder `out`; of a `study` also data/answers.parquet.

    Raises UsageError where `out` holds something already, unless `force`; LeadlineError for a study without
    answers.
    """
    with new_folder(out, force) as folder:
        (folder / "data").mkdir()
        with told_by_polars(out):
            _items(benchmark.items).write_parquet(folder / "data" / "items.parquet", compression="zstd")
        answers = None
        if study is not None:
            answers = export_answers(study, folder / "data" / "answers.parquet").rows
        (folder / "README.md").write_text(_card(benchmark, study, answers), "utf-8")
    return ExportedDataset(out, len(benchmark.items), answers)


def _items(items: Iterable[Item]) -> pl.DataFrame:
    table = pl.DataFrame([_row(item) for item in items], schema=COLUMNS, orient="row")
    filled = [name for name in COLUMNS if name in _NEEDED or table[name].null_count() < table.height]
    return table.select(filled)


def _row(item: Item) -> dict[str, Any]:
    said = item.model_dump(mode="json")
    said["precision"] = None if item.precision is None else str(item.precision)
    parts = item.model_dump(mode="json", include={"fields"}, exclude_defaults=True).get("fields")
    said["fields"] = json.dumps(parts, ensure_ascii=False) if parts else None
    return {name: said[name] or None for name in COLUMNS}


def _card(benchmark: Benchmark, study: Study | None, answers: int | None) -> str:
    """README.md: what tools need between two lines ---, and what people do below."""
    files = [{"config_name": "items", "default": True, "data_files": [_split("items")]}]
    if study is not None:
        files.append({"config_name": "answers", "data_files": [_split("answers")]})
    number = max(len(benchmark.items), answers or 0)
    head = {
        "pretty_name": benchmark.title or benchmark.name,
        **_licence(benchmark.licence),
        "task_categories": ["question-answering"],
        "size_categories": [next((name for most, name in _SIZES if number < most), "1M<n<10M")],
        "configs": files,
    }
    title = study.config.name if study is not None else benchmark.title or benchmark.name
    parts = [
        f"# {_plain(title)}",
        _plain(benchmark.description),
        f"{len(benchmark.items):,} items of the benchmark {_plain(benchmark.name)}, version "
        f"{_plain(benchmark.version)} (`{benchmark.content_hash}`)."
        + (f" Licence: {_plain(benchmark.licence)}." if benchmark.licence else ""),
        "`answer` and `aliases` are right, `answer_type` says how an answer is read, `window` is shown with "
        "the question, `evidence` is where the answer stands in its source. Do not show a model any column "
        "but `question`, `window` and `prompt`.",
    ]
    if study is not None:
        parts.append(
            f"`answers` holds {answers:,} answers of a study of these items: `text` is the raw answer, "
            "`state`, `value` and `correct` what it was read as. Rows belong to items by `item` = `id`."
        )
    if benchmark.data_statement:
        statement = benchmark.data_statement.strip()
        parts.append(statement if statement.startswith("#") else f"## Data statement\n\n{statement}")
    front = yaml.safe_dump(head, sort_keys=False, allow_unicode=True, width=100)
    return f"---\n{front}---\n\n" + "\n\n".join(part for part in parts if part) + "\n"


def _split(name: str) -> dict[str, str]:
    return {"split": "test", "path": f"data/{name}.parquet"}


def _licence(licence: str) -> dict[str, str]:
    """As the hub knows licences: by short names in small letters, or `other`."""
    if not licence:
        return {}
    if re.fullmatch(r"[A-Za-z0-9.+-]{2,40}", licence):
        return {"license": licence.lower()}
    return {"license": "other", "license_name": licence[:200]}


def _plain(text: str) -> str:
    """One paragraph that is no markup of HTML."""
    return " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
