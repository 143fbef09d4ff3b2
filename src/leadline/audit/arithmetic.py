"""A calculation that a quote writes out: `(45/860) / (78/855) = 0.57`.

A small parser of numbers, + − × / and brackets, and nothing else: it reads what an annotator wrote down, so
that the calculation which an item rests on is not guessed where it is stated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from leadline.answers.numbers import PrintedNumber, find_numbers

_TOKEN = re.compile(
    r"""(?P<number>(?:[$€£¥]\s?)?(?:\d(?:[\d.,]*\d)?|\.\d+)
            (?:\s?(?:thousand|million|billion|trillion|mn|bn|[mk])\b)?(?P<percent>\s?%)?)
      | (?P<plus>\+|\bplus\b) | (?P<minus>[-−–]|\bminus\b|\bless\b)
      | (?P<times>[×*·]|\bx\b|\btimes\b) | (?P<over>[/÷]|\bdivided\s+by\b|\bover\b)
      | (?P<of>\bof\b) | (?P<open>[(\[]) | (?P<close>[)\]])
      | (?P<stop>[;:?!\n]|\.(?=\s|\Z)) | (?P<word>[^\W\d_]+) | (?P<other>\S)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_EQUALS = re.compile(r"[=≈≃]")
_RESULT_WITHIN = 4  # characters between the sign and the result: a space, a currency sign
_MOST_TOKENS = 60


@dataclass(frozen=True, slots=True)
class Expression:
    """A calculation as it is written, its exact value, and its numbers: as printed, and without magnitude
    words and percent signs. `result` is the number that the quote says it comes to."""

    text: str
    value: Fraction
    numbers: tuple[tuple[Fraction, Fraction], ...]
    result: PrintedNumber


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    start: int
    value: Fraction = Fraction(0)
    bare: Fraction = Fraction(0)


def expressions(text: str, locale: str | None = None) -> Iterator[Expression]:
    """The calculations of a `readable` text that are followed by `=` and a number.

    >>> [(one.text, float(one.value)) for one in expressions("Net: 50 days - 20 days = 30 days")]
    [('50 days - 20 days', 30.0)]
    """
    begin = 0
    for equals in _EQUALS.finditer(text):
        result = next(find_numbers(text[equals.end() : equals.end() + 40], locale), None)
        left = text[begin : equals.start()]
        begin = equals.end()
        if result is None or result.start > _RESULT_WITHIN:
            continue
        tokens = _tokens(left, locale)[-_MOST_TOKENS:]
        # From the earliest place from which all of it can be read.
        for first in range(len(tokens)):
            parser = _Parser(tokens[first:])
            value = parser.value()
            if value is not None and parser.operators:
                numbers = tuple((one.value, one.bare) for one in tokens[first:] if one.kind == "number")
                written = " ".join(left[tokens[first].start :].split())
                yield Expression(written, value, numbers, result)
                break


def _tokens(text: str, locale: str | None) -> list[_Token]:
    tokens: list[_Token] = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup if match.lastgroup != "percent" else "number"
        if kind == "number":
            printed = next(find_numbers(match.group().rstrip("% "), locale), None)
            if printed is None:
                kind = "stop"
            else:
                value = Fraction(printed.value)
                body = re.search(r"[\d.,]*\d", match.group())
                plain = next(find_numbers(body.group(), locale), printed) if body else printed
                scaled = value / 100 if match.group("percent") else value
                tokens.append(_Token("number", match.start(), scaled, Fraction(plain.value)))
                continue
        if kind == "of":
            # 5 % of 200; elsewhere a word like another.
            kind = (
                "times"
                if tokens and tokens[-1].kind == "number" and "%" in text[: match.start()][-2:]
                else "word"
            )
        if kind in ("stop", "other"):
            tokens.clear()
        elif kind != "word" and kind is not None:
            tokens.append(_Token(kind, match.start()))
    return tokens


class _Parser:
    """Reads a sum of products of numbers, bracketed sums and their negatives.

    `value` is None for anything else.
    """

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens, self._at = tokens, 0
        self.operators = 0

    def value(self) -> Fraction | None:
        """The value of all the tokens together."""
        try:
            found = self._chain(self._product, {"plus": 1, "minus": -1}, lambda a, sign, b: a + sign * b)
        except (ValueError, ZeroDivisionError):
            return None
        return found if self._at == len(self._tokens) else None

    def _kind(self) -> str:
        return self._tokens[self._at].kind if self._at < len(self._tokens) else ""

    def _chain(
        self,
        part: Callable[[], Fraction],
        signs: dict[str, int],
        join: Callable[[Fraction, int, Fraction], Fraction],
    ) -> Fraction:
        found = part()
        while self._kind() in signs:
            sign = signs[self._kind()]
            self._at += 1
            self.operators += 1
            found = join(found, sign, part())
        return found

    def _product(self) -> Fraction:
        return self._chain(
            self._factor, {"times": 1, "over": -1}, lambda a, sign, b: a * b if sign > 0 else a / b
        )

    def _factor(self) -> Fraction:
        kind = self._kind()
        self._at += 1
        if kind == "number":
            return self._tokens[self._at - 1].value
        if kind == "minus":
            return -self._factor()
        if kind == "open":
            found = self._chain(self._product, {"plus": 1, "minus": -1}, lambda a, sign, b: a + sign * b)
            if self._kind() == "close":
                self._at += 1
                return found
        raise ValueError
