"""What a technique does to a model: changed activations, another way to score tokens, or both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from leadline.errors import UsageError

if TYPE_CHECKING:
    from leadline.engine.decoding import Decoding
    from leadline.engine.edits import Edit


@dataclass(frozen=True, eq=False)
class Intervention:
    """Edits of activations (`edits.py`) and at most one way to score (`decoding.py`)."""

    edits: tuple[Edit, ...] = ()
    decoding: Decoding | None = None

    @property
    def is_empty(self) -> bool:
        """The model as it is."""
        return not self.edits and self.decoding is None

    def and_then(self, other: Intervention) -> Intervention:
        """Both at once. Raises UsageError for two ways to score: one would overrule the other."""
        if self.decoding is not None and other.decoding is not None:
            raise UsageError(
                "two decoding techniques cannot be stacked: each decides the scores alone",
                fix="stack a decoding technique with prompting or steering ones",
            )
        return Intervention((*self.edits, *other.edits), self.decoding or other.decoding)


NOTHING = Intervention()
