"""Two configurations side by side, of one study or of two: found by what a user calls them, and paired.

    STUDY                        a study that holds one configuration
    STUDY:configuration          greedy, recite, tau-0.7, or the name that recorded answers were given
    STUDY:model/configuration    where several models have a configuration of that name
    STUDY:model                  where that model has one configuration

Items are paired when they have the same id and show the same to a model; whatever only one side holds, or
words otherwise, is counted and named, and left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from leadline.bench import Item
from leadline.bench.problem import did_you_mean
from leadline.errors import LeadlineError, UsageError
from leadline.lenses.protocol import Protocol
from leadline.lenses.side_by_side import Beside, Side, side_by_side
from leadline.lenses.view import View
from leadline.study.config_file import STUDY_FILE
from leadline.study.members import StudyMember, members, protocol
from leadline.study.readings import check_answered, readings
from leadline.study.store import open_store
from leadline.study.study import Study, open_study

# Items of one side alone that a note names before it only counts.
_NAMED = 3


@dataclass(frozen=True)
class Compared:
    """One side, opened: its study, the configuration, readings, and the samples that a verdict takes."""

    place: Path
    study: Study
    member: StudyMember
    readings: pl.DataFrame
    protocol: Protocol
    vote: int

    @property
    def name(self) -> str:
        """Model and configuration."""
        return f"{self.member.model}/{self.member.name}"


@dataclass(frozen=True)
class Comparison:
    """Two sides and what came of it. `labels` tell the sides apart; `items` are those of the pairs, as the
    first side's benchmark has them; `left_out` says why items of either side are not among the pairs."""

    first: Compared
    second: Compared
    labels: tuple[str, str]
    beside: Beside
    items: Mapping[str, Item]
    left_out: tuple[str, ...]


def compare(first: str, second: str, within: Path | None = None) -> Comparison:
    """Compare two references; with `within`, a study's folder, they are names of its configurations.

    Raises UsageError for what is no study, no configuration or ambiguous, and LeadlineError where no item was
    asked of both.
    """
    opened: dict[Path, Study] = {}
    a, b = _opened(first, within, opened), _opened(second, within, opened)
    if a.study is b.study and a.member.id == b.member.id:
        raise UsageError(f"{a.name} is on both sides", where=str(a.place), fix="name two configurations")
    labels = _labels(a, b)
    chosen, left_out = _paired(a, b, labels)
    if not chosen:
        raise LeadlineError(
            f"{labels[0]} and {labels[1]} have no item in common" + (f": {left_out[0]}" if left_out else ""),
            fix="items are paired by their ids, where question and window are the same",
        )
    kept = pl.col("item").is_in(list(chosen))
    beside = side_by_side(
        Side(labels[0], a.readings.filter(kept), a.vote),
        Side(labels[1], b.readings.filter(kept), b.vote),
        a.protocol,
    )
    failed = len(chosen) - beside.pairs.height
    if failed:
        left_out.append(f"of {failed} items every call of one side failed")
    return Comparison(a, b, labels, beside, chosen, (*left_out, *_differing(a, b, chosen)))


def _opened(reference: str, within: Path | None, opened: dict[Path, Study]) -> Compared:
    place, name = (within, reference) if within is not None else _split(reference)
    folder = place.parent if place.name == STUDY_FILE else place
    key = folder.resolve()
    if key not in opened:
        opened[key] = open_study(folder)
    study = opened[key]
    check_answered(study)
    with open_store(folder, write=False) as store:
        found = members(study, store)
        parts = protocol(study, found)
        member = _member(found, name, folder)
        frame = readings(study, store, [member])
    frame = frame.filter(pl.col("excluded") == "")
    rule = parts.stability.sameness
    if rule != "own":
        frame = frame.with_columns(pl.coalesce(f"value_{rule}", "value").alias("value"))
    if frame.is_empty():
        raise LeadlineError(
            f"{member.model}/{member.name} has no answers yet",
            where=str(folder),
            fix=f"leadline run {folder}",
        )
    votes = View(member.model, frame, parts).votes
    vote = votes.get(member.name) or int(frame.select(pl.col("sample").max()).item()) + 1
    return Compared(folder, study, member, frame, parts, vote)


def _split(reference: str) -> tuple[Path, str]:
    """A study's folder, and what of it: the part after the last colon that leaves a folder before it."""
    if _is_study(Path(reference)):
        return Path(reference), ""
    at = len(reference)
    while (at := reference.rfind(":", 0, at)) > 0:
        if _is_study(Path(reference[:at])):
            return Path(reference[:at]), reference[at + 1 :]
    folder = reference.partition(":")[0]
    raise UsageError(
        "there is no study" if not Path(folder).exists() else f"holds no {STUDY_FILE}",
        where=folder,
        fix="name a study's folder, or FOLDER:configuration; --study FOLDER for two of one study",
    )


def _is_study(place: Path) -> bool:
    return (place / STUDY_FILE).is_file() or (place.name == STUDY_FILE and place.is_file())


def _member(found: Sequence[StudyMember], name: str, folder: Path) -> StudyMember:
    """The member that is called `name`; the only one, where nothing is said."""
    known = [one for one in found if one.role != "partition"]
    full = {f"{one.model}/{one.name}": one for one in known}
    if name in full:
        return full[name]
    of_name = [one for one in known if not name or name in (one.name, one.model)]
    if len(of_name) == 1:
        return of_name[0]
    listed = ", ".join(sorted(full) if len({one.model for one in known}) > 1 else [one.name for one in known])
    if of_name:
        what = f"{name!r} is several configurations" if name else "the study holds several configurations"
        raise UsageError(what, where=str(folder), fix=f"name one, as {folder}:NAME: {listed}")
    if any(name in (one.name, f"{one.model}/{one.name}") for one in found):
        raise UsageError(
            f"{name} holds answers only to items that the baseline failed on", where=str(folder), fix=listed
        )
    names = [*full, *(one.name for one in known)]
    hint = did_you_mean(name, names, otherwise=f"there are: {listed or 'none'}")
    raise UsageError(f"there is no configuration {name!r}", where=str(folder), fix=hint)


def _labels(first: Compared, second: Compared) -> tuple[str, str]:
    """The shortest names that tell the sides apart."""
    of_model = (first.member.model, second.member.model)
    of_name = (first.member.label, second.member.label)
    of_study = tuple(
        side.study.config.name or side.place.resolve().name or str(side.place) for side in (first, second)
    )
    if of_name[0] != of_name[1] and of_model[0] == of_model[1]:
        return of_name
    if of_model[0] != of_model[1]:
        return of_model if of_name[0] == of_name[1] else (first.name, second.name)
    if of_study[0] != of_study[1]:
        return of_study[0], of_study[1]
    return f"{first.place}:{first.name}", f"{second.place}:{second.name}"


def _paired(first: Compared, second: Compared, labels: tuple[str, str]) -> tuple[dict[str, Item], list[str]]:
    """Items that both sides hold answers to, worded alike, by id, and sentences about the others."""
    asked = [
        {item.id: side.study.asked(item) for item in side.study.benchmark.items} for side in (first, second)
    ]
    answered = [set(side.readings["item"].unique().to_list()) for side in (first, second)]
    both = answered[0] & answered[1]
    reworded = sorted(item for item in both if asked[0].get(item) != asked[1].get(item))
    items = {item.id: item for item in first.study.benchmark.items if item.id in both - set(reworded)}
    told = [
        f"{_counted(sorted(only))} answered by {label} alone"
        for label, only in zip(labels, (answered[0] - both, answered[1] - both), strict=True)
        if only
    ]
    if reworded:
        told.append(f"{_counted(reworded)} worded otherwise on the two sides")
    return items, told


def _counted(items: Sequence[str]) -> str:
    listed = ", ".join(items[:_NAMED]) + (", ..." if len(items) > _NAMED else "")
    return f"{len(items)} item{'' if len(items) == 1 else 's'} ({listed})"


def _differing(first: Compared, second: Compared, items: Mapping[str, Item]) -> list[str]:
    """What else differs between two studies, and bears on who is right."""
    told = []
    if first.study is not second.study:
        others = {item.id: item for item in second.study.benchmark.items}
        gold = [name for name, item in items.items() if item.valid_answers != others[name].valid_answers]
        if gold:
            told.append(
                f"{_counted(gold)} with other gold answers on the two sides: each is judged by its own"
            )
        rules = [side.study.config.correctness for side in (first, second)]
        if rules[0] != rules[1]:
            told.append(f"judged by different rules: {rules[0]} and {rules[1]}")
    return told
