"""Which configuration plays which part in a study: what the lenses compare with what."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Method:
    """A way of answering that is judged against the baseline.

    Its verdict on an item is the majority over its first `vote` samples (1 for a deterministic technique).
    `beyond_vote` is the number used at the beyond-sampling level, where a temperature is judged over its K
    fresh samples rather than the 10 of the surface level. `label` is what sentences call it. `kind`
    (prompting, decoding, steering, stack, sampling) is what reports group methods by.
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
class Protocol:
    """The parts: one baseline, the methods judged against it, the samples that define shallow and deep."""

    baseline: str
    methods: tuple[Method, ...]
    partitions: tuple[Partition, ...] = ()
    category_name: str = "category"
    task_name: str = "task"
    bootstrap_draws: int = 2000
    bootstrap_seed: int = 0

    def label(self, name: str) -> str:
        """What sentences call a configuration."""
        return next((method.called for method in self.methods if method.name == name), name)
