"""Drawing a token from a softmax by descending a binary tree of sums.

Why not the usual inverse CDF with one uniform per row? It is exact, but brittle: a rounding difference in one
likely token shifts every later boundary of the cumulative sum, and in the flat tail of a hot distribution
such a shift is wider than the tokens themselves. Two batches whose logits agree to 1e-6 then draw different
tokens every few dozen steps. Here every node of a binary tree over the vocabulary chooses left or right with
its own uniform number. A node's odds are a ratio of two sums, so a common error cancels, and a draw changes
only if a uniform falls within the rounding error of one of its ~16 nodes: about one in a million.

It is cheap too: the sums are halvings of one array (the second half is added to the first), which is about
two more passes over the probabilities and no sort, no cumulative sum and no 49,152 random numbers per row.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def tree_depth(vocabulary: int) -> int:
    """How many uniform numbers a draw takes: the number of halvings down to one node."""
    depth = 0
    while vocabulary > 1:
        vocabulary = (vocabulary + 1) // 2
        depth += 1
    return depth


class SumTree:
    """Halved sums of exp((logits − max) / temperature).

    Args:
        logits: `[rows, vocabulary]`, any float dtype; −inf marks tokens that cannot be drawn.
        temperature: > 0.
    """

    def __init__(self, logits: Tensor, temperature: float = 1.0) -> None:
        if not temperature > 0 or not math.isfinite(temperature):
            raise ValueError(f"temperature must be a positive number, not {temperature}")
        scores = logits.float()
        self.maximum = scores.amax(-1, keepdim=True)  # [rows, 1]
        self.temperature = temperature
        level = (scores - self.maximum).div_(temperature).exp_()  # [rows, vocabulary]
        self.levels = [level]
        while level.shape[-1] > 1:
            if level.shape[-1] % 2:
                level = torch.nn.functional.pad(level, (0, 1))
                self.levels[-1] = level
            half = level.shape[-1] // 2
            level = level[:, :half] + level[:, half:]
            self.levels.append(level)

    def draw(self, uniform: Tensor, rows: Tensor | None = None) -> Tensor:
        """One token per draw: `uniform` `[draws, tree_depth(vocabulary)]` in [0, 1), float64 → `[draws]`.

        `rows` `[draws]`: from which row of the logits, of which several draws may take the same; None: each
        from its own.
        """
        device = self.maximum.device
        rows = torch.arange(uniform.shape[0], device=device) if rows is None else rows
        node = torch.zeros(uniform.shape[0], dtype=torch.long, device=device)
        for step, level in enumerate(reversed(self.levels[:-1])):
            half = level.shape[-1] // 2
            left = level[rows, node].double()
            right = level[rows, node + half].double()
            go_right = uniform[:, step] * (left + right) >= left
            node = node + half * go_right
        return node

    def log_total(self) -> Tensor:
        """log Σ exp(logits / temperature), `[rows]`, float64."""
        return (self.levels[-1].double().log() + self.maximum.double() / self.temperature)[:, 0]
