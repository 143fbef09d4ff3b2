"""How an answer is written and compared: what an item, or its whole task, declares about its answers."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

AnswerType = Literal["text", "number", "date", "enum", "boolean", "parts"]
DateOrder = Literal["dmy", "mdy", "ymd"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Term(_Frozen):
    """One value of a vocabulary, and the other words that mean it."""

    value: str = Field(min_length=1, max_length=200)
    synonyms: tuple[Annotated[str, Field(min_length=1, max_length=200)], ...] = ()


class AnswerForm(_Frozen):
    """What may be declared about answers; all of it is optional.

    `unit` is what numbers are counted in ("percent", "USD", "day"); compatible units are converted to it.
    `precision` is a step: two numbers are the same when they round to the same multiple of it. `vocabulary`
    is the values of an enum. `locale` ("en-US", "de-DE") decides what separators in numbers mean, and
    `date_order` which of 5/6/2020 is the day; without them, ambiguous dates are not read.
    """

    unit: str | None = Field(default=None, max_length=100)
    precision: Decimal | None = Field(default=None, gt=0, allow_inf_nan=False, max_digits=40)
    vocabulary: tuple[Term, ...] = ()
    locale: str | None = Field(default=None, max_length=20, pattern=r"^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*$")
    date_order: DateOrder | None = None


class Part(AnswerForm):
    """One field of an answer that has several: a name, and how its value is read."""

    name: str = Field(min_length=1, max_length=200)
    answer_type: Literal["text", "number", "date", "enum", "boolean"] = "text"
