"""Which configuration plays which part in a study: what the lenses compare with what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from leadline.lenses.finding import Figure

# When two numbers are the same answer: as each item declares (else rounding), or one rule for all.
Sameness = Literal["own", "exact", "declared", "rounding"]


@dataclass(frozen=True)
class Method:
    """A way of answering that is judged against the baseline.

    Its verdict on an item is the majority over its first `vote` samples (1 for a deterministic technique).
    `beyond_vote` is the number used at the beyond-sampling level, where a temperature is judged over its K
    fresh samples rather than the 10 of the surface level. `label` is what sentences call it. `kind`
    (prompting, decoding, steering, stack, sampling, recorded) is what reports group methods by.
    """

    name: str
    vote: int = 1
    beyond_vote: int | None = None
    is_sampling: bool = False
    label: str = ""
    kind: str = ""

    @property
    def called(self) -> str:
        """`label`, or the name where there is none."""
        return self.label or self.name


@dataclass(frozen=True)
class Partition:
    """Samples (Seed A) that split the baseline's failures into shallow and deep; never for evaluation."""

    temperature: float
    configuration: str
    k: int = 20
    sweep: int = 30


@dataclass(frozen=True)
class Again:
    """A technique of which there are several answers to each item.

    `method` is the technique's own name, `configuration` holds the answers: a configuration of its own, where
    a deterministic technique is asked again at `temperature`, or the technique's own, where it has several
    paths (then `temperature` is that of its draws). `plain` is the configuration without a technique to set
    them against, at the same temperature; of a technique with paths it may be another. "" where there is
    none.
    """

    configuration: str
    method: str
    temperature: float
    plain: str = ""


@dataclass(frozen=True)
class Member:
    """One configuration of one model, as the stability lenses see it: whose answers, and what it shares.

    `serving` is the path by which answers come (local, direct, routed, ...), "" where it is not known.
    Members of one `family` are no independent witnesses; "" means that the model is its own family.
    """

    model: str
    configuration: str
    label: str = ""
    serving: str = ""
    family: str = ""
    kind: str = ""

    @property
    def kin(self) -> str:
        """`family`, or the model where none is named."""
        return self.family or self.model


@dataclass(frozen=True)
class Selection:
    """A group of items: those that meet every condition given; no condition means all items."""

    audit: tuple[str, ...] = ()  # "flagged", "clean", or a failure type; see `lenses.audited`
    stated: tuple[str, ...] = ()  # "stated" | "not stated": the gold answer in the window
    categories: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    answer_types: tuple[str, ...] = ()
    items: tuple[str, ...] = ()


@dataclass(frozen=True)
class Contrast:
    """Two groups of items whose wobble is compared: `of` less `against`."""

    name: str
    of: Selection
    against: Selection


@dataclass(frozen=True)
class Stability:
    """What the stability lenses need to be told.

    `rarefy` is the m of rarefied wobble: a fixed number, so that a further configuration changes no figure of
    the others. `top` are the k of transfer. `subsets` are named sets of members (by label, configuration or
    model) that transfer and contrast are shown for beside all of them. `equivalence` pairs members that
    should be two runs of the same thing. `draws` and `seed` of the bootstrap are the protocol's own.
    """

    sameness: Sameness = "own"
    rarefy: int = 5
    top: tuple[int, ...] = (3, 4, 5)
    subsets: tuple[tuple[str, tuple[str, ...]], ...] = ()
    contrasts: tuple[Contrast, ...] = ()
    equivalence: tuple[tuple[str, str], ...] = ()
    permutations: int = 2000
    permutation_seed: int = 0


@dataclass(frozen=True)
class Registered:
    """A prediction of wobble that was registered before the answers, and what became of it.

    `sentence` is such as "wobble below 0.161". `is_paired`: it is about the wobble after the change less that
    before, else about the wobble after it. `outcome` is "holds", "fails", "cannot be decided" or "no
    verdict", and `reason` says why. `figures` hold the measured value, one for each way to make its interval.
    """

    sentence: str
    direction: Literal["below", "above"]
    threshold: float
    is_paired: bool
    outcome: str
    reason: str
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True)
class Before:
    """The study of the same items before they were changed, by its name; `notes` say what else differs."""

    study: str
    registered: Registered | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Protocol:
    """The parts: one baseline, the methods judged against it, the samples that define shallow and deep.

    `baseline` is "" in a study of recorded answers that names none: then nothing is compared with it.
    Its verdict is the majority over its first `baseline_vote` samples: 1 where it is greedy.
    `members` are the configurations that the stability lenses look at; those that split shallow from deep
    are not among them. `before` is told of where the same items were answered before they were changed.
    """

    baseline: str
    methods: tuple[Method, ...]
    partitions: tuple[Partition, ...] = ()
    category_name: str = "category"
    task_name: str = "task"
    bootstrap_draws: int = 2000
    bootstrap_seed: int = 0
    members: tuple[Member, ...] = ()
    again: tuple[Again, ...] = ()
    stability: Stability = Stability()
    baseline_vote: int = 1
    before: Before | None = None

    def label(self, name: str) -> str:
        """What sentences call a configuration."""
        methods = (method.called for method in self.methods if method.name == name)
        members = (one.label for one in self.members if one.configuration == name and one.label)
        return next(methods, "") or next(members, name)
