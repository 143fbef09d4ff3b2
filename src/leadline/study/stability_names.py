"""Names in `stability` and `traits` of study.yaml, looked up: a misspelt one would silently mean nothing.

What is asked of the benchmark's items can be looked up when the study is opened. Recorded configurations are
known once the store has been read: their names are looked up when a report is made.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from leadline.bench import Benchmark
from leadline.bench.problem import did_you_mean, shortened
from leadline.errors import UsageError
from leadline.study.config import StudyConfig
from leadline.study.config_file import where_in
from leadline.study.population import VERDICTS
from leadline.study.stability_config import ContrastSection, SelectionSection

if TYPE_CHECKING:
    from leadline.study.members import StudyMember
    from leadline.study.study import Study

# Words of an audit that put an item into a group: see `lenses.audited`.
AUDITED = ("clean", *VERDICTS)
_SIDES = ("of", "against")
# More names than this make no readable hint.
_LISTED = 8


def check_groups(config: StudyConfig, whole: Benchmark, file: Path) -> None:
    """Raise UsageError where a contrast names what no item of the benchmark is of, or no audit says."""
    known: dict[str, tuple[str, tuple[str, ...]]] = {
        "audit": ("an audit has no verdict", AUDITED),
        "categories": (
            f"{whole.name} has no {whole.category_name}",
            _of(one.category for one in whole.items),
        ),
        "tasks": (f"{whole.name} has no {whole.task_name}", _of(one.task for one in whole.items)),
        "answer_types": (f"{whole.name} has no item of type", _of(one.answer_type for one in whole.items)),
        "items": (f"{whole.name} has no item", tuple(whole.by_id)),
    }
    for at, contrast in enumerate(config.stability.contrasts):
        for side in _SIDES:
            for key, (lacking, words) in known.items():
                for place, word in enumerate(getattr(getattr(contrast, side), key)):
                    if word not in set(words):
                        raise UsageError(
                            f"contrast {shortened(contrast.name)}: {lacking} {shortened(word)}",
                            where=where_in(file, "stability", "contrasts", at, side, key, place),
                            fix=_hint(word, words),
                        )
        _check_sides(contrast, at, whole, file)


def _check_sides(contrast: ContrastSection, at: int, whole: Benchmark, file: Path) -> None:
    """Raise UsageError where the benchmark itself has no items to compare, whatever an audit says."""
    found = {side: _meeting(getattr(contrast, side), whole) for side in _SIDES}
    named = f"contrast {shortened(contrast.name)}"
    for side, items in found.items():
        if not items:
            raise UsageError(
                f"{named}: no item meets all of the conditions of {side}",
                where=where_in(file, "stability", "contrasts", at, side),
                fix="an item is of one category, one task and one type",
            )
    # By an audit's verdict items may yet be told apart.
    by_audit = any(getattr(getattr(contrast, side), key) for side in _SIDES for key in ("audit", "stated"))
    if not by_audit and found["against"] <= found["of"]:
        same = found["against"] == found["of"]
        raise UsageError(
            f"{named}: {'both groups are the same items' if same else 'every item of against is also in of'}",
            where=where_in(file, "stability", "contrasts", at, "against"),
            fix="items of both groups count in the first alone",
        )


def _meeting(selection: SelectionSection, whole: Benchmark) -> set[str]:
    """The items that meet what a selection says of the benchmark."""
    return {
        item.id
        for item in whole.items
        if (not selection.categories or item.category in selection.categories)
        and (not selection.tasks or item.task in selection.tasks)
        and (not selection.answer_types or item.answer_type in selection.answer_types)
        and (not selection.items or item.id in selection.items)
    }


def check_audited(study: Study) -> None:
    """Raise UsageError where a contrast groups items by an audit, and the report has none."""
    if study.population.audit:
        return
    for at, contrast in enumerate(study.config.stability.contrasts):
        for side in _SIDES:
            selection = getattr(contrast, side)
            for key in ("audit", "stated"):
                if getattr(selection, key):
                    raise UsageError(
                        f"contrast {shortened(contrast.name)}: its items are grouped by an audit, and there "
                        "is none",
                        where=where_in(study.file, "stability", "contrasts", at, side, key),
                        fix="audit: FILE in study.yaml, or --audit FILE",
                    )


def check_configurations(study: Study, members: Sequence[StudyMember]) -> None:
    """Raise UsageError for a name that no configuration or model has, and for a label that is another's."""
    asked = [
        (entry.label, one.name, one.label)
        for entry in study.config.models
        for one in study.configurations
        if one.role != "partition"
    ]
    there = list(
        dict.fromkeys(
            [*((one.model, one.name, one.label) for one in members if one.role != "partition"), *asked]
        )
    )
    _check_traits(study, there)
    every = {name for model, own, label in there for name in (model, own, label, f"{model} · {label}")}

    def look_up(name: str, *location: Hashable) -> None:
        if name not in every:
            raise UsageError(
                f"there is no configuration or model {shortened(name)}",
                where=where_in(study.file, *location),
                fix=_hint(name, _of(own for _, own, _ in there)),
            )

    def fitting(name: str) -> frozenset[tuple[str, str]]:
        return frozenset((model, own) for model, own, label in there if _fits(name, model, own, label))

    for title, names in study.config.stability.subsets.items():
        for at, name in enumerate(names):
            look_up(name, "stability", "subsets", title, at)
            same = next((other for other in names[:at] if fitting(other) == fitting(name)), None)
            if same is not None:
                raise UsageError(
                    f"subsets: {shortened(same)} and {shortened(name)} are the same configuration",
                    where=where_in(study.file, "stability", "subsets", title, at),
                )
        if len(frozenset().union(*map(fitting, names))) == 1:
            raise UsageError(
                f"subsets: {shortened(title)} holds one configuration, whose figures stand by themselves",
                where=where_in(study.file, "stability", "subsets", title),
                fix="name two or more",
            )
    pairs: dict[frozenset[frozenset[tuple[str, str]]], tuple[str, str]] = {}
    for at, pair in enumerate(study.config.stability.equivalence):
        for place, name in enumerate(pair):
            look_up(name, "stability", "equivalence", at, place)
        runs = frozenset(map(fitting, pair))
        where = where_in(study.file, "stability", "equivalence", at)
        if len(runs) == 1:
            raise UsageError(f"{' and '.join(pair)} are the same configuration", where=where)
        if runs in pairs:
            already = " and ".join(pairs[runs])
            raise UsageError(f"{' and '.join(pair)} stands there already, as {already}", where=where)
        pairs[runs] = pair


def _check_traits(study: Study, there: Sequence[tuple[str, str, str]]) -> None:
    names, models = {own for _, own, _ in there}, {model for model, _, _ in there}
    for key, traits in study.config.traits.items():
        if key not in names | models:
            raise UsageError(
                f"traits: there is no configuration or model {shortened(key)}",
                where=where_in(study.file, "traits", key),
                fix=_hint(key, _of([*(own for _, own, _ in there), *sorted(models)])),
            )
        if not traits.label:
            continue
        where = where_in(study.file, "traits", key, "label")
        if key not in names:
            raise UsageError(
                f"traits: {shortened(key)} is a model, and labels are for configurations",
                where=where,
                fix="models are called by their names",
            )
        taken = {word: own for _, own, label in there if own != key for word in (own, label)}
        if traits.label in taken:
            raise UsageError(
                f"traits: the label {shortened(traits.label)} of {shortened(key)} is what "
                f"{shortened(taken[traits.label])} is called",
                where=where,
                fix="give it another label",
            )


def _fits(name: str, model: str, own: str, label: str) -> bool:
    return name in (model, own, label, f"{model} · {label}")


def _of(words: Iterable[str | None]) -> tuple[str, ...]:
    """Each word once, in order; what is not said is left out."""
    return tuple(dict.fromkeys(word for word in words if word))


def _hint(word: str, known: Sequence[str]) -> str:
    shown = ", ".join(known[:_LISTED]) + (", ..." if len(known) > _LISTED else "")
    return did_you_mean(word, known, otherwise=f"one of: {shown}" if known else "there are none")
