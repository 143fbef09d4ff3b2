"""Rank and log-probability of a token in a next-token distribution, and the likeliest tokens of one."""

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


def token_logprobs(
    scores: Tensor, tokens: Tensor, top: int
) -> list[tuple[float, tuple[tuple[int, float], ...]]]:
    """Natural log-probabilities: per row that of its token, and the `top` likeliest tokens with theirs, in
    descending order. Tokens that are ruled out (−inf) are not among these.

    Args:
        scores: as in `token_ranks`.
        tokens: `[rows]` token ids.
        top: how many; no more than the vocabulary has are given.
    """
    total = SumTree(scores).log_total()
    own = (scores.gather(1, tokens[:, None])[:, 0].double() - total).tolist()
    if not top:
        return [(value, ()) for value in own]
    best = scores.topk(min(top, scores.shape[-1]), -1)
    values = (best.values.double() - total[:, None]).tolist()
    return [
        (value, tuple((token, each) for token, each in zip(ids, of, strict=True) if each > -torch.inf))
        for value, ids, of in zip(own, best.indices.tolist(), values, strict=True)
    ]
