"""What a check finds: faults, figures that nobody recomputed, and how much was looked at."""

from __future__ import annotations

from typing import Any

# So many faults of one kind are printed, and so many are kept; the rest is counted.
SHOWN = 12
KEPT = 10_000
# And of one message so much: names and values in it are the bundle's.
_LONGEST = 500


def plain(text: str) -> str:
    """A text out of a bundle as a terminal may have it: nothing in it is obeyed, and it is one short line."""
    short = text if len(text) <= _LONGEST else text[:_LONGEST] + "..."
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in short)


def shown_faults(faults: list[str], hidden: dict[str, int]) -> list[str]:
    """The first faults of each kind ("kind: message"), and a line for the others of it."""
    lines: list[str] = []
    counted: dict[str, int] = {}
    for fault in faults:
        kind = fault.split(":", 1)[0]
        counted[kind] = counted.get(kind, 0) + 1
        if counted[kind] <= SHOWN:
            lines.append(fault)
    for kind, number in counted.items():
        more = number - SHOWN + hidden.get(kind, 0)
        if more > 0:
            lines.append(f"{kind}: and {more:,} more")
    return lines


class Book:
    """Everything that a verification has to say. `faults` and `unknown` must stay empty."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.unknown: list[str] = []
        self.tally: dict[str, dict[str, int]] = {}
        self.facts: dict[str, Any] = {}
        self._counted: dict[str, int] = {}

    def fault(self, kind: str, message: str) -> None:
        """Something is wrong; of one kind the first ones are kept in words."""
        self._counted[kind] = self._counted.get(kind, 0) + 1
        if self._counted[kind] <= KEPT:
            self.faults.append(plain(f"{kind}: {message}"))

    @property
    def shown(self) -> list[str]:
        """The first faults of each kind, and how many more there are."""
        return shown_faults(self.faults, self.hidden)

    def not_recomputed(self, name: str) -> None:
        """A figure, a table or a claim for which there is no second computation."""
        self.unknown.append(plain(name))

    def count(self, lens: str, how: str, number: int = 1) -> None:
        """So many figures of a lens were checked in this way."""
        per_lens = self.tally.setdefault(
            plain(lens), {"exactly": 0, "by resampling": 0, "not recomputed": 0, "claims": 0}
        )
        per_lens[how] += number

    @property
    def hidden(self) -> dict[str, int]:
        """How many faults of each kind are not among `faults`."""
        return {kind: number - KEPT for kind, number in self._counted.items() if number > KEPT}

    @property
    def is_sound(self) -> bool:
        """Nothing is wrong and nothing was passed over."""
        return not self.faults and not self.unknown
