"""What multiplies a number that is printed in digits: million, bn, k, lakh; powers of ten."""

from __future__ import annotations

import re

# Read in any case, with or without a space: value as a power of ten.
WORDS = {
    "hundred": 2, "thousand": 3, "thousands": 3, "million": 6, "millions": 6, "billion": 9, "billions": 9,
    "trillion": 12, "trillions": 12, "quadrillion": 15, "lakh": 5, "lakhs": 5, "lac": 5, "crore": 7,
    "crores": 7, "bn": 9, "bln": 9, "mn": 6, "mln": 6, "mio": 6, "mil": 6, "tn": 12, "trn": 12, "mrd": 9,
    "tsd": 3, "cr": 7, "thou": 3,
    # as other languages write them
    "tausend": 3, "millionen": 6, "milliarde": 9, "milliarden": 9, "milliard": 9, "milliards": 9,
    "millón": 6, "millones": 6, "milhão": 6, "milhões": 6, "milione": 6, "milioni": 6, "miliardo": 9,
    "miliardi": 9, "miljoen": 6, "miljard": 9, "miljoner": 6, "miljarder": 9, "млн": 6, "млрд": 9,
}  # fmt: skip
# Letters that follow the last digit at once. Those in the second table are units as well (metre, minute,
# tonne): they multiply amounts of money only.
_GLUED = {"k": 3, "K": 3, "M": 6, "B": 9, "T": 12, "MM": 6}
_GLUED_TO_MONEY = {"m": 6, "b": 9, "t": 12, "mm": 6, "MM": 6, "M": 6, "K": 3, "k": 3, "B": 9, "T": 12}
# A full stop after these belongs to them where the sentence goes on: "3,5 Mio. Euro".
_ABBREVIATED = frozenset({"mio", "mrd", "tsd", "mn", "bn", "mil", "cr"})
_GOES_ON = re.compile(r"[ \u00a0](?:[a-z€$£]|Euro|EUR|USD|CHF)")
_FOLLOWED = re.compile(r"([ \u00a0\u202f-]?)([^\W\d_]{1,16})")
_CHINESE = {"千": 3, "万": 4, "萬": 4, "億": 8, "亿": 8, "만": 4, "억": 8}

_SIGNED = r"([+\-−–]?\d{1,3})"
_TIMES_TEN = re.compile(
    rf"[eE]{_SIGNED}(?!\w|\.\d)"
    rf"|[ \u00a0\u202f]?(?:[x×*·⋅✕∙]|\\times|\\cdot)\s?10\s?(?:(?:\^|\*\*"
    rf"|<sup>)\s?[{{(]?{_SIGNED}[)}}]?(?:</sup>)?"
    r"|([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}))"
)
_POWER = re.compile(rf"(?:\^|\*\*|<sup>)[{{(]?{_SIGNED}[)}}]?(?:</sup>)?|([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{{1,3}})")
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺−–", "0123456789-+--")
# Larger exponents belong to no answer, and their plain form would fill a page.
MAX_EXPONENT = 300


def magnitude(text: str, at: int, *, is_money: bool) -> tuple[int, int]:
    """The power of ten that the word or suffix at `at` stands for, and where it ends; (0, at) without one.

    >>> magnitude("1.25 million", 4, is_money=False), magnitude("10m", 2, is_money=False)
    ((6, 12), (0, 2))
    """
    power = 0
    for _ in range(2):  # "2 hundred thousand"
        match = _FOLLOWED.match(text, at)
        if match is None:
            break
        gap, word = match.groups()
        found = WORDS.get(word.lower())
        if found is None and len(word) <= 2 and (not gap or (is_money and gap != "-")):
            found = (_GLUED_TO_MONEY if is_money else _GLUED).get(word)
        if found is None and word[0] in _CHINESE:
            power, at = power + _CHINESE[word[0]], match.start(2) + 1
            break
        if found is None or (power and found < power):
            break
        if gap == "" and word.lower() in ("mil", "cr", "thou", "lac") and not is_money:
            break
        power, at = power + found, match.end()
        if text[at : at + 1] == "." and word.lower() in _ABBREVIATED and _GOES_ON.match(text, at + 1):
            at += 1
    return power, at


def power_of_ten(text: str, at: int, body: str) -> tuple[int, int]:
    """The exponent of scientific notation that follows `body`, and where it ends; (0, at) without one.

    Of a bare power, "10^6", the body itself is the base: the exponent is then one less.

    >>> power_of_ten("1.2 × 10^6", 3, "1.2"), power_of_ten("10^6", 2, "10")
    ((6, 10), (5, 4))
    """
    match = _TIMES_TEN.match(text, at)
    less = 0
    if match is None and body == "10":
        match, less = _POWER.match(text, at), 1
    if match is None:
        return 0, at
    raised = next(group for group in match.groups() if group)
    exponent = int(raised.translate(_RAISED)) - less
    return (exponent, match.end()) if abs(exponent) <= MAX_EXPONENT else (0, at)
