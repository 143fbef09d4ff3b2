"""The pronoun rule: a sentence of a page that speaks of the page's subject without naming it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from leadline.build.extract.names import composed

_PRONOUN = re.compile(r"[\"'\u201c\u2018(]?(?P<pronoun>He|She|It|They|His|Her|Its|Their)(?:['\u2019]s)?\s")
_FAMILIES: Final = ({"he", "his"}, {"she", "her"}, {"it", "its"}, {"they", "their"})
_DEFINITION = re.compile(
    r"\b(?:is|was|are|were)\s+(?:(?:an?|the)\s+)?(?P<phrase>[^,.;:()]*?)"
    r"(?=[,.;:()]|\s(?:of|in|on|at|by|for|from|to|with|that|which|who|whose|where|and|located|situated|published"
    r"|written|directed|produced|released|recorded|born|based|known|founded|rising|devoted|named)\b|$)"
)
_THE = re.compile(r"[\"'\u201c\u2018(]?The\s+(?P<noun>[a-z][\w-]*)(?:['\u2019]s?)?\s+(?P<next>[a-z][\w-]*)")
# What follows a noun that is the sentence's subject by itself, and not the first half of "film director".
_FINITE = """
is was are were has had have can could will would may might must does did also then now first later still
became began came went took made won lost held gave got ran led left met wrote sold grew rose fell stood lies
stands features stars covers contains consists includes belongs borders begins ends flows follows forms runs
rises reaches remains serves tells takes uses appears extends lives occurs provides
"""
_VERBS = frozenset(_FINITE.split())


@dataclass(frozen=True)
class Anaphors:
    """What can stand for a page's subject at the start of a sentence.

    `pronouns` in small letters; all of the third person where no page is known, as for a sentence alone.
    `nouns` stand after "The": what the page says its subject is ("hill").
    """

    pronouns: frozenset[str] = frozenset().union(*_FAMILIES)
    nouns: frozenset[str] = frozenset()


ANY: Final = Anaphors()
"""Any pronoun of the third person, and no noun."""


def begins_with_pronoun(sentence: str, anaphors: Anaphors = ANY) -> bool:
    """Whether `sentence` begins with one of the pronouns, or with "The" and one of the nouns.

    Whom the pronoun means is not resolved: in a page of an encyclopedia it is the page's subject most of the
    time where it is the page's own pronoun (`own_pronouns`), so whoever takes such a sentence as evidence
    marks it.

    >>> begins_with_pronoun("She was born in Ulm."), begins_with_pronoun("Items cost money.")
    (True, False)
    >>> begins_with_pronoun("The hill is named after it.", Anaphors(nouns=frozenset({"hill"})))
    True
    """
    sentence = composed(sentence).lstrip()
    if pronoun := _first(sentence):
        return pronoun in anaphors.pronouns
    match = _THE.match(sentence)
    if match is None or match["noun"] not in anaphors.nouns:
        return False
    return match["next"] in _VERBS or match["next"].endswith("ed")


def own_pronouns(sentences: Iterable[str]) -> frozenset[str]:
    """The pronouns of a page's subject: the family that begins most of its sentences; none where two do.

    Counting needs no parser and is right where it matters: on a page about a man, "She" is somebody else.

    >>> sorted(own_pronouns(["He was born.", "His wife left.", "She was born.", "It rained."]))
    ['he', 'his']
    >>> own_pronouns(["He was born.", "She was born."])
    frozenset()
    """
    begins = Counter(_first(composed(one).lstrip()) for one in sentences)
    counts = [sum(begins[pronoun] for pronoun in family) for family in _FAMILIES]
    most = max(counts)
    return frozenset(_FAMILIES[counts.index(most)]) if most and counts.count(most) == 1 else frozenset()


def _first(sentence: str) -> str | None:
    match = _PRONOUN.match(sentence)
    return match["pronoun"].lower() if match else None


def class_words(first_sentence: str) -> frozenset[str]:
    """What a page's first sentence says its subject is: the last word of the phrase after is, was, are, were.

    >>> class_words("Chelopech Hill is the ice-covered hill rising to 946 m in the north.")
    frozenset({'hill'})
    """
    match = _DEFINITION.search(composed(first_sentence))
    words = match["phrase"].split() if match else []
    return frozenset(words[-1:]) if words and words[-1].islower() and words[-1].isalpha() else frozenset()
