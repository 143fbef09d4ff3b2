"""Which items a sentence names: by links, by its page's title, or by capitalised words that are titles."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from leadline.build.extract.extractor import Passage
from leadline.build.extract.names import composed, names_title, spans, title_name
from leadline.build.extract.pronouns import begins_with_pronoun

_LONGEST = 6  # words of a title that is looked for; longer ones are rare and mostly works
_WORD = re.compile(r"\w[\w'\u2019.&-]*\w|\w")
_SHORTEST_ALIAS = 3  # characters: "AE" stands for too much
# What may stand inside a name without a capital: Duke of York, Vincent van Gogh.
_SMALL = "and al da de del der di du el en for in la le of on the to van von y"
_INSIDE = frozenset(_SMALL.split())
# Begins with a capital only because its sentence does.
_FIRST = """
A After All Although An And As At Before Between But By During Each For From He Her His However If In It Its
Many Most No On One Other She Since Some That The Their There These They This To Under Until When Where While
With
"""
_OPENERS = frozenset(_FIRST.split())


class Titles(Protocol):
    """Which item a title is about, and which titles an item has."""

    def entity(self, title: str) -> str | None:
        """The item of the page of that title."""

    def titles(self, entity: str) -> tuple[str, ...]:
        """The titles of an item's page and of the redirects to it."""


@dataclass(frozen=True)
class Mention:
    """A name that stands in the sentence, and the item it means. `pronoun`: a pronoun stands in its place."""

    surface: str
    entity: str
    pronoun: bool = False


def candidates(passage: Passage, titles: Titles) -> Iterator[tuple[str, str, str]]:
    """(surface, title, item) of everything in the passage that may name an item, but for the page's title."""
    if passage.links is None:
        for surface in _capitalised(passage.text, titles):
            entity = titles.entity(surface)
            if entity is not None:
                yield surface, surface, entity
        return
    for link in passage.links:
        entity = titles.entity(link.target)
        surface = " ".join(passage.text[link.start : link.end].split())
        if entity is not None and surface:
            yield surface, link.target, entity


def mentions(
    passage: Passage, page: str | None, page_names: Sequence[str], titles: Titles, names: NamesOf
) -> list[Mention]:
    """The items that a sentence names, each with its first name in it.

    `page` is the item of the page and `page_names` what it is called. A link counts where its text is a name
    of what it leads to: "his wife" names nobody. Without links, capitalised words that are a title count.
    """
    found: dict[str, Mention] = {}
    if page is not None:
        subject = _subject(passage, page, page_names)
        if subject is not None:
            found[page] = subject
    for surface, title, entity in candidates(passage, titles):
        if entity in found or entity == page:
            continue
        if (
            names_title(surface, title)
            or _is_name(surface, names(entity))
            or _is_name(surface, titles.titles(entity))
        ):
            found[entity] = Mention(surface, entity)
    return list(found.values())


class NamesOf(Protocol):
    """What an item is called: label and aliases; nothing where it is not known."""

    def __call__(self, entity: str) -> Sequence[str]: ...


def named_in(text: str, names: Iterable[str]) -> str | None:
    """The first of `names` that stands in `text`, as it stands there (in NFC)."""
    text = composed(text)
    for name in names:
        # The test without a pattern is what makes hundreds of aliases cheap.
        if len(name) >= _SHORTEST_ALIAS and name[1:] in text:
            for start, end in spans(text, name):
                return " ".join(text[start:end].split())
    return None


def _subject(passage: Passage, page: str, names: Sequence[str]) -> Mention | None:
    # Places of links are those of the text as it is; where it is not in NFC, they may be off by a few.
    text = composed(passage.text)
    linked = [(link.start, link.end) for link in passage.links or ()]
    for name in dict.fromkeys((title_name(passage.title), *names)):
        if len(name) < _SHORTEST_ALIAS and name != title_name(passage.title):
            continue
        if name[1:] not in text:
            continue
        # "Paris" inside a link to "Paris Saint-Germain" is not Paris.
        free = [
            (start, end)
            for start, end in spans(text, name)
            if not any(
                begin <= start and end <= stop and (begin, stop) != (start, end) for begin, stop in linked
            )
        ]
        if free:
            start, end = free[0]
            return Mention(" ".join(text[start:end].split()), page)
    if begins_with_pronoun(text, passage.anaphors):
        return Mention(title_name(passage.title), page, pronoun=True)
    return None


def _is_name(surface: str, names: Iterable[str]) -> bool:
    return any(names_title(surface, name) for name in names)


def _capitalised(text: str, titles: Titles) -> Iterator[str]:
    """The longest runs of words that begin with a capital and are a title, from the left."""
    words = [match.span() for match in _WORD.finditer(text)]
    at = 0
    while at < len(words):
        end = at
        if text[words[at][0]].isupper():
            for size in range(min(_LONGEST, len(words) - at), 0, -1):
                surface = text[words[at][0] : words[at + size - 1][1]]
                if _may_be_a_name(surface, size) and titles.entity(surface) is not None:
                    yield surface
                    end = at + size - 1
                    break
        at = end + 1


def _may_be_a_name(surface: str, size: int) -> bool:
    parts = surface.split()
    if len(parts) != size:  # something other than a space stands between two words
        return "," in surface and size > 1 and all(part[:1].isupper() for part in parts)
    if size == 1:
        return surface not in _OPENERS and len(surface) >= _SHORTEST_ALIAS
    return (
        parts[-1][:1].isalnum()
        and (parts[-1][:1].isupper() or parts[-1][:1].isdigit())
        and all(part[:1].isupper() or part[:1].isdigit() or part in _INSIDE for part in parts)
    )
