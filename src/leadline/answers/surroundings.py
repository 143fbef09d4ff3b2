"""What stands around the digits of a number and changes it: minus signs, brackets, currency, percent.

Minus: a sign that touches the number (or its currency) and follows neither a letter nor a digit ("3-5" is a
range, "mid-2020" a compound); "minus" and "negative". A list mark ("- 5 apples") is no minus, but U+2212 is.

Brackets are the minus of accounts: always after a currency sign ("$(0.3) million"), otherwise where an amount
(a decimal fraction, thousands, money, percent) stands alone in them at the beginning of a text, a line or a
table's cell, after another such amount, or after a word that announces a figure ("was (5.2)", "Net loss
(1,234)"). An integer in brackets, "(42)", is an aside or a label, and so is "45 of 860 (5.2%)". All but the
first are a rule of reading, and are noted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from leadline.answers import currencies

_MINUS = "-−–‒﹣－"
_BEFORE = re.compile(
    rf"(?P<sign>[{_MINUS}] ?|\b(?:[Mm]inus|[Nn]egative) |\+)?"
    rf"(?P<currency>(?:{currencies.SIGN})[ \u00a0\u202f]?)?"
    r"(?P<open>\( ?)?"
    rf"(?P<inner>(?:{currencies.SIGN})[ \u00a0\u202f]?)?"
    rf"(?P<inside>[{_MINUS}])?\Z"
)
# Most numbers follow a plain word or a line's beginning: nothing of ours stands before them.
_PLAIN = re.compile(r"(?<![A-Za-z])(?:(?![Mm]inus|[Nn]egative)[a-z]+|[,;:]|^) \Z|^\Z")
_LONGEST = 20
# "$42$" is a formula. As Pandoc has it: no blank after the first sign or before the last, no digit after.
_MATHS = re.compile(r"\$(?=\S)[^$\n]*(?<=[^\s\\])\$(?!\d)")
_PERCENT = re.compile(
    r" ?(?:\\?%|％|٪)|[ \u00a0\u202f-](?:\\?%|(?:(?i:per ?cent|pct)|percentage points?|Prozent|pour ?cent"
    r"|por ciento)\b)"
    r"|(?i:percent|pct)\b"
)
_AMOUNT = re.compile(r".*\d[.,'’ \u00a0]\d")
_ANNOUNCES = re.compile(
    r"(?:\b(?:is|was|were|are|be|equals|of|to|at|by|loss|losses|deficit|outflow|outflows|decrease|negative)"
    r"|[=:|>\t\n]|  )"
    r" *\Z|\A\s*\Z"
)
_AFTER_AMOUNT = re.compile(r"(?:\d\)?|\)) +\Z")
_ENDS_COLUMN = re.compile(r"\s*(?:\Z|\n|\||\t|\(|\$|[-−]?\d)")


@dataclass(frozen=True, slots=True)
class Before:
    """What stands before the digits: the sign, the currency, an open bracket, and where each begins."""

    sign: int = 1
    currency: str = ""
    opened: int = -1  # where the bracket is, or -1
    first: int = 0  # where the printed number begins
    inner: int = 0  # where it begins inside the bracket


def before(text: str, start: int) -> Before | None:
    """What belongs to the number whose digits begin at `start`; None where they are part of a name."""
    if start == 0 or (text[start - 1] == " " and _PLAIN.search(text, max(0, start - _LONGEST), start)):
        return Before(first=start, inner=start)
    match = _BEFORE.search(text, max(0, start - _LONGEST), start)
    assert match is not None  # every part may be absent
    first, sign, inner = match.start(), 1, start
    currency = match["inner"] or match["currency"] or ""
    opened = match.start("open")
    if opened >= 0:
        inner = (
            match.start("inner") if match["inner"] else match.start("inside") if match["inside"] else start
        )
    if match["inside"]:
        if match["currency"] or match["inner"] or opened >= 0 or _touching_minus(text, start - 1):
            sign = -1
        else:
            first, inner = start, start
            if _is_name(text, start - 1):
                return None
    elif match["sign"] and match["sign"] != "+":
        said = match["sign"].strip()
        if len(said) > 1 or (_apart_minus if match["sign"].endswith(" ") else _touching_minus)(text, first):
            sign = -1
        elif _is_name(text, first) and not currency:
            return None
        else:
            first = match.end("sign")
    if first == start and start and (text[start - 1].isalpha() or text[start - 1] == "@"):
        return None
    if first == start and text[start - 1] == "_" and text[start - 2 : start - 1].isalnum():  # x_5
        return None
    if currency.strip() == "$" and not match["open"] and _MATHS.match(text, match.end("currency") - 1):
        currency, first = "", inner if match["inside"] else start
    return Before(sign, currencies.named(currency) if currency else "", opened, first, inner)


def _touching_minus(text: str, at: int) -> bool:
    """The sign at `at` touches its number: a minus, unless it joins it to what is before it."""
    previous = text[at - 1 : at]
    if previous.isalnum() or previous in (*")]%_°½¼¾", "$"):
        return False
    is_dash = text[at] in "–‒"
    return not (is_dash and previous == " " and text[at - 2 : at - 1].isalnum())


def _apart_minus(text: str, at: int) -> bool:
    """A sign with a blank after it: a list mark or an operator, unless it can be nothing but a minus."""
    previous = text[:at].rstrip(" ")[-1:] if at else ""
    if text[at] == "−":
        return previous in ("", *"\n=(:|<>*×/")
    return previous != "" and previous in "=(|<>×"


def _is_name(text: str, at: int) -> bool:
    """The hyphen at `at` joins digits to a name in capitals: GPT-4, COVID-19, A-1."""
    return text[at] in "-–" and text[at - 1 : at].isalpha() and text[at - 1].isupper()


def percent(text: str, at: int) -> int:
    """Where a percent sign or word that follows a number at `at` ends; `at` without one."""
    match = _PERCENT.match(text, at)
    return match.end() if match else at


def bracket(text: str, opened: int, closed: int, found: Before, *, is_percent: bool) -> tuple[bool, bool]:
    """The number in brackets [opened, closed) is negative; and: that is sure.

    >>> bracket("(5.2)", 0, 5, Before(opened=0, inner=1), is_percent=False)
    (True, False)
    """
    if found.first < opened and found.currency:
        return True, True
    inside = text[opened + 1 : closed - 1]
    is_amount = bool(_AMOUNT.match(inside)) or bool(found.currency) or is_percent
    if not is_amount:
        return False, text[closed : closed + 1] != "" or opened > 0
    line = text[max(0, opened - 40) : opened]
    if _ANNOUNCES.search(line):
        return True, False
    if _AFTER_AMOUNT.search(line):
        return not is_percent and bool(_ENDS_COLUMN.match(text, closed)), False
    return False, False
