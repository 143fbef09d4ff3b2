"""ITI: Inference-Time Intervention.

Li, Patel, Viégas, Pfister and Wattenberg, "Inference-Time Intervention: Eliciting Truthful Answers from a
Language Model", NeurIPS 2023. A logistic probe is fitted to each attention head's output at the last token of
true and false statements; the heads whose probes do best on questions held out are shifted (their eq. 2):

    x_l,h ← x_l,h + α σ_l,h θ_l,h

with θ the unit vector from the mean of false statements to the mean of true ones, and σ the standard
deviation of the states along it. The site is the input of the output projection.

Options name what the paper and its code do differently. σ is taken over the statements of the fit, as in the
paper, or over statements with another question after them (`sigma=code`). "last" shifts the last prompt token
and all generated ones, as in the paper's runs; "generated" spares the prompt.

Fitted on the benchmark's own items in two folds, or on a file of TruthfulQA (`data`), then once for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from leadline.engine.intervention import Intervention
from leadline.errors import UsageError
from leadline.techniques.artefacts import hash_of, hash_of_items, kept_or_made, key_for
from leadline.techniques.contrast_pairs import lot
from leadline.techniques.folds import SHARE, crossed, two_folds
from leadline.techniques.inside import InsideTechnique
from leadline.techniques.prepared import Bench, Prepared
from leadline.techniques.probes import Probes, fit_probes, spread_along
from leadline.techniques.residual_directions import POSITIONS, Positions, fitted_on
from leadline.techniques.statements import Statements, of_file, of_pairs, truths
from leadline.techniques.technique import Kind

if TYPE_CHECKING:
    from torch import Tensor

    from leadline.engine.lm import CausalLM

Head = tuple[int, int]

# As many heads are told of in `about`; all are in the tensors.
_TOLD = 100


@dataclass(frozen=True)
class _Data:
    """Questions that are fitted on, and questions that heads are chosen by."""

    train: list[Statements]
    validation: list[Statements]
    about: Mapping[str, Any]


class ITI(InsideTechnique):
    """Shifts the heads that tell true from false towards true."""

    name: ClassVar[str] = "iti"
    kind: ClassVar[Kind] = "steering"
    is_fitted: ClassVar[bool] = True
    summary: ClassVar[str] = "shift the heads that tell true from false statements towards true ones"
    citation: ClassVar[str] = "Li et al., Inference-Time Intervention, NeurIPS 2023"

    heads: int = Field(
        default=48, ge=1, le=1_000_000, description="how many heads; at most all that there are"
    )
    alpha: float = Field(
        default=15.0,
        ge=-10_000,
        le=10_000,
        description="strength, in standard deviations along the direction",
    )
    positions: Positions = Field(default="last", description=POSITIONS)
    direction: Literal["com", "probe"] = Field(
        default="com",
        description="from the mean of false statements to that of true ones, or the probe's own",
    )
    sigma: Literal["paper", "code"] = Field(
        default="paper",
        description="deviation over the fit's statements, or with another question after them",
    )
    questions: int = Field(
        default=150, ge=5, le=100_000, description="most questions that are fitted on (of each fold)"
    )
    data: str | None = Field(
        default=None, min_length=1, description="a CSV file as TruthfulQA's; none: the study's own items"
    )

    def settings(self) -> dict[str, Any]:
        """A file is known by what is in it, wherever it lies."""
        found = super().settings()
        if self.data is not None:
            found["data"] = _hash_of(of_file(Path(self.data)))
        return found

    def prepare(self, lm: CausalLM, bench: Bench) -> Prepared:
        """Fit, or take from the cache. Items of neither fold (a prompt of one's own) get fold 0's shift.

        Raises UsageError for too few items, and for a file that is not as TruthfulQA's.
        """
        given = None if self.data is None else of_file(Path(self.data))
        settings = {
            "seed": self.seed,
            "questions": self.questions,
            "direction": self.direction,
            "sigma": self.sigma,
        }
        data = hash_of_items(bench.fit_items) if given is None else _hash_of(given)
        key = key_for(self.name, lm, bench, settings, data)
        kept = kept_or_made(key, lm, bench, lambda: self._fitted(lm, bench, given))
        made, chosen = [], []
        for n in range(len(kept.about["folds"])):
            accuracy, direction, sigma = (
                kept.tensors[f"fold{n}.{name}"] for name in ("accuracy", "direction", "sigma")
            )
            heads = best_heads(accuracy, self.heads)
            vectors = {head: sigma[head] * direction[head] for head in heads}
            made.append(iti_intervention(lm, vectors, self.alpha, self.positions))
            chosen.append([f"{layer}.{head}" for layer, head in heads])
        about = {self.name: {**kept.about, "folder": str(key.folder), "heads": chosen}}
        if given is not None:
            return Prepared(made[0], about=about)
        folds = two_folds(bench.fit_items, self.seed, self.questions, self.name)
        return Prepared(made[0], crossed(folds, made.__getitem__), about)

    def _fitted(
        self, lm: CausalLM, bench: Bench, given: list[Statements] | None
    ) -> tuple[dict[str, Tensor], dict[str, Any]]:
        tensors: dict[str, Tensor] = {}
        folds = []
        for number, data in enumerate(self._data(bench, given)):
            count = len(data.train) + len(data.validation)
            bench.say(f"iti: reads the answers to {count} questions, then fits a probe to each head")
            fit = fit_iti(lm, data.train, data.validation, self.direction, self.sigma, self.seed)
            tensors |= {
                f"fold{number}.accuracy": fit.accuracy,
                f"fold{number}.direction": fit.direction,
                f"fold{number}.sigma": fit.sigma,
            }
            best = [
                {
                    "head": f"{layer}.{head}",
                    "accuracy": round(float(fit.accuracy[layer, head]), 6),
                    "sigma": float(f"{float(fit.sigma[layer, head]):.6g}"),
                }
                for layer, head in best_heads(fit.accuracy, _TOLD)
            ]
            folds.append({**data.about, "heads": best})
        where = fitted_on(bench)
        if given is not None:
            assert self.data is not None
            where = {"name": Path(self.data).name, "items": len(given), "hash": _hash_of(given)}
        return tensors, {"fitted_on": where, "folds": folds}

    def _data(self, bench: Bench, given: list[Statements] | None) -> list[_Data]:
        if given is None:
            return [
                _Data(of_pairs(fold.fit), of_pairs(fold.choose), fold.about)
                for fold in two_folds(bench.fit_items, self.seed, self.questions, self.name)
            ]
        drawn = sorted(given, key=lambda each: lot(self.seed, "question", each.question))[: self.questions]
        cut = min(len(drawn) - 1, round(SHARE * len(drawn)))
        train, validation = drawn[:cut], drawn[cut:]
        for part, name in ((train, "fit on"), (validation, "choose heads by")):
            if len(set(truths(part))) < 2:
                raise UsageError(
                    f"too few questions to {name}: both right and wrong answers are needed",
                    where=self.data,
                    fix="a file needs some ten questions at least",
                )
        about = {"items": len(given), "fitted_on": len(train), "chosen_with": len(validation)}
        return [_Data(train, validation, about)]


def fit_iti(
    lm: CausalLM,
    train: Sequence[Statements],
    validation: Sequence[Statements],
    direction: str,
    sigma: str,
    seed: int,
    follows: Sequence[str] | None = None,
) -> Probes:
    """Probes of all heads. `follows`: for sigma=code, the question that comes after each question's answers
    (train, then validation); None: drawn."""
    every = [*train, *validation]
    states = head_states(lm, [each.texts() for each in every])
    is_train = [True] * len(truths(train)) + [False] * len(truths(validation))
    probes = fit_probes(states, truths(every), is_train, direction)
    if sigma == "paper":
        return probes
    if follows is None:
        pool = sorted({each.question for each in every})
        follows = [min(pool, key=lambda q: lot(seed, "follow", each.question, q)) for each in every]
    longer = [each.texts(follow) for each, follow in zip(every, follows, strict=True)]
    del states
    return Probes(probes.accuracy, probes.direction, spread_along(head_states(lm, longer), probes.direction))


def head_states(lm: CausalLM, groups: Sequence[Sequence[str]]) -> Tensor:
    """What each head gives at the last token of each text, `[texts, layers, heads, head_dim]`."""
    from leadline.engine.reading import last_states

    tokens = [[tuple(lm.encode(text, True)) for text in group] for group in groups]
    found = last_states(lm, tokens, "heads")
    return found.unflatten(-1, (lm.anatomy.heads, -1))


def best_heads(accuracy: Tensor, count: int) -> list[Head]:
    """The `count` heads of highest accuracy `[layers, heads]`, or all; of equals the lower layer first."""
    layers, heads = accuracy.shape
    every = [(layer, head) for layer in range(layers) for head in range(heads)]
    return sorted(every, key=lambda at: -float(accuracy[at]))[:count]


def iti_intervention(
    lm: CausalLM, vectors: Mapping[Head, Tensor], alpha: float = 15.0, positions: Positions = "last"
) -> Intervention:
    """α times a given vector `[head_dim]` (σ θ) for each (layer, head), without fitting: one shift per layer.

    Raises UsageError for a head that the model does not have.
    """
    import torch

    from leadline.engine.edits import Edit

    shifts: dict[int, Tensor] = {}
    for (layer, head), vector in vectors.items():
        lm.anatomy.check_layer(layer, "iti: layer")
        if not 0 <= head < lm.anatomy.heads:
            raise UsageError(f"iti: there is no head {head}", fix=f"heads 0 to {lm.anatomy.heads - 1}")
        width = lm.anatomy.head_dim(layer)
        shift = shifts.setdefault(layer, torch.zeros(lm.anatomy.heads * width))
        columns = lm.anatomy.head_columns(layer, head)
        shift[columns.start : columns.stop] += alpha * vector.float().cpu()
    return Intervention(
        tuple(
            Edit("heads", layer, shift=shift, positions=positions) for layer, shift in sorted(shifts.items())
        )
    )


def _hash_of(statements: Sequence[Statements]) -> str:
    return hash_of([[each.question, list(each.answers), list(each.true)] for each in statements])
