"""How the next token of each row is picked from its scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from leadline.engine.draw import SumTree, tree_depth
from leadline.engine.keyed import uniforms
from leadline.engine.nucleus import nucleus
from leadline.engine.request import Request


class Chooser:
    """Picks the next token of every row: the highest score at temperature 0, else a keyed draw."""

    def __init__(self, vocabulary: int, requests: Sequence[Request]) -> None:
        """`requests`: that of each row."""
        self.depth = tree_depth(vocabulary)
        # What decides the distribution; rows that are alike in it are drawn together.
        self.ways = [
            (request.sampling.temperature, request.sampling.top_p if request.sampling.temperature else 1.0)
            for request in requests
        ]
        self.tables = [
            uniforms(request.key, request.sampling.max_tokens, self.depth)
            if request.sampling.temperature > 0
            else None
            for request in requests
        ]

    def choose(self, scores: Tensor, live: Sequence[int], step: int) -> Tensor:
        """`scores` `[rows, vocabulary]`; `live` names each row → `[rows]` token ids."""
        tokens = torch.empty(len(live), dtype=torch.long, device=scores.device)
        for way in dict.fromkeys(self.ways[at] for at in live):
            where = [i for i, at in enumerate(live) if self.ways[at] == way]
            whole = len(where) == len(live)
            index = torch.tensor(where, device=scores.device)
            part = scores if whole else scores[index]
            temperature, top_p = way
            if temperature > 0:
                table = np.zeros((len(where), self.depth))
                for i, at in enumerate(where):
                    uniform = self.tables[live[at]]
                    # A row past its limit has finished and only waits to be taken out.
                    if uniform is not None and step < len(uniform):
                        table[i] = uniform[step]
                tree = SumTree(nucleus(part, temperature, top_p), temperature)
                chosen = tree.draw(torch.from_numpy(table).to(scores.device))
            else:
                chosen = part.argmax(-1)
            tokens[index] = chosen
        return tokens
