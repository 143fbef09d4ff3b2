"""From study.yaml to the configurations that are run and the parts they play."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from leadline.bench.complaint import complaint
from leadline.bench.problem import did_you_mean
from leadline.errors import UsageError
from leadline.lenses.protocol import Again, Method, Partition, Protocol
from leadline.study.config import StudyConfig, TechniqueEntry
from leadline.study.config_file import where_in
from leadline.study.configuration import Configuration
from leadline.study.stability_config import AgainSection
from leadline.techniques import Technique, technique_named
from leadline.techniques.again import Again as AskedAgain
from leadline.techniques.again import asked_again, draws_already
from leadline.techniques.greedy import Greedy
from leadline.techniques.sampling import TemperatureSampling
from leadline.techniques.spelling import main_fault
from leadline.techniques.stack import Stack

BASELINE = "greedy"
# What the configuration of a technique that is asked again is called, after the technique's own name.
AGAIN = "-again"

# The order of methods in a report; within a kind that of study.yaml.
KINDS = ("prompting", "decoding", "steering", "stack", "baseline", "recorded", "sampling")


def configurations(config: StudyConfig, where: Path) -> list[Configuration]:
    """Baseline first (others may depend on its failures), then partitions, temperatures, techniques, and
    these asked again. None where there are no models: then nobody is asked.

    Raises UsageError for an unknown technique or setting, and for two configurations of one name.
    """
    if not config.models:
        return []
    greedy = Greedy(max_tokens=config.max_tokens)
    found = [Configuration(BASELINE, "greedy", "baseline", greedy, samples=1, vote=1)]
    beyond = config.beyond_sampling
    for temperature in config.sampling.temperatures if beyond else ():
        assert beyond is not None
        technique = _sampling(config, temperature, beyond.partition_seed, beyond.sweep)
        found.append(
            Configuration(
                name=f"{technique.label}-partition",
                label=f"τ = {temperature:g}, Seed A",
                role="partition",
                technique=technique,
                samples=beyond.sweep,
                vote=technique.vote,
                failures_only=True,
            )
        )
    for temperature in config.sampling.temperatures:
        seed = beyond.fresh_seed if beyond else 0
        draws = max(config.sampling.vote, beyond.k if beyond else 0)
        technique = _sampling(config, temperature, seed, draws)
        found.append(
            Configuration(
                name=technique.label,
                label=f"τ = {temperature:g}",
                role="method",
                technique=technique,
                samples=draws,
                vote=technique.vote,
                beyond_vote=beyond.k if beyond else None,
            )
        )
    found += [_technique(entry, index, where) for index, entry in enumerate(config.techniques)]
    first_technique = len(found) - len(config.techniques)
    if config.again:
        found += [
            _again(one, config.again) for one in found[first_technique:] if not draws_already(one.technique)
        ]
    names = [configuration.name for configuration in found]
    for position, name in enumerate(names):
        if name in names[:position]:
            index = position - first_technique
            if index >= len(config.techniques):  # "dola-again" is also what a technique is called
                index = names.index(name) - first_technique
            place = ("techniques", index, "name") if index >= 0 else ("sampling", "temperatures")
            raise UsageError(
                f"two configurations are called {name!r}",
                where=where_in(where, *place),
                fix="give one of them another 'name'" if index >= 0 else "name each temperature once",
            )
    return found


def _sampling(config: StudyConfig, temperature: float, seed: int, draws: int) -> TemperatureSampling:
    return TemperatureSampling(
        temperature=temperature,
        seed=seed,
        draws=draws,
        votes=config.sampling.vote,
        max_tokens=config.max_tokens,
    )


def _again(one: Configuration, section: AgainSection) -> Configuration:
    technique = asked_again(one.technique, section.times, section.temperature)
    return Configuration(
        name=one.name + AGAIN,
        label=f"{one.label}, again at τ = {section.temperature:g}",
        role="again",
        technique=technique,
        samples=technique.samples,
        vote=technique.vote,
    )


def _technique(entry: TechniqueEntry, index: int, where: Path) -> Configuration:
    place = ("techniques", index)
    try:
        kind = technique_named(entry.technique)
    except UsageError as error:
        raise UsageError(error.what, where=where_in(where, *place, "technique"), fix=error.fix) from None
    try:
        # As JSON, for there a list is good for any sequence, while a number is a number and nothing else.
        settings = json.dumps(_from_here(entry.settings, where.parent), default=str)
        technique: Technique = kind.model_validate_json(settings, strict=True)
    except ValidationError as error:
        setting, first = main_fault(error, kind)
        line = where_in(where, *place, *setting.split("."))
        if first["type"] == "extra_forbidden":
            raise _no_setting(kind, entry.technique, setting, line) from None
        what, fix = complaint(first)
        raise UsageError(f"{entry.technique}.{setting}: {what}", where=line, fix=fix) from None
    name = entry.name or technique.label
    return Configuration(name, name, "method", technique, samples=technique.samples, vote=technique.vote)


def _no_setting(kind: type[Technique], name: str, setting: str, line: str) -> UsageError:
    part, dot, inner = setting.partition(".")
    if dot and (inside := kind.model_fields.get(part)) and isinstance(inside.annotation, type):
        name, setting, kind = part, inner, inside.annotation
    fields = kind.model_fields
    if issubclass(kind, Stack):
        one = next(key for key in fields if key != "seed")
        hint = f"settings of a part stand under its name, as {one}: {{...}}"
    else:
        hint = did_you_mean(setting, fields, otherwise=f"its settings: {', '.join(fields)}")
    return UsageError(f"{name} has no setting {setting!r}", where=line, fix=hint)


def kind_of(technique: Technique) -> str:
    """What reports group a configuration by: one of `KINDS`."""
    own = technique.technique if isinstance(technique, AskedAgain) else technique
    return "stack" if isinstance(own, Stack) else own.kind


def _from_here(settings: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Settings with those of a stack's parts under the parts' names. A data file is meant from the study's
    folder, wherever the study is run from."""
    found: dict[str, Any] = {}
    for key, one in settings.items():
        part, dot, inner = key.partition(".")
        if dot and isinstance(found.get(part, {}), dict):  # `recite.paths: 5` is `recite: {paths: 5}`
            found[part] = {**found.get(part, {}), **_from_here({inner: one}, folder)}
        else:
            found[key] = _from_here(one, folder) if isinstance(one, dict) else one
    if isinstance(found.get("data"), str):
        found["data"] = str(folder / Path(found["data"]).expanduser())
    return found


def protocol(config: StudyConfig, found: list[Configuration], category_name: str, task_name: str) -> Protocol:
    """Who is compared with whom."""
    beyond = config.beyond_sampling
    methods = [
        Method(
            each.name,
            each.vote,
            each.beyond_vote,
            isinstance(each.technique, TemperatureSampling),
            each.label,
            kind_of(each.technique),
        )
        for each in found
        if each.role == "method"
    ]
    partitions = [
        Partition(each.technique.temperature, each.name, beyond.k, beyond.sweep)
        for each in found
        if each.role == "partition" and beyond and isinstance(each.technique, TemperatureSampling)
    ]
    # Kind by kind; the temperatures last, which the techniques are measured against.
    methods.sort(key=lambda method: KINDS.index(method.kind))
    repeated = tuple(_repeated(found))
    return Protocol(
        BASELINE if config.models else config.baseline or "",
        tuple(methods),
        tuple(partitions),
        category_name,
        task_name,
        again=repeated,
        stability=config.stability.settings,
    )


def _repeated(found: list[Configuration]) -> Iterator[Again]:
    """The techniques of which there are several answers to each item: asked again, or with paths of their
    own; each with the temperature to set it against: the same, else the first."""
    plain = {
        each.technique.temperature: each.name
        for each in found
        if each.role == "method" and isinstance(each.technique, TemperatureSampling)
    }
    for each in found:
        technique = each.technique
        if isinstance(technique, AskedAgain):
            method = each.name.removesuffix(AGAIN)
            yield Again(each.name, method, technique.temperature, plain.get(technique.temperature, ""))
        elif each.role == "method" and each.samples > 1 and not isinstance(technique, TemperatureSampling):
            asker = next(iter(technique.parts.values())) if isinstance(technique, Stack) else technique
            temperature = getattr(asker, "temperature", 0.0)
            yield Again(
                each.name, each.name, temperature, plain.get(temperature, next(iter(plain.values()), ""))
            )
