"""The answers of a study as one table: Parquet, CSV or JSON lines, a row an answer or a call that failed.

    export_answers(open_study(Path("my-study")), Path("answers.parquet"))

Rows are made some items at a time, so that ten million answers need little memory. `leadline import table`
takes such a table back: the column `part` says what each configuration is to the study.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import polars as pl

from leadline.bench.whole_file import whole_file
from leadline.errors import LeadlineError, UsageError
from leadline.interop.export_place import check_file, told_by_polars
from leadline.study.answers_table import Answerbook, Answers, Asked, as_it_ended, asked_items
from leadline.study.judging import check_corrected
from leadline.study.members import StudyMember, members, protocol
from leadline.study.number_classes import with_classes
from leadline.study.recorded_part import part_of, played
from leadline.study.store import Store, open_store
from leadline.study.study import Study

Form = Literal["parquet", "csv", "jsonl"]
_FORMS: dict[str, Form] = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}

# The columns, in order. Every row has all of them.
COLUMNS: dict[str, Any] = {
    "model": pl.String,
    "configuration": pl.String,
    "label": pl.String,  # what reports call the configuration
    "item": pl.String,
    "sample": pl.Int64,  # from 0
    "text": pl.String,  # the raw answer, whole; null for a call that failed
    "error": pl.String,  # the kind of the failure
    "message": pl.String,  # what was said of it
    "finish": pl.String,  # why the text ends: stop, length, content_filter, cancelled; null where not known
    "state": pl.String,  # ok, empty, refused, unreadable, truncated, error
    "value": pl.String,  # what the answer was read as; null unless state is ok
    "correct": pl.Boolean,
    "correct_strict": pl.Boolean,
    "correct_labelled": pl.Boolean,  # by the label before a person corrected it; null where nobody did
    "tokens_in": pl.Int64,  # of all calls behind the answer; null where nobody counted
    "tokens_out": pl.Int64,
    "created": pl.Datetime("ms", "UTC"),  # when it was stored
    "excluded": pl.String,  # why the item is not of the study's population; "" for its members
    "adjudication": pl.String,  # what a person decided of its label: rejected, corrected, wrong, ambiguous
    "role": pl.String,  # baseline, method, partition, again
    "serving": pl.String,
    "family": pl.String,
    "part": pl.String,  # JSON: see `study.recorded_part`
    "configuration_id": pl.String,
}
# A spreadsheet computes a cell that begins so, also behind blanks; the full-width forms too, in some locales.
_FORMULA = r"^\s*[=+\-@＝＋－＠]|^[\t\r]"


@dataclass(frozen=True)
class ExportedAnswers:
    """What was written; `failed` of the `rows` are calls that failed. `guarded` cells of a CSV have an
    apostrophe in front."""

    path: Path
    form: Form
    rows: int
    failed: int
    configurations: int
    guarded: int = 0


def export_answers(
    study: Study,
    out: Path,
    *,
    form: Form | None = None,
    force: bool = False,
    progress: Callable[[int], None] = lambda rows: None,
) -> ExportedAnswers:
    """Write all answers of `study` that count to the file `out`, whole or not at all.

    `form` is taken from the name's ending if it is None. `progress` is told how many rows were written.
    Raises UsageError where `out` is there and not to be replaced (`force`), or where its form is not known.
    """
    known = form or _FORMS.get(out.suffix.lower())
    if known is None:
        raise UsageError(
            "the format is not known from the name", where=str(out), fix="end it in .parquet, .csv or .jsonl"
        )
    check_file(out, force)
    rows = failed = guarded = 0
    with open_store(study.folder, write=False) as store:
        found = members(study, store)
        with (
            told_by_polars(out),
            TemporaryDirectory(prefix=".leadline-", dir=out.parent) as near,
            whole_file(out) as file,
        ):
            parts: list[Path] = []
            for table in _tables(study, store, found):
                rows += table.height
                failed += table["error"].count()
                if known == "parquet":
                    parts.append(Path(near) / f"{len(parts):06}.parquet")
                    table.write_parquet(parts[-1], compression="lz4", statistics=False)
                elif known == "csv":
                    safe = _guarded(table)
                    guarded += safe["apostrophe"].count()
                    safe.write_csv(file, include_header=rows == table.height, quote_style="non_numeric")
                else:
                    table.write_ndjson(file)
                progress(rows)
            if not rows:
                raise LeadlineError("this study has no answers yet", where=str(study.folder))
            if parts:
                whole = pl.scan_parquet(parts, glob=False)
                whole.sink_parquet(file, compression="zstd", row_group_size=100_000, maintain_order=True)
    return ExportedAnswers(out, known, rows, failed, len(found), guarded)


def _tables(study: Study, store: Store, found: Sequence[StudyMember]) -> Iterator[pl.DataFrame]:
    """The rows of all configurations, in the study's order, some items at a time."""
    check_corrected(study)
    asked = asked_items(study)
    book = Answerbook(asked, store)
    about = _about(study, store, asked, found)
    for member in found:
        failures = _failures(store, member)
        for answers in book.pieces(member):
            yield (
                _table(answers, asked, failures)
                .with_columns(about[member.id])
                .select(pl.col(name).cast(kind) for name, kind in COLUMNS.items())
            )


def _about(
    study: Study, store: Store, asked: Asked, found: Sequence[StudyMember]
) -> dict[str, list[pl.Expr]]:
    """What is the same in all rows of a configuration, by its id."""
    parts = protocol(study, found)
    if not any(one.role == "baseline" and store.has_answers(one.id) for one in found):
        parts = replace(parts, baseline="")
    shown = {(one.model, one.configuration): one for one in parts.members}
    said = {}
    for place, member in enumerate(found):
        seen = shown.get((member.model, member.name))
        kind = (seen or part_of(member.about) or member).kind
        part = played(member.name, member.role, kind, member.samples, place, parts)
        values = {
            "model": member.model,
            "configuration": member.name,
            "label": member.label,
            "role": member.role,
            "serving": seen.serving if seen is not None else member.serving,
            "family": seen.family if seen is not None else "",
            "part": json.dumps(part.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False),
            "configuration_id": member.id,
        }
        said[member.id] = [pl.lit(value, pl.String).alias(name) for name, value in values.items()]
    return said


def _table(answers: Answers, asked: Asked, failures: pl.DataFrame) -> pl.DataFrame:
    """Rows of some items of one configuration: what was said, and what it was read as."""
    study = asked.study
    excluded, outcomes = study.population.excluded, study.population.decisions.outcomes
    said = with_classes(asked, answers.said)
    places = said["place"].to_list()
    said = said.with_columns(
        pl.Series("item", [asked.items[place].id for place in places], pl.String),
        pl.Series("excluded", [excluded.get(asked.items[place].id, "") for place in places], pl.String),
        pl.Series("adjudication", [outcomes.get(asked.items[place].id, "") for place in places], pl.String),
    )
    names = ("place", "item", "text", "state", "value", "correct", "correct_strict", "correct_labelled")
    rows = said.select(pl.col(*names, "excluded", "adjudication").gather(answers.rows["said"])).hstack(
        answers.rows.drop("said")
    )
    if "cut" in rows.columns:
        rows = rows.with_columns(as_it_ended(pl.col("state")).alias("state"))
    for name in ("finish", "tokens_in", "tokens_out"):
        if name not in rows.columns:
            rows = rows.with_columns(pl.lit(None, COLUMNS[name]).alias(name))
    if "created" not in rows.columns:
        rows = rows.with_columns(pl.lit(None, pl.Float64).alias("created"))
    rows = rows.join(failures, on=["item", "sample"], how="left")
    is_failed = pl.col("state") == "error"
    return rows.sort("place", "sample").with_columns(
        pl.when(~is_failed).then("text").alias("text"),
        pl.when(is_failed).then(pl.col("error").fill_null("error")).alias("error"),
        pl.when(is_failed).then("message").alias("message"),
        pl.when(pl.col("finish") != "").then("finish").alias("finish"),
        pl.from_epoch((pl.col("created") * 1000).cast(pl.Int64), "ms")
        .dt.replace_time_zone("UTC")
        .alias("created"),
    )


def _failures(store: Store, member: StudyMember) -> pl.DataFrame:
    """The kind and the message of the last failed call of each item and sample."""
    rows = store.select(
        "failures",
        "SELECT item, sample, kind, message FROM failures WHERE configuration = ? ORDER BY rowid",
        (member.id,),
    )
    last = {(item, sample): (kind, message) for item, sample, kind, message in rows}
    kinds = {"item": pl.String, "sample": pl.Int64, "error": pl.String, "message": pl.String}
    return pl.DataFrame([(*key, *said) for key, said in last.items()], schema=kinds, orient="row")


def _guarded(table: pl.DataFrame) -> pl.DataFrame:
    """Cells that a spreadsheet would compute get an apostrophe in front; `apostrophe` names their columns."""
    names = [name for name, kind in COLUMNS.items() if kind == pl.String]
    dangerous = {name: pl.col(name).str.contains(_FORMULA).fill_null(False) for name in names}
    marks = [pl.when(is_one).then(pl.lit(name)) for name, is_one in dangerous.items()]
    joined = pl.concat_str(marks, separator=" ", ignore_nulls=True)
    return table.with_columns(
        *(
            pl.when(one).then("'" + pl.col(name)).otherwise(name).alias(name)
            for name, one in dangerous.items()
        ),
        pl.when(joined != "").then(joined).alias("apostrophe"),
    )
