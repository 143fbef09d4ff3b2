"""Pages that are no articles to take facts from, each with its reason."""

from __future__ import annotations

import re
from typing import Final

from leadline.build.articles.templates import name_of

REASONS: Final = {
    "namespace": "a page of another namespace: talk, user, template, category, ...",
    "redirect": "it only sends the reader elsewhere",
    "empty": "there is no text",
    "broken": "it could not be read",
    "disambiguation": "it lists pages of the same name",
    "list": "a list, an index, an outline, a timeline",
    "short": "fewer words than the plan asks for",
}

# #REDIRECT in any language is a number sign, one word of letters and a link.
_REDIRECT = re.compile(r"\s*#\s?[^\W\d_][^\W\d]{3,30}\s*:?\s*\[\[[^\]\n]+\]\]")
_TEMPLATES = re.compile(r"\{\{\s*([^|{}\n<]{1,60})")
_DISAMBIGUATION = re.compile(
    r"""
      disamb(?:ig(?:uation)?(?:\ page|\ cleanup|-cleanup)?)? | dab | dis | .*\ disambiguation(?:\ page)?
    | .*disambig | hndis(?:-cleanup)? | hn-dis | geo-?dis | numberdis | letter-number.*disambig.* | mathdab
    | mil-unit-dis | roaddis
    | schooldis | hospitaldis | airport\ dis | station\ dis | callsigndis
    | speciesdis
    | surnames? | given\ names?
    | begriffsklärung | homonymie | desambiguación | desambiguação | disambigua | dp
    """,
    re.VERBOSE,
)
_NOT_ONE = re.compile(
    r"disambiguation needed|.*needs disambiguation|dn|no disambiguation|.*redirect.*|r from .*"
)
_SET_INDEX = re.compile(
    r"sia|set index(?: article)?|.* set index|.*index article|(?:ship|mountain|road|lake|sport)s?index"
)
_LIST = re.compile(
    r"(?:Lists?|Index|Outline|Glossary|Timeline|Table|Comparison|Bibliography|Discography|Filmography) of\b"
    r"|(?:Liste? (?:der|des|de|d')|Lista (?:de|di)|Anexo:)|.* \((?:list|index)\)$|.*\btimeline$",
    re.DOTALL,
)  # fmt: skip
_WORD = re.compile(r"\w[\w'’.-]*")


def is_redirect(source: str) -> bool:
    """Whether wikitext is a redirect, in any language and case.

    >>> is_redirect("#redirect [[Pear]]"), is_redirect("#WEITERLEITUNG [[Birne]]"), is_redirect("# [[Pear]]")
    (True, True, False)
    """
    return _REDIRECT.match(source) is not None


def is_disambiguation(title: str, source: str) -> bool:
    """Whether a page lists pages of the same name: by its title, or by a template that says so."""
    if title.endswith((" (disambiguation)", " (Begriffsklärung)", " (homonymie)")):
        return True
    names = {name_of(found[1]) for found in _TEMPLATES.finditer(source)}
    return any(_DISAMBIGUATION.fullmatch(name) and not _NOT_ONE.fullmatch(name) for name in names)


def is_list(title: str, source: str) -> bool:
    """Whether a page is a list: by its title, or a set index (ships, mountains of one name)."""
    if _LIST.match(title):
        return True
    return any(_SET_INDEX.fullmatch(name_of(found[1])) for found in _TEMPLATES.finditer(source))


def words(text: str) -> int:
    """How many words a text has."""
    return sum(1 for _ in _WORD.finditer(text))
