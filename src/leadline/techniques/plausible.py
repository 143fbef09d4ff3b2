"""The adaptive plausibility constraint: only tokens that the model itself finds likely may be chosen.

Li et al. 2023, equation 2: token v stays if p(v) ≥ τ · max p, on the model's own distribution.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


def implausible(logprobs: Tensor, relative_top: float) -> Tensor:
    """`logprobs` `[rows, vocabulary]` → True where a token is ruled out. `relative_top` 0 rules out none."""
    import torch

    if relative_top == 0:
        return torch.zeros_like(logprobs, dtype=torch.bool)
    best = logprobs.amax(-1, keepdim=True)
    return logprobs < best + math.log(relative_top)
