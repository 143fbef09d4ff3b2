"""What reads triplets off passages, whatever it is: one interface."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from leadline.build.extract.pronouns import ANY, Anaphors
from leadline.build.plan import Plan
from leadline.build.records import Link, Triplet
from leadline.build.workspace import Workspace

Unit = Literal["sentence", "passage", "article"]
"""What an extractor wants to be shown.

sentence: one at a time, for one that reads nothing else. passage: sentences of a paragraph that stand
together, since a model resolves "he" and "the album" with what stands before. article: the whole text.
"""


@dataclass(frozen=True)
class Passage:
    """A text to read: one or several sentences of the page called `title`.

    `article` is the page's id and `start` the place of `text` in it, where there is a page. `entity` is the
    page's Wikidata id. `links` are those of the passage, places counted from its start; None where nobody
    knows of links, as in a sentence out of a corpus. `sentences` are places of its sentences, if known, and
    `anaphors` what stands for the page's subject; any pronoun where there is no page.
    """

    title: str
    text: str
    article: str = ""
    start: int = 0
    entity: str | None = None
    links: tuple[Link, ...] | None = None
    sentences: tuple[tuple[int, int], ...] = ()
    anaphors: Anaphors = ANY


@dataclass(frozen=True)
class Extracted:
    """What was read off one passage.

    `faults` counts pieces of the answer that gave no triplet, by code. `note` says that the passage was not
    read as it should be: "truncated" (longer than the model takes), "unrecorded", "failed" (no answer).
    """

    triplets: tuple[Triplet, ...] = ()
    faults: Mapping[str, int] = field(default_factory=dict)
    note: str = ""


class Extractor(ABC):
    """Reads triplets off passages.

    The same passages in the same order give the same results. `name` says by what: it stands in each fact.
    """

    name: str
    unit: Unit = "passage"

    @abstractmethod
    def read(self, passages: Sequence[Passage]) -> list[Extracted]:
        """What each passage states, in the order of the passages."""

    def extract(self, passages: Sequence[Passage]) -> list[list[Triplet]]:
        """The triplets alone."""
        return [list(one.triplets) for one in self.read(passages)]

    def close(self) -> None:  # noqa: B027
        """Let go of files, connections and models; most have nothing to do."""


def make_extractor(plan: Plan, work: Workspace) -> Extractor:
    """The extractor that the plan asks for, loaded: a model, recorded files, or an index.

    Raises UsageError where the plan lacks what it needs, and whatever loading a model raises.
    """
    if plan.extract.method == "rebel":
        from leadline.build.extract.rebel import rebel_extractor

        return rebel_extractor(plan)
    if plan.extract.method == "recorded":
        from leadline.build.extract.recorded import recorded_extractor

        return recorded_extractor(plan)
    if plan.extract.method == "chat":
        from leadline.build.extract.chat import chat_extractor

        return chat_extractor(plan)
    from leadline.build.extract.distant import distant_extractor

    return distant_extractor(plan, work)
