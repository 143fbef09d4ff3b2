"""What study.yaml tells the stability lenses: sameness, subsets, contrasts, and who shares what."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from leadline.lenses.protocol import Contrast, Sameness, Selection, Stability

Whole = Annotated[int, Field(strict=True)]
Number = Annotated[float, Field(strict=True)]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


def _as_tuple(value: object) -> object:
    return (value,) if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(_as_tuple)]


class SelectionSection(_Section):
    """A group of items: those that meet every condition given."""

    audit: Names = Field(default=(), description="flagged, clean, or failure types of the audit")
    stated: Annotated[tuple[Literal["stated", "not stated"], ...], BeforeValidator(_as_tuple)] = Field(
        default=(), description="whether the audit finds the gold answer itself in the window"
    )
    categories: Names = Field(default=(), description="only these")
    tasks: Names = Field(default=(), description="only these")
    answer_types: Names = Field(default=(), description="only these")
    items: Names = Field(default=(), description="ids")

    @property
    def selection(self) -> Selection:
        """As lenses know it."""
        return Selection(**{name: getattr(self, name) for name in type(self).model_fields})


class ContrastSection(_Section):
    """Two groups of items whose wobble is compared."""

    name: str = Field(min_length=1, description="what the report calls it")
    of: SelectionSection
    against: SelectionSection


class Traits(_Section):
    """What is known of a configuration, or of all configurations of a model, beside its answers."""

    label: str = Field(default="", description="what reports call it")
    serving: str = Field(default="", description="how its answers come: local, direct, routed, ...")
    family: str = Field(default="", description="configurations of one family are no independent witnesses")


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
    top: tuple[Annotated[Whole, Field(ge=1, le=10_000)], ...] = Field(
        default=(3, 4, 5),
        min_length=1,
        description="transfer: the k least stable items; the last is the main one",
    )
    subsets: dict[str, Names] = Field(
        default_factory=dict, description="named sets of configurations, by their label, name or model"
    )
    contrasts: tuple[ContrastSection, ...] = Field(
        default=(), description="groups of items to compare, beside those of the audit"
    )
    equivalence: tuple[tuple[str, str], ...] = Field(
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
