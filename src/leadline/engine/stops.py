"""Where a generated text ends: end-of-text tokens and stop strings."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def first_stop(text: str, stops: Sequence[str], start: int = 0) -> int | None:
    """Index of the earliest stop string in `text` at or after `start`, or None."""
    found = [at for stop in stops if (at := text.find(stop, start)) >= 0]
    return min(found, default=None)


class StopWatch:
    """Watches one row: fed token by token, says when the text is over.

    A stop string that stands at the very beginning (before any visible character) would give an empty answer
    where the model only put a line break before it; leading whitespace is therefore not searched.
    Decoding the whole row at every token would be quadratic: only tokens whose own piece contains the last
    character of a stop string can complete one, and `may_stop` (a set of such token ids) is looked up first.
    """

    def __init__(self, stops: Sequence[str], may_stop: frozenset[int], decode: Callable[[list[int]], str]) -> None:
        self.stops, self.may_stop, self.decode = stops, may_stop, decode

    def cut(self, ids: list[int]) -> str | None:
        """The text before the stop string if the newest token completed one, else None."""
        if not self.stops or ids[-1] not in self.may_stop:
            return None
        text = self.decode(ids)
        at = first_stop(text, self.stops, start=len(text) - len(text.lstrip()))
        return None if at is None else text[:at]
