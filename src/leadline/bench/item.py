"""One question, with its gold answer, and optionally its window and the evidence for its label."""

from __future__ import annotations

import unicodedata
from typing import Annotated

from pydantic import AfterValidator, AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

from leadline.bench.answer_form import AnswerForm, AnswerType, Part

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
    "prompt": 200_000,
}


def _not_blank(text: str) -> str:
    if not text or text.isspace():
        raise ValueError("is blank")
    return text


def _one_line(text: str) -> str:
    """Names end up in tables, file names and database keys: no control characters, no stray spaces."""
    if any(unicodedata.category(character) == "Cc" for character in text):
        raise ValueError("contains a control character (a tab, a line break, ...)")
    if text != text.strip():
        raise ValueError("begins or ends with a space")
    return text


def _null_as_empty(text: object) -> object:
    return "" if text is None else text


def _holds_text(window: str) -> str:
    if not window:
        raise ValueError("has length zero: there is nothing to show")
    return _not_blank(window)


NonBlank = Annotated[str, AfterValidator(_not_blank)]
Name = Annotated[str, AfterValidator(_one_line)]


class Evidence(BaseModel):
    """The validating quote of a label, and the source document that it comes from."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    quote: NonBlank = Field(max_length=MAX_CHARACTERS["quote"])
    source: Annotated[str, BeforeValidator(_null_as_empty)] = Field(
        default="", max_length=MAX_CHARACTERS["source"]
    )


class Item(AnswerForm):
    """One question as it is asked and judged; `AnswerForm` says how its answers are read.

    `answer` is text whatever its type; of a `parts` item it is the JSON text of an object with the names of
    `fields`. `source` is where the evidence comes from unless a piece of evidence says otherwise: a URL, or
    a name within the benchmark's folder of sources. `prompt` is a template that takes the packaged prompt's
    place. `category` may also be given as `domain`, and `task` as `relation`: the names that fact benchmarks
    use. Raises pydantic's ValidationError; files go through `load_benchmark`, which says file and line.
    """

    id: Annotated[Name, AfterValidator(_not_blank)] = Field(max_length=MAX_CHARACTERS["id"])
    question: NonBlank = Field(max_length=MAX_CHARACTERS["question"])
    answer: NonBlank = Field(max_length=MAX_CHARACTERS["answer"])
    aliases: tuple[Annotated[NonBlank, Field(max_length=MAX_CHARACTERS["aliases"])], ...] = ()
    answer_type: AnswerType = "text"
    fields: tuple[Part, ...] = ()
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
    window: Annotated[str, AfterValidator(_holds_text)] | None = Field(
        default=None, max_length=MAX_CHARACTERS["window"]
    )
    evidence: tuple[Evidence, ...] = ()
    source: str = Field(default="", max_length=MAX_CHARACTERS["source"])
    prompt: NonBlank | None = Field(default=None, max_length=MAX_CHARACTERS["prompt"])

    @property
    def valid_answers(self) -> tuple[str, ...]:
        """The gold answer, then its aliases, each once."""
        return tuple(dict.fromkeys((self.answer, *self.aliases)))


# Keys of an item in a file: the fields, and the second names of two of them.
SECOND_NAMES = {"domain": "category", "relation": "task"}
_FORM = tuple(AnswerForm.model_fields)
ITEM_KEYS = (*(name for name in Item.model_fields if name not in _FORM), *_FORM, *SECOND_NAMES)
