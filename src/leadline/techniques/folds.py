"""Two folds of a benchmark, so that no item is treated with what was fitted on it.

What is fitted on one fold serves the items of the other. A fold is named by a hash of seed and item id, so an
item stays where it is when a benchmark grows. Wrong answers come from the same fold: an item's gold answer is
no other fold's wrong one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from leadline.bench import Item
from leadline.errors import UsageError
from leadline.techniques.contrast_pairs import ContrastPair, contrast_pairs, lot

# Of the pairs of a fold this share is fitted on; the others choose (a layer, heads, a strength).
SHARE = 0.8
_FEWEST = 5

T = TypeVar("T")


@dataclass(frozen=True)
class Fold:
    """number: 0 or 1. ids: all items of the fold. fit: pairs that are fitted on. choose: pairs whose items
    choose. without: items for which there is no wrong answer."""

    number: int
    ids: tuple[str, ...]
    fit: tuple[ContrastPair, ...]
    choose: tuple[ContrastPair, ...]
    without: int

    @property
    def about(self) -> dict[str, int]:
        """Counts, for people."""
        return {
            "fold": self.number,
            "items": len(self.ids),
            "fitted_on": len(self.fit),
            "chosen_with": len(self.choose),
            "items_without_a_wrong_answer": self.without,
        }


def fold_of(item: str, seed: int) -> int:
    """The fold, 0 or 1, of an item id."""
    return lot(seed, "fold", item)[0] % 2


def two_folds(items: Sequence[Item], seed: int, limit: int, technique: str) -> tuple[Fold, Fold]:
    """Both folds, with at most `limit` contrast pairs each. Raises UsageError where a fold has too few."""
    folds = []
    for number in (0, 1):
        members = [item for item in items if fold_of(item.id, seed) == number]
        drawn = contrast_pairs(members, seed, limit)
        if len(drawn.pairs) < _FEWEST:
            raise UsageError(
                f"{technique}: {len(drawn.pairs)} of {len(members)} items in one half of the benchmark have "
                f"a wrong answer of their kind, and fitting needs {_FEWEST}",
                fix="a benchmark needs more items, and several of each task",
            )
        cut = min(len(drawn.pairs) - 1, round(SHARE * len(drawn.pairs)))
        ids = tuple(sorted(item.id for item in members))
        folds.append(Fold(number, ids, drawn.pairs[:cut], drawn.pairs[cut:], drawn.without))
    return folds[0], folds[1]


def crossed(folds: Sequence[Fold], made: Callable[[int], T]) -> dict[str, T]:
    """By item, what `made` gives for the other fold's number."""
    other = {fold.number: made(1 - fold.number) for fold in folds}
    return {item: other[fold.number] for fold in folds for item in fold.ids}
