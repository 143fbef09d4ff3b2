"""What a check finds: faults, figures that nobody recomputed, and how much was looked at."""

from __future__ import annotations

from typing import Any

# So many faults of one kind are printed; the rest is counted.
SHOWN = 12


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
        if self._counted[kind] <= SHOWN:
            self.faults.append(f"{kind}: {message}")

    def not_recomputed(self, name: str) -> None:
        """A figure, a table or a claim for which there is no second computation."""
        self.unknown.append(name)

    def count(self, lens: str, how: str, number: int = 1) -> None:
        """So many figures of a lens were checked in this way."""
        per_lens = self.tally.setdefault(
            lens, {"exactly": 0, "by resampling": 0, "not recomputed": 0, "claims": 0}
        )
        per_lens[how] += number

    @property
    def hidden(self) -> dict[str, int]:
        """How many faults of each kind are not among `faults`."""
        return {kind: number - SHOWN for kind, number in self._counted.items() if number > SHOWN}

    @property
    def is_sound(self) -> bool:
        """Nothing is wrong and nothing was passed over."""
        return not self.faults and not self.unknown
