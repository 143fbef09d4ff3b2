"""What the digits and separators of a number mean: 1,250,000 and 1.250.000, 1.5 and 1,5.

The rule, for one body of digits, points, commas, spaces and apostrophes:

1. Spaces and apostrophes between groups of three digits group thousands; so does whichever of point and comma
   is used first, where both are used ("1.234,56"), and a sign that is used more than once ("1.250.000").
   Commas may group the Indian way ("12,50,000").
2. One sign, once: the locale says whether it groups or ends the whole part. Without a locale a point is a
   decimal point, and a comma groups when one to three digits stand before it and exactly three after it.
   Any other comma is a decimal comma.
3. What could be read in two ways is marked `ambiguous`, with the other reading: "1.234" (a thousand in
   much of Europe), "4,2" (two numbers, where commas are not decimal), "2 602" (two numbers, or one).
   A plain "1,234" is not marked: the text is English unless its locale says otherwise.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

# No-break, figure, thin and narrow no-break space: made to stand between groups of digits.
GROUPING_SPACES = "\u00a0\u2007\u2009\u202f"
_GAP = rf"[ {GROUPING_SPACES}'’_]|\{{,\}}|\\,"
# The last two gaps are LaTeX's, the underscore is a programmer's. A longer run of digits, points and commas
# is `read_body`'s to judge.
BODY = rf"\d{{1,3}}(?P<gap>{_GAP})\d{{3}}(?:(?P=gap)\d{{3}})*(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)*|\.\d+"
# More digits than this are no answer, and Python refuses to print some of them.
MAX_DIGITS = 300

_FIND_GAP = re.compile(_GAP)
_WESTERN_GROUPS = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
_INDIAN_GROUPS = re.compile(r"\d{1,2}(?:,\d{2})+,\d{3}")
_YEARS = re.compile(r"(?:1[5-9]|20)\d\d,(?:1[5-9]|20)\d\d")


@dataclass(frozen=True, slots=True)
class Body:
    """The unsigned value of a body; its exponent keeps the printed decimals ("2.40" is not "2.4")."""

    value: Decimal
    alternative: Decimal | None = None  # the other reading of an ambiguous body
    note: str = ""

    @property
    def ambiguous(self) -> bool:
        """There is another way to read it, and no locale that decides."""
        return bool(self.note)


@lru_cache(maxsize=64)
def separators(locale: str | None) -> tuple[str, str] | None:
    """The decimal sign and the grouping sign of a locale such as "de-DE"; None where it is not known.

    >>> separators("de-DE")
    (',', '.')
    """
    if locale is None:
        return None
    from babel import Locale, UnknownLocaleError
    from babel.numbers import get_decimal_symbol, get_group_symbol

    try:
        known = Locale.parse(locale.replace("-", "_"))
        return get_decimal_symbol(known, numbering_system="latn"), get_group_symbol(
            known, numbering_system="latn"
        )
    except (UnknownLocaleError, ValueError):
        return None


def read_body(body: str, locale: str | None = None) -> Body | None:
    """What a match of `BODY` says; None where it is no number ("1.2.3", "12.05.2020").

    >>> str(read_body("1.250.000").value), str(read_body("1.234", "de-DE").value), str(read_body("4,2").value)
    ('1250000', '1234', '4.2')
    """
    if len(body) > MAX_DIGITS:
        return None
    signs = separators(locale)
    if gap := _FIND_GAP.search(body):
        whole, fraction = _split_last(body)
        digits = whole.replace(gap.group(), "")
        value = _decimal(digits, fraction)
        if gap.group() == " " and not (signs and signs[1].isspace()):
            return Body(value, None, f"{body!r}: the space groups thousands")
        return Body(value)
    points, commas = body.count("."), body.count(",")
    if not points and not commas:
        return Body(Decimal(body))
    if points and commas:
        whole, fraction = _split_last(body)
        decimal_sign = body[len(whole)]
        is_number = body.count(decimal_sign) == 1 and _is_grouped(whole)
        return Body(_decimal(re.sub("[.,]", "", whole), fraction)) if is_number else None
    sign = "." if points else ","
    head, _, tail = body.partition(sign)
    if points + commas > 1:
        return Body(Decimal(body.replace(sign, ""))) if _is_grouped(body) else None
    return _one_sign(body, head, tail, sign, signs)


def _one_sign(body: str, head: str, tail: str, sign: str, signs: tuple[str, str] | None) -> Body | None:
    may_group = len(tail) == 3 and 1 <= len(head) <= 3 and head[0] != "0"
    as_decimal, as_whole = _decimal(head, tail), Decimal(head + tail)
    if signs is not None:
        if sign == signs[0]:
            return Body(as_decimal)
        if may_group:
            return Body(as_whole)
        return Body(as_decimal, None, f"{body!r} does not fit the locale: read as a decimal fraction")
    if sign == ".":
        if may_group:
            return Body(as_decimal, as_whole, f"{body!r}: the point is taken for a decimal point")
        return Body(as_decimal)
    if may_group:
        return Body(as_whole)
    if _YEARS.fullmatch(body):
        return None
    if head == "0":
        return Body(as_decimal)
    return Body(as_decimal, None, f"{body!r}: the comma is taken for a decimal comma")


def _split_last(body: str) -> tuple[str, str]:
    """`body` before and after its last point or comma; no fraction where there is none."""
    at = max(body.rfind("."), body.rfind(","))
    if at < 0 or body[at - 1] == "{" or body[at - 1] == "\\":  # LaTeX's own commas group
        return body, ""
    return body[:at], body[at + 1 :]


def _is_grouped(whole: str) -> bool:
    return bool(
        whole.isdigit()
        or (_WESTERN_GROUPS.fullmatch(whole) and len(set(whole) & set(".,")) == 1)
        or _INDIAN_GROUPS.fullmatch(whole)
    )


def _decimal(whole: str, fraction: str) -> Decimal:
    return Decimal(f"{whole or '0'}.{fraction}" if fraction else whole)
