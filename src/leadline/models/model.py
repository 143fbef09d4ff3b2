"""What a study needs of whoever answers: an identity, and answers to requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from leadline.engine import Failure, Generation, Request


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


class Model(Protocol):
    """Anything that answers requests: a model on this machine, a served one, recorded answers."""

    @property
    def identity(self) -> ModelIdentity:
        """See `ModelIdentity`."""

    def generate(self, requests: Sequence[Request]) -> Iterator[tuple[int, Generation | Failure]]:
        """Answer `requests` in any order: yields (index of the request, generation)."""
