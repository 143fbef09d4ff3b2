"""Whether a triplet is extracted again from a supporting sentence alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from leadline.build.extract.extractor import Extractor, Passage, make_extractor
from leadline.build.link.literals import read_date, read_quantity
from leadline.build.plan import Plan
from leadline.build.records import Fact, Support, Triplet
from leadline.build.workspace import Workspace

_PRONOUNS = frozenset({"he", "she", "it", "they"})


@dataclass(frozen=True)
class Question:
    """Facts of a batch, each with the sentences to read again, by their places in `fact.support`."""

    number: int
    asked: tuple[tuple[Fact, tuple[int, ...]], ...]


def ready(shared: tuple[Plan, Workspace]) -> Extractor:
    """The extractor, once in each worker."""
    return make_extractor(*shared)


def read_again(extractor: Extractor, question: Question) -> list[dict[int, bool]]:
    """For each fact: place of the sentence to whether the fact's triplet was read off it again."""
    passages = [
        Passage(_page(fact, fact.support[place]), fact.support[place].sentence)
        for fact, places in question.asked
        for place in places
    ]
    said: Iterator[list[Triplet]] = iter(extractor.extract(passages))
    return [
        {place: any(same_triplet(one, fact, fact.support[place]) for one in next(said)) for place in places}
        for fact, places in question.asked
    ]


def same_triplet(one: Triplet, fact: Fact, support: Support) -> bool:
    """Whether a triplet says what a fact says: relation, subject and object have the same id or name.

    Names are compared without case and are those of the text, labels and aliases; dates and quantities as
    what they mean. Where a sentence names its subject by a pronoun, the page's title or the pronoun will do.
    """
    names = {fact.subject, *fact.subject_names}
    if support.pronoun:
        names |= {_page(fact, support), *_PRONOUNS}
    return (
        _same(one.relation, one.relation_id, fact.relation_id, {fact.relation})
        and _same(one.subject, one.subject_id, fact.subject_id, names)
        and (
            _same(one.object, one.object_id, fact.object_id, {fact.object, *fact.object_names})
            or _same_literal(one.object, fact)
        )
    )


def _page(fact: Fact, support: Support) -> str:
    """The title of the page that the sentence is from: a merged fact has sentences of several pages."""
    return support.title or fact.title


def _same(name: str, known: str | None, wanted: str | None, names: set[str]) -> bool:
    if known is not None and known == wanted:
        return True
    return _plain(name) in {_plain(other) for other in names}


def _plain(name: str) -> str:
    return " ".join(name.split()).casefold()


def _same_literal(name: str, fact: Fact) -> bool:
    read: Any = {"date": read_date, "quantity": read_quantity}.get(fact.kind)
    if read is None:
        return False
    mine, other = read(fact.object), read(name)
    return mine is not None and mine == other


def batches(asked: Sequence[tuple[Fact, tuple[int, ...]]], size: int) -> list[Question]:
    """Facts in batches that do not depend on who reads them."""
    return [
        Question(number, tuple(asked[begin : begin + size]))
        for number, begin in enumerate(range(0, len(asked), size))
    ]
