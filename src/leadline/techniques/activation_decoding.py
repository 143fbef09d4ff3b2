"""Activation Decoding: prefer tokens whose activation over the context is sharp.

Chen, Wang, Zhang, Zhang, Chen, Xiong and Wang, "In-Context Sharpness as Alerts", ICML 2024. Each token's
logits at one inner layer, over the positions of the prompt, are taken for a distribution over positions; the
entropy of that distribution is subtracted. As in the published code the entropy is computed over the prompt
once and never changes with what is generated, and the inner layer is read without the final norm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from leadline.engine.decoding import Decoding, Scores, Seen
from leadline.engine.intervention import Intervention
from leadline.errors import UsageError
from leadline.techniques.inside import InsideTechnique
from leadline.techniques.plausible import implausible
from leadline.techniques.prepared import Bench, Prepared
from leadline.techniques.technique import Kind

if TYPE_CHECKING:
    from torch import Tensor

    from leadline.engine.anatomy import Anatomy
    from leadline.engine.lm import CausalLM

# 26 of 32 layers in the published 7B runs.
_DEPTH = 0.8125
# torch's categorical distribution keeps probabilities this far from 0 and 1, and so do the published numbers.
_EPSILON = 2.0**-23


class ActivationDecoding(InsideTechnique):
    """Scores are log p − α · entropy over the plausible tokens."""

    name: ClassVar[str] = "activation-decoding"
    kind: ClassVar[Kind] = "decoding"
    summary: ClassVar[str] = "prefer tokens whose inner activation is sharp over the prompt"
    citation: ClassVar[str] = "Chen et al., In-Context Sharpness as Alerts, ICML 2024"

    alpha: float = Field(default=0.5, ge=0, le=100, description="weight of the entropy, per nat")
    info_layer: int | None = Field(
        default=None, ge=0, description="inner layer that is read; none: 81.25 % of the depth, rounded down"
    )
    relative_top: float = Field(
        default=0.1, ge=0, le=1, description="plausible tokens have this share of the top one's probability"
    )

    def prepare(self, lm: CausalLM, bench: Bench) -> Prepared:
        """Nothing to fit. Raises UsageError for a layer that the model does not have."""
        depth = lm.anatomy.layers
        place = int(_DEPTH * depth) if self.info_layer is None else self.info_layer
        if place > depth:
            raise UsageError(f"activation-decoding: there is no layer {place}", fix=f"0 to {depth}")
        return Prepared(
            Intervention(decoding=Sharpness(context=place, alpha=self.alpha, relative_top=self.relative_top))
        )


@dataclass(frozen=True, kw_only=True)
class Sharpness(Decoding):
    """Activation Decoding, ready for a model."""

    context: int
    alpha: float
    relative_top: float

    def scores(self, seen: Seen) -> Scores:
        """lp − α E where plausible, −inf elsewhere. Entropies are needed of plausible tokens alone.
        `details["entropy"]`: that of the token with the best score, of each row."""
        import torch

        logprobs = seen.logits.log_softmax(-1)
        out = implausible(logprobs, self.relative_top)
        values = logprobs.masked_fill(out, -torch.inf)
        entropies: list[float] = []
        for row, states in enumerate(seen.contexts):
            if self.alpha == 0:
                break
            tokens = (~out[row]).nonzero()[:, 0]
            entropy = sharpness(seen.anatomy, states, tokens).to(values.device)
            values[row, tokens] -= self.alpha * entropy
            entropies.append(float(entropy[values[row, tokens].argmax()]))
        return Scores(values, {"entropy": entropies} if entropies else {})


def sharpness(anatomy: Anatomy, states: Tensor, tokens: Tensor) -> Tensor:
    """Entropy in nats, over positions, of the activation of each of `tokens` `[n]`, from the inner states of
    a prompt `[positions, hidden]`: `[n]`, between 0 (one position) and ln positions."""
    weight = anatomy.output_weight
    chosen = weight[tokens.to(weight.device)]  # [n, hidden]
    activation = states.to(weight.device, weight.dtype) @ chosen.T  # [positions, n]
    bias = getattr(anatomy.head, "bias", None)
    if bias is not None:
        activation = activation + bias[tokens.to(bias.device)]
    over = anatomy.finished(activation.float()).softmax(0)
    over = over / over.sum(0)
    return -(over * over.clamp(_EPSILON, 1 - _EPSILON).log()).sum(0)
