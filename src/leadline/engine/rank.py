"""Rank and log-probability of a token in a next-token distribution."""

from __future__ import annotations

import torch
from torch import Tensor

from leadline.engine.draw import SumTree


def token_ranks(scores: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Where `tokens` stand in `scores`.

    Args:
        scores: `[rows, vocabulary]` logits or any scores that softmax turns into the distribution.
        tokens: `[rows]` token ids.

    Returns:
        rank `[rows]` (1 = highest; ties share the best rank; −inf scores share the number of finite scores
        + 1), natural log-probability `[rows]` float64, masked `[rows]` (the score was −inf).
    """
    score = scores.gather(1, tokens[:, None])  # [rows, 1]
    masked = torch.isneginf(score[:, 0])
    above = (scores > score).sum(-1)  # for a masked token: every finite score is above it
    logprob = score[:, 0].double() - SumTree(scores).log_total()
    return above + 1, logprob, masked
