"""Templates of questions, by property: a YAML file, checked line by line."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from leadline.bench.complaint import complaint
from leadline.bench.problem import did_you_mean, shortened
from leadline.bench.yaml_lines import YamlFault, compose, compose_text, faults, follow, plain
from leadline.build.plan import Plan
from leadline.build.plan_file import file_of
from leadline.build.records import Kind
from leadline.errors import UsageError

SUBJECT = "[X]"
PACKAGED = "templates.yaml"
_PLACEHOLDER = re.compile(r"\[[^\]]*\]")
_PROPERTY = re.compile(r"P[1-9][0-9]*")
_CLASS = re.compile(r"Q[1-9][0-9]*")
_LONGEST = 500


def _asks(text: str) -> str:
    text = text.strip()
    if SUBJECT not in text:
        raise ValueError(f"has no {SUBJECT} for the subject")
    if other := next((found for found in _PLACEHOLDER.findall(text) if found != SUBJECT), ""):
        raise ValueError(f"has {other}, and only {SUBJECT} is filled in")
    if not any(mark in text for mark in "?？؟;՞"):
        raise ValueError("has no question mark")
    if len(text) > _LONGEST or not text.isprintable():
        raise ValueError(f"is not one line of at most {_LONGEST} characters")
    return text


def _is_class(name: str) -> str:
    if not _CLASS.fullmatch(name):
        raise ValueError(f"is no id of a class: {name!r}")
    return name


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


_Question = Annotated[str, AfterValidator(_asks)]


class Variant(BaseModel):
    """A question for a property, and when it is asked: `when` is classes that the subject is of.

    `question` asks for what is so today, `ever` for what ever was; one of them is enough, and is then asked
    of any subject.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: _Question | None = None
    ever: _Question | None = None
    kind: Literal["entity", "date", "quantity", "string"] | None = None
    precision: Literal["day", "month", "year"] | None = None
    when: Annotated[tuple[Annotated[str, AfterValidator(_is_class)], ...], BeforeValidator(_as_list)] = ()

    @model_validator(mode="after")
    def _asks_something(self) -> Variant:
        if not (self.question or self.ever):
            raise ValueError("has neither 'question' nor 'ever'")
        return self

    def asks(self, *, ever: bool) -> str:
        """The question for today, or for all times; the other one where that is lacking."""
        forms = (self.ever, self.question) if ever else (self.question, self.ever)
        return forms[0] or forms[1] or ""

    def fits(self, kind: Kind, precision: str | None, classes: Iterable[str]) -> bool:
        """Whether it asks for such an answer about such a subject."""
        if self.kind is not None and self.kind != ("entity" if kind == "unknown" else kind):
            return False
        if self.precision is not None and self.precision != precision:
            return False
        return not self.when or not set(self.when).isdisjoint(classes)


def _as_variants(said: Any) -> Any:
    """A question alone, one variant, or a list of variants."""
    if isinstance(said, str):
        return ({"question": said},)
    if isinstance(said, Mapping):
        return (said,)
    if isinstance(said, list):
        return tuple({"question": one} if isinstance(one, str) else one for one in said)
    return said


_FILE = TypeAdapter(dict[str, Annotated[tuple[Variant, ...], BeforeValidator(_as_variants)]])


@dataclass(frozen=True)
class Templates:
    """Variants by property id, in the order of the file."""

    by_property: Mapping[str, tuple[Variant, ...]]

    def question(
        self,
        relation: str | None,
        kind: Kind,
        precision: str | None = None,
        classes: Iterable[str] = (),
        *,
        ever: bool = False,
    ) -> str | None:
        """The first template that fits, in its form for today or for all times; None where there is none.

        >>> packaged_templates().question("P36", "entity")
        'What is the capital of [X]?'
        >>> packaged_templates().question("P36", "entity", ever=True)
        'What is or was the capital of [X]?'
        """
        classes = tuple(classes)
        for variant in self.by_property.get(relation or "", ()):
            if variant.fits(kind, precision, classes):
                return variant.asks(ever=ever)
        return None

    def of_all_times(self, relation: str | None, *, past: bool) -> bool:
        """Whether all values that ever held are right answers to what is asked of a relation.

        `past`: the question is about the past if it can be, as the subject is over. A relation whose only
        question is for all times is asked in no other way; one without such a question never asks for them.

        >>> templates = packaged_templates()
        >>> [templates.of_all_times("P36", past=past) for past in (False, True)]  # capital
        [False, True]
        >>> [templates.of_all_times("P69", past=past) for past in (False, True)]  # educated at
        [True, True]
        >>> [templates.of_all_times("P569", past=past) for past in (False, True)]  # date of birth
        [False, False]
        """
        variants = self.by_property.get(relation or "", ())
        if any(one.question is None for one in variants):
            return True
        return past and (not variants or any(one.ever for one in variants))


def templates_of(plan: Plan) -> Templates:
    """The templates of the plan's file, or the packaged ones. Raises UsageError as `read_templates` does."""
    path = file_of(plan, "questions", "templates")
    return read_templates(path) if path else packaged_templates()


def packaged_templates() -> Templates:
    """The templates that come with the package."""
    text = files("leadline.build").joinpath("data", PACKAGED).read_text("utf-8")
    return Templates(_FILE.validate_python(plain(compose_text(text))))


def read_templates(path: Path) -> Templates:
    """The templates of a file. Raises UsageError with file and line at the first fault."""
    try:
        node = compose(path)
        for fault in faults(node):
            raise fault
        said = plain(node)
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from None
    except YamlFault as fault:
        raise UsageError(fault.message, where=fault.where(path), fix=fault.fix or None) from None
    for name in said:
        if not (isinstance(name, str) and _PROPERTY.fullmatch(name)):
            where = f"{path}:{follow(node, (str(name),))[0]}"
            raise UsageError(f"not a property's id: {shortened(str(name))}", where=where, fix="such as P36")
        if not said[name]:
            where = f"{path}:{follow(node, (name,))[0]}"
            raise UsageError(f"{name}: no question", where=where, fix=f'{name}: "Who is {SUBJECT}?"')
    try:
        return Templates(_FILE.validate_python(said))
    except ValidationError as error:
        errors = error.errors(include_url=False)
        # A misspelt key also shows as a missing one, and only the former explains it.
        first = next((one for one in errors if one["type"] == "extra_forbidden"), errors[0])
        location = _in_the_file(first["loc"], said)
        line, written = follow(node, location)
        raise UsageError(_sentence(first, location, written), where=f"{path}:{line}") from None


def _in_the_file(location: Sequence[Hashable], said: Mapping[str, Any]) -> tuple[Hashable, ...]:
    """Where a fault stands: a variant that is written without a list has no number there."""
    name, *rest = location
    if rest and not isinstance(said[str(name)], list):
        rest = rest[1:]
    return (name, *rest)


def _sentence(error: Any, location: Sequence[Hashable], written: Sequence[Hashable]) -> str:
    """What is wrong; `written` is the part of its place that stands in the file."""
    place = ".".join(str(part) for part in written if not isinstance(part, int))
    if error["type"] == "extra_forbidden":
        known = list(Variant.model_fields)
        hint = did_you_mean(str(location[-1]), known, otherwise=f"known keys: {', '.join(known)}")
        return f"{location[0]}: unknown key {shortened(str(location[-1]))}; {hint}"
    if error["type"] == "missing":
        return f"{location[0]}: the key {str(location[-1])!r} is missing"
    return f"{place}: {complaint(error)[0]}"
