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

import math
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

        values, layers = [], []
        for start in range(0, seen.logits.shape[0], _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            part, chosen = self._some(seen, rows)
            values.append(part)
            layers += [self.places[number] for number in chosen]
        return Scores(torch.cat(values), {"layer": layers})

    def _some(self, seen: Seen, rows: slice) -> tuple[Tensor, list[int]]:
        """The same for some rows: their scores, and the number of each row's early layer."""
        import torch

        mature = seen.logits[rows].log_softmax(-1)  # [n, vocabulary]
        count = mature.shape[0]
        states = torch.stack([seen.residuals[place][rows].to(mature.device) for place in self.places])
        if self.lens == "normed":
            states = seen.anatomy.normed(states)
        # One product for all early layers: the output layer's weights are read once.
        early = seen.anatomy.logits(states.flatten(0, 1)).to(mature.device).unflatten(0, (-1, count))
        choice = torch.zeros(count, dtype=torch.long, device=mature.device)
        if len(self.places) > 1:
            choice = _distances(mature, early, self.divergence).argmax(0)  # the first of equals
        contrast = early[choice, torch.arange(count, device=mature.device)].log_softmax(-1)
        out = implausible(mature, self.relative_top)
        return (mature - contrast).masked_fill(out, -torch.inf), choice.tolist()


# Rows whose early layers are looked at together: enough for an efficient product, few enough that the logits
# of seven layers stay near the processor's cache.
_ROWS_AT_ONCE = 16

# Tokens with less than e^-30 of the likeliest one's probability weigh nothing in a divergence: all 50,000 of
# them together move it by less than 10^-6.
_NEGLIGIBLE = 30.0
# A layer is sure of few tokens where those that weigh are less than one in so many of the vocabulary.
_FEW = 8


def _distances(mature: Tensor, early: Tensor, divergence: str) -> Tensor:
    """Divergences in nats `[layers, n]`, from log-probabilities `mature` `[n, vocabulary]` and the early
    layers' logits `[layers, n, vocabulary]`. Each depends on its own row alone."""
    import torch

    if divergence == "jensen-shannon":
        return torch.stack([_jensen_shannon(mature, each) for each in early])
    layers, count, vocabulary = early.shape
    rows = early.flatten(0, 1)
    top = rows.amax(-1)  # [layers × n]
    near = rows > top[:, None] - _NEGLIGIBLE
    # Summed as bytes: thirty times faster than as truth values.
    counts = near.view(torch.uint8).sum(-1, dtype=torch.int32).long()
    owner = torch.arange(count, device=mature.device).repeat(layers)
    found = torch.empty_like(top, dtype=torch.float64)
    for is_broad, measure in ((True, _reversed), (False, _reversed_of_few)):
        which = (counts * _FEW > vocabulary) == is_broad
        if bool(which.all()):
            return measure(mature, rows, owner, near, counts).unflatten(0, (layers, count))
        if bool(which.any()):
            found[which] = measure(mature, rows[which], owner[which], near[which], counts[which])
    return found.unflatten(0, (layers, count))


def _jensen_shannon(mature: Tensor, early: Tensor) -> Tensor:
    """½KL(P‖M) + ½KL(Q‖M) of each row. With early layers that are sure of one token it differs from ln 2 in
    the last digits only: more digits than a float32 log-softmax is normalised to."""
    mature, early = mature.double().log_softmax(-1), early.double().log_softmax(-1)
    p, q = mature.exp(), early.exp()
    middle = (p + q).mul_(0.5).log_()
    halves = p * (mature - middle), q * (early - middle)
    return 0.5 * (halves[0].nan_to_num().sum(-1) + halves[1].nan_to_num().sum(-1))


def _reversed(mature: Tensor, early: Tensor, owner: Tensor, near: Tensor, counts: Tensor) -> Tensor:
    """½[KL(M‖P) + KL(M‖Q)] = Σ M ln M − ½ Σ M (ln P + ln Q) of each row of `early`; `owner` `[rows]` names
    the row of `mature` that it belongs to."""
    import torch

    found = []
    for at in range(early.shape[0]):  # a row at a time: it stays in the processor's cache
        ln_p, ln_q = mature[owner[at]], early[at].log_softmax(-1)
        middle = (ln_p.exp() + ln_q.exp()).mul_(0.5)
        found.append(torch.special.xlogy(middle, middle).sum() - 0.5 * (middle * (ln_p + ln_q)).sum())
    return torch.stack(found).double()


def _reversed_of_few(mature: Tensor, early: Tensor, owner: Tensor, near: Tensor, counts: Tensor) -> Tensor:
    """As `_reversed` where the early layer puts all its probability on the few tokens that are `near`, which
    is what layers without the final norm do: all other tokens enter through two sums that need no logarithm.

    Σ M ln M = Σ ½P ln ½P + Σ_near (M ln M − ½P ln ½P), and
    Σ M (ln P + ln Q) = ½ (Σ P ln P + Σ P ln Q + Σ_near Q ln P + Σ_near Q ln Q).
    """
    import torch

    def summed(values: Tensor) -> Tensor:
        return torch.segment_reduce(values, "sum", lengths=counts)

    vocabulary = early.shape[1]
    place = near.flatten().nonzero()[:, 0]
    row = place // vocabulary
    few = early.flatten()[place].double()
    top = early.amax(-1).double()
    total = top + summed((few - top[row]).exp()).log()  # log of the early layer's normaliser
    ln_q = few - total[row]
    ln_p = mature[owner[row], place % vocabulary].double()
    q, half_p = ln_q.exp(), 0.5 * ln_p.exp()
    likely = mature.exp()
    p_ln_p = (likely * mature).sum(-1).double()[owner]
    p_ln_q = torch.stack([(likely[at] * each).sum() for at, each in zip(owner.tolist(), early, strict=True)])
    p_ln_q = p_ln_q.double() - total
    middle = half_p + 0.5 * q
    extra = summed(torch.special.xlogy(middle, middle) - torch.special.xlogy(half_p, half_p))
    m_ln_m = 0.5 * (p_ln_p - math.log(2)) + extra
    return m_ln_m - 0.25 * (p_ln_p + p_ln_q + summed(q * (ln_p + ln_q)))
