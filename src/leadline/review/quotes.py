"""A marked quote: where it stands, compared with its document at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from leadline.audit.matching import Match, match_quote
from leadline.audit.spans import whole
from leadline.documents import UnreadableDocument
from leadline.errors import LeadlineError
from leadline.review.passages import Documents, OpenDocument

# A quote is what a reader of the label checks: a sentence, a clause, a row of a table. Three printed pages.
LONGEST = 10_000
MOST_QUOTES = 50
# What stands around a quote decides whether it is cut within a word or a number.
_AROUND = 60
# Longest word of which a piece was marked; a longer one is no word.
_LONGEST_WORD = 60


class RefusedQuote(LeadlineError):  # noqa: N818  # an outcome of its own, not a fault of the program
    """What was marked is no quote that could be kept, in words."""


class Quote(BaseModel):
    """Characters `start` to `end` of the text of the document `name`, whose file's bytes have the checksum
    `sha256`. Numbers of documents are no part of it: they are others once a document came or went."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    name: str = Field(min_length=1)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    quote: str = Field(min_length=1, max_length=LONGEST)


@dataclass(frozen=True, slots=True)
class Marked:
    """A quote, and whether it was widened: its ends lay within words or numbers."""

    quote: Quote
    widened: bool = False


def mark(document: OpenDocument, start: int, end: int, text: str) -> Marked:
    """The quote that a reader marked as `text`, from character `start` to `end`.

    Blanks at its ends are left out. Where it is cut within a word or a number, it is widened to the whole of
    them. Raises RefusedQuote.

    >>> held = OpenDocument(0, "a.txt", "The fee is 1,250 euros.", "0" * 64)
    >>> mark(held, 11, 14, "1,2").quote.quote
    '1,250'
    """
    if any("\ud800" <= sign <= "\udfff" for sign in document.name):
        what = "the name of this document's file is no UTF-8 text, which no label could hold"
        raise RefusedQuote(what, fix="give the file another name, and start again")
    if not 0 <= start < end <= len(document.text):
        raise RefusedQuote(
            f"nothing is marked: characters {start:,} to {end:,} of {len(document.text):,}",
            fix="select some text of the document",
        )
    if document.text[start:end] != text:
        raise RefusedQuote(
            f"the text marked is not what stands at characters {start:,} to {end:,} of {document.name}",
            fix="the document was changed, or another one is shown: open it again",
        )
    start, end = _without_blanks(document.text, start, end)
    if fault := _fault(document.text[start:end]):
        raise RefusedQuote(fault[0], fix=fault[1])
    wide, found = (start, end), _match(document.text, start, end)
    if not found.found or found.notes:  # cut within a word or a number
        wider = _whole_words(document.text, start, end)
        if wider[1] - wider[0] <= LONGEST and _match(document.text, *wider).found:
            wide = wider
        elif not found.found:
            what = "an audit would not find it: it begins or ends within a word"
            raise RefusedQuote(what, fix="mark whole words")
    quote = document.text[slice(*wide)]
    made = Quote(name=document.name, sha256=document.sha256, start=wide[0], end=wide[1], quote=quote)
    return Marked(made, wide != (start, end))


def quotes_of(values: object) -> tuple[Quote, ...]:
    """The quotes of a draft, each once, as they were marked; no document is opened.

    Raises RefusedQuote for what is none.
    """
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise RefusedQuote("is no list of quotes", fix="mark them in the document")
    if len(values) > MOST_QUOTES:
        raise RefusedQuote(f"{len(values):,} quotes, and {MOST_QUOTES} are allowed", fix="remove some")
    found: dict[Quote, None] = {}
    for place, value in enumerate(values, start=1):
        try:
            found[Quote.model_validate(value)] = None
        except ValidationError:
            raise RefusedQuote(f"quote {place} is none", fix="remove it and mark it again") from None
    return tuple(found)


def check_quotes(quotes: Sequence[Quote], documents: Documents) -> None:
    """Compare each with its document, which is waited for.

    Raises RefusedQuote for the first that does not stand there: its document went, was changed since, or says
    something else; or it is one that `mark` would not have made.
    """
    for place, quote in enumerate(quotes, start=1):
        number = documents.number_named(quote.name)
        if number is None:
            what = f"quote {place}: {quote.name} is not among the documents"
            raise RefusedQuote(what, fix="put it back and start again, or remove the quote")
        try:
            held = documents.open(number)
        except UnreadableDocument as error:
            raise RefusedQuote(f"quote {place}: {error}", fix="remove it") from None
        if held is None or held.sha256 != quote.sha256:
            what = f"quote {place}: {quote.name} is not the document that it was when this was marked"
            raise RefusedQuote(what, fix="remove it and mark it again")
        try:
            mark(held, quote.start, quote.end, quote.quote)
        except RefusedQuote as error:
            raise RefusedQuote(f"quote {place}: {error.what}", fix=error.fix) from None
        if not _match(held.text, quote.start, quote.end).found:
            what = f"quote {place}: it begins or ends within a word"
            raise RefusedQuote(what, fix="remove it and mark it again")


def _fault(quote: str) -> tuple[str, str] | None:
    if len(quote) > LONGEST:
        what = f"{len(quote):,} characters are marked; a quote has {LONGEST:,} at most"
        return what, "mark the sentence that settles the question"
    if any("\ud800" <= sign <= "\udfff" for sign in quote):
        return "half a character is marked, which no file could hold", "mark the text beside it"
    if not whole(quote).says_something:
        return "there is no letter and no digit in what is marked", "mark the words that settle the question"
    return None


def _match(text: str, start: int, end: int) -> Match:
    """How the audit finds the quote where it stands."""
    around = text[max(start - _AROUND, 0) : end + _AROUND]
    return match_quote(text[start:end], around)


def _without_blanks(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    least, most = max(start - _LONGEST_WORD, 0), min(end + _LONGEST_WORD, len(text))
    first, last = start, end
    while first > least and _goes_on(text, first):
        first -= 1
    while last < most and _goes_on(text, last):
        last += 1
    return first, last


def _goes_on(text: str, at: int) -> bool:
    """Whether a word or a number such as 1,250.5 goes on at `at`."""
    before, behind = text[at - 1], text[at]
    if before.isalnum() and behind.isalnum():
        return True
    if before in ".,'’" and behind.isdigit():
        return at > 1 and text[at - 2].isdigit()
    return before.isdigit() and behind in ".,'’" and text[at + 1 : at + 2].isdigit()
