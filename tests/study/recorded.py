"""Answers written straight into a study's store, as if its models had given them."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from pathlib import Path

from leadline.models.model import ModelIdentity
from leadline.models.resolve import resolve
from leadline.study.seals import register, reseal
from leadline.study.store import DATABASE, Key, open_store
from leadline.study.study import Study, open_study
from leadline.study.tables import COLUMNS
from leadline.techniques import Answer, Stage

# What an item is answered under a configuration (its name) at a sample.
Says = Callable[[str, str, int], str | None]


def identity(study: Study) -> ModelIdentity:
    """Of the study's first model, without loading it."""
    entry = study.config.models[0]
    files = resolve(study.model_reference(entry), offline=True)
    return ModelIdentity(files.name, files.kind, files.digest, entry.dtype, "cpu", "", "")


def answer(folder: Path, says: Says, *, seed: int | None = None) -> int:
    """Store what `says` says of every sample (None: nothing); in an order of `seed`. Returns how many."""
    study = open_study(folder)
    who = identity(study)
    label = study.config.models[0].label
    keys = [
        (one, item, sample)
        for one in study.configurations
        if not one.failures_only
        for item in study.benchmark.items
        for sample in range(one.samples)
    ]
    if seed is not None:
        random.Random(seed).shuffle(keys)
    stored = 0
    with open_store(folder, write=True) as store:
        run = store.begin_run({})
        store.set_model(label, who)
        for one in study.configurations:
            store.set_configuration(study.configuration_id(one, who), study.described(one, who))
        for one, item, sample in keys:
            text = says(one.name, item.id, sample)
            if text is not None:
                key = Key(item.id, study.asked(item), sample)
                store.add(study.configuration_id(one, who), run, [(key, said(text))])
                stored += 1
    return stored


def said(text: str) -> Answer:
    """An answer of one stage."""
    return Answer(text, "stop", (Stage("answer", text, "stop", 1, 1),), ())


def edit(folder: Path, statement: str, *values: object) -> int:
    """Change the database behind the store's back, seals and all. Returns how many rows that touched."""
    database = sqlite3.connect(folder / DATABASE)
    register(database)
    with database:
        touched = database.execute(statement, values).rowcount
        for table in COLUMNS:
            database.execute(reseal(table))
    database.close()
    return touched
