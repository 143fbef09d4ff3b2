"""Contrastive Decoding: what a strong model says more than a weak one does.

Li, Holtzman, Fried, Liang, Eisner, Hashimoto, Zettlemoyer and Lewis, "Contrastive Decoding: Open-ended Text
Generation as Optimization", ACL 2023. The amateur has to share the expert's tokenizer; where one vocabulary
is longer (padding), the shared part counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from leadline.engine.decoding import Decoding, Lane, Scores, Seen
from leadline.engine.intervention import Intervention
from leadline.errors import UsageError
from leadline.techniques.inside import InsideTechnique
from leadline.techniques.plausible import implausible
from leadline.techniques.prepared import Bench, Prepared
from leadline.techniques.technique import Kind

if TYPE_CHECKING:
    from leadline.engine.lm import CausalLM


class ContrastiveDecoding(InsideTechnique):
    """Scores are log p(expert) − β · log p(amateur at its temperature) over the plausible tokens."""

    name: ClassVar[str] = "contrastive-decoding"
    kind: ClassVar[Kind] = "decoding"
    summary: ClassVar[str] = "subtract a weaker model's log-probabilities from the model's own"
    citation: ClassVar[str] = "Li et al., Contrastive Decoding, ACL 2023"

    amateur: str = Field(
        default="first-half",
        min_length=1,
        description="the weak model: a name, folder or id as for models, or first-half or first-N: the "
        "model's own first blocks",
    )
    beta: float = Field(default=1.0, ge=0, le=100, description="weight of the amateur")
    amateur_temperature: float = Field(default=1.0, gt=0, le=100, description="divides the amateur's logits")
    relative_top: float = Field(
        default=0.1, ge=0, le=1, description="plausible tokens have this share of the top one's probability"
    )

    def prepare(self, lm: CausalLM, bench: Bench) -> Prepared:
        """Loads the amateur. Raises UsageError where its tokenizer is another one."""
        amateur = _amateur(self.amateur, lm, bench)
        decoding = ExpertMinusAmateur(
            beta=self.beta,
            temperature=self.amateur_temperature,
            relative_top=self.relative_top,
            lane=Lane(amateur=amateur),
        )
        return Prepared(Intervention(decoding=decoding))


@dataclass(frozen=True, kw_only=True)
class ExpertMinusAmateur(Decoding):
    """Contrastive Decoding, ready for a model."""

    beta: float
    temperature: float
    relative_top: float
    lane: Lane = field(default_factory=Lane)

    def scores(self, seen: Seen) -> Scores:
        """lp(expert) − β lp(amateur) where plausible, −inf elsewhere and outside the shared vocabulary."""
        import torch

        assert seen.lane is not None
        shared = min(seen.logits.shape[-1], seen.lane.shape[-1])
        expert = seen.logits[:, :shared].log_softmax(-1)
        amateur = (seen.lane[:, :shared] / self.temperature).log_softmax(-1)
        values = (expert - self.beta * amateur).masked_fill(
            implausible(expert, self.relative_top), -torch.inf
        )
        missing = seen.logits.shape[-1] - shared
        return Scores(torch.nn.functional.pad(values, (0, missing), value=-torch.inf))


def _amateur(wanted: str, lm: CausalLM, bench: Bench) -> CausalLM:
    if wanted == "first-half" or (wanted.startswith("first-") and wanted[6:].isdigit()):
        from leadline.engine.shallow import first_blocks

        return first_blocks(lm, lm.anatomy.layers // 2 if wanted == "first-half" else int(wanted[6:]))
    if bench.load is None:
        raise UsageError(f"contrastive-decoding: nobody here can load the amateur {wanted!r}")
    amateur = bench.load(wanted)
    if _vocabulary(amateur.tokenizer) != _vocabulary(lm.tokenizer):
        raise UsageError(
            f"contrastive-decoding: {amateur.name} reads text into other tokens than {lm.name}",
            fix="the amateur must have the same tokenizer; another size of the same family has",
        )
    if lm.in_blocks and not amateur.in_blocks:
        raise UsageError(
            f"contrastive-decoding: {amateur.name} has an attention that cannot run beside another"
        )
    return amateur


def _vocabulary(tokenizer: Any) -> dict[str, int]:
    found: dict[str, int] = tokenizer.get_vocab()
    return found
