"""What an audit says about an item in sentences: why a check failed, and what could be calculated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leadline.audit.derivation import Derivation
from leadline.audit.document import Failure, Route, SpanCheck
from leadline.audit.failures import Cause
from leadline.audit.matching import Match
from leadline.audit.normal import Normal
from leadline.audit.resolving import Resolution
from leadline.bench.item import Item

_SHORT_CALCULATION = 3  # numbers
_SHOWN = 160  # characters of a span that a sentence cites


@dataclass(frozen=True, slots=True)
class CheckedQuote:
    """A quote and what was found of it."""

    text: str
    in_window: Match | None
    resolution: Resolution
    in_source: Match | None
    of_markup: bool


def reasons_for(
    item: Item,
    quotes: Sequence[CheckedQuote],
    spans: Sequence[SpanCheck],
    found: Sequence[Resolution],
    window: Normal | None,
    cause: Cause | None,
) -> list[str]:
    """A sentence per check that failed or could not be made."""
    reasons: list[str] = []
    for span in spans:
        if span.required and span.in_window is None and window is not None:
            lacks = f"the window lacks “{_cited(span.text)}”"
            if span.nearest:
                lacks += f"; nearest there, {span.similarity:.0%} alike: “{_cited(span.nearest)}”"
            reasons.append(lacks)
    for quote in quotes:
        document = quote.resolution.document
        if quote.in_source is not None and not quote.in_source.found and document is not None:
            absent = quote.in_source.missing or quote.in_source.spans
            reasons += [f"{document.name} lacks “{_cited(span.text)}”" for span in absent]
    if cause is not None and cause.why:
        reasons.append(cause.why)
    if not quotes and item.evidence:
        reasons.append("not checkable: the quote has no letter and no digit")
    elif not quotes:
        reasons.append("not checkable: the item has no quote")
    elif window is None:
        reasons.append("not checkable: the item has no window")
    if quotes:
        for one in found:
            is_open = one.route is Route.UNRESOLVED and all(quote.in_source is None for quote in quotes)
            if one.reason:
                reasons.append(f"not checkable in its source: {one.reason}" if is_open else one.reason)
    return reasons


def on_the_calculation(item: Item, cause: Cause) -> list[str]:
    """Remarks on the calculation that was found, if one was."""
    derivation = cause.derivation
    if derivation is None:
        return []
    remarks = []
    if not derivation.believed:
        if derivation.exact and len(derivation.operands) <= _SHORT_CALCULATION:
            remarks.append(
                f"the answer may be calculated from the window: {derivation.text}{_odds(derivation)}"
            )
        return remarks
    if cause.failure is not Failure.COMPUTATIONAL:
        remarks.append(f"the answer can be calculated from the window all the same: {derivation.text}")
    if not derivation.exact and derivation.certain:
        remarks.append(
            f"the window's own arithmetic does not round to the label {item.answer}: {derivation.text}"
        )
    return remarks


def _odds(derivation: Derivation) -> str:
    if derivation.chance >= 1:
        return ", if that is not chance"
    return f", as {derivation.chance:.0%} of values that nobody meant can be, too"


def _cited(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
