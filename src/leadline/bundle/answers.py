"""The answers of a study as files: responses as they were given, and what each was read as."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import polars as pl

from leadline.interop.export_place import told_by_polars
from leadline.study.members import StudyMember
from leadline.study.store import Store
from leadline.study.study import Study

# Above this many readings, the file of readings is packed.
_PACKED_ABOVE = 1_000_000
_KEYS = ("model", "configuration", "item", "sample")
_READ = (
    "state", "value", "value_exact", "value_declared", "value_rounding", "value_shared", "correct",
    "correct_strict", "correct_labelled", "leads", "gold_token", "gold_rank", "gold_logprob", "gold_masked",
    "audit", "stated", "excluded", "adjudication",
)  # fmt: skip
# Said only where it is true, or where there is something to say.
_SILENT = (None, False, "")
_RESPONSES: dict[str, Any] = {
    "model": pl.String,
    "configuration": pl.String,
    "configuration_id": pl.String,
    "item": pl.String,
    "sample": pl.Int64,
    "text": pl.String,
    "finish": pl.String,
    "tokens_in": pl.Int64,
    "tokens_out": pl.Int64,
    "created": pl.Float64,
    "failure": pl.String,
    "stages": pl.List(pl.Struct({"name": pl.String, "text": pl.String})),
}


@dataclass(frozen=True)
class Written:
    """How many readings of each configuration were written ("model/configuration" -> number), the file's
    name, and how often each text of an earlier stage stands in the responses."""

    readings: dict[str, int]
    name: str
    stage_texts: Counter[str]


def write_answers(
    study: Study, store: Store, found: Sequence[StudyMember], frame: pl.DataFrame, folder: Path
) -> Written:
    """Write responses.jsonl, responses.parquet and readings.jsonl (packed where large) into `folder`.

    One line a reading of `frame`, in the order of the configurations, items and samples. A response's failure
    is the kind of the failed call; its text is null then. Its stages are those before the answer: a
    recitation, a background document. Raises OSError.
    """
    counts: dict[str, int] = {}
    texts: Counter[str] = Counter()
    name = "readings.jsonl.gz" if frame.height > _PACKED_ABOVE else "readings.jsonl"
    tables = []
    with (folder / "responses.jsonl").open("wb") as responses, _opened(folder / name) as readings:
        for member in found:
            own = frame.filter(
                (pl.col("model") == member.model) & (pl.col("configuration") == member.name)
            ).sort("item", "sample")
            if own.height == 0:
                continue
            counts[f"{member.model}/{member.name}"] = own.height
            table = _responses(study, store, member, own)
            for row in table.iter_rows(named=True):
                texts.update(stage["text"] for stage in row["stages"] or ())
                said = {key: value for key, value in row.items() if value is not None}
                responses.write(_line(said))
            tables.append(table)
            for row in own.select(*_KEYS, *_READ).iter_rows(named=True):
                readings.write(_reading(row))
    parquet = folder / "responses.parquet"
    with told_by_polars(parquet):
        pl.concat(tables).write_parquet(parquet, compression="zstd", statistics=False)
    return Written(counts, name, texts)


def write_before(frame: pl.DataFrame, folder: Path) -> int:
    """Write readings of the same items from before they were changed, with their texts, into `folder`.

    Returns how many there are. Raises OSError.
    """
    folder.mkdir()
    names = (*_KEYS, *_READ, "text")
    with (folder / "readings.jsonl").open("wb") as file:
        for row in frame.sort(_KEYS).select(names).iter_rows(named=True):
            file.write(_reading(row))
    return frame.height


def _responses(study: Study, store: Store, member: StudyMember, own: pl.DataFrame) -> pl.DataFrame:
    """The responses behind a configuration's readings, in their order."""
    asked = {item.id: study.asked(item) for item in study.whole.items}
    stamps = {
        (key.item, key.sample): (finish, created, stages)
        for key, finish, created, stages in store.stamps(member.id)
        if asked.get(key.item) == key.asked
    }
    kinds = {
        (key.item, key.sample): kind
        for key, kind in store.failures(member.id).items()
        if asked.get(key.item) == key.asked
    }
    rows = []
    for item, sample, state in own.select("item", "sample", "state").iter_rows():
        kind = kinds.get((item, sample), "error") if state == "error" else None
        finish, created, stages = (
            stamps.get((item, sample), (None, None, ())) if not kind else (None, None, ())
        )
        before = [{"name": stage.name, "text": stage.text} for stage in stages]
        rows.append((finish, created, kind, before or None))
    names = ("finish", "created", "failure", "stages")
    added = pl.DataFrame(rows, schema={name: _RESPONSES[name] for name in names}, orient="row")
    failed = pl.col("state") == "error"
    kept = own.select(
        "model",
        "configuration",
        pl.lit(member.id).alias("configuration_id"),
        "item",
        "sample",
        pl.when(failed).then(None).otherwise(pl.col("text")).alias("text"),
        "tokens_in",
        "tokens_out",
    )
    return kept.hstack(added).select(pl.col(name).cast(kind) for name, kind in _RESPONSES.items())


def _reading(row: dict[str, Any]) -> bytes:
    """A line of a reading. By the label before it was corrected it is said to be right or wrong only where
    that is another thing than by the label after."""
    said = {key: row[key] for key in row if key in _KEYS or row[key] not in _SILENT}
    labelled = said.pop("correct_labelled", row["correct_labelled"])
    if labelled is not None and labelled != row["correct"]:
        said["correct_labelled"] = labelled
    return _line(said)


def _line(entry: dict[str, Any]) -> bytes:
    return (
        json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
        + b"\n"
    )


def _opened(path: Path) -> IO[bytes]:
    """A file to write; a packed one says neither its name nor the time, so that equal data are equal
    bytes."""
    if path.suffix != ".gz":
        return path.open("wb")
    return gzip.GzipFile(filename="", mode="wb", fileobj=path.open("wb"), mtime=0)  # type: ignore[return-value]
