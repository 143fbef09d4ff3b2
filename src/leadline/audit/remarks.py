"""What a person may want to look at although no check failed. Remarks are never verdicts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from leadline.answers.dates import find_dates
from leadline.answers.numbers import find_numbers
from leadline.audit.document import AnswerStated
from leadline.audit.matching import Match
from leadline.audit.normal import Normal
from leadline.audit.operands import numbers_in, readable
from leadline.audit.spans import SUBSTANTIVE, whole
from leadline.audit.stated import gold_date, gold_number, is_gold, stated
from leadline.bench.item import Item

# How much of the window a quote may be before the window must be suspected to be cut from it.
_CIRCULAR = 0.9
_PROVISO = re.compile(
    r"\b(provided,? (?:however|further|that)\b|(?:until|unless|but not|not to exceed|up to a maximum)\b)",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.;?!](?=\s+[“\"(]?[A-Z]|\s*\Z)|\n\s*\n")
_CONTENTS_LINE = re.compile(r"^[\s.·…_]*\d{1,3}\s+(?:\(?[ivxlc\d]+[.)]|\d+\.\d|[A-Z])")
_SECTION_BEFORE = re.compile(
    r"(?:\d+(?:\.\d+)+|\b(?:section|article|schedule|exhibit|item)\s+\S+)\.?\s*\Z", re.IGNORECASE
)
_PLACEHOLDER = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_EXAMPLE = re.compile(
    r"(?:\bexample|\be\.\s?g\.|\bfor instance|\bsuch as|\blike\b|\bsample)[^.\n]{0,60}\Z", re.IGNORECASE
)
_ACRONYM = re.compile(r"\b[A-Z]{3,6}\b")


def remarks_on(
    item: Item, window: str | None, quotes: Sequence[str], matches: Sequence[Match], normal: Normal | None
) -> tuple[str, ...]:
    """Remarks on an item, its quotes and where they stand in the window (`matches`, one per quote)."""
    found = [*_prompt_gives_it_away(item)]
    if quotes:
        found += _quote_and_label(item, quotes)
    if window is not None and normal is not None and quotes:
        found += _circular(quotes, normal)
        for quote, match in zip(quotes, matches, strict=True):
            found += match.notes
            if match.found:
                found += _short(quote, normal)
                found += _surroundings(item, quote, match, window)
        found += _other_values(item, window)
        found += _homonym(item, quotes)
    return tuple(dict.fromkeys(found))


def _circular(quotes: Sequence[str], window: Normal) -> Iterator[str]:
    """A window that was cut from the quote holds the quote whatever the document says."""
    longest = max((whole(quote).normal for quote in quotes), key=len)
    if window.text and (
        window.text in longest or (longest in window.text and len(longest) >= _CIRCULAR * len(window.text))
    ):
        yield "the window is little more than the quote: that the one is in the other proves nothing"


def _quote_and_label(item: Item, quotes: Sequence[str]) -> Iterator[str]:
    if item.answer_type not in ("number", "date"):
        return
    if all(stated(item, quote).state is AnswerStated.NOT_STATED for quote in quotes):
        yield "the quote does not state the label"


def _prompt_gives_it_away(item: Item) -> Iterator[str]:
    for name, text in (("question", item.question), ("prompt", _PLACEHOLDER.sub(" ", item.prompt or ""))):
        if text and _gives_away(item, text):
            yield f"the {name} itself holds the gold answer"


def _gives_away(item: Item, text: str) -> bool:
    plain = readable(text)
    places: list[tuple[int, bool]] = []  # where, and whether the value alone is telling
    if item.answer_type == "number" and (gold := gold_number(item)) is not None:
        for number in find_numbers(plain, item.locale):
            if is_gold(item, gold, number):
                places.append((number.start, len(number.text.strip("()$€£%")) >= 3))
    elif item.answer_type == "date" and (date := gold_date(item)) is not None:
        places += [
            (one.start, len(one.value) > 4)
            for one in find_dates(plain, item.date_order)
            if one.value == date.value
        ]
    elif item.answer_type in ("text", "enum"):
        # A question may list all values of an enum; an example singles one out.
        telling = item.answer_type == "text" and len(item.answer) >= 8
        word = re.compile(rf"(?<!\w){re.escape(item.answer)}(?!\w)", re.IGNORECASE)
        places += [(match.start(), telling) for match in word.finditer(plain)]
    return any(telling or _EXAMPLE.search(plain[:start][-80:]) for start, telling in places)


def _short(quote: str, window: Normal) -> Iterator[str]:
    span = whole(quote)
    if not span.substantive:
        times = window.text.count(span.normal) if span.normal else 0
        if times > 1:
            yield f"the quote is shorter than {SUBSTANTIVE} characters and stands {times} times in the window"


def _surroundings(item: Item, quote: str, match: Match, window: str) -> Iterator[str]:
    if match.cover is None:
        return
    start, end = match.cover
    if (
        len(quote) < 2 * SUBSTANTIVE
        and _SECTION_BEFORE.search(window[:start][-30:])
        and _CONTENTS_LINE.match(window[end:][:30])
    ):
        yield "the quote stands in what looks like a table of contents"
    rest = window[end : end + 1500]
    sentence_end = _SENTENCE_END.search(rest)
    rest = rest[: sentence_end.start()] if sentence_end else rest
    behind = window[end:][:600]
    if item.answer_type in ("enum", "boolean"):
        # "provided, however, that" often comes after a semicolon: it still belongs to the sentence.
        proviso = _PROVISO.search(rest) or re.match(r"[^.]{0,300}?;\s*(provided)", behind, re.IGNORECASE)
        if proviso:
            yield f"the sentence goes on behind the quote with a proviso (“{proviso.group(1)}”)"


def _other_values(item: Item, window: str) -> Iterator[str]:
    """Other numbers that the window states in the same words: which of them is asked for?"""
    gold = gold_number(item) if item.answer_type == "number" else None
    if gold is None:
        return
    plain = readable(window)
    numbers = numbers_in(plain, item.locale)
    after = {
        plain[n.end : n.end + 14].split(",")[0].strip().lower()[:10]
        for n in numbers
        if is_gold(item, gold, n)
    }
    after = {words for words in after if words.startswith("per ")}
    others = {
        str(number.value)
        for number in numbers
        if not is_gold(item, gold, number)
        and any(plain[number.end :].lstrip().lower().startswith(w) for w in after)
    }
    if others:
        values = f"{len(others)} other value{'s' * (len(others) > 1)}"
        yield f"the window states {values} in the same words (“… {min(after)} …”)"


def _homonym(item: Item, quotes: Sequence[str]) -> Iterator[str]:
    """SAFE, the instrument, is not "safe and effective"."""
    for name in dict.fromkeys(_ACRONYM.findall(item.question)):
        every = " ".join(quotes)
        if re.search(rf"\b{name.lower()}\b", every) and not re.search(rf"\b{name}s?\b", every):
            yield f"the question's {name} occurs in the quote only as the ordinary word “{name.lower()}”"
