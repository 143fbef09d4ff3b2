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

# So many distributions at once: their sums stay near the processor, and a large batch costs no more memory.
_AT_ONCE = 32


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

    def choose(self, scores: Tensor, sources: Sequence[int], live: Sequence[int], step: int) -> Tensor:
        """`scores` `[some, vocabulary]`; `live` names each row, `sources` the scores that it chooses from,
        which several rows may share → `[rows]` token ids."""
        tokens = torch.empty(len(live), dtype=torch.long, device=scores.device)
        for way in dict.fromkeys(self.ways[at] for at in live):
            where = [i for i, at in enumerate(live) if self.ways[at] == way]
            place = {source: n for n, source in enumerate(dict.fromkeys(sources[i] for i in where))}
            for first in range(0, len(place), _AT_ONCE):
                mine = [i for i in where if first <= place[sources[i]] < first + _AT_ONCE]
                used = torch.tensor(list(place)[first : first + _AT_ONCE], device=scores.device)
                rows = torch.tensor([place[sources[i]] - first for i in mine], device=scores.device)
                names = [live[i] for i in mine]
                tokens[torch.tensor(mine, device=scores.device)] = self._chosen(
                    scores[used], rows, names, way, step
                )
        return tokens

    def _chosen(
        self, scores: Tensor, rows: Tensor, live: Sequence[int], way: tuple[float, float], step: int
    ) -> Tensor:
        """The tokens of rows that are alike, each from its row of `scores`."""
        temperature, top_p = way
        if temperature == 0:
            return scores.argmax(-1)[rows]
        table = np.zeros((len(live), self.depth))
        for i, at in enumerate(live):
            uniform = self.tables[at]
            assert uniform is not None
            table[i] = uniform[step]
        tree = SumTree(nucleus(scores, temperature, top_p), temperature)
        return tree.draw(torch.from_numpy(table).to(scores.device), rows)
