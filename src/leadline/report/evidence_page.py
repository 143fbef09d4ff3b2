"""The evidence page of a report: item by item the question, the label, and the text that it rests on.

It shows labels, so it is for those who read a study, not for those who still label. Everything is there
without scripts; they add filters. An item's address is evidence.html#item=ID, percent-encoded.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from leadline import __version__
from leadline.bench.outcomes import worded
from leadline.bench.views import for_labeller
from leadline.documents.sources import is_url
from leadline.report.audit_marks import Piece, marked
from leadline.report.audit_texts import WINDOW_LIMIT
from leadline.report.audit_words import failure_name
from leadline.report.evidence_items import Evidence, EvidenceItem, anchor_of
from leadline.report.evidence_quotes import Quoted, quotes_of
from leadline.report.page_frame import CSP, assets, environment

# A browser opens that many items, with that many characters of windows and quotes, at once.
MOST_ITEMS = 2_000
MOST_CHARACTERS = 12_000_000
# Of each window at least so much is shown, around its quotes, however many items there are.
LEAST_WINDOW = 4_000
# Looking for quotes takes a second for some thirteen million characters of windows.
MOST_SEARCHED = 200_000_000
QUOTE_LIMIT = 2_000


@dataclass(frozen=True)
class ShownEvidence:
    """One item, ready for the template: `signs` is what the filter "show" finds it by."""

    of: EvidenceItem
    anchor: str
    how: str
    quotes: tuple[Quoted, ...]
    sources: tuple[str, ...]
    window: tuple[Piece, ...]
    failure: str
    signs: tuple[str, ...]


@dataclass(frozen=True)
class EvidencePage:
    """The page as text, and the items that are on it."""

    html: str
    items: frozenset[str]


def evidence_page(evidence: Evidence, created: datetime) -> EvidencePage:
    """The page of all items, or of those that fit: those that somebody decided, flagged, left out or asked
    for (`Evidence.first`) before the others. It says how many it leaves out."""
    shown = _shown(evidence)
    html = (
        environment()
        .get_template("evidence.html.j2")
        .render(
            evidence=evidence,
            created=created,
            version=__version__,
            csp=CSP,
            style=assets("report.css", "audit.css", "evidence.css"),
            script=assets("page.js", "item_list.js"),
            shown=shown,
            left_out=len(evidence.items) - len(shown),
            worded=worded,
            quote_limit=QUOTE_LIMIT,
            is_url=lambda pointer: is_url(pointer) and pointer.lower().startswith(("http://", "https://")),
            choices=_choices(shown),
        )
    )
    return EvidencePage(html, frozenset(one.of.item.id for one in shown))


def _shown(evidence: Evidence) -> list[ShownEvidence]:
    def urgent(at: int) -> bool:
        one = evidence.items[at]
        flagged = one.verdict is not None and one.verdict.flagged
        return bool(one.decision or one.left_out or flagged or one.item.id in evidence.first)

    order = sorted(range(len(evidence.items)), key=lambda at: (not urgent(at), at))
    kept: dict[int, ShownEvidence] = {}
    room, searched = MOST_CHARACTERS, MOST_SEARCHED
    # Some of every window rather than all of some, less what else is shown of an item.
    share = MOST_CHARACTERS * 3 // 4 // max(1, min(len(order), MOST_ITEMS))
    limit = max(LEAST_WINDOW, min(WINDOW_LIMIT, share))
    for at in order[:MOST_ITEMS]:
        item = evidence.items[at].item
        searched -= len(item.window or "") * bool(item.evidence)
        if kept and searched < 0:
            break
        made = _made(evidence.items[at], limit)
        room -= sum(len(piece.text) for piece in made.window)
        room -= sum(min(len(quote.text), QUOTE_LIMIT) for quote in made.quotes) + len(item.question)
        if kept and room < 0:
            break
        kept[at] = made
    return [kept[at] for at in sorted(kept)]


def _made(one: EvidenceItem, limit: int) -> ShownEvidence:
    item = one.item
    quotes = quotes_of(item)
    spans = [span for quote in quotes for span in quote.spans]
    signs = {
        "decided": one.decision is not None,
        "flagged": one.verdict is not None and one.verdict.flagged,
        "out": bool(one.left_out),
        "unquoted": any(quote.found is False for quote in quotes),
    }
    return ShownEvidence(
        of=one,
        anchor=anchor_of(item.id),
        how=for_labeller(item).how,
        quotes=quotes,
        sources=tuple(dict.fromkeys(source for source in _sources(one, quotes) if source)),
        window=marked(item.window, spans, limit) if item.window else (),
        failure=failure_name(one.verdict) if one.verdict else "",
        signs=tuple(sign for sign, holds in signs.items() if holds),
    )


def _sources(one: EvidenceItem, quotes: Iterable[Quoted]) -> Iterable[str]:
    yield from (quote.source for quote in quotes)
    yield one.item.source


def _choices(shown: list[ShownEvidence]) -> dict[str, list[tuple[str, str]]]:
    """What the filters offer: only what some item on the page has, as (value, label)."""
    words = {
        "decided": "decided by a person",
        "flagged": "flagged by the audit",
        "out": "left out of the population",
        "unquoted": "quote not in the window",
    }
    signs = {sign for one in shown for sign in one.signs}
    categories = sorted({one.of.item.category for one in shown} - {""})
    types = sorted({one.of.item.answer_type for one in shown})
    return {
        "show": [(sign, label) for sign, label in words.items() if sign in signs],
        "category": [(name, name) for name in categories],
        "type": [(name, name) for name in types],
    }
