"""Lets go facts in which subject and object share a word: "Guatemala City" is the capital of Guatemala."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Literal

from leadline.build.filters.name_words import Stem, folded, has_stemmer, stemmer, unspaced, words
from leadline.build.plan import Plan
from leadline.build.records import Drop, Fact
from leadline.build.stage import FactStage, Job

Rule = Literal["tokens", "stems"]
# Of words that begin alike: the shorter one has so many letters at least.
_PREFIX = 4


def shared(subject: str, object_: str, rule: Rule = "stems", stem: Stem = str) -> str | None:
    """What two names have in common, in words for a reader; None where they share nothing.

    `tokens`: a word (`name_words.words`). `stems`: also the stem of a word, and a word of at least four
    letters that another begins with ("Penn", "Pennsylvania"; "Japan", "Japanese"). Under both, of names in
    scripts without spaces, one of two characters or more that stands in the other.

    >>> shared("Guatemala", "Guatemala City")
    'guatemala'
    >>> shared("Aruba", "Oranjestad") is None
    True
    """
    ours, theirs = words(subject), words(object_)
    if common := ours & theirs:
        return min(common)
    if unspaced(subject) and unspaced(object_) and (inside := _inside(folded(subject), folded(object_))):
        return inside
    if rule == "tokens":
        return None
    stems = {stem(word): word for word in sorted(ours)}
    for word in sorted(theirs):
        if (other := stems.get(stem(word))) is not None:
            return f"{other}/{word}"
    for one in sorted(ours):
        for other in sorted(theirs):
            if min(len(one), len(other)) >= _PREFIX and (one.startswith(other) or other.startswith(one)):
                return f"{one}/{other}"
    return None


def _inside(one: str, other: str) -> str | None:
    shorter, longer = sorted(
        ("".join(one.split()), "".join(other.split())), key=lambda name: (len(name), name)
    )
    return shorter if len(shorter) > 1 and shorter in longer else None


class OverlapStage(FactStage):
    """Reason `overlap`: the detail names what is shared, and by which of the names.

    Compared are the labels that a question and its answer are made of, and the names that stood in the text.
    With `overlap_aliases` an alias of the object counts as well: an answer that only an alias gives away.
    """

    name: ClassVar[str] = "overlap"

    def settings(self, plan: Plan) -> object:
        """The rule, the language of the stemmer, and whether aliases count."""
        return [plan.filter.overlap, plan.articles.language, plan.filter.overlap_aliases]

    def wanted(self, plan: Plan) -> bool:
        """Unless it is off."""
        return plan.filter.overlap != "off"

    def judge(self, job: Job, facts: Iterable[Fact]) -> Iterator[Fact | Drop]:
        """Names of the subject against names of the object."""
        rule, language = job.plan.filter.overlap, job.plan.articles.language
        if rule == "off":
            yield from facts
            return
        if rule == "stems" and not has_stemmer(language):
            job.progress.note(
                f"overlap: there is no stemmer for {language!r}; words are compared as they stand"
            )
        stem = stemmer(language) if rule == "stems" else str
        for fact in facts:
            detail = _detail(fact, rule, stem, job.plan.filter.overlap_aliases)
            yield fact if detail is None else self.drop(fact, "overlap", detail)


def _detail(fact: Fact, rule: Rule, stem: Stem, aliases: bool) -> str | None:
    subjects = _names(fact.subject_names, fact.subject)
    objects = _names(fact.object_names, fact.object)
    for subject in subjects:
        for object_ in objects:
            if found := shared(subject, object_, rule, stem):
                return f"{found}: {subject} and {object_}"
    for alias in fact.object_names[1:] if aliases else ():
        if found := shared(subjects[0], alias, rule, stem):
            return f"alias: {found}: {subjects[0]} and {alias}"
    return None


def _names(known: Sequence[str], said: str) -> tuple[str, ...]:
    """The label, where there is one, and the name that stood in the text."""
    return tuple(dict.fromkeys((*known[:1], said)))
