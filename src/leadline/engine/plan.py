"""Which requests run together: the same prompt once, prompts with a common beginning side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leadline.engine.blocks import BLOCK


@dataclass(frozen=True)
class Limits:
    """How much runs at once.

    max_rows: answers drawn side by side; samples that have said the same so far are computed as one.
    token_budget: tokens whose keys and values are held at once (for SmolLM2-135M in float32, 46 kB each).
    """

    max_rows: int = 512
    token_budget: int = 60_000

    def shared_by(self, lanes: int) -> Limits:
        """The same for requests that take `lanes` sequences each."""
        return Limits(max(1, self.max_rows // lanes), max(1, self.token_budget // lanes))


@dataclass(frozen=True)
class PlannedBatch:
    """Prompts with their requests. All prompts begin with the same `prefix` tokens."""

    prefix: int
    prompts: tuple[tuple[int, ...], ...]
    requests: tuple[tuple[int, ...], ...]  # indices of requests, per prompt


def common_prefix(prompts: Sequence[tuple[int, ...]]) -> int:
    """How many tokens all prompts begin with, leaving each prompt at least its last token.

    Less than a block is not worth a pass of its own: then it is 0.
    """
    low, high = min(prompts), max(prompts)  # the two most different in order share what all share
    shared = next(
        (at for at, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), min(len(low), len(high))
    )
    shared = min(shared, min(map(len, prompts)) - 1)
    return shared if shared >= BLOCK else 0


def plan(prompts: Sequence[tuple[int, ...]], max_tokens: Sequence[int], limits: Limits) -> list[PlannedBatch]:
    """Group requests (one prompt and one `max_tokens` each) into batches.

    Prompts of like length come together (padding is waste), and equal prompts always do. A prompt with more
    samples than `max_rows` is split.
    """
    by_prompt: dict[tuple[int, ...], list[int]] = {}
    for index, prompt in enumerate(prompts):
        by_prompt.setdefault(prompt, []).append(index)
    order = sorted(by_prompt, key=lambda prompt: (len(prompt), prompt))
    shared = common_prefix(order) if order else 0  # every batch shares at least this much, and holds it once
    batches: list[PlannedBatch] = []
    taken: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    rows = tokens = 0

    def close() -> None:
        nonlocal rows, tokens
        if taken:
            held = tuple(prompt for prompt, _ in taken)
            batches.append(PlannedBatch(common_prefix(held), held, tuple(requests for _, requests in taken)))
        taken.clear()
        rows = tokens = 0

    for prompt in order:
        requests = by_prompt[prompt]
        for start in range(0, len(requests), limits.max_rows):
            part = tuple(requests[start : start + limits.max_rows])
            cost = len(prompt) - shared + sum(max_tokens[index] for index in part)
            if taken and (rows + len(part) > limits.max_rows or tokens + cost > limits.token_budget):
                close()
            taken.append((prompt, part))
            rows, tokens = rows + len(part), tokens + cost
    close()
    return batches
