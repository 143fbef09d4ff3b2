"""Parts of a window such as an annotator would quote: what the checker is tried on."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable
from functools import lru_cache
from random import Random

from leadline.audit.spans import SUBSTANTIVE, whole

# Least and most characters of an excerpt, and the letters and digits that it must have: a ruled line or a row
# of stars says nothing. Shorter ones are drawn where a window has no longer one.
SIZES = ((60, 240, 24), (24, 60, 10), (8, 24, 4), (1, 8, 1))
# What a quote is split at, and what in it need not be found.
MARKS = re.compile(
    r"\.\s?\.\s?\.|…|\||[\[\]]|\*\s?\*|[(\[]\s*(?:emphasis|italics|underl|citation|footn|refer|intern)", re.I
)
_TRIES = 12
_LONGEST = 10_000
# Chinese and Japanese may be cut anywhere.
_WORD = re.compile(
    "[\u3005-\u3007\u3040-\u3098\u309b-\u30ff\u3400-\u4dbf\u4e00-\u9fff]|[^\\s\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+"
)
_GROUP = re.compile(r"\d{3}(?![\d,])")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?: \d{3})*(\s)\Z")


def excerpt(
    window: str,
    random: Random,
    accept: Callable[[str], bool] = bool,
    sizes: tuple[tuple[int, int, int], ...] = SIZES,
) -> str | None:
    """A part of the window that begins and ends at words, that says something, and that `accept` takes.

    >>> excerpt("----- ===== $ 5.00 ===== -----", Random(1))
    '$ 5.00 ====='
    """
    starts, ends, telling = _words(window)
    for least, most, signs in sizes if telling else ():
        for _ in range(_TRIES):
            first = random.choice(telling)
            last = min(bisect_left(ends, starts[first] + random.randint(least, most)), len(ends) - 1)
            if ends[last] - starts[first] < least and ends[last] - starts[0] >= least:
                # Too near to the end: as much as is needed of what is before it.
                first = max(at for at in range(first + 1) if ends[last] - starts[at] >= least)
            quote = window[starts[first] : ends[last]]
            if (
                least <= len(quote) <= _LONGEST
                and says(quote, signs)
                and not _parts_a_number(window, starts[first], ends[last])
                and accept(quote)
            ):
                return quote
    return None


def says(quote: str, signs: int) -> bool:
    """Whether so many letters and digits are left of a quote when it is looked for."""
    return sum(character.isalnum() for character in whole(quote).normal) >= signs


@lru_cache(maxsize=4)
def _words(window: str) -> tuple[list[int], list[int], list[int]]:
    """Where words start and end, and which of them have a letter or a digit."""
    words = list(_WORD.finditer(window))
    telling = [number for number, word in enumerate(words) if any(map(str.isalnum, word.group()))]
    return [word.start() for word in words], [word.end() for word in words], telling


def _parts_a_number(window: str, start: int, end: int) -> bool:
    """Whether the quote begins or ends within a number with spaces between its thousands."""
    for at in (start, end):
        before, behind = window[max(0, at - 24) : at], window[at : at + 24]
        space = behind[: len(behind) - len(behind.lstrip())] or before[len(before.rstrip()) :]
        # In a longer quote an ordinary space parts columns.
        may_part = end - start < SUBSTANTIVE or space != " "
        if may_part and _GROUP.match(behind.lstrip()) and _THOUSANDS.search(before.rstrip() + space[:1]):
            return True
    return False
