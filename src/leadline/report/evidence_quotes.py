"""The quotes of an item, looked for in its window, so that a page can mark them there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from leadline.audit.document import Place, SpanCheck
from leadline.audit.matching import match_quote
from leadline.audit.normal import Normal
from leadline.bench.item import Item

# Items of one document often stand together and share its window.
_WINDOWS = 4


@dataclass(frozen=True)
class Quoted:
    """A quote of an item: its text, its source, the spans that it was found by (numbered through all of the
    item's quotes), and whether it stands in the window; None without a window."""

    text: str
    source: str
    spans: tuple[SpanCheck, ...]
    found: bool | None


def quotes_of(item: Item) -> tuple[Quoted, ...]:
    """The quotes of an item in order, as an audit looks for them.

    >>> from leadline.bench import Evidence
    >>> evidence = (Evidence(quote="is free"), Evidence(quote="costs nothing"))
    >>> item = Item(id="q", question="Is it?", answer="yes", window="It  is\\nfree.", evidence=evidence)
    >>> [(one.found, one.spans[0].in_window) for one in quotes_of(item)]
    [(True, Place(start=4, end=11)), (False, None)]
    """
    found = []
    for piece in item.evidence:
        source = piece.source or item.source
        if not item.window:
            found.append(Quoted(piece.quote, source, (), None))
            continue
        match = match_quote(piece.quote, _normal(item.window))
        spans = tuple(
            SpanCheck(
                text=span.text,
                required=span.required,
                in_window=Place(start=span.place[0], end=span.place[1]) if span.place else None,
            )
            for span in match.spans
        )
        found.append(Quoted(piece.quote, source, spans, match.found))
    return tuple(found)


@lru_cache(maxsize=_WINDOWS)
def _normal(window: str) -> Normal:
    return Normal(window)
