"""How an answer is written and compared: what an item, or its whole task, declares about its answers."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

AnswerType = Literal["text", "number", "date", "enum", "boolean", "parts"]
DateOrder = Literal["dmy", "mdy", "ymd"]


class _Frozen(BaseModel):
    """Whatever may be left out may also be null, which says the same."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _null_says_nothing(cls, values: Any) -> Any:
        if not isinstance(values, Mapping):
            return values
        known = cls.model_fields
        return {
            name: value
            for name, value in values.items()
            if value is not None or name not in known or known[name].is_required()
        }


class Term(_Frozen):
    """One value of a vocabulary, and the other words that mean it."""

    value: str = Field(min_length=1, max_length=200)
    synonyms: tuple[Annotated[str, Field(min_length=1, max_length=200)], ...] = ()


def _terms(written: object) -> object:
    """Short forms of a vocabulary: a list of words, or each value with its synonyms."""
    if isinstance(written, Mapping):
        return tuple({"value": value, "synonyms": _words(others)} for value, others in written.items())
    if isinstance(written, (list, tuple)):
        return tuple({"value": entry} if isinstance(entry, str) else entry for entry in written)
    return written


def _words(written: object) -> object:
    if written is None:
        return ()
    return (written,) if isinstance(written, str) else written


def _each_word_once(vocabulary: tuple[Term, ...]) -> tuple[Term, ...]:
    first: dict[str, Term] = {}
    for term in vocabulary:
        for word in (term.value, *term.synonyms):
            if (other := first.setdefault(word.casefold(), term)) is not term:
                twice = (
                    f"both {other.value!r} and {term.value!r}" if other.value != term.value else "two values"
                )
                raise ValueError(f"uses the word {word!r} for {twice}")
    return vocabulary


@lru_cache(maxsize=256)
def _is_locale(name: str) -> bool:
    from babel import Locale, UnknownLocaleError

    try:
        Locale.parse(name.replace("-", "_"))
    except (UnknownLocaleError, ValueError):
        return False
    return True


def _known_locale(name: str) -> str:
    if not _is_locale(name):
        raise ValueError(f"{name!r} is no locale that is known: a language and a country, such as de-DE")
    return name


def _in_shortest_digits(step: Decimal) -> Decimal:
    """0.10 and 0.1 are one step, and 100 is not written 1E+2."""
    step = step.normalize()
    return step.quantize(Decimal(1)) if step == step.to_integral_value() and step < 10**27 else step


Vocabulary = Annotated[tuple[Term, ...], BeforeValidator(_terms), AfterValidator(_each_word_once)]
Step = Annotated[
    Decimal, Field(gt=0, allow_inf_nan=False, max_digits=25), AfterValidator(_in_shortest_digits)
]


class AnswerForm(_Frozen):
    """What may be declared about answers; all of it is optional.

    `unit` is what numbers are counted in ("percent", "USD", "day"); compatible units are converted to it.
    `precision` is a step: two numbers are the same when they round to the same multiple of it. `vocabulary`
    is the values of an enum, also accepted as a list of words or as {value: [synonyms]}. `locale` ("en-US",
    "de-DE") decides what separators in numbers mean, and `date_order` which of 5/6/2020 is the day; without
    them, ambiguous dates are not read.
    """

    unit: str | None = Field(default=None, max_length=100)
    precision: Step | None = None
    vocabulary: Vocabulary = ()
    locale: Annotated[str, Field(max_length=20), AfterValidator(_known_locale)] | None = None
    date_order: DateOrder | None = None


class Part(AnswerForm):
    """One field of an answer that has several: a name, and how its value is read."""

    name: str = Field(min_length=1, max_length=200)
    answer_type: Literal["text", "number", "date", "enum", "boolean"] = "text"
