"""Which documents hold the evidence that an item's own document lacks? All are looked through, each once.

Many words in a row stand in no two documents by accident, and prove where an item comes from; a short quote
such as `<amount>5000000</amount>` proves nothing, and is only told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leadline.audit.held import HeldDocuments
from leadline.audit.matching import Matcher
from leadline.audit.resolving import is_telling
from leadline.documents import Sources, UnreadableDocument

_NAMED = 3  # documents that a sentence names


@dataclass(frozen=True, slots=True)
class Holders:
    """The documents that hold an item's quotes: `all_quotes` together, and each of them by itself.

    `unreadable` is how many documents could not be read, and so may hold them too.
    """

    all_quotes: tuple[str, ...]
    by_quote: tuple[tuple[str, tuple[str, ...]], ...]
    unreadable: int = 0

    @property
    def is_proof(self) -> bool:
        """One document alone has the evidence, and enough of it to be the item's source."""
        return len(self.all_quotes) == 1 and any(is_telling(quote) for quote, _ in self.by_quote)

    @property
    def is_scattered(self) -> bool:
        """Every quote stands in some document, and in none do all of them."""
        return not self.all_quotes and bool(self.by_quote) and all(names for _, names in self.by_quote)


def holders(quotes: Mapping[str, Sequence[str]], sources: Sources, matcher: Matcher) -> dict[str, Holders]:
    """For each item (its id, and its quotes) the documents of `sources` that hold them."""
    held = HeldDocuments(sources)
    wanted = {quote for some in quotes.values() for quote in some}
    found: dict[str, list[str]] = {quote: [] for quote in wanted}
    unreadable = 0
    for name in sources.names():
        try:
            document = held.open(name)
        except UnreadableDocument:
            unreadable += 1
            continue
        for quote in wanted:
            if document.match(quote, matcher)[0].found:
                found[quote].append(name)
    return {
        item: Holders(
            tuple(name for name in found[some[0]] if all(name in found[quote] for quote in some)),
            tuple((quote, tuple(found[quote])) for quote in some),
            unreadable,
        )
        for item, some in quotes.items()
    }


def listed(names: Sequence[str]) -> str:
    """The first few names, and how many more there are.

    >>> listed(["a.txt", "b.txt", "c.txt", "d.txt"])
    'a.txt, b.txt, c.txt and 1 more'
    """
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")
