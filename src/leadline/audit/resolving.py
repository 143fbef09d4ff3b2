"""Which document does an item come from? Decided by content, never by a name alone (check 1).

A document is an item's source when the item's window stands in it, or, where there is no window that could
be found, its quote. A declared pointer is a claim, and is tested like any other document.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from leadline.audit.document import Route
from leadline.audit.held import HeldDocument, HeldDocuments, has_markup
from leadline.audit.matching import Matcher
from leadline.audit.normal import Normal
from leadline.audit.spans import whole
from leadline.documents import UnreadableDocument

# A window stands in a document when nearly all of it does: extractions differ in a table or a page number.
WHOLE_WINDOW = 0.95
# The share that confirms a declared document although its quote is not found, if no other document has more.
# Two forms filled in by different firms share up to 85 % of their text.
CONFIRMS_POINTER = 0.9
# A quote of so many words stands in no two documents by accident; `<amount>5000000</amount>` does.
_TELLING_WORDS = 8
# Characters of normal form: about five words, enough to be rare, short enough to survive a cell boundary.
_PIECE, _MOST_PIECES = 28, 200
_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class Claim:
    """What an item says about a source: a pointer, and the quotes that should stand there."""

    pointer: str
    quotes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Resolution:
    """Where a claim's document was found. `reason` says why not, or why elsewhere; `document` is open.

    `unconfirmed` is the declared document of an unresolved claim, where it is held and can be read.
    """

    route: Route
    document: HeldDocument | None = None
    unconfirmed: HeldDocument | None = None
    share: float = 0.0
    reason: str = ""
    notes: tuple[str, ...] = ()

    @property
    def is_certain(self) -> bool:
        """The window stands in it whole, and nothing needs to be looked for elsewhere."""
        return self.route is Route.DECLARED and self.share >= WHOLE_WINDOW


def is_telling(quote: str) -> bool:
    """Whether a quote has so many words that it stands in no two documents by accident."""
    return len(_WORD.findall(quote)) >= _TELLING_WORDS


def share_of(window: Normal, document: HeldDocument) -> float:
    """The share of a window's text that stands in a document: 0 to 1."""
    best = 0.0
    for form in document.forms(markup=has_markup(window.text)):
        best = max(best, _share(window.text, form.text))
        if best >= WHOLE_WINDOW:
            break
    return best


def _share(window: str, text: str) -> float:
    if not window:
        return 0.0
    if window in text:
        return 1.0
    starts = range(0, max(1, len(window) - _PIECE + 1), _PIECE)
    step = max(1, len(starts) // _MOST_PIECES)
    chosen = [window[start : start + _PIECE] for start in starts[::step]]
    # A document that holds none of a dozen pieces is another one.
    if not any(piece in text for piece in chosen[:: max(1, len(chosen) // 12)]):
        return 0.0
    return sum(piece in text for piece in chosen) / len(chosen)


def resolve(
    claim: Claim,
    window: Normal | None,
    held: HeldDocuments,
    matcher: Matcher,
    candidates: Iterable[str] = (),
) -> Resolution:
    """The document of a claim among the declared one and `candidates` (names of documents worth a look)."""
    declared = held.find(claim.pointer)
    looked = [_look(name, claim, window, held, matcher) for name in _once(declared, candidates)]
    opened = [look for look in looked if look.document is not None]
    own = next((look for look in opened if look.document and look.document.name == declared), None)
    best = max(opened, key=lambda look: (look.rank, look is own), default=None)
    if own is not None and (best is own or best is None or not _is_better(best, own)) and own.confirmed:
        return Resolution(Route.DECLARED, own.document, share=own.share, notes=own.notes)
    if best is not None and best is not own and best.may_be_elsewhere and best.document is not None:
        reason = _why_elsewhere(claim, declared, own, next(iter(looked), None), best.document.name)
        twins = [
            look.document.name
            for look in opened
            if look.document and look not in (best, own) and look.share >= WHOLE_WINDOW <= best.share
        ]
        notes = (f"the window also stands in {', '.join(twins[:3])}",) if twins else ()
        return Resolution(
            Route.ELSEWHERE, best.document, share=best.share, reason=reason, notes=(*best.notes, *notes)
        )
    unconfirmed = own.document if own is not None else None
    reason = _why_unresolved(claim, declared, own, looked)
    return Resolution(Route.UNRESOLVED, unconfirmed=unconfirmed, reason=reason)


@dataclass(frozen=True, slots=True)
class _Look:
    """One document, looked at: how much of the window stands in it, and whether the quotes do."""

    document: HeldDocument | None
    share: float = 0.0
    quoted: bool = False
    quoted_in_substance: bool = False  # more than a connective
    quoted_at_length: bool = False  # a quote of many words, which stands nowhere by accident
    has_window: bool = False
    error: str = ""

    @property
    def confirmed(self) -> bool:
        """As a declared document."""
        if self.share >= CONFIRMS_POINTER or self.quoted_in_substance:
            return True
        return self.quoted and not self.has_window

    @property
    def may_be_elsewhere(self) -> bool:
        return self.share >= WHOLE_WINDOW or self.quoted_at_length

    @property
    def rank(self) -> tuple[bool, bool, float]:
        """Nearly the whole window counts most; then the quote; then how much of the window."""
        return self.share >= WHOLE_WINDOW, self.quoted, round(self.share, 2)

    @property
    def notes(self) -> tuple[str, ...]:
        if self.share >= CONFIRMS_POINTER:
            return ()
        if self.quoted_in_substance:
            return (
                "the document is confirmed by the quote; the window is not found in it",
            ) * self.has_window
        return ("the document is confirmed by a short quote only",)


def _is_better(other: _Look, own: _Look) -> bool:
    """Whether another document takes the declared one's place: it has what the declared one lacks."""
    if other.share >= WHOLE_WINDOW > own.share:
        return True
    if other.quoted_at_length and not own.quoted:
        return True
    return not own.confirmed and other.may_be_elsewhere


def _look(name: str, claim: Claim, window: Normal | None, held: HeldDocuments, matcher: Matcher) -> _Look:
    try:
        document = held.open(name)
    except UnreadableDocument as error:
        return _Look(None, error=f"{name}: {error.what}")
    share = share_of(window, document) if window is not None else 0.0
    quoted = bool(claim.quotes) and all(document.match(quote, matcher)[0].found for quote in claim.quotes)
    at_length = quoted and any(map(is_telling, claim.quotes))
    in_substance = quoted and any(whole(quote).substantive for quote in claim.quotes)
    has_window = window is not None and bool(window.text)
    return _Look(document, share, quoted, in_substance, at_length, has_window)


def _once(declared: str | None, candidates: Iterable[str]) -> list[str]:
    names = dict.fromkeys([*([declared] if declared else []), *candidates])
    return list(names)


def _why_elsewhere(
    claim: Claim, declared: str | None, own: _Look | None, first: _Look | None, name: str
) -> str:
    if not claim.pointer.strip():
        return f"no source is declared; by content it is {name}"
    if declared is None:
        return f"the declared source {claim.pointer} is not among the documents held; by content it is {name}"
    if own is None:
        why = first.error if first is not None and first.error else f"{declared} cannot be read"
        return f"the declared source cannot be read ({why}); by content it is {name}"
    what = "neither the window nor the quote" if own.has_window else "not the quote"
    if own.share >= CONFIRMS_POINTER:
        what = (
            f"only {own.share:.0%} of the window"
            if own.share < WHOLE_WINDOW
            else "the window, but not the quote"
        )
    return f"the declared source is another document: {declared} holds {what}; by content it is {name}"


def _why_unresolved(claim: Claim, declared: str | None, own: _Look | None, looked: list[_Look]) -> str:
    if not claim.pointer.strip():
        return "no source is declared, and the window is found in no document held"
    if declared is None:
        return f"the declared source {claim.pointer} is not among the documents held"
    if own is None:
        error = next((look.error for look in looked if look.error), declared)
        return f"the declared source cannot be read: {error}"
    if own.quoted:
        return (
            f"{declared}, the declared source, holds the short quote, but only {own.share:.0%} of the window"
        )
    lacks = (
        f"{own.share:.0%} of the window, and not the quote"
        if own.share >= 0.005
        else "neither window nor quote"
    )
    return f"{declared}, the declared source, holds {lacks}, and no other document held has more"
