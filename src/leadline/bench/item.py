"""One question, with its gold answer, and optionally its window and the evidence for its label."""

from __future__ import annotations

import unicodedata
from typing import Annotated, Literal

from pydantic import AfterValidator, AliasChoices, BaseModel, ConfigDict, Field

AnswerType = Literal["text", "number", "date", "enum", "boolean"]

# Characters, not bytes. They stop a damaged file early; real items are far below them. A window is a whole
# document at most (2 million characters is about 700 printed pages); everything else is read by people.
MAX_CHARACTERS = {
    "id": 200,
    "question": 20_000,
    "answer": 2_000,
    "aliases": 2_000,  # each
    "category": 200,
    "task": 200,
    "subject": 2_000,
    "window": 2_000_000,
    "quote": 2_000_000,
    "source": 20_000,
}


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("is blank")
    return text


def _one_line(text: str) -> str:
    """Names end up in tables, file names and database keys: no control characters, no stray spaces."""
    if any(unicodedata.category(character) == "Cc" for character in text):
        raise ValueError("contains a control character (a tab, a line break, ...)")
    if text != text.strip():
        raise ValueError("begins or ends with a space")
    return text


NonBlank = Annotated[str, AfterValidator(_not_blank)]
Name = Annotated[str, AfterValidator(_one_line)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Evidence(_Frozen):
    """The validating quote of a label, and the source document that it comes from."""

    quote: NonBlank = Field(max_length=MAX_CHARACTERS["quote"])
    source: str = Field(default="", max_length=MAX_CHARACTERS["source"])


class Item(_Frozen):
    """One question as it is asked and judged.

    `category` may also be given as `domain`, and `task` as `relation`: the names that fact benchmarks use.
    Raises pydantic's ValidationError; files go through `load_benchmark`, which says file and line instead.
    """

    id: Annotated[Name, AfterValidator(_not_blank)] = Field(max_length=MAX_CHARACTERS["id"])
    question: NonBlank = Field(max_length=MAX_CHARACTERS["question"])
    answer: NonBlank = Field(max_length=MAX_CHARACTERS["answer"])
    aliases: tuple[Annotated[NonBlank, Field(max_length=MAX_CHARACTERS["aliases"])], ...] = ()
    answer_type: AnswerType = "text"
    category: Name = Field(
        default="",
        max_length=MAX_CHARACTERS["category"],
        validation_alias=AliasChoices("category", "domain"),
    )
    task: Name = Field(
        default="",
        max_length=MAX_CHARACTERS["task"],
        validation_alias=AliasChoices("task", "relation"),
    )
    subject: str | None = Field(default=None, max_length=MAX_CHARACTERS["subject"])
    window: str | None = Field(default=None, max_length=MAX_CHARACTERS["window"])
    evidence: tuple[Evidence, ...] = ()

    @property
    def valid_answers(self) -> tuple[str, ...]:
        """The gold answer, then its aliases, each once."""
        return tuple(dict.fromkeys((self.answer, *self.aliases)))


# Keys of an item in a file: the fields, and the second names of two of them.
SECOND_NAMES = {"domain": "category", "relation": "task"}
ITEM_KEYS = (*Item.model_fields, *SECOND_NAMES)
