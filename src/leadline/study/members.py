"""Every configuration that a study holds answers of: those that it asks, and those whose answers were
recorded elsewhere and imported."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from leadline.bench.problem import did_you_mean
from leadline.errors import UsageError
from leadline.lenses.protocol import Member, Method, Protocol
from leadline.models.model import ModelIdentity
from leadline.study.config import StudyConfig
from leadline.study.config_file import where_in
from leadline.study.configuration import Configuration, Role, configuration_id
from leadline.study.expand import KINDS, kind_of
from leadline.study.recorded_part import RecordedPart, part_of
from leadline.study.stability_names import check_configurations
from leadline.study.store import Store
from leadline.study.study import Study

# The key of a recorded configuration's description in the store, and its kind among the methods.
RECORDED = "recorded"
# What recorded answers are filed under where nobody says which model gave them.
UNNAMED = "recorded"


@dataclass(frozen=True)
class StudyMember:
    """One configuration of one model. `samples` are wanted of each item, or were recorded of some item.

    `asked` is the configuration of study.yaml, None for a recorded one; `about` is what was said of that when
    it was recorded (serving, family, ...). `serving` is how answers that were asked for came: local, or the
    host.
    """

    model: str
    name: str
    label: str
    id: str
    samples: int
    role: Role
    kind: str
    asked: Configuration | None = None
    about: Mapping[str, Any] = field(default_factory=dict)
    serving: str = "local"


def recorded_id(model: str, configuration: str) -> str:
    """What recorded answers are stored under: by their names alone, so that a later import adds to them."""
    return configuration_id({RECORDED: {"model": model, "configuration": configuration}})


def members(study: Study, store: Store) -> tuple[StudyMember, ...]:
    """The configurations that study.yaml asks for of the models that were asked, then the recorded ones.

    Recorded ones are in order of model and name. Raises UsageError where study.yaml now gives the name of
    one of them to what it asks.
    """
    identities = store.models()
    found = [
        StudyMember(
            model=entry.label,
            name=one.name,
            label=_label(study.config, one.name) or one.label,
            id=study.configuration_id(one, identities[entry.label]),
            samples=one.samples,
            role=one.role,
            kind="baseline" if one.role == "baseline" else kind_of(one.technique),
            asked=one,
            serving=_serving(identities[entry.label]),
        )
        for entry in study.config.models
        if entry.label in identities
        for one in study.configurations
    ]
    return (*found, *_recorded(study, store))


def _serving(identity: ModelIdentity) -> str:
    return identity.device if identity.kind == "served" else "local"


def _recorded(study: Study, store: Store) -> list[StudyMember]:
    found = []
    for identifier, description in store.configurations().items():
        about = description.get(RECORDED)
        if not isinstance(about, dict):
            continue
        model, name = about["model"], about["configuration"]
        check_not_asked(study, model, name)
        found.append(
            StudyMember(
                model=model,
                name=name,
                label=_label(study.config, name) or about.get("label") or name,
                id=identifier,
                samples=int(about.get("samples", 0)),
                role=_role(name, study.protocol.baseline, part_of(about)),
                kind=RECORDED,
                about=about,
            )
        )
    return sorted(found, key=_in_order)


def _role(name: str, baseline: str, part: RecordedPart | None) -> Role:
    if name == baseline:
        return "baseline"
    return part.role if part is not None and part.role != "baseline" else "method"


def _in_order(one: StudyMember) -> tuple[float, str, str]:
    """Those that an export names the order of, in that order; then by model and name."""
    part = part_of(one.about)
    return (math.inf if part is None else part.place, one.model, one.name)


def check_not_asked(study: Study, model: str, configuration: str) -> None:
    """Raise UsageError where the study asks this configuration of this model itself."""
    if any(entry.label == model for entry in study.config.models) and any(
        one.name == configuration for one in study.configurations
    ):
        raise UsageError(
            f"{model} · {configuration} is asked by this study, and cannot be recorded answers as well",
            where=str(study.file),
            fix="give either of them another name",
        )


def protocol(study: Study, found: Sequence[StudyMember]) -> Protocol:
    """The study's protocol with its members, among them the recorded ones, and the parts that these play.

    Recorded configurations are compared with the baseline where there is one. Raises UsageError for a
    baseline in study.yaml that no recorded configuration has the name of, and as `check_configurations`.
    """
    recorded = [one for one in found if one.kind == RECORDED]
    baseline = study.protocol.baseline
    names = list(dict.fromkeys(one.name for one in recorded))
    if study.config.baseline and baseline not in names:
        raise UsageError(
            f"baseline: there are no recorded answers of {baseline!r}",
            where=where_in(study.file, "baseline"),
            fix=did_you_mean(
                baseline, names, otherwise=f"recorded are: {', '.join(names) or 'none'}; or leave it out"
            ),
        )
    check_configurations(study, found)
    first = {name: next(one for one in recorded if one.name == name) for name in names}
    parts = {name: part for name, one in first.items() if (part := part_of(one.about)) is not None}
    samples = {name: max(one.samples for one in recorded if one.name == name) for name in names}
    methods, splits, again = list(study.protocol.methods), list(study.protocol.partitions), []
    for name, one in first.items():
        part = parts.get(name)
        if not baseline or one.role == "baseline":
            continue
        if part is None:
            methods.append(Method(name, max(1, samples[name]), label=one.label, kind=RECORDED))
        elif part.role == "partition":
            splits.append(part.partition(name))
        elif part.role == "method":
            methods.append(part.method(name, one.label))
        again += [] if part is None else [part.asked_again(name)]
    methods.sort(key=lambda method: KINDS.index(method.kind))
    votes = parts[baseline].votes if baseline in parts else max(1, samples.get(baseline, 1))
    return replace(
        study.protocol,
        methods=tuple(
            replace(method, label=_label(study.config, method.name) or method.label) for method in methods
        ),
        partitions=tuple(splits),
        again=(*study.protocol.again, *(one for one in again if one is not None)),
        baseline_vote=1 if study.config.models else votes,
        members=tuple(_member(study.config, one) for one in found if one.role != "partition"),
    )


def _member(config: StudyConfig, one: StudyMember) -> Member:
    """What is said of a configuration counts before what is said of its model, and that before the import."""
    own, of_model = config.traits.get(one.name), config.traits.get(one.model)

    def trait(name: str) -> str:
        said = [getattr(traits, name) for traits in (own, of_model) if traits]
        return next(filter(None, said), str(one.about.get(name) or ""))

    serving, family = trait("serving"), trait("family")
    if one.kind != RECORDED:
        serving = serving or one.serving
    elif one.model == UNNAMED:  # nothing says that they have a model in common
        family = family or one.name
    part = part_of(one.about)
    return Member(one.model, one.name, one.label, serving, family, part.kind if part else one.kind)


def _label(config: StudyConfig, name: str) -> str:
    """What study.yaml has the configuration called; "" where it says nothing."""
    traits = config.traits.get(name)
    return traits.label if traits else ""
