"""DoLa: decoding by contrasting layers.

Chuang, Xie, Luo, Kim, Glass and He, "DoLa: Decoding by Contrasting Layers Improves Factuality in Large
Language Models", ICLR 2024. Of several early layers the one whose distribution differs most from the last
layer's is chosen, anew at each step, and its log-probabilities are subtracted.

Two things are as in the published code and not as in the paper, and have an option: the divergence is
½KL(M‖P) + ½KL(M‖Q), not the Jensen-Shannon divergence ½KL(P‖M) + ½KL(Q‖M) (`divergence`), and early layers
go through the output layer as they are, without the final norm (`lens`). One thing is not as in the code: it
averages the divergence over a batch, so that an answer depends on its neighbours; here each row chooses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field

from leadline.engine.decoding import Decoding, Scores, Seen
from leadline.engine.intervention import Intervention
from leadline.errors import UsageError
from leadline.techniques.inside import InsideTechnique, listed
from leadline.techniques.plausible import implausible
from leadline.techniques.prepared import Bench, Prepared
from leadline.techniques.technique import Kind

if TYPE_CHECKING:
    from torch import Tensor

    from leadline.engine.anatomy import Anatomy
    from leadline.engine.lm import CausalLM


def _layers(value: object) -> object:
    return value if value in ("low", "high") else listed(value)


class DoLa(InsideTechnique):
    """Scores are log p(last layer) − log p(chosen early layer) over the plausible tokens."""

    name: ClassVar[str] = "dola"
    kind: ClassVar[Kind] = "decoding"
    summary: ClassVar[str] = "contrast the last layer with the early one that differs most (per step and row)"
    citation: ClassVar[str] = "Chuang et al., DoLa, ICLR 2024"

    layers: Annotated[
        Literal["low", "high"] | tuple[Annotated[int, Field(ge=0)], ...], BeforeValidator(_layers)
    ] = Field(
        default="low", description="early layers to choose from: low, high, or a list; 0 is the embeddings"
    )
    relative_top: float = Field(
        default=0.1, ge=0, le=1, description="plausible tokens have this share of the top one's probability"
    )
    divergence: Literal["reversed", "jensen-shannon"] = Field(
        default="reversed", description="how far an early layer is: as in the code, or as in the paper"
    )
    lens: Literal["raw", "normed"] = Field(
        default="raw", description="early layers without the final norm (as in the code), or with it"
    )

    def prepare(self, lm: CausalLM, bench: Bench) -> Prepared:
        """Nothing to fit. Raises UsageError for a layer that the model does not have."""
        places = bucket(self.layers, lm.anatomy)
        decoding = LayerContrast(
            places=places, relative_top=self.relative_top, divergence=self.divergence, lens=self.lens
        )
        return Prepared(Intervention(decoding=decoding))


def bucket(layers: str | tuple[int, ...], anatomy: Anatomy, name: str = "dola") -> tuple[int, ...]:
    """Places of the residual stream to choose from; `name` is the technique that an error speaks of.

    The buckets of `transformers` 4.44: every second one of the lower or upper half (of the first or last 20
    beyond 40 layers). Where input and output embeddings are one matrix, place 0 only repeats the input token
    and is left out.
    """
    depth = anatomy.layers
    if not isinstance(layers, str):
        if not layers or any(place >= depth for place in layers):
            raise UsageError(
                f"{name}: layers {', '.join(map(str, layers)) or '(none)'} are no early layers of this model",
                fix=f"choose from 0 (the embeddings) to {depth - 1}",
            )
        return tuple(dict.fromkeys(layers))
    start = 0 if not anatomy.tied else 2 if depth > 2 else depth - 1
    if layers == "high":
        return tuple(range(depth // 2 if depth <= 40 else depth - 20, depth, 2))
    return tuple(range(start, depth // 2 if depth <= 40 else 20, 2)) or (start,)


@dataclass(frozen=True, kw_only=True)
class LayerContrast(Decoding):
    """DoLa, ready for a model."""

    places: tuple[int, ...]
    relative_top: float
    divergence: str
    lens: str

    def scores(self, seen: Seen) -> Scores:
        """lp(last) − lp(early) where plausible, −inf elsewhere; not normalised, as in the published code.
        `details["layer"]`: the early layer of each row."""
        import torch

        mature = seen.logits.log_softmax(-1)  # [rows, vocabulary]
        likely = mature.exp()
        farthest: Tensor | None = None
        choice = torch.zeros(mature.shape[0], dtype=torch.long, device=mature.device)
        contrast = mature
        for number, place in enumerate(self.places):
            states = seen.residuals[place]
            if self.lens == "normed":
                states = seen.anatomy.normed(states)
            early = seen.anatomy.logits(states).to(mature.device).log_softmax(-1)
            if len(self.places) == 1:
                contrast = early
                break
            distance = _distance(mature, likely, early, self.divergence)
            if farthest is None:
                farthest, contrast = distance, early
                continue
            further = distance > farthest
            farthest = torch.where(further, distance, farthest)
            choice = torch.where(further, number, choice)
            contrast = torch.where(further[:, None], early, contrast)
        values = (mature - contrast).masked_fill(implausible(mature, self.relative_top), -torch.inf)
        return Scores(values, {"layer": [self.places[number] for number in choice.tolist()]})


def _distance(mature: Tensor, likely: Tensor, early: Tensor, divergence: str) -> Tensor:
    """Divergence in nats of each row: `[rows]`, from log-probabilities `[rows, vocabulary]`."""
    import torch

    if divergence == "jensen-shannon":
        # With early layers that are sure of one token it differs from ln 2 in the last digits only.
        mature, early = mature.double(), early.double()
        p, q = mature.exp(), early.exp()
        middle = (p + q).mul_(0.5).log_()
        return 0.5 * (
            (p * (mature - middle)).nan_to_num().sum(-1) + (q * (early - middle)).nan_to_num().sum(-1)
        )
    middle = (likely + early.exp()).mul_(0.5)
    # ½[KL(M‖P) + KL(M‖Q)] = Σ M ln M − ½ Σ M (ln P + ln Q)
    return torch.special.xlogy(middle, middle).sum(-1) - 0.5 * (middle * (mature + early)).sum(-1)
