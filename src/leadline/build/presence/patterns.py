"""Sentences as patterns: what of them is looked for in squeezed text, and what a hit is compared with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from leadline.build.presence.normal_form import MARK_TEXT, MARK_WORDS, form, normalised
from leadline.build.presence.squeeze import is_irregular, squeezed_text
from leadline.build.records import Tier

_BRACKETS = re.compile(r"[\[\]]")
_SHORT_MARK = re.compile(MARK_TEXT, re.I | re.A)
_MARK_WORDS = tuple(squeezed_text(word).decode().lower() for word in MARK_WORDS)


@dataclass(frozen=True)
class Pattern:
    """A sentence: as it stands, in its normal form, without marks; `core` is what a squeezed text must hold.

    A tier's form is None where nothing is left of the sentence. `core` is empty where there is no part that
    every text which holds the sentence on any tier must hold: every line is then compared. `plain`: it has
    no bracket, so that where it stands as it is, it stands on every tier.
    """

    exact: str
    normalised: str | None
    stripped: str | None
    core: bytes
    plain: bool

    def on(self, tier: Tier) -> str | None:
        """What is looked for on a tier."""
        if tier == "exact":
            return self.exact or None
        return self.normalised if tier == "normalised" else self.stripped


def pattern(sentence: str) -> Pattern:
    """The pattern of a sentence.

    >>> pattern("He was born in  Ulm[1] in 1879.").stripped
    'He was born in Ulm in 1879.'
    >>> pattern("He was born in  Ulm[1] in 1879.").core
    b'ewasborninUlm'
    """
    plain, bare = normalised(sentence).strip(), form(sentence, "stripped").strip()
    return Pattern(
        exact=sentence,
        normalised=(sentence if plain == sentence else plain) or None,  # one string where they are the same
        stripped=(sentence if bare == sentence else bare) or None,
        core=_core(sentence),
        plain=not _BRACKETS.search(sentence),
    )


def patterns(sentences: Sequence[str]) -> list[Pattern]:
    """The patterns of all sentences, in order."""
    return [pattern(sentence) for sentence in sentences]


def _core(sentence: str) -> bytes:
    """The longest piece between brackets and ends.

    A footnote mark may be cut out of the text or not, so that no piece goes over a bracket, and none is what
    a mark may consist of. The ends are left out: a letter of the text may be joined by NFC to an accent that
    follows the sentence.
    """
    inner = "".join(normalised(sentence).split())[1:]
    while inner and is_irregular(inner[0]):
        inner = inner[1:]
    while inner and is_irregular(inner[-1]):
        inner = inner[:-1]
    pieces = [piece for piece in _BRACKETS.split(inner[:-1]) if piece and not _in_a_mark(piece)]
    return max(pieces, key=len, default="").encode("utf-8", "surrogatepass")


def _in_a_mark(piece: str) -> bool:
    small = piece.lower()
    short = len(piece) <= 7 and _SHORT_MARK.fullmatch(piece) is not None
    return short or any(small in word for word in _MARK_WORDS)
