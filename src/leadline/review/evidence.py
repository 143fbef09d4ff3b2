"""Where the passages stand that a label rests on: in the window of an item, and in the document it is from.

The audit's own matching, so that what is marked on a page is what the audit found. Only places are told, and
only those that were found: that a quote is missing would say why an item is in doubt, before it was read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from leadline.audit.held import HeldDocument, HeldDocuments
from leadline.audit.matching import match_quote
from leadline.audit.normal import Normal
from leadline.audit.resolving import Claim, Resolution, resolve
from leadline.audit.spans import whole
from leadline.bench.item import Item
from leadline.report.audit_marks import Piece, marked
from leadline.report.audit_texts import WINDOW_LIMIT
from leadline.report.evidence_quotes import quotes_of
from leadline.review.passages import Documents

# A larger file is shown, and searched by who reads it; to look for passages in it would take half a minute.
MOST_BYTES = 32 * 2**20


@dataclass(frozen=True)
class InSource:
    """A document that an item points to, by its number among `Documents`, and which characters are marked.
    `at` is where to open it: the first mark, else where the window stands, else its beginning."""

    document: int
    name: str
    at: int = 0
    spans: tuple[tuple[int, int], ...] = ()


def in_window(item: Item, *, quotes: bool = True, limit: int = WINDOW_LIMIT) -> tuple[Piece, ...]:
    """The window in pieces, cut where its quotes stand; () for an item without one.

    Without `quotes` nothing is marked, and a long window is cut after `limit` characters all the same.

    >>> from leadline.bench.item import Evidence
    >>> quote = Evidence(quote="Pay 5")
    >>> item = Item(id="1", question="?", answer="5", window="Pay 5. Now.", evidence=(quote,))
    >>> [(piece.text, piece.spans) for piece in in_window(item)]
    [('Pay 5', (1,)), ('. Now.', ())]
    """
    if not item.window:
        return ()
    spans = [span for quoted in quotes_of(item) for span in quoted.spans] if quotes else []
    return marked(item.window, [span for span in spans if span.in_window is not None], limit)


def pointed_to(item: Item, documents: Documents) -> list[tuple[int, str]]:
    """Number and name of each document that an item points to and that is held; none is opened."""
    numbers = [documents.number_of(pointer) for pointer in (*_by_pointer(item), item.source)]
    return [(number, documents.names[number]) for number in dict.fromkeys(numbers) if number is not None]


def in_sources(item: Item, documents: Documents, *, quotes: bool = True) -> tuple[InSource, ...]:
    """The documents that an item points to and that are held, in the order of its evidence.

    Reads documents: it takes as long as that takes.
    """
    held = HeldDocuments(documents.sources)
    window = Normal(item.window) if item.window and item.window.strip() else None
    found = []
    for pointer, of_it in _by_pointer(item).items():
        number = documents.number_of(pointer)
        if number is None:
            continue
        name = documents.names[number]
        if (documents.sources.folder / name).stat().st_size > MOST_BYTES:
            found.append(InSource(number, name))
            continue
        one = resolve(Claim(pointer, of_it), window, held, match_quote)
        found.append(_in_source(one, number, name, of_it if quotes else (), window))
    return tuple(found)


def _in_source(
    found: Resolution, number: int, name: str, quotes: Iterable[str], window: Normal | None
) -> InSource:
    document = found.document
    if document is None or document.name != name:
        return InSource(number, name)
    cover = match_quote(window.raw, document.text).cover if window is not None else None
    spans = sorted({place for quote in quotes for place in _places(document, quote, cover)})
    at = spans[0][0] if spans else cover[0] if cover else 0
    return InSource(number, name, at, tuple(spans))


def _places(document: HeldDocument, quote: str, cover: tuple[int, int] | None) -> list[tuple[int, int]]:
    """Where the spans of a quote stand in the text: where the window does, if they stand there; nowhere, if
    the quote is one of the markup behind the text."""
    if cover is not None:
        near = match_quote(quote, document.document.text[slice(*cover)])
        if near.found:
            places = [span.place for span in near.spans if span.place is not None]
            return [(cover[0] + start, cover[0] + end) for start, end in places]
    match, of_markup = document.match(quote, match_quote)
    return [] if of_markup else [span.place for span in match.spans if span.place is not None]


def _by_pointer(item: Item) -> dict[str, tuple[str, ...]]:
    """Quotes by the document that they are said to come from; without quotes, the pointer alone."""
    found: dict[str, tuple[str, ...]] = {}
    for evidence in item.evidence:
        if whole(evidence.quote).says_something:
            pointer = evidence.source or item.source
            found[pointer] = (*found.get(pointer, ()), evidence.quote)
    return found or {item.source: ()}
