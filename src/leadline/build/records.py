"""What the stages of a build hand to each other: articles, what an extractor says, and candidate facts."""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict

Kind = Literal["entity", "date", "quantity", "string", "unknown"]
Tier = Literal["exact", "normalised", "stripped"]

_FROZEN = ConfigDict(frozen=True, extra="forbid")


class Sentence(BaseModel):
    """Where a sentence stands in its article's text: characters `start` to `end`, the end not included.

    `damage` says why it may not be what a reader of the page sees ("template", "markup", "glued"): such a
    sentence is no evidence.
    """

    model_config = _FROZEN

    start: int
    end: int
    damage: tuple[str, ...] = ()


class Link(BaseModel):
    """A link to another page: characters `start` to `end` of the article's text, and the title it names."""

    model_config = _FROZEN

    start: int
    end: int
    target: str


class Article(BaseModel):
    """One page as plain text. `entity` is its Wikidata id where the input says one."""

    model_config = _FROZEN

    id: str
    title: str
    text: str
    sentences: tuple[Sentence, ...] = ()
    links: tuple[Link, ...] = ()
    entity: str | None = None
    revision: str = ""
    timestamp: str = ""

    def said(self, sentence: Sentence) -> str:
        """The text of one of its sentences."""
        return self.text[sentence.start : sentence.end]


class Triplet(BaseModel):
    """What an extractor reads off a text: names as they stand there, ids where the extractor knows them."""

    model_config = _FROZEN

    subject: str
    relation: str
    object: str
    subject_id: str | None = None
    relation_id: str | None = None
    object_id: str | None = None


class Support(BaseModel):
    """A sentence that a fact rests on.

    `pronoun`: its subject is a pronoun that stands for the page's title. Presence in the corpus is filled in
    by the last stages: the best `tier` (None: not found), how many `occurrences`, `documents` a sample of
    where, and whether the same triplet was extracted again from the sentence alone. `article` and `title`
    name the page it stands on where that is not the fact's own: a fact of several pages is one fact.
    """

    model_config = _FROZEN

    sentence: str
    start: int
    pronoun: bool = False
    tier: Tier | None = None
    occurrences: int = 0
    documents: tuple[str, ...] = ()
    again: bool | None = None
    article: str = ""
    title: str = ""


class Verdict(BaseModel):
    """What a classifier said when asked several times: the label of most answers (None: no single one)."""

    model_config = _FROZEN

    label: str | None
    votes: dict[str, int]
    asked: int

    @property
    def agreement(self) -> float:
        """Share of the answers asked for that say `label`, in [0, 1]; 0 without a label."""
        return self.votes.get(self.label, 0) / self.asked if self.label is not None and self.asked else 0.0


class Statement(BaseModel):
    """What Wikidata holds for subject and relation: how many values count, and how they were counted.

    `ever`: all values that ever held count, of every rank, and the question asks for them; else those of
    today. `rank` is the best there is; `ended` are statements that have ended, whether they count or not.
    """

    model_config = _FROZEN

    values: int
    rank: Literal["preferred", "normal", "none"]
    agrees: bool
    ended: int = 0
    deprecated: int = 0
    novalue: int = 0
    ever: bool = False


class Fact(BaseModel):
    """A candidate: one triplet of one article, with everything that the stages learn about it.

    `id` stays the same through all stages. Ids, names, domain, views and so on are None or empty until the
    stage that finds them out. `object_names` are the object's label and aliases: the valid answers.
    """

    model_config = _FROZEN

    id: str
    article: str
    title: str
    subject: str
    relation: str
    object: str
    extractor: str
    support: tuple[Support, ...] = ()
    subject_id: str | None = None
    relation_id: str | None = None
    object_id: str | None = None
    article_id: str | None = None  # the Wikidata id of the page
    kind: Kind = "unknown"
    subject_names: tuple[str, ...] = ()
    object_names: tuple[str, ...] = ()
    precision: str | None = None  # of a date: day, month, year, decade, century
    unit: str | None = None  # of a quantity: an id, or "1"
    domain: str | None = None
    domain_rule: str | None = None
    statement: Statement | None = None
    verdicts: dict[str, Verdict] = {}
    views: int | None = None
    bin: str | None = None  # head, torso, tail
    question: str | None = None
    asked: str | None = None  # the subject as the question names it
    answer: str | None = None
    aliases: tuple[str, ...] = ()  # other valid answers, as the benchmark has them
    answer_type: str | None = None
    answer_unit: str | None = None  # as an item's `unit`


class Drop(BaseModel):
    """A fact that a stage let go, and why: `reason` is a code of that stage, `detail` what a reader needs."""

    model_config = _FROZEN

    fact: Fact
    stage: str
    reason: str
    detail: str = ""


class DroppedPage(BaseModel):
    """A page that never became an article, and why."""

    model_config = _FROZEN

    id: str
    title: str
    reason: str
    detail: Annotated[str, BeforeValidator(lambda text: str(text)[:500])] = ""


def fact_id(article: str, subject: str, relation: str, object_: str) -> str:
    """The id of a fact: the same whatever the order of the work and the number of workers."""
    key = "\x1f".join((article, subject, relation, object_))
    return f"f-{hashlib.sha256(key.encode()).hexdigest()[:16]}"
