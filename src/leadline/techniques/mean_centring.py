"""Mean-centring: the mean state of true statements, less the mean state of text at large.

Jorgensen, Cope, Schoots and Shanahan, "Improving Activation Steering in Language Models with Mean-Centring",
2023: v_l = mean of target states − mean of the model's states on ordinary text. States lie far from the
origin in a direction that all texts share; a mean that is not centred mostly adds that. No wrong answers are
needed.

Here the target are true statements, "Q: {question} A: {gold answer}", at their last token; text at large is
all positions of the same statements but the first (see `engine.reading`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from leadline.techniques.contrast_pairs import ContrastPair
from leadline.techniques.residual_directions import ResidualDirection

if TYPE_CHECKING:
    from torch import Tensor

    from leadline.engine.lm import CausalLM


class MeanCentring(ResidualDirection):
    """h + multiplier · (mean state of true statements − mean state of text)."""

    name: ClassVar[str] = "mean-centring"
    summary: ClassVar[str] = "add the mean state of true statements, less that of any text, to one layer"
    citation: ClassVar[str] = "Jorgensen et al., Improving Activation Steering with Mean-Centring, 2023"

    def directions(self, lm: CausalLM, pairs: Sequence[ContrastPair]) -> Tensor:
        """Centred means, `[layers, hidden]`."""
        from leadline.engine.reading import last_and_mean_states

        texts = [f"Q: {pair.item.question} A: {pair.item.answer}" for pair in pairs]
        last, mean = last_and_mean_states(lm, [tuple(lm.encode(text, True)) for text in texts], "residual")
        return last.mean(0) - mean.mean(0)
