"""Context-aware decoding: lean on the text that the question comes with.

Shi, Han, Lewis, Tsvetkov, Zettlemoyer and Yih, "Trusting Your Evidence: Hallucinate Less with Context-aware
Decoding", NAACL 2024, equation 3: softmax[(1 + α) logit(y | c, x) − α logit(y | x)]. The context is an item's
window; stacked on RECITE or GenRead it is the passage that the model wrote. Without a context the two are one
and nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from leadline.engine.decoding import Decoding, Lane, Scores, Seen
from leadline.engine.intervention import Intervention
from leadline.techniques.inside import InsideTechnique
from leadline.techniques.prepared import Bench, Prepared
from leadline.techniques.technique import Kind

if TYPE_CHECKING:
    from leadline.engine.lm import CausalLM
    from leadline.engine.session import Session

Without = Callable[[list[int]], list[int]]


class ContextAwareDecoding(InsideTechnique):
    """Scores are (1 + α) · logits with the context − α · logits without."""

    name: ClassVar[str] = "cad"
    kind: ClassVar[Kind] = "decoding"
    summary: ClassVar[str] = "contrast the question with its context against the question alone"
    needs_context: ClassVar[bool] = True
    citation: ClassVar[str] = "Shi et al., Trusting Your Evidence, NAACL 2024"

    alpha: float = Field(default=0.5, ge=0, le=100, description="how much the context is trusted")

    def prepare(self, lm: CausalLM, bench: Bench) -> Prepared:
        """Nothing to fit."""
        return Prepared(Intervention(decoding=WithMinusWithout(alpha=self.alpha)))

    @contextmanager
    def on(
        self, model: Any, tokenizer: Any, bench: Bench | None = None, *, without: Without | None = None
    ) -> Iterator[Session]:
        """As `Technique.on`. `without` turns a prompt's token ids into those of the prompt without its
        context; a model that is called with ids cannot know where the context stands."""
        from leadline.engine.session import applied

        with applied(
            model, Intervention(decoding=WithMinusWithout(alpha=self.alpha, without=without))
        ) as session:
            yield session


@dataclass(frozen=True, kw_only=True)
class WithMinusWithout(Decoding):
    """Context-aware decoding, ready for a model."""

    alpha: float
    without: Without | None = None
    lane: Lane = field(default_factory=Lane)

    def scores(self, seen: Seen) -> Scores:
        """(1 + α) · with − α · without, in logits."""
        assert seen.lane is not None
        return Scores((1 + self.alpha) * seen.logits - self.alpha * seen.lane)
