"""Numbers that a text says twice or in two pieces, put together: "eighty (80)", "1 million 200 thousand"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from leadline.answers.printed import PrintedNumber

CLOSES = re.compile(r" ?\)")
# Between a number in words and the same number in digits: "ten thousand dollars ($10,000)".
_REPEATS = re.compile(r"[ \u00a0]?(?:[A-Za-z]{1,12} ){0,2}(?:[A-Za-z]{1,12})? ?\(? ?")


def said_once(plain: str, text: str, found: list[PrintedNumber]) -> Iterator[PrintedNumber]:
    """Without overlaps; "eighty (80)", "ten dollars ($10.00)" and "1 million 200 thousand" are one number."""
    at = 0
    while at < len(found):
        number = found[at]
        at += 1
        while at < len(found) and found[at].start < number.end:
            if _is_free(plain, number, found[at]):
                found[at] = _from(text, found[at], number.end)
                break
            at += 1
        if isinstance(number.value, Fraction) and at < len(found):
            repeated = found[at]
            between = plain[number.end : repeated.start]
            is_digits = isinstance(repeated.value, Decimal) or "(" in between or plain[repeated.start] == "("
            if is_digits and abs(repeated.value) == number.value and _REPEATS.fullmatch(between):
                close = CLOSES.match(plain, repeated.end)
                end = close.end() if close else repeated.end
                value = repeated.value if isinstance(repeated.value, Fraction) else repeated.value.copy_abs()
                number = replace(
                    repeated, value=value, start=number.start, end=end,
                    text=text[number.start : end], ambiguous=False, alternative=None, notes=(),
                    currency=repeated.currency or number.currency, percent=repeated.percent or number.percent,
                )  # fmt: skip
                at += 1
        while at < len(found) and _adds_up(plain, number, found[at]):
            following = found[at]
            number = replace(
                number, value=Decimal(int(number.value) + int(following.value)), step=following.step,
                end=following.end, text=text[number.start : following.end],
            )  # fmt: skip
            at += 1
        yield number


def _is_free(plain: str, number: PrintedNumber, following: PrintedNumber) -> bool:
    """`following` shares but signs with `number`: the euro sign of "5 €10"."""
    shared = plain[following.start : number.end]
    return number.end < following.end and not any(character.isalnum() for character in shared)


def _from(text: str, number: PrintedNumber, start: int) -> PrintedNumber:
    """`number`, printed from `start` on."""
    start += len(text[start : number.end]) - len(text[start : number.end].lstrip())
    return replace(number, start=start, text=text[start : number.end])


def _adds_up(plain: str, number: PrintedNumber, following: PrintedNumber) -> bool:
    """ "1 million" and "200 thousand" next to each other are one number."""
    return (
        number.step is not None
        and following.step is not None
        and number.step > following.step >= 100
        and 0 < following.value < number.step
        and number.value > 0
        and following.text[-1].isalpha()
        and number.value == int(number.value)
        and following.value == int(following.value)
        and plain[number.end : following.start] in (" ", " and ", ", ")
    )
