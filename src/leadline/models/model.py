"""What a study needs of whoever answers: an identity, and answers to requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from leadline.engine import Failure, Generation, Request
from leadline.engine.intervention import NOTHING, Intervention
from leadline.models.files import ModelFiles

if TYPE_CHECKING:
    from leadline.engine.lm import CausalLM


@dataclass(frozen=True)
class ModelIdentity:
    """What pins a model. `digest` and `dtype` decide its answers; `device` only how fast they come."""

    name: str
    kind: str
    digest: str
    dtype: str
    device: str
    description: str
    source: str
    revision: str | None = None

    @classmethod
    def of_files(cls, files: ModelFiles, dtype: str, device: str) -> ModelIdentity:
        """That of a model on this machine: a worker elsewhere must find the same `digest`."""
        return cls(
            name=files.name,
            kind=files.kind,
            digest=files.digest,
            dtype=dtype,
            device=device,
            description=files.description,
            source=files.source,
            revision=files.revision,
        )

    def is_same(self, other: ModelIdentity) -> bool:
        """Whether the other gives the same answers, whatever it is called and wherever it computes."""
        return (self.kind, self.digest, self.dtype) == (other.kind, other.digest, other.dtype)

    @property
    def fit_digest(self) -> str:
        """What fitted artefacts are kept under: what is fitted in another precision is another thing."""
        return self.digest if self.dtype == "float32" else f"{self.digest}-{self.dtype}"


class Model(Protocol):
    """Anything that answers requests: a model on this machine, a served one, recorded answers."""

    @property
    def identity(self) -> ModelIdentity:
        """See `ModelIdentity`."""

    @property
    def inside(self) -> CausalLM | None:
        """The model itself, where it is on this machine; None where only its answers can be had."""

    def generate(
        self, requests: Sequence[Request], intervention: Intervention = NOTHING
    ) -> Iterator[tuple[int, Generation | Failure]]:
        """Answer `requests` in any order: yields (index of the request, generation). `intervention` is what a
        technique does to the model; only a model with an `inside` is given any."""
