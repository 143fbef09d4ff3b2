"""What CAA, mean-centring and PCA directions share: one direction per layer, one layer that is steered.

    h_l ← h_l + multiplier · v_l      at the output of block l

Layers are blocks counted from 0. The layer is given, or chosen by Δp: how much steering it changes the
probability of the gold answer's first token, on average over the questions of the fold that are kept for it
and with the study's own question prompt. Two folds: what is fitted and chosen on one steers the other.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from leadline.bench import Item
from leadline.engine.intervention import Intervention
from leadline.errors import UsageError
from leadline.techniques.artefacts import hash_of, hash_of_items, kept_or_made, key_for
from leadline.techniques.contrast_pairs import ContrastPair, letter_tokens
from leadline.techniques.folds import Fold, crossed, two_folds
from leadline.techniques.inside import InsideTechnique
from leadline.techniques.prepared import Bench, Prepared
from leadline.techniques.technique import Kind

if TYPE_CHECKING:
    from torch import Tensor

    from leadline.engine.lm import CausalLM

# As `engine.passes.Positions`, whose file needs torch.
Positions = Literal["last", "generated", "all"]
POSITIONS = "last: from the last prompt token on; generated: generated tokens only; all: every token"


class ResidualDirection(InsideTechnique):
    """Adds a fitted direction to the residual stream after one block. A subclass says how it is fitted."""

    kind: ClassVar[Kind] = "steering"
    is_fitted: ClassVar[bool] = True

    multiplier: float = Field(default=1.0, ge=-1000, le=1000, description="of the direction that is added")
    layer: int | None = Field(
        default=None, ge=0, description="block, from 0, whose output is steered; none: the one of largest Δp"
    )
    positions: Positions = Field(default="last", description=POSITIONS)
    pairs: int = Field(default=150, ge=5, le=100_000, description="most items of a fold that are used")

    @abstractmethod
    def directions(self, lm: CausalLM, pairs: Sequence[ContrastPair]) -> Tensor:
        """One direction per layer, `[layers, hidden]`, at the length that multiplier 1 adds."""

    def prepare(self, lm: CausalLM, bench: Bench) -> Prepared:
        """Fit both folds, or take them from the cache. Items of neither (a prompt of one's own) are steered
        by fold 0's. Raises UsageError for a layer that the model does not have, and for too few items."""
        if self.layer is not None:
            lm.anatomy.check_layer(self.layer, f"{self.name}: layer")
        settings: dict[str, Any] = {"seed": self.seed, "pairs": self.pairs}
        if self.layer is None:  # the choice of a layer depends on how it is made
            prompt = hash_of([bench.prompts.style, bench.prompts.texts(self.prompt_names)])
            settings |= {"multiplier": self.multiplier, "prompt": prompt}
        key = key_for(self.name, lm, bench, settings, hash_of_items(bench.fit_items))
        kept = kept_or_made(key, lm, bench, lambda: self._fitted(lm, bench))
        layers = [fold["layer"] if self.layer is None else self.layer for fold in kept.about["folds"]]
        made = [
            residual_intervention(kept.tensors[f"fold{n}"][layer], layer, self.multiplier, self.positions)
            for n, layer in enumerate(layers)
        ]
        folds = two_folds(bench.fit_items, self.seed, self.pairs, self.name)
        about = {**kept.about, "folder": str(key.folder), "layers": layers}
        return Prepared(made[0], crossed(folds, made.__getitem__), {self.name: about})

    def _fitted(self, lm: CausalLM, bench: Bench) -> tuple[dict[str, Tensor], dict[str, Any]]:
        tensors: dict[str, Tensor] = {}
        folds = []
        for fold in two_folds(bench.fit_items, self.seed, self.pairs, self.name):
            bench.say(f"{self.name}: fold {fold.number} of 0 and 1: reads {len(fold.fit)} items")
            vectors = self.directions(lm, fold.fit)
            tensors[f"fold{fold.number}"] = vectors
            about: dict[str, Any] = {**fold.about, "norms": _rounded(vectors.norm(dim=-1).tolist())}
            if self.layer is None:
                about |= self._chosen(lm, bench, fold, vectors)
            folds.append(about)
        return tensors, {"fitted_on": fitted_on(bench), "folds": folds}

    def _chosen(self, lm: CausalLM, bench: Bench, fold: Fold, vectors: Tensor) -> dict[str, Any]:
        from leadline.engine.edits import Edit

        bench.say(
            f"{self.name}: fold {fold.number}: tries {lm.layers} layers on {len(fold.choose)} questions"
        )
        variants = [
            (),
            *((Edit("residual", layer, self.multiplier * vectors[layer]),) for layer in range(lm.layers)),
        ]
        likely = first_token_probabilities(lm, bench, [pair.item for pair in fold.choose], variants, self)
        gain = (likely[:, 1:] - likely[:, :1]).mean(0)  # [layers]
        return {
            "layer": int(gain.argmax()),
            "delta_p": _rounded(gain.tolist()),
            "p": round(float(likely[:, 0].mean()), 6),
        }


def residual_intervention(
    vector: Tensor, layer: int, multiplier: float = 1.0, positions: Positions = "last"
) -> Intervention:
    """Steering by a given vector `[hidden]`, without fitting: added to the output of block `layer`."""
    from leadline.engine.edits import Edit

    return Intervention((Edit("residual", layer, shift=multiplier * vector, positions=positions),))


def first_token_probabilities(
    lm: CausalLM, bench: Bench, items: Sequence[Item], variants: Sequence[Any], technique: InsideTechnique
) -> Tensor:
    """Probability of each item's gold answer's first token, under each of `variants` (edits of the last
    prompt token): `[items, variants]`. Items whose prompt does not fit into the context are left out."""
    from leadline.engine.forks import answer_probabilities

    prompts, answers = [], []
    for item in items:
        prompt = bench.prompts.question(item.question, item.window, item.prompt)
        text = lm.text_of(prompt)
        ids = tuple(lm.encode(text, prompt.text is not None))
        if len(ids) < lm.context_length:
            prompts.append(ids)
            answers.append(lm.first_token(text, item.answer))
    if not prompts:
        raise UsageError(
            f"{technique.name}: no question of the benchmark fits into the model's context",
            fix=f"{lm.name} reads {lm.context_length} tokens",
        )
    return answer_probabilities(lm, prompts, answers, variants)


def pair_states(lm: CausalLM, pairs: Sequence[ContrastPair], site: Any = "residual") -> Tensor:
    """States at the answer's letter: `[pairs, 2 (right, wrong), layers, width of the site]`."""
    from leadline.engine.forks import states_at

    tokens = letter_tokens(pairs, lm)
    return states_at(
        lm, [each.prompt for each in tokens], [(each.right, each.wrong) for each in tokens], site
    )


def fitted_on(bench: Bench) -> dict[str, Any]:
    """For `about`: what was fitted on."""
    items = bench.fit_items
    name = "the benchmark's items" if bench.items else "facts"
    return {"name": name, "items": len(items), "hash": hash_of_items(items)}


def _rounded(numbers: Sequence[float]) -> list[float]:
    return [float(f"{number:.6g}") for number in numbers]
