"""The decisions on a benchmark as pages see them: read again whenever somebody has written one."""

from __future__ import annotations

import threading
from pathlib import Path

from leadline.bench.adjudications import Adjudication, in_force, label_hash, read_adjudications
from leadline.bench.item import Item
from leadline.errors import UsageError


class DecisionFile:
    """Decisions in `path`, which need not be there. Safe for threads.

    >>> DecisionFile(Path("there-is-no-such-file")).all()
    ()
    """

    def __init__(self, path: Path) -> None:
        """Nothing is read yet."""
        self.path = path
        self._lock = threading.Lock()
        self._stamp: tuple[int, int] | None = None
        self._all: tuple[Adjudication, ...] = ()
        self._in_force: dict[str, Adjudication] = {}

    def all(self) -> tuple[Adjudication, ...]:
        """All lines, in order. Raises UsageError where one is no decision, and does not say what stands in
        it: who asks for a page may be about to read the item that it is on."""
        try:
            about = self.path.stat()
        except FileNotFoundError:
            return ()
        with self._lock:
            if self._stamp != (about.st_size, about.st_mtime_ns):
                try:
                    self._all = read_adjudications(self.path)
                except UsageError as error:
                    raise UsageError(
                        "holds a line that is no decision, or cannot be read",
                        where=error.where,
                        fix="leadline review decisions BENCHMARK says what is wrong, to who may see labels",
                    ) from None
                self._in_force = in_force(self._all)
                self._stamp = about.st_size, about.st_mtime_ns
            return self._all

    def on(self, item: Item) -> tuple[Adjudication, ...]:
        """The history of one item."""
        return tuple(one for one in self.all() if one.item == item.id)

    def standing(self, item: Item, label: str | None = None) -> Adjudication | None:
        """The decision in force on an item as it is asked and labelled now; `label` is its `label_hash`, for
        whoever has it at hand."""
        found = self._in_force.get(item.id) if self.all() else None
        return found if found is not None and found.label == (label or label_hash(item)) else None
