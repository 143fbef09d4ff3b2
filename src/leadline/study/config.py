"""study.yaml: what is asked of whom, and how. Validated; every fault is named with its line."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    model_validator,
)
from pydantic_core import PydanticCustomError

from leadline.bench.complaint import REPEATED, said
from leadline.models.served.reference import PREFIX, is_served
from leadline.study.served_entry import NAME, Budget, ServedEntry
from leadline.study.stability_config import AgainSection, StabilitySection, Traits, once
from leadline.techniques.prompts_library import Style

DEVICE = r"(auto|cpu|cuda(:[0-9]{1,3})?)"
# A study of more items would take years; a number like that is a slip.
MAX_ITEMS = 10_000_000

# Neither true nor "20" nor 2.0 is a whole number; 2 will do where a number is asked for.
Whole = Annotated[int, Field(strict=True)]
Number = Annotated[float, Field(strict=True)]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Items(_Section):
    """Which of the benchmark's items are asked. A larger limit keeps the items of a smaller one."""

    limit: Whole | None = Field(
        default=None, ge=1, le=MAX_ITEMS, description="at most this many, spread over the categories"
    )
    seed: Whole = Field(default=0, description="names the draw")
    categories: Annotated[tuple[str, ...], once("items.categories")] | None = Field(
        default=None, description="only these"
    )


class Exclude(_Section):
    """Items that are neither asked nor reported: by an audit's verdict, by name, or both.

    They are left out of what `items` draws, so that excluding some exchanges no others.
    """

    audit: str | None = Field(
        default=None, min_length=1, description="an audit's JSON file (relative to this file)"
    )
    verdicts: tuple[
        Literal[
            "flagged",
            "evidence absent",
            "computational",
            "label untraceable",
            "answer stated",
            "not checkable",
        ],
        ...,
    ] = Field(default=("flagged",), min_length=1, description="which of the audit's verdicts exclude an item")
    items: Annotated[tuple[str, ...], once("exclude.items")] = Field(
        default=(), description="ids of items to leave out"
    )


def _device(value: str) -> str:
    if not re.fullmatch(DEVICE, value):
        raise ValueError(f"must be auto, cpu, cuda or cuda:N (N the number of the card), not {said(value)}")
    return value


class ModelEntry(_Section):
    """One model that answers, on this machine."""

    ref: str = Field(
        min_length=1,
        description="a catalogue name, a folder, a .gguf file or a Hugging Face id",
        json_schema_extra={"pattern": f"^(?!{PREFIX})"},
    )
    name: str | None = Field(default=None, pattern=NAME, description="what reports call it")
    dtype: Literal["float32", "bfloat16", "float16"] = Field(
        default="float32", description="anything but float32 changes answers, and is part of their identity"
    )
    device: Annotated[str, AfterValidator(_device)] = Field(
        default="auto",
        description="auto, cpu, cuda, cuda:1, ...",
        json_schema_extra={"pattern": f"^{DEVICE}$"},
    )

    @property
    def label(self) -> str:
        """`name`, or the last part of `ref`."""
        return self.name or self.ref.rstrip("/").rsplit("/", 1)[-1].removesuffix(".gguf")


class TechniqueEntry(BaseModel):
    """A technique that is compared with the baseline. Further keys are the technique's own settings."""

    model_config = ConfigDict(frozen=True, extra="allow")

    technique: str = Field(min_length=1, description="see: leadline techniques list")
    name: str | None = Field(default=None, pattern=NAME, description="what reports call this configuration")

    @property
    def settings(self) -> dict[str, Any]:
        """The technique's own settings."""
        return dict(self.model_extra or {})


class SamplingSection(_Section):
    """Temperature sampling as the reference: what the model reaches without any technique."""

    temperatures: tuple[Annotated[Number, Field(gt=0, le=10)], ...] = Field(default=(0.7, 1.2))
    vote: Whole = Field(
        default=10,
        ge=1,
        le=10_000,
        description="a temperature's verdict is the majority of this many answers",
    )


class BeyondSection(_Section):
    """The beyond-sampling level: which of the baseline's failures sampling reaches, and who goes further."""

    k: Whole = Field(
        default=20, ge=1, le=10_000, description="a failure is shallow if one of K samples gets it right"
    )
    sweep: Whole = Field(
        default=30, ge=1, le=10_000, description="samples drawn to see how the split depends on K"
    )
    partition_seed: Whole = Field(
        default=42, description="Seed A: splits the failures, never used for evaluation"
    )
    fresh_seed: Whole = Field(
        default=0, description="Seed B: the samples that the temperatures are judged by"
    )

    @model_validator(mode="after")
    def _sweep_covers_k(self) -> BeyondSection:
        if self.sweep < self.k:
            raise ValueError(f"sweep ({self.sweep}) must be at least k ({self.k})")
        if self.partition_seed == self.fresh_seed:
            raise ValueError(
                "partition_seed and fresh_seed must differ: samples that split are not used to judge"
            )
        return self


def _as_list(value: object) -> object:
    return [] if value is None else value if isinstance(value, (list, tuple)) else [value]


def _off(value: object) -> object:
    return None if value is False else value


def _items(value: object) -> object:
    if value is None or value == "all":
        return {}
    if isinstance(value, int) and not isinstance(value, bool):
        return {"limit": value}
    if not isinstance(value, (dict, Items)):
        raise ValueError(
            f"must be a whole number such as 48, or the keys limit, seed and categories, not {said(value)}"
        )
    return value


def _entry(value: object, key: str, short: str) -> object:
    """An entry in its long form; a single text is its `key`."""
    if isinstance(value, str):
        return {key: value}
    if not isinstance(value, (dict, BaseModel)):
        raise ValueError(f"must be {short}, or keys such as {key} and name, not {said(value)}")
    return value


def _model(value: object) -> object:
    return _entry(value, "ref", "the model's name or place")


def _kind(entry: object) -> str:
    """Which of the two kinds of models an entry is of."""
    ref = entry.get("ref") if isinstance(entry, dict) else getattr(entry, "ref", None)
    return SERVED if isinstance(ref, str) and is_served(ref) else LOCAL


# What pydantic calls the two kinds of models in the place of a fault.
LOCAL, SERVED = "leadline:local", "leadline:served"
AnyModel = ModelEntry | ServedEntry


def _technique(value: object) -> object:
    return _entry(value, "technique", "the technique's name")


def _labels_are_unique(models: tuple[AnyModel, ...]) -> tuple[AnyModel, ...]:
    labels = [model.label for model in models]
    for at, label in enumerate(labels):
        if label in labels[:at]:
            message = "two models are called '{label}': give one of them another 'name'"
            raise PydanticCustomError(REPEATED, message, {"label": label, "at": at})
    return models


class StudyConfig(_Section):
    """A study, as study.yaml describes it."""

    name: str = Field(pattern=NAME, description="the study's name in reports")
    benchmark: str = Field(
        min_length=1, description="a bundled benchmark's name, or a path (relative to this file)"
    )
    items: Annotated[Items, BeforeValidator(_items)] = Field(
        default=Items(), description="a number, or limit, seed and categories"
    )
    exclude: Exclude = Field(
        default=Exclude(), description="items to leave out: by an audit's verdict, or by id"
    )
    models: Annotated[
        tuple[
            Annotated[
                Annotated[ModelEntry, Tag(LOCAL)] | Annotated[ServedEntry, Tag(SERVED)],
                Discriminator(_kind),
                BeforeValidator(_model),
            ],
            ...,
        ],
        BeforeValidator(_as_list),
        AfterValidator(_labels_are_unique),
    ] = Field(default=(), description="who answers; one or a list. None where all answers are recorded ones")
    budget: Budget = Field(
        default=Budget(), description="the most that asking models behind an API may take, all runs together"
    )
    baseline: str | None = Field(
        default=None,
        min_length=1,
        description="the recorded configuration that the others are compared with, in a study without models",
    )
    audit: str | None = Field(
        default=None,
        min_length=1,
        description="an audit's JSON file (relative to this file): items are grouped by its verdicts; "
        "`exclude` leaves some out",
    )
    adjudications: str | None = Field(
        default=None,
        min_length=1,
        description="people's decisions on labels, a file (relative to this file) or none; where this is not "
        "said, adjudications.jsonl beside the benchmark's benchmark.yaml, if it is there",
    )
    before: str | None = Field(
        default=None,
        min_length=1,
        description="a study's folder (relative to this file): the same items, as they were answered before "
        "a change of the benchmark",
    )
    prompt: Style = Field(
        default="few-shot", description="how questions are put: few-shot text, or chat messages"
    )
    prompts: str | None = Field(
        default=None, description="a folder whose prompt files replace the packaged ones"
    )
    max_tokens: Whole = Field(
        default=16, ge=1, le=4096, description="longest answer of the baseline and of sampling"
    )
    correctness: Literal["maple", "words"] = Field(
        default="maple", description="maple: contains a valid answer; words: stricter, at word boundaries"
    )
    techniques: Annotated[
        tuple[Annotated[TechniqueEntry, BeforeValidator(_technique)], ...], BeforeValidator(_as_list)
    ] = Field(default=(), description="what is compared with the baseline")
    sampling: SamplingSection = Field(
        default=SamplingSection(), description="the temperatures to compare with"
    )
    beyond_sampling: Annotated[BeyondSection | None, BeforeValidator(_off)] = Field(
        default=BeyondSection(), description="set to null to leave this level out"
    )
    again: Annotated[AgainSection | None, BeforeValidator(_off)] = Field(
        default=None, description="ask each deterministic technique several times, at a temperature"
    )
    stability: StabilitySection = Field(
        default=StabilitySection(), description="how the steadiness of answers is told"
    )
    traits: dict[str, Traits] = Field(
        default_factory=dict,
        description="label, serving path and family of configurations or models, by their name",
    )
    batch_rows: Whole = Field(
        default=512, ge=1, le=65_536, description="answers drawn side by side; changes speed, not answers"
    )

    @model_validator(mode="after")
    def _money_has_prices(self) -> StudyConfig:
        for at, model in enumerate(self.models):
            if self.budget.money is not None and isinstance(model, ServedEntry) and model.price is None:
                message = "budget: money is counted by prices, and '{label}' has none: {fix}"
                fix = "give it price: {input: ..., output: ...}, per million tokens"
                context = {"label": model.label, "fix": fix, "at": ("models", at)}
                raise PydanticCustomError(REPEATED, message, context)
        return self


def study_schema() -> dict[str, Any]:
    """JSON Schema of study.yaml, for editors; short forms (a number for `items`, ...) included."""
    schema = StudyConfig.model_json_schema()
    definitions = schema["$defs"]
    string = {"type": "string"}
    properties = schema["properties"]
    properties["items"] = {
        "anyOf": [{"type": "integer", "minimum": 1, "maximum": MAX_ITEMS}, {"$ref": "#/$defs/Items"}]
    }
    for key, kinds in (("models", ("ModelEntry", "ServedEntry")), ("techniques", ("TechniqueEntry",))):
        one = {"anyOf": [string, *({"$ref": f"#/$defs/{kind}"} for kind in kinds)]}
        properties[key] = {
            "description": properties[key].get("description", ""),
            "anyOf": [*one["anyOf"], {"type": "array", "items": one}],
        }
    definitions["TechniqueEntry"]["additionalProperties"] = True
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "Leadline study"}
