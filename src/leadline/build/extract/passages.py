"""Cuts an article into what an extractor is shown: sentences, passages, or the whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from leadline.build.extract.extractor import Passage, Unit
from leadline.build.extract.support import anaphors_of
from leadline.build.records import Article, Link, Sentence


@dataclass(frozen=True)
class Piece:
    """A passage, and the sentences in it that may be evidence."""

    passage: Passage
    sentences: tuple[Sentence, ...]


def words_for(tokens: int) -> int:
    """How many words of a passage fit into so many tokens of a model's vocabulary.

    Encyclopedic English has about 1.4 tokens a word in BART's vocabulary, more where it is full of foreign
    names; with 0.6 words a token, few passages are longer than the model takes.
    """
    return max(1, int(tokens * 0.6))


def pieces(article: Article, unit: Unit, words: int) -> Iterator[Piece]:
    """The pieces of an article, in order.

    A damaged sentence is in no sentence or passage: what is not as readers see it is neither evidence nor
    context. A passage is as many sentences of one paragraph as have `words` words together, at the least one,
    so that a pronoun stands with what it means; it never goes over a paragraph's end.
    """
    sound = [one for one in article.sentences if not one.damage and article.said(one).strip()]
    if unit == "article":
        spans = tuple((one.start, one.end) for one in sound)
        links = _links(article, 0, len(article.text))
        passage = Passage(
            article.title, article.text, article.id, 0, article.entity, links, spans, anaphors_of(article)
        )
        yield Piece(passage, tuple(sound))
        return
    anaphors = anaphors_of(article)
    groups = ([one] for one in sound) if unit == "sentence" else _groups(article, words)
    for group in groups:
        start, end = group[0].start, group[-1].end
        yield Piece(
            Passage(
                article.title,
                article.text[start:end],
                article.id,
                start,
                article.entity,
                _links(article, start, end),
                tuple((one.start - start, one.end - start) for one in group),
                anaphors,
            ),
            tuple(group),
        )


def _groups(article: Article, words: int) -> Iterable[list[Sentence]]:
    group: list[Sentence] = []
    held = 0
    for one in article.sentences:
        size = len(article.said(one).split())
        apart = bool(group) and "\n" in article.text[group[-1].end - 1 : one.start + 1]
        if group and (one.damage or apart or held + size > words):
            yield group
            group, held = [], 0
        if size and not one.damage:
            group.append(one)
            held += size
    if group:
        yield group


def _links(article: Article, start: int, end: int) -> tuple[Link, ...] | None:
    """The links in a stretch of the text, counted from its start; None where the article knows of no link."""
    if not article.links:
        return None
    return tuple(
        Link(start=one.start - start, end=one.end - start, target=one.target)
        for one in article.links
        if start <= one.start and one.end <= end
    )
