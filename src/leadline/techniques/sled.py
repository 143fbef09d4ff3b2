"""SLED: the model's early layers say which of the likely tokens its training was moving towards.

Zhang, Juan, Rashtchian, Ferng, Jiang and Chen, "SLED: Self Logits Evolution Decoding for Improving Factuality
in Large Language Models", NeurIPS 2024, Algorithm 1. From an early layer n to the last one N the logits moved
by ℓ_N − ℓ_n. Had training pulled towards token i, they would have moved against the gradient of the
cross-entropy, which is softmax(ℓ_n) − e_i. How well the two agree is

    m_i(n) = max(cos(ℓ_n − ℓ_N, softmax(ℓ_n) − e_i), 0)²     for the `evolution_scale` likeliest tokens i,

each layer's distribution over these tokens is m(n) / Σ_i m_i(n), and a layer counts with its share of all m.
The mean over layers is the latent distribution P, towards which the last layer's logits take one step of
gradient descent on KL(P ‖ softmax(ℓ_N)): ℓ_N ← ℓ_N − rate · (softmax(ℓ_N) − P).

What paper and published code leave open or say differently, and what is done here:
- The paper writes a temperature τ in the softmax; the code has none. τ = 1.
- The code takes one step where it generates and scores FACTOR, and ten for TruthfulQA, of linearly falling
  rates rate · (1 − t / 10): `evolution_steps`. The softmax runs over the whole vocabulary.
- Tokens outside the likeliest ones get −1000 in the code (−100 where it scores), which no greedy choice can
  tell from −∞. They get −∞ here, as with every technique that rules tokens out.
- Early layers go through the output layer without the final norm (`lens`), as in the code, whose early exits
  are those of DoLa; by default all layers from the embeddings (0) to the last but one.
- A layer in which no m is positive has no say; if none has, P is zero and only softmax(ℓ_N) is subtracted.
- The code divides by the norm of softmax(ℓ_n) − e_i, which rounds to zero where an early layer is sure of
  token i. Here the cosine is computed from the other tokens' odds, which is the same and does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field

from leadline.engine.decoding import Decoding, Scores, Seen
from leadline.engine.intervention import Intervention
from leadline.techniques.dola import bucket
from leadline.techniques.inside import InsideTechnique, listed
from leadline.techniques.prepared import Bench, Prepared
from leadline.techniques.technique import Kind

if TYPE_CHECKING:
    from torch import Tensor

    from leadline.engine.lm import CausalLM

# Numbers in the early layers' logits that are held at a time.
_LOGITS_AT_ONCE = 2**23
_NAMED = ("all", "low", "high")


def _layers(value: object) -> object:
    return value if value in _NAMED else listed(value)


class SLED(InsideTechnique):
    """Scores are the likeliest tokens' logits after a step towards what the early layers were moving to."""

    name: ClassVar[str] = "sled"
    kind: ClassVar[Kind] = "decoding"
    summary: ClassVar[str] = "move the logits towards the tokens that they came closer to from layer to layer"
    citation: ClassVar[str] = "Zhang et al., SLED, NeurIPS 2024"

    layers: Annotated[
        Literal["all", "low", "high"] | tuple[Annotated[int, Field(ge=0)], ...], BeforeValidator(_layers)
    ] = Field(
        default="all", description="early layers: all, low, high (as DoLa's), or a list; 0 is the embeddings"
    )
    evolution_rate: float = Field(default=2.0, ge=0, le=1000, description="length of the step")
    evolution_scale: int = Field(default=10, ge=1, description="likeliest tokens that may be chosen")
    evolution_steps: int = Field(default=1, ge=1, le=1000, description="steps, of linearly falling length")
    lens: Literal["raw", "normed"] = Field(
        default="raw", description="early layers without the final norm (as in the code), or with it"
    )

    def prepare(self, lm: CausalLM, bench: Bench) -> Prepared:
        """Nothing to fit. Raises UsageError for a layer that the model does not have."""
        every = tuple(range(lm.anatomy.layers))
        places = every if self.layers == "all" else bucket(self.layers, lm.anatomy, self.name)
        decoding = LogitsEvolution(
            places=places,
            rate=self.evolution_rate,
            scale=self.evolution_scale,
            steps=self.evolution_steps,
            lens=self.lens,
        )
        return Prepared(Intervention(decoding=decoding))


@dataclass(frozen=True, kw_only=True)
class LogitsEvolution(Decoding):
    """SLED, ready for a model."""

    places: tuple[int, ...]
    rate: float
    scale: int
    steps: int = 1
    lens: str = "raw"

    def scores(self, seen: Seen) -> Scores:
        """Evolved logits of the likeliest tokens, −inf elsewhere. `details["layer"]`: the early layer of each
        row that counted most."""
        import torch

        final = seen.logits
        _, likeliest = final.topk(min(self.scale, final.shape[-1]), -1)  # [rows, scale]
        latent = torch.zeros_like(likeliest, dtype=final.dtype)
        total = torch.zeros_like(latent[:, 0])
        most, layer = torch.zeros_like(total), torch.zeros_like(total, dtype=torch.long)
        for number, early in enumerate(self._early(seen)):
            agreement = alignment(early, final, likeliest).clamp(min=0).square()
            # Σ_n s_n · m(n) / Σ_i m_i(n), with s_n = Σ_i m_i(n) / Σ_n Σ_i m_i(n), is Σ_n m(n) over that sum.
            latent += agreement
            share = agreement.sum(-1)
            total += share
            layer = torch.where(share > most, number, layer)
            most = torch.maximum(share, most)
        latent /= torch.where(total > 0, total, 1)[:, None]
        evolved = final
        for step in range(self.steps):
            rate = self.rate * (1 - step / self.steps)
            evolved = (evolved - rate * evolved.softmax(-1)).scatter_add(1, likeliest, rate * latent)
        values = torch.full_like(final, -torch.inf).scatter(1, likeliest, evolved.gather(1, likeliest))
        return Scores(values, {"layer": [self.places[number] for number in layer.tolist()]})

    def _early(self, seen: Seen) -> Iterator[Tensor]:
        """Logits of each early layer, `[rows, vocabulary]`; several layers at once go through the output
        layer, whose weights are the largest thing to be read."""
        import torch

        together = max(1, _LOGITS_AT_ONCE // seen.logits.numel())
        for start in range(0, len(self.places), together):
            found = [seen.residuals[place] for place in self.places[start : start + together]]
            states = torch.stack([each.to(found[0].device) for each in found])
            if self.lens == "normed":
                states = seen.anatomy.normed(states)
            yield from seen.anatomy.logits(states).to(seen.logits.device)


def alignment(early: Tensor, final: Tensor, tokens: Tensor) -> Tensor:
    """cos(early − final, softmax(early) − e_i) for `tokens` i: `[rows, vocabulary]` twice and `[rows, n]` →
    `[rows, n]`.

    Only dot products of whole rows are needed: with d = early − final and p = softmax(early),
    d·(p − e_i) = d·p − d_i and ‖p − e_i‖² = ‖p‖² − 2 p_i + 1. For the token a that the early layer likes best
    that difference may be all rounding, so there p is replaced by q, the distribution over the other tokens:
    p − e_a = (1 − p_a)(q − e_a) points the same way.
    """
    import torch

    best = early.argmax(-1, keepdim=True)
    moved = early - final
    others = early.scatter(1, best, -torch.inf)
    odds = (others.logsumexp(-1, keepdim=True) - early.gather(1, best)).exp()  # all others against the best
    q = others.softmax(-1)
    toward, spread = (q * moved).sum(-1, keepdim=True), q.square().sum(-1, keepdim=True)
    moved_best, moved_here = moved.gather(1, best), moved.gather(1, tokens)
    certain = 1 / (1 + odds)  # p of the best; q of another token times 1 − that is its p
    rest = odds * certain
    dot = certain * moved_best + rest * toward - moved_here
    square = certain.square() + rest.square() * spread - 2 * rest * q.gather(1, tokens) + 1
    is_best = tokens == best
    dot = torch.where(is_best, toward - moved_best, dot)
    square = torch.where(is_best, spread + 1, square)
    norm = moved.norm(dim=-1, keepdim=True) * square.sqrt()
    return dot / norm.clamp(min=torch.finfo(norm.dtype).tiny)
