"""Reads items.jsonl: one JSON object a line, every fault with its line, one item in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from leadline.bench.item import Item
from leadline.bench.item_fields import Surroundings, read_item, short_id
from leadline.bench.json_text import read_object, written_values
from leadline.bench.problem import Problems
from leadline.bench.text_lines import text_lines
from leadline.ordinary_file import opened


@dataclass(frozen=True, slots=True)
class Placed:
    """An item and where it stands ("file:line").

    `start` and `size` are its line's bytes in the file (0 for rows of tables), `window_file` is the name of
    the file that its window was read from.
    """

    item: Item
    where: str
    start: int = 0
    size: int = 0
    window_file: str | None = None


_OWN_ID = "give every item its own id"


class Ids:
    """The ids that were met, faulty items' too: a duplicate of a faulty line is still a duplicate."""

    def __init__(self) -> None:
        """None yet."""
        self._first: dict[str, int | str] = {}

    def is_new(
        self, identity: object, where: str, at: int | str, problems: Problems, fix: str = _OWN_ID
    ) -> bool:
        """False, and a problem, where the id was used before; `at` is its line, or its place in words."""
        if not isinstance(identity, str) or (first := self._first.setdefault(identity, at)) == at:
            return True
        problems.add(
            where,
            f"duplicate id, first used {first}"
            if isinstance(first, str)
            else f"duplicate id, first used on line {first}",
            item=short_id(identity),
            fix=fix,
        )
        return False


def read_lines(path: Path, problems: Problems, around: Surroundings) -> Iterator[Placed]:
    """The items of `path` in order; faults go to `problems`, faulty lines are left out.

    Raises OSError where the file cannot be read, TooManyProblemsError when `problems` is full.
    """
    ids = Ids()
    with opened(path) as file:
        for line in text_lines(file, path, problems):
            if not (text := line.text.strip()):
                continue
            where = f"{path}:{line.number}"
            fields = read_object(line.text.rstrip("\r\n"), where, problems)
            if fields is None or not ids.is_new(fields.get("id"), where, line.number, problems):
                continue
            item = read_item(fields, where, problems, around, partial(written_values, text))
            if item is not None:
                name = fields.get("window_file")
                yield Placed(item, where, line.start, line.size, name if isinstance(name, str) else None)
