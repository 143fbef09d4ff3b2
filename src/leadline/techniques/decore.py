"""DeCoRe: decoding by contrasting retrieval heads.

Gema, Jin, Abdulaal, Diethe, Teare, Alex, Minervini and Saseendran, "DeCoRe: Decoding by Contrasting Retrieval
Heads to Mitigate Hallucinations", 2025. The model is contrasted with itself when the heads that copy from the
context are masked, the more so the less certain it is. Where paper and published code differ the code is
followed and the other is an option: a masked head attends uniformly (its query is zero) rather than giving
zero (`mask`), and heads are masked from the last prompt token on rather than throughout (`scope`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from leadline.engine.decoding import Decoding, Lane, Scores, Seen
from leadline.engine.intervention import Intervention
from leadline.errors import UsageError
from leadline.techniques.inside import InsideTechnique, listed
from leadline.techniques.prepared import Bench, Prepared
from leadline.techniques.technique import Kind

if TYPE_CHECKING:
    from leadline.engine.anatomy import Anatomy
    from leadline.engine.lm import CausalLM

Head = tuple[int, int]


def _heads(value: object) -> object:
    """A number, or heads as "layer.head"."""
    if isinstance(value, str) and value.isdigit():
        return int(value)
    return listed(value)


class DeCoRe(InsideTechnique):
    """Scores are (1 + α) · log p − α · log p(masked), with α the entropy of the model's distribution."""

    name: ClassVar[str] = "decore"
    kind: ClassVar[Kind] = "decoding"
    summary: ClassVar[str] = "contrast the model with itself when its retrieval heads are masked"
    citation: ClassVar[str] = "Gema et al., DeCoRe, 2025; retrieval heads: Wu et al., 2024"

    heads: Annotated[
        int | Annotated[tuple[Annotated[str, Field(pattern=r"^\d+\.\d+$")], ...], Field(min_length=1)],
        BeforeValidator(_heads),
    ] = Field(default=10, description="how many retrieval heads are masked, or a list as layer.head")
    selection: Literal["retrieval", "random"] = Field(
        default="retrieval", description="the heads that copy best in a needle test, or heads drawn by seed"
    )
    alpha: Literal["entropy"] | Annotated[float, Field(ge=-100, le=100, allow_inf_nan=False)] = Field(
        default="entropy", description="entropy of the next token in nats, or a constant (the static variant)"
    )
    alpha_cap: float | None = Field(default=None, gt=0, description="largest alpha")
    scale_alpha: bool = Field(default=False, description="divide the entropy by its largest possible value")
    mask: Literal["query", "zero-output"] = Field(
        default="query", description="a masked head attends uniformly, or gives zero"
    )
    scope: Literal["answer", "everywhere"] = Field(
        default="answer", description="heads are masked from the last prompt token on, or in the prompt too"
    )

    @property
    def label(self) -> str:
        """The variants have names."""
        random = "-random" if self.selection == "random" else ""
        return f"decore{random}" if self.alpha == "entropy" else f"decore{random}-static"

    def prepare(self, lm: CausalLM, bench: Bench) -> Prepared:
        """Finds the retrieval heads of the model, once; later from the cache."""
        from leadline.engine.edits import HeadMask

        heads, test = self._chosen(lm, bench)
        mask = HeadMask(heads, "query" if self.mask == "query" else "output")
        decoding = MaskedContrast(
            lane=Lane(mask, self.scope == "everywhere"),
            alpha=None if self.alpha == "entropy" else float(self.alpha),
            cap=self.alpha_cap,
            scaled=self.scale_alpha,
        )
        about = {"heads": [f"{layer}.{head}" for layer, head in heads], "selection": self.selection}
        return Prepared(Intervention(decoding=decoding), about={"decore": about | test})

    def _chosen(self, lm: CausalLM, bench: Bench) -> tuple[tuple[Head, ...], dict[str, Any]]:
        """The heads, and what their test gave."""
        anatomy = lm.anatomy
        if isinstance(self.heads, int):
            total = anatomy.layers * anatomy.heads
            if not 1 <= self.heads <= total:
                raise UsageError(f"decore: {self.heads} heads cannot be masked", fix=f"the model has {total}")
            if self.selection == "random":
                return random_heads(anatomy, self.heads, self.seed), {}
            from leadline.techniques.retrieval_heads import needle_test

            test = needle_test(lm, bench)
            # What is told of them takes the place of the bare list.
            table = [{"head": row["head"], "score": row["score"]} for row in test.table(self.heads)]
            told = {"heads": table, "runs": test.runs, "counted": test.counted, "folder": test.folder}
            return test.ranked()[: self.heads], told
        found = []
        for text in self.heads:
            layer, head = (int(part) for part in text.split("."))
            if layer >= anatomy.layers or head >= anatomy.heads:
                raise UsageError(
                    f"decore: there is no head {text}",
                    fix=f"layers 0 to {anatomy.layers - 1}, heads 0 to {anatomy.heads - 1}",
                )
            found.append((layer, head))
        return tuple(found), {}


def random_heads(anatomy: Anatomy, count: int, seed: int) -> tuple[Head, ...]:
    """`count` different heads, drawn evenly."""
    import numpy as np

    every = [(layer, head) for layer in range(anatomy.layers) for head in range(anatomy.heads)]
    drawn = np.random.default_rng(seed).choice(len(every), count, replace=False)
    return tuple(every[at] for at in sorted(drawn.tolist()))


@dataclass(frozen=True, kw_only=True)
class MaskedContrast(Decoding):
    """DeCoRe, ready for a model."""

    lane: Lane
    alpha: float | None  # None: the entropy
    cap: float | None = None
    scaled: bool = False

    def scores(self, seen: Seen) -> Scores:
        """(1 + α) lp − α lp(masked), not normalised. `details["alpha"]`: of each row, before the cap."""
        import torch

        assert seen.lane is not None
        own, masked = seen.logits.log_softmax(-1), seen.lane.log_softmax(-1)
        if self.alpha is not None:
            return Scores((1 + self.alpha) * own - self.alpha * masked)
        likely = own.exp()
        alpha = -(likely * (likely + 1e-12).log()).sum(-1)  # [rows]
        if self.scaled:
            alpha = alpha / math.log(own.shape[-1])
        used = alpha if self.cap is None else torch.clamp(alpha, max=self.cap)
        values = (1 + used)[:, None] * own - used[:, None] * masked
        return Scores(values, {"alpha": alpha.tolist()})
