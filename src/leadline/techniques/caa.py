"""CAA: Contrastive Activation Addition.

Rimsky, Gabrieli, Schulz, Tong, Hubinger and Turner, "Steering Llama 2 via Contrastive Activation Addition",
ACL 2024. At each block's output, v_l is the mean over contrast pairs of the difference between the states at
the letter of the right and of the wrong answer (their eq. 1); half of the right answers are (A), so the
letter itself averages out. Not normalised. Added from the last prompt token on (`positions`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from leadline.techniques.contrast_pairs import ContrastPair
from leadline.techniques.residual_directions import ResidualDirection, pair_states, residual_intervention

if TYPE_CHECKING:
    from torch import Tensor

    from leadline.engine.lm import CausalLM

caa_intervention = residual_intervention


class CAA(ResidualDirection):
    """h + multiplier · (mean state at right letters − mean state at wrong ones)."""

    name: ClassVar[str] = "caa"
    summary: ClassVar[str] = "add the mean difference between right and wrong answers to one layer"
    citation: ClassVar[str] = "Rimsky et al., Steering Llama 2 via Contrastive Activation Addition, ACL 2024"

    def directions(self, lm: CausalLM, pairs: Sequence[ContrastPair]) -> Tensor:
        """Mean differences, `[layers, hidden]`."""
        states = pair_states(lm, pairs)
        return (states[:, 0] - states[:, 1]).mean(0)
