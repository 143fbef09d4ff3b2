"""The numbers that a text prints: exact values with the digits they were printed in.

Nothing is rounded on the way: values are Decimals, or Fractions where the text has a fraction or words.
Digits and separators are `numerals`' matter, words `number_words`', what multiplies `magnitudes`', signs of
money `currencies`'. Here they are put together: signs, brackets, percent, and what is no number although it
has digits (parts of names, of dates such as 2020-06-05, of versions, of addresses).

A grammar of our own, since the libraries for this (word2number, quantulum3, price-parser, number-parser) read
into floats, lose the printed digits, or cannot say that a text is ambiguous.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

from leadline.answers import currencies
from leadline.answers.magnitudes import magnitude, power_of_ten
from leadline.answers.number_words import Worded, worded_numbers
from leadline.answers.numerals import BODY, Body, read_body
from leadline.answers.printed import Exact, PrintedNumber
from leadline.answers.said_once import CLOSES, said_once
from leadline.answers.surroundings import before, bracket, percent

__all__ = ["Exact", "PrintedNumber", "find_numbers"]

_GLYPHS = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒"
# Digits in columns of a date, a version or a clock are passed over whole. A fraction's parts are short:
# longer ones are pieces of a path or an identifier.
_START = re.compile(rf"[0-9\\{_GLYPHS}]")
_TOKEN = re.compile(
    r"(?P<none>\d{4}-\d{1,2}-\d{1,2}(?!\d)|\d+(?:/\d+){2,}|\d{1,2}:\d{2}(?::\d{2}|\s?[aApP]\.?[mM]\b))"
    r"|(?P<mixed>(?P<whole>\d{1,6})(?:[ \u00a0\u202f–-]"
    r"| and )(?P<of>\d{1,5}) ?[/⁄] ?(?P<by>[1-9]\d{0,4})(?![\d/]|[.,]\d))"
    r"|(?P<ratio>(?P<top>\d{1,6}) ?[/⁄] ?(?P<bottom>[1-9]\d{0,5})(?![\d/]|[.,]\d))"
    rf"|(?P<vulgar>(?:(?P<before>\d{{1,6}})[ \u00a0]?)?(?P<glyph>[{_GLYPHS}]))"
    r"|(?P<latex>(?:(?P<lwhole>\d{1,6})\s?)?\\[dt]?frac\s?\{\s?(?P<ltop>\d{1,6})\s?\}\s?\{\s?(?P<lbottom>[1-9]\d{0,5})\s?\})"
    rf"|(?P<body>{BODY})"
)
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\b", re.IGNORECASE)
_DOZEN = re.compile(r"[ \u00a0-]dozen\b")
_POWER_SIGNS = "eE x*×·⋅✕∙\\^\u00a0\u202f<⁻⁺⁰¹²³⁴⁵⁶⁷⁸⁹"
# "10-K", "20-F": names of forms.
_FORM = re.compile(r"-[A-Z](?![\w-])")
_LETTERS = re.compile(r"[^\W\d_]{1,16}")
_TO_ONE = re.compile(r" ?(?::|-?to-?| to ) ?1(?:\.0+)?(?![\d.,:]\d|\d|[a-zA-Z%])")
# Single letters that may follow a digit at once because they are units or factors; others make it a name (3D,
# 506c).
_UNIT_LETTERS = frozenset("mshgxlLWVJNF")
_FOREIGN = re.compile(r"[^\x00-\u052f\u2000-\u2bff]")
_ASCII = {
    ord("٫"): ".",
    ord("٬"): ",",
    ord("．"): ".",
    ord("，"): ",",
    ord("（"): "(",
    ord("）"): ")",
    ord("％"): "%",
} | {
    code: str(unicodedata.digit(chr(code)))
    for code in (
        *range(0x0660, 0x066A),
        *range(0x06F0, 0x06FA),
        *range(0x0966, 0x0970),
        *range(0xFF10, 0xFF1A),
    )
}


def find_numbers(text: str, locale: str | None = None, *, ordinals: bool = False) -> Iterator[PrintedNumber]:
    """The numbers of `text` from left to right; "third" and "3rd" only with `ordinals`.

    "one hundred eighty (180)" is one number. Digits within names ("Q3", "COVID-19", "06b"), clock times,
    versions and dates in digits are none; find dates with `leadline.answers.dates.find_dates`.

    >>> [str(number.value) for number in find_numbers("from $(0.3) million to twenty-five, up 12½%")]
    ['-3E+5', '25', '25/2']
    """
    plain = text.translate(_ASCII) if _FOREIGN.search(text) else text
    digits = list(_in_digits(plain, text, locale))
    words = [number for worded in worded_numbers(plain) if (number := _in_words(plain, text, worded))]
    merged = sorted([*digits, *words], key=lambda number: number.start) if words else digits
    for number in said_once(plain, text, merged):
        if ordinals or not number.ordinal:
            yield number


def _in_digits(plain: str, text: str, locale: str | None) -> Iterator[PrintedNumber]:
    at = 0
    while start := _START.search(plain, at):
        place = start.start()
        is_bare_fraction = place > at and plain[place - 1] == "."  # ".5"
        match = _TOKEN.match(plain, place - is_bare_fraction)
        at = match.end() if match else place + 1
        if match is None or match["none"]:
            continue
        if match["body"] is None:
            number = _fraction(plain, text, match)
        elif read := read_body(match["body"], locale):
            number = _decimal(plain, text, *match.span(), read)
        elif "," in match["body"]:
            yield from _listed(plain, text, match, locale)
            continue
        else:
            continue
        if number is not None:
            at = max(at, number.end)
            yield number


def _listed(plain: str, text: str, match: re.Match[str], locale: str | None) -> Iterator[PrintedNumber]:
    """A body such as "1,2,3", which is no number: its pieces are."""
    for piece in re.finditer(r"[^,]+", match["body"]):
        start, end = match.start() + piece.start(), match.start() + piece.end()
        if (read := read_body(piece.group(), locale)) and (
            number := _finished(plain, text, start, end, read, 0)
        ):
            yield number


def _decimal(plain: str, text: str, start: int, end: int, read: Body) -> PrintedNumber | None:
    if plain[start] == "." and start and (plain[start - 1].isalnum() or plain[start - 1] in "._"):
        return None
    power, digits = 0, plain[start:end]
    if plain[end : end + 1] in _POWER_SIGNS and end < len(plain):
        power, end = power_of_ten(plain, end, digits)
    return _finished(plain, text, start, end, read, power)


def _fraction(plain: str, text: str, match: re.Match[str]) -> PrintedNumber | None:
    start, end = match.span()
    if (start and plain[start - 1] in "/\\") or plain[end : end + 1] == "/":
        return None
    if match["mixed"]:
        if int(match["of"]) >= int(match["by"]):  # "5-8/2": not a whole and a part
            return None
        value = int(match["whole"]) + Fraction(int(match["of"]), int(match["by"]))
    elif match["ratio"]:
        value = Fraction(int(match["top"]), int(match["bottom"]))
    elif match["vulgar"]:
        value = int(match["before"] or 0) + _glyph(match["glyph"])
    else:
        value = int(match["lwhole"] or 0) + Fraction(int(match["ltop"]), int(match["lbottom"]))
    return _finished(plain, text, start, end, value, 0)


def _glyph(glyph: str) -> Fraction:
    """A vulgar fraction sign, exactly: unicodedata.numeric gives a float."""
    return Fraction(unicodedata.numeric(glyph)).limit_denominator(12)


def _in_words(plain: str, text: str, worded: Worded) -> PrintedNumber | None:
    if worded.ordinal:
        return _ordinal(text, worded.start, worded.end, worded.value)
    return _finished(plain, text, worded.start, worded.end, worded.value, 0)


def _finished(
    plain: str, text: str, start: int, end: int, read: Body | Fraction, power: int
) -> PrintedNumber | None:
    """The number at [start, end) with what stands around it; None where it is part of something else."""
    found = before(plain, start)
    if found is None:
        return None
    first, sign, notes = found.first, found.sign, [read.note] if isinstance(read, Body) and read.note else []
    more, end = magnitude(plain, end, is_money=bool(found.currency))
    if not _may_end(plain, start, end):
        suffix = _ORDINAL.match(plain, end)
        if isinstance(read, Body) and suffix:
            return _ordinal(text, start, suffix.end(), read.value)
        return None
    if dozens := _DOZEN.match(plain, end):
        read, end = 12 * Fraction(read.value if isinstance(read, Body) else read), dozens.end()
    past = percent(plain, end)
    is_percent, unsure = past > end, False
    end = past
    if found.opened >= 0:
        closing = CLOSES.match(plain, end)
        if closing is None:
            first = found.inner
        else:
            is_minus, sure = bracket(plain, found.opened, closing.end(), found, is_percent=is_percent)
            unsure = not sure
            if is_minus:
                sign, end = -1, closing.end()
                after, end = magnitude(plain, end, is_money=bool(found.currency))
                more += after
                past = percent(plain, end)
                is_percent, end = is_percent or past > end, past
            else:
                first = found.inner
            if unsure:
                notes.append(f"the brackets {'are' if is_minus else 'are not'} taken for a minus")
    currency = found.currency
    if not is_percent and not currency and (money := currencies.after(plain, end)):
        currency, end = money
    if not is_percent and (ratio := _TO_ONE.match(plain, end)):
        notes.append("a ratio to 1")
        end = ratio.end()
    value, step = _scaled(read, sign, power + more)
    other: Exact | None = -value if unsure else None
    if isinstance(read, Body) and read.alternative is not None:
        other = _scaled(Body(read.alternative), sign, power + more)[0]
    return PrintedNumber(
        value, step, first, end, text[first:end], is_percent, currency,
        ambiguous=unsure or (isinstance(read, Body) and read.ambiguous and not more),
        alternative=other,
        magnitude=more,
        notes=tuple(notes),
    )  # fmt: skip


def _scaled(read: Body | Fraction, sign: int, power: int) -> tuple[Exact, Decimal | None]:
    """The value times a power of ten, exactly, and the unit of its last digit."""
    if isinstance(read, Fraction):
        return sign * read * Fraction(10) ** power, None
    _, digits, exponent = read.value.as_tuple()
    assert isinstance(exponent, int)
    step = Decimal((0, (1,), exponent + power))
    if exponent == 0 and power > 0:  # "5 million" is an integer, all of it
        digits, exponent, power = (*digits, *(0,) * power), 0, 0
    is_negative = sign < 0 and any(digits)
    return Decimal((int(is_negative), digits, exponent + power)), step


def _ordinal(text: str, start: int, end: int, value: Exact) -> PrintedNumber:
    return PrintedNumber(value, None, start, end, text[start:end], ordinal=True)


def _may_end(plain: str, start: int, end: int) -> bool:
    """Letters that touch the last digit must be a unit: "5kg" is a number, "506c" and "3D" are not."""
    following = plain[end : end + 1]
    if following == "-" and _FORM.match(plain, end):
        return False
    if not following.isalpha() or following > "\u2fff":
        return not (following == "_" and plain[end + 1 : end + 2].isalnum())
    letters = _LETTERS.match(plain, end)
    word = letters.group() if letters else following
    if _ORDINAL.match(plain, end):
        return False
    if word[0] == "x" and plain[start:end] == "0":  # 0x10
        return False
    return word in _UNIT_LETTERS if len(word) == 1 else True
