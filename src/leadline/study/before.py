"""The same items as they were answered before a change of the benchmark: another study, named by `before`.

Where items were repaired, others stay as they were. Only those that are shown otherwise than before can tell
of the change, so the others are left out; where none is, all count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from leadline.errors import LeadlineError, UsageError
from leadline.lenses.protocol import Before, Member, Registered
from leadline.lenses.repair_sides import UNCHANGED
from leadline.models.model import ModelIdentity
from leadline.study.config_file import STUDY_FILE, where_in
from leadline.study.members import RECORDED, StudyMember, members, protocol
from leadline.study.readings import check_answered, readings
from leadline.study.registered_verdict import judge
from leadline.study.registering import identity_of
from leadline.study.registration import read_registration
from leadline.study.store import open_store
from leadline.study.study import Study, open_study

REGISTRATION = "registration.json"
_WHO = ["model", "configuration"]


@dataclass(frozen=True)
class BeforeReadings:
    """Readings of the items that count, under the names of this study's configurations; and what is said of
    them. Where a registered prediction needs them, others are there as well, `excluded` as unchanged."""

    readings: pl.DataFrame
    told: Before


def before(
    study: Study, identities: dict[str, ModelIdentity], found: Sequence[StudyMember]
) -> BeforeReadings:
    """The readings of the study that `before` names; `found` and `identities` are this study's own.

    Raises UsageError, with the line of study.yaml, where there is no such study, where it is this one, and
    where the two have no item or no configuration in common; LeadlineError where it has no answers.
    """
    where = where_in(study.file, "before")
    other = _opened(study, where)
    with open_store(other.folder, write=False) as store:
        theirs = members(other, store)
        frame = readings(other, store)
        weights = store.models()
    common, changed, remarks = _items(study, other, where)
    pairs = _pairs(protocol(study, found).members, protocol(other, theirs).members)
    if not pairs:
        have = ", ".join(sorted({f"{one.model} · {one.name}" for one in theirs})) or "none"
        raise UsageError(
            f"before: {other.config.name} has none of this study's configurations; it has: {have}",
            where=where,
            fix="they are matched by model and name, recorded ones also by label",
        )
    names = pl.DataFrame(
        [(*was, *now) for was, now in pairs],
        schema=["model", "configuration", "_model", "_configuration"],
        orient="row",
    )
    registered, remark = _registered(study, other)
    # A paired prediction may be about all items: then its reference can be counted again from what is kept.
    items = common if registered and registered.is_paired else changed
    kept = (
        frame.filter(pl.col("item").is_in(items))
        .join(names, on=_WHO)
        .with_columns(
            pl.col("_model").alias("model"),
            pl.col("_configuration").alias("configuration"),
            pl.when(pl.col("item").is_in(changed))
            .then(pl.lit(""))
            .otherwise(pl.lit(UNCHANGED))
            .alias("excluded"),
        )
        .select(frame.columns)
    )
    if not kept["item"].is_in(changed).any():
        raise LeadlineError(
            f"before: {other.config.name} holds no answer to an item that both have",
            where=where,
            fix=f"leadline run {other.folder}",
        )
    remarks += _differences(study, other, found, theirs)
    remarks += [
        f"{name}: the weights were others before."
        for name in sorted(set(identities) & set(weights))
        if identities[name].digest != weights[name].digest
    ]
    told = Before(other.config.name, registered, tuple(remarks + remark))
    return BeforeReadings(kept, told)


def _opened(study: Study, where: str) -> Study:
    place = study.config.before or ""
    folder = study.folder / Path(place).expanduser()
    folder = folder.parent if folder.name == STUDY_FILE else folder
    if not (folder / STUDY_FILE).is_file():
        raise UsageError(
            f"before: there is no study {place!r}", where=where, fix="a path from this study's folder"
        )
    if folder.resolve() == study.folder.resolve():
        raise UsageError(
            "before: a study does not come before itself",
            where=where,
            fix="name the study that holds the answers from before the change",
        )
    other = open_study(folder)
    check_answered(other)
    return other


def _items(study: Study, other: Study, where: str) -> tuple[list[str], list[str], list[str]]:
    """The items that both have, those of them that count, and remarks on the others."""
    had = {item.id: other.asked(item) for item in other.population.everyone.items}
    common = [item for item in study.benchmark.items if item.id in had]
    if not common:
        raise UsageError(
            f"before: {other.config.name} asks none of this study's items",
            where=where,
            fix="both benchmarks must have the changed items, under the same ids",
        )
    changed = [item.id for item in common if study.asked(item) != had[item.id]]
    if not changed:
        remark = f"Items show the same as in {other.config.name}: the change is none of their wording."
        return [item.id for item in common], [item.id for item in common], [remark]
    same = len(common) - len(changed)
    ids = [item.id for item in common]
    return ids, changed, [f"Items that show the same as before left out: {same:,}."] if same else []


def _pairs(ours: Sequence[Member], theirs: Sequence[Member]) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    """(Model, configuration) before and now, of each configuration that both have."""
    known = {(one.model, one.configuration) for one in theirs}
    pairs = [(key, key) for one in ours if (key := (one.model, one.configuration)) in known]
    taken = {was for was, _ in pairs}
    for one in ours:
        if one.kind != RECORDED or (one.model, one.configuration) in known or not one.label:
            continue
        same = [other for other in theirs if other.kind == RECORDED and other.label == one.label]
        twins = [other for other in ours if other.kind == RECORDED and other.label == one.label]
        if len(same) == len(twins) == 1 and (was := (same[0].model, same[0].configuration)) not in taken:
            pairs.append((was, (one.model, one.configuration)))
    return pairs


def _differences(
    study: Study, other: Study, found: Sequence[StudyMember], theirs: Sequence[StudyMember]
) -> list[str]:
    """What beside the items was otherwise before, a sentence each."""
    asked = {(one.model, one.name): one.asked for one in theirs if one.asked}
    otherwise = sorted(
        {
            one.label
            for one in found
            if one.asked
            and one.role != "partition"
            and (was := asked.get((one.model, one.name)))
            and identity_of(study, one.asked) != identity_of(other, was)
        }
    )
    notes = [f"{label}: its settings or prompts were others before." for label in otherwise]
    if study.config.correctness != other.config.correctness:
        notes.append(f"Answers were judged by the rule {other.config.correctness!r} before.")
    return notes


def _registered(study: Study, other: Study) -> tuple[Registered | None, list[str]]:
    """What the study's registration.json predicts of wobble, and what came of it; or a remark on why not."""
    path = study.folder / REGISTRATION
    if not path.exists():
        return None, []
    try:
        registration = read_registration(path)
    except LeadlineError as error:
        return None, [f"{REGISTRATION}: {error.what}."]
    prediction = registration.prediction
    if prediction.statistic != "wobble" or prediction.comparison == "groups":
        return None, []
    paired = prediction.comparison == "paired"
    said = (prediction.sentence, prediction.direction, prediction.threshold, paired)
    try:
        verdict = judge(registration, path, study, other if paired else None)
    except LeadlineError as refused:
        return Registered(*said, "no verdict", refused.what.removeprefix("no verdict: ")), []
    return Registered(*said, verdict.outcome, verdict.reason, verdict.figures), []
