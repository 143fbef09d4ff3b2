"""An audit as a page: one HTML file with the counts, and the items that a person should look at in full.

Flagged items and items with remarks are shown with question, window and spans; of the rest there are counts.
So the page of a big benchmark stays small; what it leaves out, it says. Everything is there without scripts;
they add filters, sorting and addresses (#item=ID).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from leadline.audit.document import AuditDocument, ItemVerdict, SpanCheck
from leadline.report.audit_marks import Piece, differences, marked
from leadline.report.audit_summary import summary
from leadline.report.audit_texts import WINDOW_LIMIT, ItemTexts, shown_in_full
from leadline.report.audit_words import (
    FAILURES,
    NO_CLAIMS,
    failure_key,
    failure_name,
    first_reason,
    not_checked,
    nothing_checked,
    population,
    self_test_line,
    trial_result,
)
from leadline.report.page_frame import CSP, assets, environment

# Items that a page shows in full, and characters of windows: a browser opens that at once.
MOST_ITEMS = 1_000
MOST_CHARACTERS = 6_000_000
_ALIKE = 0.5


@dataclass(frozen=True)
class ShownItem:
    """One item in full, ready for the template."""

    verdict: ItemVerdict
    texts: ItemTexts | None
    failure: str
    failure_key: str
    reason: str
    window: tuple[Piece, ...]
    nearest: tuple[tuple[Piece, ...], ...]  # of each span


def audit_page(document: AuditDocument, texts: Mapping[str, ItemTexts]) -> str:
    """The whole page as text. `texts` holds questions and windows of items by id; an item without is shown
    by its verdict alone."""
    found = summary(document)
    shown = _shown(document, texts)
    remarkable = sum(verdict.flagged or bool(verdict.remarks) for verdict in document.items)
    flagged = len(document.flagged)
    return (
        environment()
        .get_template("audit.html.j2")
        .render(
            document=document,
            csp=CSP,
            style=assets("report.css", "audit.css"),
            script=assets("page.js", "item_list.js"),
            summary=found,
            population=population(document),
            not_checked=not_checked(document),
            nothing_checked=nothing_checked(document),
            trial_result=trial_result,
            self_test=self_test_line(document),
            failures=[words for failure, words in FAILURES.items() if failure is not None],
            failure_keys={failure.value: words.key for failure, words in FAILURES.items() if failure},
            no_claims=NO_CLAIMS,
            shown=shown,
            flagged=flagged,
            left_out=remarkable - len(shown),
            silent=len(document.items) - remarkable,
            choices=_choices(shown),
        )
    )


def _shown(document: AuditDocument, texts: Mapping[str, ItemTexts]) -> list[ShownItem]:
    shown: list[ShownItem] = []
    room = MOST_CHARACTERS
    for verdict in shown_in_full(document, MOST_ITEMS):
        own = texts.get(verdict.item)
        window = marked(own.window, verdict.spans, WINDOW_LIMIT) if own and own.window else ()
        nearest = tuple(_nearest(span) for span in verdict.spans)
        # Spans count twice: with the text nearest to them.
        room -= sum(len(piece.text) for piece in window) + 2 * sum(len(span.text) for span in verdict.spans)
        if room < 0 and shown:
            break
        shown.append(
            ShownItem(
                verdict=verdict,
                texts=own,
                failure=failure_name(verdict),
                failure_key=failure_key(verdict) if verdict.flagged else "",
                reason=first_reason(verdict) or next(iter(verdict.remarks), ""),
                window=window,
                nearest=nearest,
            )
        )
    return shown


def _nearest(span: SpanCheck) -> tuple[Piece, ...]:
    """What differs is only worth a look in texts that are much alike."""
    if not span.nearest:
        return ()
    alike = span.similarity is None or span.similarity >= _ALIKE
    return differences(span.text, span.nearest) if alike else (Piece(span.nearest),)


def _choices(shown: list[ShownItem]) -> dict[str, list[tuple[str, str]]]:
    """What the filters offer: only what some item on the page has, as (value, label)."""
    failures = dict(sorted((item.failure_key, item.failure) for item in shown if item.failure))
    categories = sorted({item.verdict.category for item in shown} - {""})
    types = sorted({item.verdict.answer_type for item in shown})
    states = sorted({item.verdict.state.value for item in shown})
    return {
        "failure": list(failures.items()),
        "category": [(name, name) for name in categories],
        "type": [(name, name) for name in types],
        "state": [(name, name) for name in states],
    }
