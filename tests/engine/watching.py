"""The logits that the engine chose each token from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from leadline.engine import Request
from leadline.engine.choose import Chooser


class Watch:
    """`logits(key, tokens)` `[tokens, vocabulary]`: what the row of that request was shown at each step."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._steps: dict[tuple[int | str, ...], list[Tensor]] = {}
        known: dict[int, list[tuple[int | str, ...]]] = {}
        made, choose = Chooser.__init__, Chooser.choose

        def init(chooser: Any, vocabulary: int, requests: Sequence[Request]) -> None:
            known[id(chooser)] = [request.key for request in requests]
            made(chooser, vocabulary, requests)

        def watched(
            chooser: Any, logits: Tensor, sources: Sequence[int], live: Sequence[int], step: int
        ) -> Tensor:
            for source, at in zip(sources, live, strict=True):
                steps = self._steps.setdefault(known[id(chooser)][at], [])
                assert len(steps) == step
                steps.append(logits[source].clone())
            return choose(chooser, logits, sources, live, step)

        patch.setattr(Chooser, "__init__", init)
        patch.setattr(Chooser, "choose", watched)

    def logits(self, key: tuple[int | str, ...], tokens: int) -> Tensor:
        """Of the first `tokens` steps (a finished row is computed on for a while)."""
        return torch.stack(self._steps[key][:tokens])
