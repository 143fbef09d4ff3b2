"""Where a generated text ends: end-of-text tokens and stop strings."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def first_stop(text: str, stops: Sequence[str]) -> int | None:
    """Index of the earliest stop string in `text`, or None.

    A stop string of whitespace alone counts only after the first visible character: where the model puts a
    line break before its answer, the answer is not empty.
    """
    visible = len(text) - len(text.lstrip())
    found = [at for stop in stops if (at := text.find(stop, 0 if stop.strip() else visible)) >= 0]
    return min(found, default=None)


def held_back(text: str, stops: Sequence[str]) -> int:
    """How many characters at the end of `text` may turn out to begin a stop string.

    >>> held_back("Paris.\\n", ["\\n\\n", "END"])
    1
    """
    longest = max(map(len, stops), default=1) - 1
    for length in range(min(longest, len(text)), 0, -1):
        if any(len(stop) > length and stop.startswith(text[-length:]) for stop in stops):
            return length
    return 0


class StopWatch:
    """Watches one row: fed token by token, says when the text is over.

    Decoding the whole row at every token would be quadratic: only a token whose own piece contains the last
    character of a stop string can complete one, and `may_stop` (the set of such tokens) is looked up first.
    """

    def __init__(
        self, stops: Sequence[str], may_stop: frozenset[int], decode: Callable[[list[int]], str]
    ) -> None:
        self.stops, self.may_stop, self.decode = stops, may_stop, decode

    def cut(self, ids: list[int]) -> str | None:
        """The text before the stop string if the newest token completed one, else None."""
        if not self.stops or ids[-1] not in self.may_stop:
            return None
        text = self.decode(ids)
        at = first_stop(text, self.stops)
        return None if at is None else text[:at]
