"""Currency signs, codes and words, as they stand before and after numbers.

A bare `$` or `¥` is kept as it is: it is the dollar, yen or yuan of whoever wrote it. Two currencies are the
same unless both are known and differ.
"""

from __future__ import annotations

import re

CODES = frozenset(
    [
        "USD",
        "EUR",
        "GBP",
        "JPY",
        "CNY",
        "CHF",
        "CAD",
        "AUD",
        "NZD",
        "HKD",
        "SGD",
        "TWD",
        "INR",
        "KRW",
        "RUB",
        "TRY",
        "BRL",
        "MXN",
        "ZAR",
        "SEK",
        "NOK",
        "DKK",
        "PLN",
        "CZK",
        "HUF",
        "RON",
        "BGN",
        "ILS",
        "THB",
        "IDR",
        "MYR",
        "PHP",
        "VND",
        "NGN",
        "EGP",
        "SAR",
        "AED",
        "KES",
        "GHS",
        "UAH",
        "ARS",
        "CLP",
        "COP",
        "PEN",
        "PKR",
        "BDT",
        "LKR",
        "KZT",
        "ISK",
        "HRK",
        "BTC",
        "ETH",
    ]
)
_SIGNS = {
    "$": "$", "€": "EUR", "£": "GBP", "¥": "¥", "₹": "INR", "₩": "KRW", "₽": "RUB", "₺": "TRY", "₫": "VND",
    "₪": "ILS", "₱": "PHP", "₦": "NGN", "฿": "THB", "₴": "UAH", "₿": "BTC",
}  # fmt: skip
_DOLLARS = {
    "US": "USD", "U.S.": "USD", "A": "AUD", "AU": "AUD", "C": "CAD", "CA": "CAD", "CDN": "CAD", "HK": "HKD",
    "NZ": "NZD", "S": "SGD", "NT": "TWD", "R": "BRL", "MX": "MXN", "USD": "USD",
}  # fmt: skip
_BEFORE_ONLY = {"Rs": "INR", "Rs.": "INR", "RM": "MYR", "Fr.": "CHF", "RMB": "CNY", "kr": "kr", "R$": "BRL"}
_WORDS = {
    "dollar": "$", "dollars": "$", "buck": "$", "bucks": "$", "euro": "EUR", "euros": "EUR", "yen": "JPY",
    "yuan": "CNY", "renminbi": "CNY", "rmb": "CNY", "rupee": "INR", "rupees": "INR", "rubles": "RUB",
    "roubles": "RUB", "pesos": "peso", "francs": "franc", "kr": "kr", "kronor": "SEK",
    "kroner": "kr", "zł": "PLN", "kč": "CZK", "sterling": "GBP",
}  # fmt: skip
# Signs that several currencies share: they fit any of these.
_SHARED = {
    "$": frozenset(["USD", "CAD", "AUD", "NZD", "HKD", "SGD", "TWD", "MXN", "ARS", "CLP", "COP", "BRL"]),
    "kr": frozenset(["SEK", "NOK", "DKK", "ISK"]),
    "franc": frozenset({"CHF"}),
    "peso": frozenset(["MXN", "ARS", "CLP", "COP", "PHP"]),
    "¥": frozenset({"JPY", "CNY"}),
}

_codes = "|".join(sorted(CODES))
_dollars = "|".join(re.escape(word) for word in sorted(_DOLLARS, key=len, reverse=True))
SIGN = (
    rf"(?:(?<![A-Za-z])(?:{_dollars}))?\\?\$|[€£¥₹₩₽₺₫₪₱₦฿₴₿]"
    rf"|(?<![A-Za-z])(?:{_codes}|Rs\.?|RM|RMB|Fr\.|kr)"
)
_AFTER = re.compile(
    rf"[ \u00a0\u202f-]?(?:(?P<sign>[€£¥₹₩₽₺₫₪₱₦฿₴₿]|\\?\$(?!\s?\w))"
    rf"|(?P<code>{_codes})(?![A-Za-z])"
    r"|(?:(?P<country>US|U\.S\.|Canadian|Australian|Hong Kong|Singapore|American) )?"
    rf"(?P<word>(?i:{'|'.join(_WORDS)}|pounds sterling))(?![A-Za-z]))"
)
# A dollar sign before, on the line: the one after the number closes a formula.
_OPEN_MATHS = re.compile(r"(?<!\\)\$(?=\S)[^$]*\Z")
_COUNTRIES = {
    "us": "USD", "u.s.": "USD", "american": "USD", "canadian": "CAD", "australian": "AUD", "hong kong": "HKD",
    "singapore": "SGD",
}  # fmt: skip


def named(sign: str) -> str:
    """The currency of a sign or code in front of a number: "US$" is USD, "$" stays "$"."""
    sign = sign.strip().replace("\\", "")
    if sign.endswith("$"):
        return _DOLLARS.get(sign[:-1], "$")
    return _SIGNS.get(sign) or _BEFORE_ONLY.get(sign) or sign


def after(text: str, at: int) -> tuple[str, int] | None:
    """The currency that stands right after a number that ends at `at`, and where it ends."""
    match = _AFTER.match(text, at)
    if match is None:
        return None
    if match["sign"] == "$" and _OPEN_MATHS.search(text, text.rfind("\n", 0, at) + 1, at):
        return None
    if match["sign"]:
        return named(match["sign"]), match.end()
    if match["code"]:
        return match["code"].upper(), match.end()
    if match["country"]:
        return _COUNTRIES[match["country"].lower()], match.end()
    return _WORDS.get(match["word"].lower(), "GBP"), match.end()


def is_currency(unit: str) -> bool:
    """`unit` is a currency: "USD", "$", "dollars"."""
    return bool(currency_of_unit(unit))


def currency_of_unit(unit: str) -> str:
    """The currency that a declared unit means; "" where it is none."""
    bare = unit.strip()
    if bare.upper() in CODES:
        return bare.upper()
    if bare.endswith("$") or bare in _SIGNS:
        return named(bare)
    return _WORDS.get(bare.lower(), "GBP" if bare.lower() in ("pounds sterling", "sterling") else "")


def fits(found: str, declared: str) -> bool:
    """A number in currency `found` may answer a question about `declared`; "" is any.

    >>> fits("$", "USD"), fits("EUR", "USD"), fits("", "USD")
    (True, False, True)
    """
    if not found or not declared or found == declared:
        return True
    return declared in _SHARED.get(found, ()) or found in _SHARED.get(declared, ())
