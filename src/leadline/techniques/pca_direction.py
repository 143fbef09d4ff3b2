"""PCA directions: along which right and wrong answers differ most.

Zou et al., "Representation Engineering: A Top-Down Approach to AI Transparency", 2023 (linear artificial
tomography, and control with its "reading vectors"): at each layer, the first principal component of the
differences within contrast pairs, whose order is drawn so that they centre on zero; its sign is the one under
which right answers project further. With all orders equally likely, that is the first right singular vector
of the differences as they are, which is what is computed here.

The component has length 1, and how far to go along it is the user's choice in the paper. Here multiplier 1
goes as far as right and wrong answers lie apart along it: v_l = (mean difference · c_l) c_l.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from leadline.techniques.contrast_pairs import ContrastPair
from leadline.techniques.residual_directions import ResidualDirection, pair_states

if TYPE_CHECKING:
    from torch import Tensor

    from leadline.engine.lm import CausalLM


class PCADirection(ResidualDirection):
    """h + multiplier · (first principal component of the differences, as long as their mean along it)."""

    name: ClassVar[str] = "pca"
    summary: ClassVar[str] = "add the main direction in which right and wrong answers differ to one layer"
    citation: ClassVar[str] = "Zou et al., Representation Engineering, 2023"

    def directions(self, lm: CausalLM, pairs: Sequence[ContrastPair]) -> Tensor:
        """Scaled components, `[layers, hidden]`."""
        states = pair_states(lm, pairs)
        return principal_directions(states[:, 0] - states[:, 1])


def principal_directions(differences: Tensor) -> Tensor:
    """`differences` `[pairs, layers, hidden]` → `[layers, hidden]`; the sign takes care of itself."""
    import torch

    stacked = differences.transpose(0, 1)  # [layers, pairs, hidden]
    component = torch.linalg.svd(stacked, full_matrices=False).Vh[:, 0]  # [layers, hidden]
    mean = stacked.mean(1)
    return (mean * component).sum(-1, keepdim=True) * component
