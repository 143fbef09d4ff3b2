"""Responses become readings here, and only here: raw text, read by the item's answer type, in one frame."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from leadline.answers import readable_types
from leadline.answers.table import check_table, described, item_for
from leadline.errors import LeadlineError
from leadline.lenses.frame import READINGS
from leadline.study.answers_table import Answerbook, Answers, Asked, as_it_ended, asked_items
from leadline.study.judging import check_corrected, check_readable, gold_fault, judged
from leadline.study.members import StudyMember, members
from leadline.study.number_classes import with_classes, with_shared
from leadline.study.store import DATABASE, Store
from leadline.study.study import Study

__all__ = [
    "check_answered",
    "check_readable",
    "check_table",
    "described",
    "gold_fault",
    "item_for",
    "judged",
    "readable_types",
    "readings",
]


_OF_ITEM = ("item", "category", "task", "answer_type", "audit", "stated", "excluded", "adjudication")


def check_answered(study: Study) -> None:
    """Raise LeadlineError for a study that asks no model and that no answers were recorded in."""
    if not study.config.models and not (study.folder / DATABASE).exists():
        raise LeadlineError(
            "this study asks no model, and holds no recorded answers",
            where=str(study.folder),
            fix=f"leadline import table FILE --study {study.folder}, or name models in study.yaml",
        )


def readings(study: Study, store: Store, chosen: Sequence[StudyMember] | None = None) -> pl.DataFrame:
    """All readings of all members of the study, or of those `chosen`, as `lenses.frame` describes them.

    Those of items that were drawn and then left out of the population are among them, with the reason in
    `excluded`. Ten million answers take minutes and a few gigabytes.
    """
    check_corrected(study)
    asked = asked_items(study)
    book = Answerbook(asked, store)
    found = [book.answers(member) for member in (members(study, store) if chosen is None else chosen)]
    shared = with_shared(asked, [with_classes(asked, answers.said) for answers in found]) if found else []
    about = _about(study, asked)
    frames = [
        _frame(answers, said, about)
        for answers, said in zip(found, shared, strict=True)
        if answers.rows.height
    ]
    frame = pl.concat(frames, how="diagonal", rechunk=False) if frames else pl.DataFrame()
    return _complete(frame, about)


def _about(study: Study, asked: Asked) -> pl.DataFrame:
    """What is known of each item beside answers, in the order of their numbers."""
    population, items = study.population, asked.items
    outcomes = population.decisions.outcomes
    return pl.DataFrame(
        {
            "item": [item.id for item in items],
            "category": [item.category for item in items],
            "task": [item.task for item in items],
            "answer_type": [item.answer_type for item in items],
            "audit": [population.verdicts.get(item.id, "") for item in items],
            "stated": [population.stated.get(item.id, "") for item in items],
            "excluded": [population.excluded.get(item.id, "") for item in items],
            "adjudication": [outcomes.get(item.id, "") for item in items],
        },
        schema={name: READINGS[name] for name in _OF_ITEM},
    )


def _frame(answers: Answers, said: pl.DataFrame, about: pl.DataFrame) -> pl.DataFrame:
    """The readings of one configuration, but for what is the same in all of the study: see `_complete`."""
    varying = [name for name in about.columns if about[name].n_unique() > 1]
    known = said.hstack(about.select(pl.col(varying).gather(said["place"])))
    known = known.select(
        name for name in READINGS if name in known.columns and known[name].null_count() < known.height
    )
    rows = known.select(pl.all().gather(answers.rows["said"])).hstack(answers.rows.drop("said"))
    if "cut" in rows.columns:
        rows = rows.with_columns(as_it_ended(pl.col("state")).alias("state")).drop("cut")
    return rows.with_columns(
        pl.lit(answers.member.model).alias("model"), pl.lit(answers.member.name).alias("configuration")
    )


def _complete(frame: pl.DataFrame, about: pl.DataFrame) -> pl.DataFrame:
    """All columns, in order. What is the same throughout is kept once for all rows, which is most of the
    memory of millions of them; what nothing is known of is null."""
    if frame.is_empty():
        return pl.DataFrame(schema=READINGS)
    columns = {
        name: pl.col(name).cast(kind)
        if name in frame.columns
        else pl.lit(about[name].first() if name in about.columns else None, kind)
        for name, kind in READINGS.items()
    }
    return frame.with_columns(**columns).select(list(READINGS))
