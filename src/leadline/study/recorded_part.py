"""The part that a configuration played in the study that its answers were exported from.

Recorded answers know nothing of how they were drawn. A table that `leadline export answers` wrote says it of
each configuration, so that a study of recorded answers votes, splits and compares as the study did.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from leadline.lenses.protocol import Again, Method, Partition, Protocol
from leadline.study.configuration import Role

# Where the part is kept in what is known of a recorded configuration.
PART = "part"
_Number = Annotated[int, Field(ge=1, le=100_000)]


class RecordedPart(BaseModel):
    """`kind` is what reports group it by. `votes` are the samples that its verdict is the majority of; of a
    partition, how many split shallow from deep; `beyond_votes` those at the level of sampling.

    `place` orders configurations as the study has them, and `baseline` is what it compares them with. Of a
    technique with several answers, `again` is its own name, and `plain` the configuration to set it against
    ("" for none). Raises pydantic's ValidationError.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Role
    kind: Literal["prompting", "decoding", "steering", "stack", "baseline", "recorded", "sampling"]
    place: int = Field(default=0, ge=0, le=1_000_000)
    samples: _Number = 1
    votes: _Number = 1
    beyond_votes: _Number | None = None
    temperature: float | None = Field(default=None, ge=0, le=100, allow_inf_nan=False)
    baseline: str = Field(default="", max_length=200)
    again: str | None = Field(default=None, max_length=200)
    plain: str = Field(default="", max_length=200)

    def method(self, name: str, label: str) -> Method:
        """As the lenses know what is compared with the baseline."""
        return Method(name, self.votes, self.beyond_votes, self.kind == "sampling", label, self.kind)

    def partition(self, name: str) -> Partition:
        """As the lenses know the samples that split shallow from deep."""
        return Partition(self.temperature or 0.0, name, self.votes, self.samples)

    def asked_again(self, name: str) -> Again | None:
        """As the lenses know a technique of which there are several answers; None where it is none."""
        return Again(name, self.again, self.temperature or 0.0, self.plain) if self.again else None


def part_of(about: Mapping[str, Any]) -> RecordedPart | None:
    """The part in what is known of a recorded configuration; None where nothing says it."""
    return RecordedPart.model_validate(about[PART]) if PART in about else None


def played(name: str, role: Role, kind: str, samples: int, place: int, protocol: Protocol) -> RecordedPart:
    """The part that a configuration plays in `protocol`."""
    method = next((one for one in protocol.methods if one.name == name), None)
    split = next((one for one in protocol.partitions if one.configuration == name), None)
    again = next((one for one in protocol.again if one.configuration == name), None)
    said: dict[str, Any] = {"role": role, "kind": kind, "place": place, "samples": max(1, samples)}
    said["baseline"] = protocol.baseline
    if name == protocol.baseline:
        said |= {"votes": protocol.baseline_vote}
    elif split is not None:
        said |= {"votes": split.k, "samples": split.sweep, "temperature": split.temperature}
    elif method is not None:
        said |= {"votes": method.vote, "beyond_votes": method.beyond_vote, "kind": method.kind or kind}
    if again is not None:
        said |= {"again": again.method, "temperature": again.temperature, "plain": again.plain}
    return RecordedPart.model_validate(said)
