"""Which sentence states a triplet: it holds subject and object by name, or the pronoun rule applies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from leadline.build.extract.names import holds, holds_both, names_title
from leadline.build.extract.pronouns import ANY, Anaphors, begins_with_pronoun, class_words, own_pronouns
from leadline.build.records import Article, Sentence, Support, Triplet

Way = Literal["named", "pronoun"]


def way_stated(sentence: str, one: Triplet, title: str, anaphors: Anaphors = ANY) -> Way | None:
    """How `sentence` of the page called `title` can state a triplet; None where it cannot.

    named: subject and object both stand in it, at places that do not overlap. pronoun: the object stands in
    it, the subject is what the page is about, and the sentence begins with one of `anaphors` (see
    `anaphors_of`).
    """
    if holds_both(sentence, one.subject, one.object):
        return "named"
    if (
        names_title(one.subject, title)
        and begins_with_pronoun(sentence, anaphors)
        and holds(sentence, one.object)
    ):
        return "pronoun"
    return None


def anaphors_of(article: Article) -> Anaphors:
    """What stands for the page's subject: its own pronouns, and what its first sentence says it is."""
    first = article.said(article.sentences[0]) if article.sentences else article.text.partition("\n")[0]
    sound = (article.said(sentence) for sentence in article.sentences if not sentence.damage)
    return Anaphors(own_pronouns(sound), class_words(first))


def supports(
    article: Article, sentences: tuple[Sentence, ...], one: Triplet, anaphors: Anaphors
) -> Iterator[Support]:
    """The sentences, of those given, that can state the triplet, in order."""
    for sentence in sentences:
        said = article.said(sentence)
        way = way_stated(said, one, article.title, anaphors)
        if way is not None:
            yield Support(sentence=said.strip(), start=_start(said, sentence), pronoun=way == "pronoun")


def why_none(article: Article, text: str, one: Triplet, anaphors: Anaphors) -> str:
    """Why no sentence states the triplet, for whoever reads the drop. `text` is what the extractor saw."""
    damaged = (article.said(sentence) for sentence in article.sentences if sentence.damage)
    if any(way_stated(said, one, article.title, anaphors) for said in damaged):
        return "only in a damaged sentence"
    names = (("subject", one.subject), ("object", one.object))
    missing = [part for part, name in names if not holds(text, name)]
    if missing:
        return f"{' and '.join(missing)} not in the text"
    return "subject and object in no sentence together"


def _start(said: str, sentence: Sentence) -> int:
    return sentence.start + len(said) - len(said.lstrip())
