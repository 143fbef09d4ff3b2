"""SADI: Semantics-Adaptive Dynamic Intervention.

Wang, Yang and Peng, "Semantics-Adaptive Activation Intervention for LLMs via Dynamic Steering Vectors", ICLR
2025. The mean difference between right and wrong answers, D, only says which elements matter: the K of
largest |D| over all layers are the mask M. What is added depends on the input itself:

    A′ = A + δ · (A ⊙ M)

Sites as in the paper: whole attention heads (an element is a head, its D the mean over the head's columns),
hidden states (block outputs), or neurons (inputs of the down projection). Heads are the default because the
paper finds them best on every task. Their published code ranks by D rather than by |D|, and takes a layer's
MLP output for its hidden state; here both are as the paper says.

K and δ are chosen on questions kept for it, by the change in probability of the gold answer's first token;
the published code reports the best of its sweep over the test questions. Two folds, as for CAA.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from leadline.engine.intervention import Intervention
from leadline.errors import UsageError
from leadline.techniques.artefacts import hash_of, hash_of_items, kept_or_made, key_for
from leadline.techniques.folds import Fold, crossed, two_folds
from leadline.techniques.inside import InsideTechnique
from leadline.techniques.prepared import Bench, Prepared
from leadline.techniques.residual_directions import (
    POSITIONS,
    Positions,
    first_token_probabilities,
    fitted_on,
    pair_states,
)
from leadline.techniques.technique import Kind

if TYPE_CHECKING:
    from torch import Tensor

    from leadline.engine.lm import CausalLM

Site = Literal["heads", "hidden", "neurons"]

# What K and δ are chosen from. Of heads a few carry much; of single elements it takes more.
_ELEMENTS: Mapping[str, tuple[int, ...]] = {
    "heads": (1, 2, 4, 8, 16),
    "hidden": (2, 8, 32, 128),
    "neurons": (10, 50, 200, 1000),
}
_DELTAS = (0.25, 0.5, 1.0, 2.0, 5.0)


class SADI(InsideTechnique):
    """Scales the elements that tell right answers from wrong ones."""

    name: ClassVar[str] = "sadi"
    kind: ClassVar[Kind] = "steering"
    is_fitted: ClassVar[bool] = True
    summary: ClassVar[str] = "scale the heads (or elements) in which right and wrong answers differ most"
    citation: ClassVar[str] = "Wang et al., Semantics-Adaptive Activation Intervention, ICLR 2025"

    site: Site = Field(default="heads", description="what is scaled: whole heads, hidden states or neurons")
    elements: int | None = Field(
        default=None, ge=1, description="K, how many heads or elements; none: chosen on questions kept for it"
    )
    delta: float | None = Field(
        default=None, ge=-1000, le=1000, description="strength; none: chosen on questions kept for it"
    )
    positions: Positions = Field(default="last", description=POSITIONS)
    pairs: int = Field(default=150, ge=5, le=100_000, description="most items of a fold that are used")

    def prepare(self, lm: CausalLM, bench: Bench) -> Prepared:
        """Fit both folds, or take them from the cache. Items of neither get fold 0's. Raises UsageError for
        more elements than the model has, and for too few items."""
        settings: dict[str, Any] = {"seed": self.seed, "pairs": self.pairs, "site": self.site}
        if self.elements is None or self.delta is None:
            prompt = hash_of([bench.prompts.style, bench.prompts.texts(self.prompt_names)])
            settings |= {"elements": self.elements, "delta": self.delta, "prompt": prompt}
        key = key_for(self.name, lm, bench, settings, hash_of_items(bench.fit_items))
        kept = kept_or_made(key, lm, bench, lambda: self._fitted(lm, bench))
        made = []
        chosen = []
        for number, fold in enumerate(kept.about["folds"]):
            elements: int = fold["elements"] if self.elements is None else self.elements
            delta: float = fold["delta"] if self.delta is None else self.delta
            masks = top_masks(kept.tensors[f"fold{number}"], elements, _unit(lm, self.site))
            made.append(sadi_intervention(masks, delta, self.site, self.positions))
            chosen.append({"elements": elements, "delta": delta, "layers": sorted(masks)})
        folds = two_folds(bench.fit_items, self.seed, self.pairs, self.name)
        about = {**kept.about, "folder": str(key.folder), "chosen": chosen}
        return Prepared(made[0], crossed(folds, made.__getitem__), {self.name: about})

    def _fitted(self, lm: CausalLM, bench: Bench) -> tuple[dict[str, Tensor], dict[str, Any]]:
        tensors: dict[str, Tensor] = {}
        folds = []
        for fold in two_folds(bench.fit_items, self.seed, self.pairs, self.name):
            bench.say(f"sadi: fold {fold.number} of 0 and 1: reads {len(fold.fit)} items")
            states = pair_states(lm, fold.fit, _edit_site(self.site))
            difference = (states[:, 0] - states[:, 1]).mean(0)  # [layers, width]
            tensors[f"fold{fold.number}"] = difference
            about: dict[str, Any] = dict(fold.about)
            if self.elements is None or self.delta is None:
                about |= self._chosen(lm, bench, fold, difference)
            folds.append(about)
        return tensors, {"fitted_on": fitted_on(bench), "folds": folds}

    def _chosen(self, lm: CausalLM, bench: Bench, fold: Fold, difference: Tensor) -> dict[str, Any]:
        unit = _unit(lm, self.site)
        most = difference.numel() // unit
        counts = (
            [count for count in _ELEMENTS[self.site] if count <= most]
            if self.elements is None
            else [self.elements]
        )
        deltas = _DELTAS if self.delta is None else (self.delta,)
        grid = [(count, delta) for count in counts for delta in deltas]
        bench.say(f"sadi: fold {fold.number}: tries {len(grid)} settings on {len(fold.choose)} questions")
        variants: list[Sequence[Any]] = [()]
        for count, delta in grid:
            masks = top_masks(difference, count, unit)
            variants.append(sadi_intervention(masks, delta, self.site).edits)
        likely = first_token_probabilities(lm, bench, [pair.item for pair in fold.choose], variants, self)
        gains = (likely[:, 1:] - likely[:, :1]).mean(0).tolist()
        best = max(range(len(grid)), key=lambda at: gains[at])
        return {
            "elements": grid[best][0],
            "delta": grid[best][1],
            "p": round(float(likely[:, 0].mean()), 6),
            "development": [
                {"elements": count, "delta": delta, "delta_p": float(f"{gain:.6g}")}
                for (count, delta), gain in zip(grid, gains, strict=True)
            ],
        }


def top_masks(difference: Tensor, elements: int, unit: int = 1) -> dict[int, Tensor]:
    """By layer, 1 at the `elements` of largest |mean difference| over all layers and 0 elsewhere, `[width]`.

    `difference` `[layers, width]`. An element is `unit` neighbouring columns (a head), whose difference is
    their mean. Of equals the lower layer comes first. Raises UsageError for more elements than there are.
    """
    import torch

    layers, width = difference.shape
    score = difference.unflatten(-1, (-1, unit)).mean(-1).abs().flatten()
    if elements > len(score):
        raise UsageError(f"sadi: there are no {elements} elements", fix=f"the model has {len(score)}")
    flat = torch.zeros_like(score)
    flat[score.argsort(descending=True, stable=True)[:elements]] = 1
    mask = flat.reshape(layers, width // unit).repeat_interleave(unit, dim=-1)
    return {layer: mask[layer] for layer in range(layers) if bool(mask[layer].any())}


def sadi_intervention(
    masks: Mapping[int, Tensor], delta: float, site: Site, positions: Positions = "last"
) -> Intervention:
    """A + δ (A ⊙ M) with given masks `[width of the site]` by layer, without fitting."""
    from leadline.engine.edits import Edit

    return Intervention(
        tuple(
            Edit(_edit_site(site), layer, scale=delta * mask, positions=positions)
            for layer, mask in sorted(masks.items())
        )
    )


def _edit_site(site: Site) -> Any:
    return "residual" if site == "hidden" else site


def _unit(lm: CausalLM, site: Site) -> int:
    """Columns of one element."""
    return lm.anatomy.head_dim() if site == "heads" else 1
