"""From what an extractor says of an article to candidate facts, each with the sentences that it rests on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from leadline.build.extract.extractor import Extracted
from leadline.build.extract.names import composed
from leadline.build.extract.passages import Piece
from leadline.build.extract.support import anaphors_of, supports, why_none
from leadline.build.records import Article, Drop, Fact, Support, Triplet, fact_id

STAGE = "extract"
"""The reasons of this stage: empty (a part without a word), self (subject and object are the same name),
no-sentence (no sound sentence of what the extractor saw holds both, by name or by the pronoun rule)."""


@dataclass
class _Candidate:
    triplet: Triplet
    support: dict[int, Support] = field(default_factory=dict)
    seen: str = ""  # the text off which it was first read


def facts_of(
    article: Article, read: Iterable[tuple[Piece, Extracted]], extractor: str
) -> tuple[list[Fact], list[Drop]]:
    """The facts and the drops of one article, each triplet once, in the order in which they were first said.

    A triplet that several passages state has the sentences of all of them. Ids come from where they were
    first given.
    """
    anaphors = anaphors_of(article)
    found: dict[tuple[str, str, str], _Candidate] = {}
    for piece, extracted in read:
        for said in extracted.triplets:
            one = _tidy(said)
            key = (one.subject, one.relation, one.object)
            candidate = found.setdefault(key, _Candidate(one, seen=piece.passage.text))
            candidate.triplet = _with_ids(candidate.triplet, one)
            if not all(key) or _same(one):
                continue
            for support in supports(article, piece.sentences, one, anaphors):
                candidate.support.setdefault(support.start, support)
    facts: list[Fact] = []
    drops: list[Drop] = []
    for candidate in found.values():
        fact = _fact(article, candidate, extractor)
        one = candidate.triplet
        if not (one.subject and one.relation and one.object):
            drops.append(Drop(fact=fact, stage=STAGE, reason="empty"))
        elif _same(one):
            drops.append(Drop(fact=fact, stage=STAGE, reason="self"))
        elif not fact.support:
            why = why_none(article, candidate.seen, one, anaphors)
            drops.append(Drop(fact=fact, stage=STAGE, reason="no-sentence", detail=why))
        else:
            facts.append(fact)
    return facts, drops


def _fact(article: Article, candidate: _Candidate, extractor: str) -> Fact:
    one = candidate.triplet
    return Fact(
        id=fact_id(article.id, one.subject, one.relation, one.object),
        article=article.id,
        title=article.title,
        subject=one.subject,
        relation=one.relation,
        object=one.object,
        extractor=extractor,
        support=tuple(candidate.support[start] for start in sorted(candidate.support)),
        subject_id=one.subject_id,
        relation_id=one.relation_id,
        object_id=one.object_id,
        article_id=article.entity,
    )


def _tidy(one: Triplet) -> Triplet:
    return one.model_copy(
        update={
            "subject": " ".join(composed(one.subject).split()),
            "relation": " ".join(one.relation.split()),
            "object": " ".join(composed(one.object).split()),
        }
    )


def _with_ids(one: Triplet, other: Triplet) -> Triplet:
    return one.model_copy(
        update={
            "subject_id": one.subject_id or other.subject_id,
            "relation_id": one.relation_id or other.relation_id,
            "object_id": one.object_id or other.object_id,
        }
    )


def _same(one: Triplet) -> bool:
    if one.subject_id and one.object_id:
        return one.subject_id == one.object_id
    return one.subject.casefold() == one.object.casefold()
