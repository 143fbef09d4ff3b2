"""Answers within the memory that there is: a batch that does not fit is halved, and the half stays.

What a request gives does not depend on its company (`engine/decode.py`), so that nothing else changes. A
request that does not fit by itself is a `Failure`, and the others go on as before it.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from leadline.engine import Failure, Generation, OnText, Request, TokenLogprob

if TYPE_CHECKING:
    from leadline.engine.plan import Limits

OUT_OF_MEMORY = "out_of_memory"
# What PyTorch's allocators say, for processors and for devices, beside exceptions of their own.
_SAID = (
    "can't allocate memory",
    "not enough memory",
    "out of memory",
    "Cannot allocate memory",
    "bad_alloc",
    "could not create a primitive",  # oneDNN says no more than that
    "could not create a memory object",
)

Answers = Iterator[tuple[int, Generation | Failure]]
Attempt = Callable[[Sequence[Request], "Limits", OnText | None], Answers]


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory ran out, of the machine or of a device.

    >>> is_out_of_memory(RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried ..."))
    True
    >>> is_out_of_memory(RuntimeError("shapes cannot be multiplied"))
    False
    """
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and any(words in str(error) for words in _SAID)


@dataclass
class Room:
    """How much runs at once, as far as is known by now. `tell` hears of every change, `release` gives back
    what a device's allocator keeps; `cost` is how many tokens a request holds."""

    limits: Limits
    tell: Callable[[str], None]
    release: Callable[[], None]
    cost: Callable[[Request], int]

    def answers(self, attempt: Attempt, requests: Sequence[Request], on_text: OnText | None) -> Answers:
        """As `Model.generate`; `attempt` asks some requests within limits, and may run out of memory."""
        before = self.limits
        told = _Told(on_text)
        done: set[int] = set()
        while len(done) < len(requests):
            left = [index for index in range(len(requests)) if index not in done]
            if self.limits.max_rows == 1:  # whichever takes most shows first whether it fits at all
                left = [max(left, key=lambda index: self.cost(requests[index]))]
            said, is_alone = "", len(left) == 1
            try:
                found = attempt([requests[index] for index in left], self.limits, told.by(left))
                for at, answer in found:
                    done.add(left[at])
                    yield left[at], answer
            except Exception as error:
                if not is_out_of_memory(error):
                    raise
                said = " ".join(str(error).split())[:200] or type(error).__name__
            if not said:
                continue
            found = iter(())  # what the attempt held is free only when nobody knows it
            gc.collect()
            self.release()
            left = [index for index in left if index not in done]
            if is_alone:
                done.add(left[0])
                needed = f"{self.cost(requests[left[0]]):,} tokens"
                yield (
                    left[0],
                    Failure(OUT_OF_MEMORY, f"{needed} do not fit into memory by themselves: {said}"),
                )
                self.limits = before  # it was this one, and not how many there were
            elif len(left) > 1:  # the last one is asked by itself before it is given up
                self._halve([requests[index] for index in left])

    def _halve(self, requests: Sequence[Request]) -> None:
        rows = min(self.limits.max_rows, len(requests))
        tokens = min(self.limits.token_budget, sum(map(self.cost, requests)))
        self.limits = replace(self.limits, max_rows=max(1, rows // 2), token_budget=max(1, tokens // 2))
        self.tell(
            f"out of memory with up to {rows:,} answers side by side; going on with {self.limits.max_rows:,}"
        )


@dataclass
class _Told:
    """Tells of each text once, however often it is begun: what was told before is the same again."""

    on_text: OnText | None
    texts: dict[int, int] = field(default_factory=dict)
    tokens: dict[int, int] = field(default_factory=dict)

    def by(self, requests: Sequence[int]) -> OnText | None:
        """Who is told by an attempt that asks these requests."""
        if self.on_text is None:
            return None
        on_text = self.on_text
        heard, heard_tokens = [0] * len(requests), [0] * len(requests)

        def tell(at: int, text: str, logprobs: tuple[TokenLogprob, ...]) -> bool | None:
            index = requests[at]
            known, known_tokens = self.texts.get(index, 0), self.tokens.get(index, 0)
            new = text[max(0, known - heard[at]) :]
            fresh = logprobs[max(0, known_tokens - heard_tokens[at]) :]
            heard[at] += len(text)
            heard_tokens[at] += len(logprobs)
            self.texts[index] = max(known, heard[at])
            self.tokens[index] = max(known_tokens, heard_tokens[at])
            return on_text(index, new, fresh)

        return tell
