"""All checks of one item: where its source is, whether its quote stands there and in its window, why not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from leadline.audit.document import AnswerStated, Failure, ItemVerdict, Place, Route, SpanCheck, State
from leadline.audit.elsewhere import QUOTE_WORTH, WINDOW_WORTH, Hashes, stretches_of
from leadline.audit.explaining import CheckedQuote, on_the_calculation, reasons_for
from leadline.audit.failures import Cause, cause_of
from leadline.audit.held import HeldDocuments, has_markup
from leadline.audit.matching import Match, Matcher, match_quote
from leadline.audit.nearest import nearest
from leadline.audit.normal import Normal
from leadline.audit.remarks import remarks_on
from leadline.audit.resolving import Claim, Resolution, resolve
from leadline.audit.spans import pieces, whole
from leadline.audit.stated import Stated, stated
from leadline.bench.item import Item


@dataclass(frozen=True, slots=True)
class Sought:
    """An item whose declared document does not settle it: its texts are looked for in all documents.

    Hashes of the window, unless the declared document holds it, and of each substantive span of the quotes,
    with the share of them that makes a document worth a look. `markup` says that one of them has tags in it.
    `verdict` stands if no document does.
    """

    item: str
    texts: tuple[Hashes, ...]
    worth: tuple[float, ...]
    markup: bool
    verdict: ItemVerdict


def check_item(
    item: Item,
    where: str,
    held: HeldDocuments,
    matcher: Matcher = match_quote,
    candidates: Sequence[str] | None = (),
) -> ItemVerdict | Sought:
    """The verdict on one item.

    `candidates` are documents worth a look beside the declared one. None means that they are not known yet:
    an item that its declared document does not settle then comes back as `Sought`.
    """
    window = Normal(item.window) if item.window and item.window.strip() else None
    claims = _claims(item)
    found = [resolve(claim, window, held, matcher, candidates or ()) for claim in claims]
    quotes = [
        _look(item, quote, window, one, matcher)
        for claim, one in zip(claims, found, strict=True)
        for quote in claim.quotes
    ]
    verdict = _verdict(item, where, window, quotes, found)
    both = zip(claims, found, strict=True)
    if candidates is not None or all(_settled(claim, one, matcher) for claim, one in both):
        return verdict
    return _sought(item, None if all(one.is_certain for one in found) else window, verdict)


def _claims(item: Item) -> list[Claim]:
    """The quotes by the document that they are said to come from; without quotes, the pointer alone."""
    by_pointer: dict[str, list[str]] = {}
    for evidence in item.evidence:
        if not whole(evidence.quote).says_something:
            continue  # a "$" or a "..." alone is no evidence
        by_pointer.setdefault(evidence.source or item.source, []).append(evidence.quote)
    if not by_pointer:
        return [Claim(item.source, ())]
    return [Claim(pointer, tuple(quotes)) for pointer, quotes in by_pointer.items()]


def _settled(claim: Claim, found: Resolution, matcher: Matcher) -> bool:
    """The declared document holds the whole window, and the quotes: no other could do better."""
    if not found.is_certain or found.document is None:
        return False
    return all(found.document.match(quote, matcher)[0].found for quote in claim.quotes)


def _sought(item: Item, window: Normal | None, verdict: ItemVerdict) -> Sought:
    texts = [(stretches_of(window.text), WINDOW_WORTH)] if window is not None else []
    spans = [span for one in item.evidence for ways in pieces(one.quote) for span in ways[-1]]
    texts += [(stretches_of(span.normal, 6), QUOTE_WORTH) for span in spans if span.substantive]
    kept = [(hashes, worth) for hashes, worth in texts if hashes.size]
    markup = any(map(has_markup, [item.window or "", *(evidence.quote for evidence in item.evidence)]))
    return Sought(item.id, tuple(one for one, _ in kept), tuple(worth for _, worth in kept), markup, verdict)


def _look(
    item: Item, quote: str, window: Normal | None, resolution: Resolution, matcher: Matcher
) -> CheckedQuote:
    in_window = _with_answer(matcher(quote, window), item) if window is not None else None
    if resolution.document is not None:
        match, of_markup = resolution.document.match(quote, matcher)
        return CheckedQuote(quote, in_window, resolution, _with_answer(match, item), of_markup)
    if resolution.unconfirmed is not None:
        # The document that the item names was opened and lacks the quote, and no other document has it: then
        # it is absent. Found in a document that is not confirmed, it would prove nothing.
        match, of_markup = resolution.unconfirmed.match(quote, matcher)
        if not match.found:
            return CheckedQuote(quote, in_window, resolution, match, of_markup)
    return CheckedQuote(quote, in_window, resolution, None, False)


def _with_answer(match: Match, item: Item) -> Match:
    """A short span need not be found beside a long one, unless it is the one that states the answer."""
    if not match.found or all(span.required or span.place for span in match.spans):
        return match
    spans = tuple(
        replace(span, required=True) if not span.place and _states_answer(span.text, item) else span
        for span in match.spans
    )
    return replace(match, found=all(span.place for span in spans if span.required), spans=spans)


def _states_answer(text: str, item: Item) -> bool:
    if item.answer_type == "boolean":
        return False
    if item.answer_type in ("number", "date"):
        return stated(item, text).state is AnswerStated.STATED
    return any(len(answer) > 1 and match_quote(answer, text).found for answer in item.valid_answers)


def _verdict(
    item: Item, where: str, window: Normal | None, quotes: Sequence[CheckedQuote], found: Sequence[Resolution]
) -> ItemVerdict:
    in_window = None if window is None or not quotes else all(_found(one.in_window) for one in quotes)
    in_source = _all_in_source(quotes)
    spans = _spans(quotes, item.window or "")
    answer = Stated(AnswerStated.UNDECIDABLE)
    if window is not None:
        near = " ".join([item.question, *(one.text for one in quotes)])
        answer = stated(item, item.window or "", near=near, normal=window)
    flagged = in_window is False or in_source is False
    cause: Cause | None = None
    if flagged:
        cause = cause_of(
            item,
            [one.text for one in quotes],
            item.window or "",
            in_window=in_window,
            in_source=in_source,
            answer=answer,
        )
    matches = [one.in_window for one in quotes if one.in_window is not None]
    remarks = [
        *remarks_on(item, item.window, [one.text for one in quotes], matches, window),
        *(on_the_calculation(item, cause) if cause else ()),
        *(note for one in found for note in (*one.notes, *_of_document(one))),
        *(
            "the quote is one of the document's markup"
            for one in quotes
            if one.of_markup and _found(one.in_source)
        ),
    ]
    by_accident = answer.state is AnswerStated.STATED and not answer.telling
    if by_accident and in_window and any(_states_answer(one.text, item) for one in quotes):
        by_accident = False  # it stands in the quote, and the quote in the window
    if cause and by_accident:
        remarks.append(f"the gold value occurs in the window (“{answer.text}”), perhaps by accident")
    is_computational = cause is not None and cause.failure is Failure.COMPUTATIONAL
    return ItemVerdict(
        item=item.id,
        task=item.task,
        category=item.category,
        answer_type=item.answer_type,
        where=where,
        state=_state(in_source),
        route=_route(found),
        source=", ".join(dict.fromkeys(one.document.name for one in found if one.document is not None)),
        quote_in_window=in_window,
        quote_in_source=in_source,
        answer_in_window=AnswerStated.UNDECIDABLE if by_accident else answer.state,
        flagged=flagged,
        failure=cause.failure if cause else None,
        derivation=cause.derivation.text if cause and is_computational and cause.derivation else "",
        spans=tuple(spans),
        reasons=tuple(dict.fromkeys(reasons_for(item, quotes, spans, found, window, cause))),
        remarks=tuple(dict.fromkeys(remarks)),
    )


def _found(match: Match | None) -> bool:
    return match is not None and match.found


def _all_in_source(quotes: Sequence[CheckedQuote]) -> bool | None:
    """False when a quote is absent from its document; None when none is, and one could not be checked."""
    if any(one.in_source is not None and not one.in_source.found for one in quotes):
        return False
    return None if not quotes or any(one.in_source is None for one in quotes) else True


def _state(in_source: bool | None) -> State:
    if in_source is None:
        return State.NOT_CHECKABLE
    return State.PRESENT if in_source else State.ABSENT


def _route(found: Sequence[Resolution]) -> Route:
    """Of several sources the least certain route."""
    routes = {one.route for one in found}
    for route in (Route.UNRESOLVED, Route.ELSEWHERE):
        if route in routes:
            return route
    return Route.DECLARED


def _spans(quotes: Sequence[CheckedQuote], window: str) -> list[SpanCheck]:
    """The spans of all quotes; beside a missing one what is nearest to it in the window."""
    spans: list[SpanCheck] = []
    for quote in quotes:
        base = quote.in_window or quote.in_source
        for span in base.spans if base is not None else ():
            text = ""
            similarity: float | None = None
            if quote.in_window is not None and span.place is None and span.required:
                text, similarity = nearest(span.text, window) or ("", None)
            spans.append(
                SpanCheck(
                    text=span.text,
                    required=span.required,
                    in_window=_place(span.place) if quote.in_window is not None else None,
                    in_source=_in_source(quote, span.text),
                    nearest=text,
                    similarity=similarity,
                )
            )
    return spans


def _in_source(quote: CheckedQuote, text: str) -> Place | None:
    """Where a span stands in its document, in which the quote may have been found in other spans."""
    match, document = quote.in_source, quote.resolution.document
    if match is None or document is None:
        return None
    for span in match.spans:
        if span.text == text:
            return _place(span.place)
    form = document.markup if quote.of_markup else document.text
    return _place(match_quote(text, form).cover) if form is not None else None


def _place(place: tuple[int, int] | None) -> Place | None:
    return None if place is None else Place(start=place[0], end=place[1])


def _of_document(found: Resolution) -> tuple[str, ...]:
    return found.document.document.notes if found.document is not None else ()
