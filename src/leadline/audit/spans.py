"""A quote as the spans that it is made of.

People quote with omissions (`...`, `[...]`, `* * *`), put several places side by side (`a | b`), and add
words of their own in brackets. So a quote is split, but not before it was looked for as it is: real filings
hold brackets and ellipses too (`US$[PURCHASE PRICE]`, `[…***…]`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from leadline.audit.normal import decoded, normal_text

# Shorter spans only connect: beside a longer one they need not be found (design of the audit), unless they
# bear a number, which may be what the label rests on.
SUBSTANTIVE = 40

_OMISSION = re.compile(
    r"""\[\s*(?:…|\.\s?\.\s?\.(?:\s?\.)*)\s*\]   # [...]
      | \(\s*(?:…|\.\s?\.\s?\.(?:\s?\.)*)\s*\)   # (...)
      | …+ | \.\s?\.\s?\.(?:\s?\.)*              # … ... . . . .
      | \*\s?\*\s?\*(?:\s?\*)*                   # * * *
      | \|+                                      # a | b
      | [(\[]\s*(?:                               # (emphasis added; citations omitted)
        (?:emphasis|italics|underlining|citations?|footnotes?|references?|internal\ quotation\ marks)
        \s+(?:added|mine|ours|supplied|omitted|in\ (?:the\ )?original)[\s,;]*(?:and\s+)?)+[)\]]
    """,
    re.VERBOSE | re.IGNORECASE,
)
_INSERTION = re.compile(r"\[[^\[\]]*\]")
# A word of which an insertion is a part: [T]he, share[s], pre[-]money.
_CHANGED_WORD = re.compile(r"[^\W\d_]*\[[^\[\]\s]*\][^\W\d_]*")
# Signs that part clauses: at a span's edge they belong to the sentence around it. A point, comma or hyphen
# that begins a number stays (`.363238`, `-5`).
_LEADING = re.compile(r"^(?:[\s;:|*\ufffd]|[.,\-–—](?!\d))+")
_TRAILING = re.compile(r"[\s;:|*.,\-–—\ufffd]+\Z")
# The same in a normal form, where entities are decoded.
_LEADING_NORMAL = re.compile(r"^(?:[;:|*]|[.,\-](?!\d))+")
_TRAILING_NORMAL = re.compile(r"[;:|*.,\-]+\Z")
# What a storage limit leaves of an entity.
_TORN_ENTITY = re.compile(r"&#?[A-Za-z0-9]{0,10}\Z")


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a quote that must stand somewhere as it is, apart from its normal form.

    `begins` and `ends` say whether it is the quote's own beginning or end: only there can a storage limit
    have cut it in the middle of a word.
    """

    text: str
    begins: bool = False
    ends: bool = False
    normal: str = field(init=False)
    substantive: bool = field(init=False)
    numeric: bool = field(init=False)

    def __post_init__(self) -> None:
        """Computes the normal form, and whether the span is more than a connective or has a digit."""
        normal = _TRAILING_NORMAL.sub("", _LEADING_NORMAL.sub("", normal_text(self.text)))
        object.__setattr__(self, "normal", normal)
        object.__setattr__(self, "substantive", len(" ".join(self.text.split())) >= SUBSTANTIVE)
        object.__setattr__(self, "numeric", any(character.isdigit() for character in normal))

    @property
    def says_something(self) -> bool:
        """Has a letter or a digit."""
        return any(character.isalnum() for character in self.normal)


@lru_cache(maxsize=256)
def whole(quote: str) -> Span:
    """The quote as one literal span.

    >>> whole("  US$[PURCHASE PRICE], ").normal
    'us$[purchaseprice]'
    """
    return Span(_trimmed(decoded(quote)), begins=True, ends=True)


@lru_cache(maxsize=64)
def pieces(quote: str) -> tuple[tuple[tuple[Span, ...], ...], ...]:
    """The quote split at omissions; per piece the ways to read its brackets, most literal first.

    A way is the spans that it leaves. The last way, in which bracketed insertions are not part of the text,
    is the one that a failure is explained by.

    >>> [[span.text for span in ways[-1]] for ways in pieces("assets ... shall go to [them] first")]
    [['assets'], ['shall go to', 'first']]
    """
    trimmed = (_trimmed(part) for part in _OMISSION.split(decoded(quote)))
    parts = [part for part in trimmed if _says_something(part)]
    return tuple(
        _ways(part, begins=number == 0, ends=number == len(parts) - 1) for number, part in enumerate(parts)
    )


def _ways(part: str, *, begins: bool, ends: bool) -> tuple[tuple[Span, ...], ...]:
    ways: list[tuple[Span, ...]] = [(Span(part, begins, ends),)]
    if _INSERTION.search(part):
        # [T]he is The in another place of a sentence.
        kept = _INSERTION.sub(lambda match: match.group()[1:-1], part)
        ways.append((Span(_trimmed(kept), begins, ends),))
        # In which letters changed is not part of the text, nor is a word with such letters.
        without = _INSERTION.sub("\0", _CHANGED_WORD.sub("\0", part))
        fragments = [fragment for fragment in map(_trimmed, without.split("\0")) if _says_something(fragment)]
        if fragments:
            opens = begins and not without.lstrip().startswith("\0")
            closes = ends and not without.rstrip().endswith("\0")
            last = len(fragments) - 1
            ways.append(
                tuple(
                    Span(fragment, opens and number == 0, closes and number == last)
                    for number, fragment in enumerate(fragments)
                )
            )
    return tuple(ways)


def _trimmed(text: str) -> str:
    text = _TRAILING.sub("", _LEADING.sub("", text))
    return _TRAILING.sub("", _TORN_ENTITY.sub("", text)) if "&" in text[-12:] else text


def _says_something(text: str) -> bool:
    return any(character.isalnum() for character in text)
