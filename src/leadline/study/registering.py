"""Writing a registration: what a study will ask, pinned, and refused where answers are there already."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any

from leadline import __version__
from leadline.bench import content_hash
from leadline.bench.problem import did_you_mean
from leadline.errors import LeadlineError, UsageError
from leadline.models.model import ModelIdentity
from leadline.study.anchor import head
from leadline.study.configuration import Configuration, configuration_id
from leadline.study.lock import locked
from leadline.study.registered_arm import check_pairs, chosen_configurations, chosen_models
from leadline.study.registered_reach import check_reach
from leadline.study.registration import (
    Arm,
    Prediction,
    RegisteredBenchmark,
    RegisteredConfiguration,
    RegisteredModel,
    Registration,
    items_hash,
)
from leadline.study.store import DATABASE, Store, open_store
from leadline.study.study import Study

# What a configuration's description says of the model; the rest is what is asked of it.
_OF_THE_MODEL = "model"
_UNKNOWN = ModelIdentity("", "", "", "", "", "", "")


def register(
    tested: Study,
    prediction: Prediction,
    *,
    reference: Study | None = None,
    items: Sequence[str] | None = None,
    other_items: Sequence[str] = (),
    configurations: Collection[str] = (),
    models: Collection[str] = (),
) -> Registration:
    """The registration of `prediction`, not yet written.

    `items` (default: all that the study asks; of a paired comparison, all that both ask), `configurations`
    (default: all that can show the statistic) and `models` (default: all) are what decides.

    Raises UsageError for names that do not occur and for what no answers could fulfil, or none could fail;
    LeadlineError when the tested study holds any response to
    these items under these configurations: then there is nothing left to predict.
    """
    if reference is not None and reference.folder.resolve() == tested.folder.resolve():
        raise UsageError("a study is no reference for itself", where=str(tested.folder))
    chosen = _items(tested, reference, items)
    others = tuple(dict.fromkeys(other_items))
    _check_items(tested, others)
    if both := set(chosen) & set(others):
        raise UsageError(f"item {min(both)!r} is in both groups", fix="each item belongs to one of them")
    if len(chosen) < prediction.minimum_items:
        raise UsageError(
            f"{len(chosen)} items are registered, and at least {prediction.minimum_items} must be measured",
            fix="lower --minimum-items, or register more items",
        )
    with ExitStack() as held:
        # A run that is under way may have answers that are not stored yet.
        for study in {one.folder.resolve(): one for one in (tested, reference) if one}.values():
            held.enter_context(locked(study.folder))
        arm = _arm(tested, prediction, (*chosen, *others), configurations, models, refuse=True)
        base = (
            _arm(reference, prediction, chosen, configurations, models, refuse=False) if reference else None
        )
        registered = datetime.now(UTC)
    if base is not None:
        check_pairs(arm, base)
    check_reach(prediction, arm, chosen, others)
    return Registration(
        registered=registered,
        leadline_version=__version__,
        prediction=prediction,
        items=chosen,
        items_sha256=items_hash(chosen, others),
        other_items=others,
        tested=arm,
        reference=base,
        commit=head(tested.folder),
    )


def identity_of(study: Study, configuration: Configuration) -> str:
    """Hash of everything that reaches a model under `configuration`, whichever model that is."""
    return configuration_id(_without_model(study.described(configuration, _UNKNOWN)))


def labels_of(study: Study, items: Collection[str]) -> str:
    """The content hash of these items as they are judged, where people's decisions correct a label of
    theirs; "" where all are judged as the benchmark has them."""
    if not set(study.population.corrected) & set(items):
        return ""
    return content_hash(study.benchmark.by_id[item] for item in items)


def fingerprint(
    store: Store, identifiers: Collection[str], wanted: Mapping[str, str], until: float
) -> tuple[int, str]:
    """How many responses to items (id → wording) were stored by `until`, and a sha256 of all of them."""
    found = []
    for identifier in sorted(identifiers):
        times = store.times(identifier)
        for response in store.responses(identifier):
            key = response.key
            if wanted.get(key.item) == key.asked and times[key] <= until:
                found.append([identifier, key.item, key.asked, key.sample, response.text])
    found.sort()
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    return len(found), f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _items(tested: Study, reference: Study | None, wanted: Sequence[str] | None) -> tuple[str, ...]:
    if wanted is not None:
        chosen = tuple(dict.fromkeys(wanted))
        for study in (tested, reference) if reference else (tested,):
            _check_items(study, chosen)
    else:
        shared = reference.benchmark.by_id if reference else tested.benchmark.by_id
        chosen = tuple(item.id for item in tested.benchmark.items if item.id in shared)
    if not chosen:
        raise UsageError("no item is left to register", where=str(tested.file))
    return chosen


def _check_items(study: Study, items: Sequence[str]) -> None:
    for item in items:
        if item not in study.benchmark.by_id:
            raise UsageError(
                f"the study asks no item {item!r}",
                where=str(study.file),
                fix=did_you_mean(item, study.benchmark.by_id, otherwise="leadline bench show lists all ids"),
            )


def _arm(
    study: Study,
    prediction: Prediction,
    items: Sequence[str],
    configurations: Collection[str],
    models: Collection[str],
    *,
    refuse: bool,
) -> Arm:
    """One study as it will be asked; with `refuse`, only if none of it has been answered."""
    pinned = chosen_models(study, models)
    found = chosen_configurations(study, prediction, configurations)
    wanted = {item: study.asked(study.benchmark.by_id[item]) for item in items}
    before, digest, elsewhere = 0, "", 0
    if (study.folder / DATABASE).exists():
        with open_store(study.folder, write=False) as store:
            here, other = _stored_under(study, store, found, pinned)
            if refuse:
                _refuse(study, store, here, wanted)
            before, digest = fingerprint(store, here, wanted, datetime.now(UTC).timestamp())
            elsewhere = len(_times(store, other, wanted))
    return Arm(
        study=study.config.name,
        benchmark=RegisteredBenchmark(
            name=study.whole.name, version=study.whole.version, content_hash=study.whole.content_hash
        ),
        population=study.population.sentence,
        labels=labels_of(study, items),
        correctness=study.config.correctness,
        models=tuple(pinned),
        configurations=tuple(
            RegisteredConfiguration(
                name=one.name,
                technique=one.technique.name,
                identity=identity_of(study, one),
                samples=one.samples,
            )
            for one in found
        ),
        responses_before=before,
        responses_sha256=digest if before else None,
        responses_elsewhere=elsewhere,
    )


def _without_model(description: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in description.items() if key != _OF_THE_MODEL}


def _stored_under(
    study: Study, store: Store, wanted: Sequence[Configuration], models: Sequence[RegisteredModel]
) -> tuple[list[str], list[str]]:
    """Ids of the configurations in `store` that are these, and of all others. A model whose weights are not
    known may be any."""
    ours = {json.dumps(_without_model(study.described(one, _UNKNOWN)), sort_keys=True) for one in wanted}
    here: list[str] = []
    other: list[str] = []
    for identifier, description in store.configurations().items():
        asked = json.dumps(_without_model(description), sort_keys=True)
        who = description.get(_OF_THE_MODEL, {})
        may_be = any(
            model.digest is None or (model.digest, model.dtype) == (who.get("digest"), who.get("dtype"))
            for model in models
        )
        (here if asked in ours and may_be else other).append(identifier)
    return here, other


def _times(store: Store, identifiers: Sequence[str], wanted: Mapping[str, str]) -> list[float]:
    """When each response to these items was stored."""
    return [
        time
        for identifier in identifiers
        for key, time in store.times(identifier).items()
        if wanted.get(key.item) == key.asked
    ]


def _refuse(study: Study, store: Store, identifiers: Sequence[str], wanted: Mapping[str, str]) -> None:
    """Raise LeadlineError where a response is there that would decide the prediction."""
    if times := _times(store, identifiers, wanted):
        oldest = datetime.fromtimestamp(min(times), UTC)
        noun = "response" if len(times) == 1 else "responses"
        raise LeadlineError(
            f"too late to register: the study holds {len(times):,} {noun} to these items under these "
            f"configurations, the oldest of {oldest:%Y-%m-%d %H:%M:%S} UTC",
            where=str(study.folder),
            fix="register before the first run; predict what has not been answered yet",
        )
