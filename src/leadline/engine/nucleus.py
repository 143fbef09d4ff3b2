"""Which tokens are left where only the most likely ones may be drawn (nucleus sampling)."""

from __future__ import annotations

import torch
from torch import Tensor

# Sorting a whole vocabulary costs more than the rest of a draw; where this many tokens reach the threshold,
# as they do but for the flattest distributions, the others need not be put in order.
_LIKELIEST = 1024


def nucleus(scores: Tensor, temperature: float, top_p: float) -> Tensor:
    """`scores` with −inf outside the smallest set of most likely tokens whose probability reaches `top_p`.

    The likeliest token always stays. Tokens that are exactly as likely as the last one that is needed stay
    too: which of them were left would depend on nothing but their numbers. (Holtzman et al. 2020, "The
    Curious Case of Neural Text Degeneration".)

    >>> nucleus(torch.tensor([[0.5, 0.3, 0.2]]).log(), 1.0, 0.6).isneginf().tolist()
    [[False, False, True]]

    Args:
        scores: `[rows, vocabulary]`, any float dtype; −inf where a token is ruled out already.
        temperature: > 0; the probabilities are softmax(scores / temperature).
        top_p: 0 to 1; 1 leaves everything as it is.
    """
    if top_p >= 1:
        return scores
    probability = (scores.double() / temperature).softmax(-1)
    likeliest = probability.topk(min(_LIKELIEST, probability.shape[-1]), -1).values
    least = _least_likely(likeliest, top_p)
    short = (likeliest.sum(-1) < top_p).nonzero()[:, 0]
    if len(short):
        least[short] = _least_likely(probability[short].sort(-1, descending=True).values, top_p)
    return scores.masked_fill(probability < least[:, None], -torch.inf)


def _least_likely(descending: Tensor, top_p: float) -> Tensor:
    """Of probabilities `[rows, tokens]` in descending order, the last that is needed: `[rows]`."""
    above = descending.cumsum(-1) - descending
    needed = (above < top_p).sum(-1, keepdim=True).clamp(min=1)
    return descending.gather(-1, needed - 1)[:, 0]
