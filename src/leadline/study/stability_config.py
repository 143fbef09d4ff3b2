"""What study.yaml tells the stability lenses: sameness, subsets, contrasts, and who shares what."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from leadline.bench.complaint import REPEATED, said
from leadline.lenses.protocol import Contrast, Sameness, Selection, Stability

Whole = Annotated[int, Field(strict=True)]
Number = Annotated[float, Field(strict=True)]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


def _as_tuple(value: object) -> object:
    return (value,) if isinstance(value, str) else value


def once(what: str) -> AfterValidator:
    """Refuses a list in which something stands twice: `what` is the list's key."""

    def check(values: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
        for at, value in enumerate(values):
            if value in values[:at]:
                _repeated(what + ": {name} stands there twice", at, name=said(value))
        return values

    return AfterValidator(check)


Names = Annotated[tuple[str, ...], BeforeValidator(_as_tuple), Field(min_length=1)]
# What tables call the configurations taken together: no set and no configuration may be called so.
TOGETHER = "all configurations"


class SelectionSection(_Section):
    """A group of items: those that meet every condition given."""

    audit: Annotated[Names, once("audit")] = Field(
        default=(), description="flagged, clean, or failure types of the audit"
    )
    stated: Annotated[
        tuple[Literal["stated", "not stated"], ...],
        BeforeValidator(_as_tuple),
        once("stated"),
        Field(min_length=1),
    ] = Field(default=(), description="whether the audit finds the gold answer itself in the window")
    categories: Annotated[Names, once("categories")] = Field(default=(), description="only these")
    tasks: Annotated[Names, once("tasks")] = Field(default=(), description="only these")
    answer_types: Annotated[Names, once("answer_types")] = Field(default=(), description="only these")
    items: Annotated[Names, once("items")] = Field(default=(), description="ids")

    @property
    def selection(self) -> Selection:
        """As lenses know it."""
        return Selection(**{name: getattr(self, name) for name in type(self).model_fields})


# All items that are not in the first group.
OTHERS = "others"


def _some(value: object) -> object:
    if value == {}:
        keys = ", ".join(SelectionSection.model_fields)
        raise ValueError(f"is empty: name its items by {keys}")
    return value


def _some_or_others(value: object) -> object:
    if value == {}:
        raise ValueError(f"is empty: name its items, or write {OTHERS} for all that are not in the first")
    return SelectionSection() if value == OTHERS else value


class ContrastSection(_Section):
    """Two groups of items whose wobble is compared."""

    name: str = Field(min_length=1, description="what the report calls it")
    of: Annotated[SelectionSection, BeforeValidator(_some)]
    against: Annotated[
        SelectionSection,
        BeforeValidator(_some_or_others, json_schema_input_type=SelectionSection | Literal["others"]),
    ] = Field(description="the items to compare them with, or others: all that are not in the first group")


def _not_together(label: str) -> str:
    if not label.strip():
        raise ValueError("is empty: leave it out, and the name is shown")
    if label.strip().casefold() == TOGETHER:
        raise ValueError(f"{said(label)} is what reports call all configurations together")
    return label


class Traits(_Section):
    """What is known of a configuration, or of all configurations of a model, beside its answers."""

    label: Annotated[str, AfterValidator(_not_together)] = Field(
        default="", description="what reports call it; of configurations only"
    )
    serving: str = Field(default="", description="how its answers come: local, direct, routed, ...")
    family: str = Field(default="", description="configurations of one family are no independent witnesses")


def _two(value: object) -> object:
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        many = f"a list of {len(value)}" if isinstance(value, (list, tuple)) else said(value)
        raise ValueError(f"must be two configurations, such as [first-run, second-run], not {many}")
    return value


Pair = Annotated[tuple[str, str], BeforeValidator(_two)]


def _pairs_are_distinct(pairs: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    seen: set[frozenset[str]] = set()
    for at, pair in enumerate(pairs):
        if pair[0] == pair[1]:
            _repeated("equivalence: {name} is compared with itself", at, name=said(pair[0]))
        if frozenset(pair) in seen:
            _repeated(
                "equivalence: {name} stand there twice", at, name=f"{said(pair[0])} and {said(pair[1])}"
            )
        seen.add(frozenset(pair))
    return pairs


def _contrasts_are_distinct(contrasts: tuple[ContrastSection, ...]) -> tuple[ContrastSection, ...]:
    names = [one.name for one in contrasts]
    for at, name in enumerate(names):
        if name in names[:at]:
            _repeated("two contrasts are called {name}: give one of them another name", at, name=said(name))
    return contrasts


def _sets_have_names(subsets: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    for name in subsets:
        if not name.strip() or name.strip().casefold() == TOGETHER:
            told = "subsets: a set cannot be called {name}: give it another name"
            _repeated(told, name, name=said(name))
    return subsets


def _repeated(message: str, at: int | str, **words: str) -> None:
    """A fault of the entry `at`, found by looking at all of them."""
    raise PydanticCustomError(REPEATED, message, {**words, "at": at})


class StabilitySection(_Section):
    """How the steadiness of answers is told."""

    sameness: Sameness = Field(
        default="own",
        description="when two numbers are the same answer: own (as the item declares, else rounding), exact, "
        "declared or rounding; the report shows the others beside it",
    )
    rarefy: Whole = Field(
        default=5, ge=2, le=10_000, description="the common number of answers of rarefied wobble"
    )
    top: Annotated[tuple[Annotated[Whole, Field(ge=1, le=10_000)], ...], once("top")] = Field(
        default=(3, 4, 5),
        min_length=1,
        description="transfer: the k least stable items; the last is the main one",
    )
    subsets: Annotated[dict[str, Annotated[Names, once("subsets")]], AfterValidator(_sets_have_names)] = (
        Field(default_factory=dict, description="named sets of configurations, by their label, name or model")
    )
    contrasts: Annotated[tuple[ContrastSection, ...], AfterValidator(_contrasts_are_distinct)] = Field(
        default=(), description="groups of items to compare, beside those of the audit"
    )
    equivalence: Annotated[tuple[Pair, ...], AfterValidator(_pairs_are_distinct)] = Field(
        default=(), description="pairs of configurations that should be two runs of the same thing"
    )
    permutations: Whole = Field(default=2000, ge=100, le=1_000_000, description="draws of a permutation null")

    @property
    def settings(self) -> Stability:
        """As lenses know it."""
        return Stability(
            sameness=self.sameness,
            rarefy=self.rarefy,
            top=tuple(sorted(set(self.top))),
            subsets=tuple(self.subsets.items()),
            contrasts=tuple(
                Contrast(one.name, one.of.selection, one.against.selection) for one in self.contrasts
            ),
            equivalence=self.equivalence,
            permutations=self.permutations,
        )


class AgainSection(_Section):
    """Every deterministic technique asked again: is what it recovers steady?"""

    times: Whole = Field(default=20, ge=2, le=10_000, description="answers of each technique to each item")
    temperature: Number = Field(default=0.7, gt=0, le=10, description="at which its answers are drawn")
