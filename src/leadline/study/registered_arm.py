"""What of a study a registration is about: the configurations that can show it, and the models, pinned."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from leadline.bench.problem import did_you_mean
from leadline.errors import LeadlineError, UsageError
from leadline.study.config import AnyModel, ModelEntry
from leadline.study.config_file import where_in
from leadline.study.configuration import Configuration
from leadline.study.registration import Arm, Prediction, RegisteredModel
from leadline.study.study import Study


def _named(study: Study, wanted: Collection[str], known: Mapping[str, Any], what: str) -> list[Any]:
    for name in wanted:
        if name not in known:
            raise UsageError(
                f"the study has no {what} {name!r}",
                where=str(study.file),
                fix=did_you_mean(name, known, otherwise=f"it has: {', '.join(known)}"),
            )
    return [one for name, one in known.items() if not wanted or name in wanted]


def chosen_configurations(
    study: Study, prediction: Prediction, wanted: Collection[str]
) -> list[Configuration]:
    """Those that can show the statistic, or those that are named. Raises UsageError where there are none."""
    found: list[Configuration] = _named(
        study, wanted, {one.name: one for one in study.configurations}, "configuration"
    )
    for one in found:
        if wanted and one.failures_only:
            raise UsageError(
                f"{one.name} asks only what the baseline got wrong: its items are not known beforehand",
                where=str(study.file),
                fix="leave it out",
            )
    found = [one for one in found if not one.failures_only]
    if prediction.statistic in ("wobble", "dispersion"):
        once = [one.name for one in found if one.samples < 2]
        if wanted and once:
            raise UsageError(
                f"{once[0]} answers each item once: that shows no {prediction.statistic}",
                where=str(study.file),
                fix="register configurations that draw several samples",
            )
        found = [one for one in found if one.samples >= 2]
    if not found:
        raise UsageError(
            f"no configuration draws several samples, so none can show {prediction.statistic}",
            where=str(study.file),
            fix="temperatures and vote under 'sampling', or a technique with several paths",
        )
    return _with_enough_samples(study, found, prediction.minimum_readings, named=bool(wanted))


def _with_enough_samples(
    study: Study, found: list[Configuration], minimum: int, *, named: bool
) -> list[Configuration]:
    """Those whose cells can have `minimum` readable answers; if they were named, all must."""
    enough = [one for one in found if one.samples >= minimum]
    if not enough or (named and len(enough) < len(found)):
        one = max((one for one in found if one.samples < minimum), key=lambda one: one.samples)
        noun = "answer" if one.samples == 1 else "answers"
        raise UsageError(
            f"{one.name} asks for {one.samples:,} {noun} to each item, so that none can have {minimum:,} "
            "readable ones",
            where=str(study.file),
            fix="lower --minimum-readings",
        )
    return enough


def chosen_models(study: Study, wanted: Collection[str]) -> list[RegisteredModel]:
    """All models, or those that are named, with the digests of weights that are on this machine.

    Raises UsageError for a name that the study does not have, and for a path that leads nowhere.
    """
    entries = _named(study, wanted, {entry.label: entry for entry in study.config.models}, "model")
    return [_pinned(study, entry) for entry in entries]


def _pinned(study: Study, entry: AnyModel) -> RegisteredModel:
    from leadline.models.resolve import check_reference, resolve

    if not isinstance(entry, ModelEntry):  # which weights will answer, the provider alone knows
        return RegisteredModel(label=entry.label, ref=entry.ref, dtype=entry.dtype)
    reference = study.model_reference(entry)
    where = where_in(study.file, "models", study.config.models.index(entry), "ref")
    try:
        check_reference(reference)
    except UsageError as error:
        raise UsageError(f"the model {entry.ref!r}: {error.what}", where=where, fix=error.fix) from None
    near = study.folder / entry.ref
    if "/" in entry.ref and near.parent.is_dir() and not near.exists():
        # It could be a model of the hub, too; but its folder is here, so it is more likely mistyped.
        raise UsageError(
            f"the model {entry.ref!r}: no such file or folder in {near.parent}",
            where=where,
            fix=f"for a model of the Hugging Face hub: hf://{entry.ref}",
        )
    kind = digest = None
    try:
        files = resolve(reference, offline=True)
        kind, digest = files.kind, files.digest
    except LeadlineError:
        pass  # it will be fetched when the study is run; the registration says that it is not pinned
    return RegisteredModel(label=entry.label, ref=entry.ref, dtype=entry.dtype, kind=kind, digest=digest)


def check_pairs(tested: Arm, reference: Arm) -> None:
    """Raise UsageError where the two studies would not be asked alike."""
    for what, ours, theirs in (
        ("configurations", tested.configurations, reference.configurations),
        ("models", _pins(tested), _pins(reference)),
        ("correctness", tested.correctness, reference.correctness),
    ):
        if ours != theirs:
            raise UsageError(
                f"the two studies differ in their {what}, so a difference would not be one of their items",
                where=f"{tested.study}, {reference.study}",
                fix="copy study.yaml and change its benchmark alone, or name what both have: --configuration",
            )


def _pins(arm: Arm) -> list[tuple[str, str, str]]:
    """Label, dtype and weights (or, where these are unknown, the name they go by) of each model."""
    return [(model.label, model.dtype, model.digest or model.ref) for model in arm.models]
