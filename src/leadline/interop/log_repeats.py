"""Whether repeats are repeats at all: answers to an item that are all one text say nothing of steadiness."""

from __future__ import annotations

from dataclasses import dataclass, field

from leadline.interop.logs import LoggedAnswer


@dataclass
class Repeats:
    """Whether any item was answered by two different texts."""

    first: dict[str, int] = field(default_factory=dict)
    again: int = 0
    differ: bool = False

    def add(self, item: str, answer: LoggedAnswer) -> None:
        """Take one more answer; calls that failed tell nothing."""
        if self.differ or answer.text is None:
            return
        text = hash(answer.text)
        if item in self.first:
            self.again += 1
            self.differ = self.first[item] != text
        self.first.setdefault(item, text)

    @property
    def all_same(self) -> bool:
        """Items were answered more than once, and each always in the same words."""
        return self.again > 0 and not self.differ
