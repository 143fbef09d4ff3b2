"""Holds studies against what was registered: what breaks the rules, and what only deviates."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime

import polars as pl

from leadline.study.readings import readings
from leadline.study.registering import fingerprint, identity_of, labels_of
from leadline.study.registration import Arm, Registration
from leadline.study.store import Key, Store, open_store
from leadline.study.study import Study

# Where decisions that came later stand in the way of a verdict on what was registered.
_READ_WITHOUT = " (--adjudications none reads the labels as annotated)"


@dataclass(frozen=True)
class Seen:
    """What one study holds for its arm: readings, how many responses of how many, the oldest time of one."""

    readings: pl.DataFrame
    responses: int
    expected: int
    oldest: float | None


def differences(study: Study, arm: Arm, wanted: tuple[str, ...]) -> Iterator[str]:
    """What is not as registered, one sentence each."""
    name = study.config.name
    if study.whole.content_hash != arm.benchmark.content_hash:
        yield (
            f"{name}: the benchmark changed, its content hash is {study.whole.content_hash[:19]}… and "
            f"{arm.benchmark.content_hash[:19]}… was registered"
        )
    gone = [item for item in wanted if item not in study.benchmark.by_id]
    if gone:
        yield (
            f"{name}: the item list changed, {len(gone):,} of {len(wanted):,} registered items are no longer "
            f"asked ({gone[0]!r}{', ...' if len(gone) > 1 else ''}){_decided_on(study, gone)}"
        )
    elif labels_of(study, wanted) != arm.labels:
        yield (
            f"{name}: labels of registered items are corrected otherwise than they were when it was "
            f"registered{_READ_WITHOUT}"
        )
    if study.config.correctness != arm.correctness:
        yield f"{name}: correctness is {study.config.correctness!r}, and {arm.correctness!r} was registered"
    entries = {entry.label: entry for entry in study.config.models}
    for model in arm.models:
        entry = entries.get(model.label)
        if entry is None:
            yield f"{name}: the registered model {model.label!r} is no longer in the study"
        elif (entry.dtype, entry.ref) != (model.dtype, model.ref) and model.digest is None:
            yield f"{name}: the model {model.label!r} is not the registered {model.ref} ({model.dtype})"
        elif entry.dtype != model.dtype:
            yield f"{name}: the dtype of {model.label!r} is {entry.dtype}, and {model.dtype} was registered"
    known = {one.name: one for one in study.configurations}
    for registered in arm.configurations:
        one = known.get(registered.name)
        if one is None:
            yield f"{name}: the registered configuration {registered.name!r} is no longer in the study"
        elif identity_of(study, one) != registered.identity:
            yield f"{name}: the configuration {registered.name!r} is not as registered (settings or prompts)"


def _decided_on(study: Study, gone: list[str]) -> str:
    """Whether it is people's decisions that take items away, in words."""
    number = sum(item in study.population.decisions.excluded for item in gone)
    return f", {number:,} of them by people's decisions{_READ_WITHOUT}" if number else ""


def look(
    registration: Registration,
    study: Study,
    arm: Arm,
    wanted: tuple[str, ...],
    reasons: list[str],
    deviations: list[str],
) -> Seen:
    """What the study holds; breaches go to `reasons`, smaller things to `deviations`."""
    name = study.config.name
    with ExitStack() as stack:
        store = stack.enter_context(open_store(study.folder, write=False))
        identities = store.models()
        wordings = {item: study.asked(study.benchmark.by_id[item]) for item in wanted}
        times: dict[tuple[str, Key], float] = {}
        identifiers = []
        for model in arm.models:
            identity = identities.get(model.label)
            if identity is None:
                continue  # never asked: its samples are missing
            if model.digest is None:
                deviations.append(
                    f"{name}: the weights of {model.label} were not on the machine when the prediction was "
                    f"registered, so they were not pinned; they are {identity.digest[:19]}…"
                )
            elif identity.digest != model.digest:
                reasons.append(
                    f"{name}: the weights of {model.label!r} are {identity.digest[:19]}…, and "
                    f"{model.digest[:19]}… were registered"
                )
                continue
            for one in arm.configurations:
                configuration = next(each for each in study.configurations if each.name == one.name)
                identifier = study.configuration_id(configuration, identity)
                identifiers.append(identifier)
                for key, time in store.times(identifier).items():
                    if wordings.get(key.item) == key.asked and key.sample < one.samples:
                        times[identifier, key] = time
        expected = len(arm.models) * len(wanted) * sum(one.samples for one in arm.configurations)
        _check_age(registration, name, arm, list(times.values()), reasons)
        _check_pinned(registration, store, identifiers, name, arm, wordings, reasons)
        if arm is registration.tested:
            deviations += _entries(registration, name, list(store.registrations()))
        frame = readings(study, store)
    deviations += _additions(study, arm, wanted)
    labels = [model.label for model in arm.models]
    frame = frame.filter(pl.col("model").is_in(labels) & pl.col("item").is_in(list(wanted)))
    oldest = min(times.values(), default=None)
    return Seen(frame, len(times), expected, oldest)


def _check_age(
    registration: Registration, name: str, arm: Arm, times: list[float], reasons: list[str]
) -> None:
    """The registration must be older than every response that decides it. A reference study may have been
    answered before: then its responses were pinned."""
    if arm.responses_before:
        return
    registered = registration.registered.timestamp()
    if early := [time for time in times if time <= registered]:
        oldest = datetime.fromtimestamp(min(early), UTC)
        reasons.append(
            f"{name}: the registration ({stamped(registration.registered)}) is younger than {len(early):,} "
            f"of the {len(times):,} responses that decide it, the oldest of {stamped(oldest)}"
        )


def _check_pinned(
    registration: Registration,
    store: Store,
    identifiers: list[str],
    name: str,
    arm: Arm,
    wordings: dict[str, str],
    reasons: list[str],
) -> None:
    if not arm.responses_before:
        return
    number, digest = fingerprint(store, identifiers, wordings, registration.registered.timestamp())
    if digest != arm.responses_sha256:
        reasons.append(
            f"{name}: the {arm.responses_before:,} responses that were there at the time of registration "
            f"are no longer the same ({number:,} of that time are there now)"
        )


def _entries(registration: Registration, name: str, stamps: list[str]) -> Iterator[str]:
    """What the study's own book of registrations says: of twenty predictions one comes true by luck."""
    if registration.sha256 not in stamps:
        yield (
            f"{name}: the study's database does not know this registration: it was made in another copy of "
            "the study, or stamped anew."
        )
    if others := len(set(stamps) - {registration.sha256}):
        noun = "prediction was" if others == 1 else "predictions were"
        yield f"{name}: {others:,} other {noun} registered for this study."


def _additions(study: Study, arm: Arm, wanted: tuple[str, ...]) -> Iterator[str]:
    """What the study asks beyond what was registered. It decides nothing; a reader should know."""
    name = study.config.name
    if more := len(study.benchmark.items) - len(wanted):
        yield f"{name}: {more:,} items that were not registered are asked as well; they do not count."
    registered = {one.name: one for one in arm.configurations}
    extra = [
        one.name
        for one in study.configurations
        if one.name in registered and one.samples > registered[one.name].samples
    ]
    if extra:
        yield f"{name}: more samples than registered are drawn ({', '.join(extra)}); the first ones count."
    if others := len(study.config.models) - len(arm.models):
        yield f"{name}: {others:,} models that were not registered are asked as well; they do not count."


def stamped(time: datetime) -> str:
    """A time as people read it, in UTC."""
    return f"{time.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
