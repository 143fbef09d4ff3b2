"""A prediction, written down before the answers that decide it exist, and stamped with a hash of itself."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from leadline.bench.problem import shortened
from leadline.errors import LeadlineError, UsageError
from leadline.ordinary_file import opened

SCHEMA = "leadline.registration/1"
STAMP = "sha256"
_MAX_BYTES = 64 * 2**20

Statistic = Literal["wobble", "dispersion", "accuracy", "response_rate"]
Comparison = Literal["value", "groups", "paired"]
Sameness = Literal["default", "exact", "declared", "rounding"]


def _one_line(text: str) -> str:
    if len(text.splitlines()) > 1:
        raise ValueError("must be one line; what is longer is a hypothesis")
    return text


Title = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300), AfterValidator(_one_line)
]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Prediction(_Frozen):
    """What is said beforehand: a statistic will lie strictly below, or strictly above, a threshold.

    `comparison`: `value` is the statistic itself; `groups` is items less other items of the same study;
    `paired` is the tested study less the reference study, over the same items. `decided_by` the value, or all
    of its intervals: then one that holds the threshold decides nothing. With fewer measured items than
    `minimum_items` nothing is decided. `sameness` is when two numbers are one answer (see `lenses.sameness`):
    by what each item declares (`default`), or by one rule for all. A cell (an item under one configuration
    of one model) with fewer readable answers than `minimum_readings` is left out. `exclusions` are further
    rules, in words.
    """

    title: Title
    hypothesis: str = Field(default="", max_length=100_000)
    statistic: Statistic
    comparison: Comparison = "value"
    direction: Literal["below", "above"]
    threshold: float = Field(ge=-1, le=1, allow_inf_nan=False)
    decided_by: Literal["value", "interval"] = "value"
    sameness: Sameness = "default"
    minimum_items: int = Field(default=1, ge=1)
    minimum_readings: int = Field(default=0, ge=0)
    exclusions: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _can_hold_and_can_fail(self) -> Self:
        lowest = 0.0 if self.comparison == "value" else -1.0
        least, most = (lowest, 1.0)
        if not least <= self.threshold <= most:
            raise ValueError(
                f"no {self.statistic} lies beyond {least:g} and {most:g}: this is decided already"
            )
        if self.threshold == (least if self.direction == "below" else most):
            raise ValueError(f"nothing lies {self.direction} {self.threshold:g}: this could never hold")
        return self

    @property
    def sentence(self) -> str:
        """Such as "wobble below 0.161"."""
        name = self.statistic.replace("_", " ")
        what = {
            "value": name,
            "groups": f"{name} of the items less that of the others",
            "paired": f"{name} of the tested study less that of the reference study",
        }[self.comparison]
        rule = "" if self.sameness == "default" else f", numbers compared by the rule {self.sameness!r},"
        return f"{what}{rule} {self.direction} {self.threshold:g}"


class RegisteredModel(_Frozen):
    """A model as the study names it; `digest` of its weights is None where they were not on this machine."""

    label: str
    ref: str
    dtype: str
    kind: str | None = None
    digest: str | None = None


class RegisteredConfiguration(_Frozen):
    """A way of answering. `identity` is the hash of everything that reaches a model, the model left out."""

    name: str
    technique: str
    identity: str
    samples: int = Field(ge=1)


class RegisteredBenchmark(_Frozen):
    """What is asked."""

    name: str
    version: str
    content_hash: str


class Arm(_Frozen):
    """One study, as far as it decides: who is asked what, and how answers are judged.

    `responses_before` of these items under these configurations: 0 for the study that is tested; those of a
    reference study are pinned by `responses_sha256`. `responses_elsewhere` were given to the same items under
    other configurations or by other models: they decide nothing, but whoever wrote the prediction may have
    seen them. `population` says what the study leaves out of its benchmark. `labels` is the content hash of
    the registered items as they are judged, where people's decisions correct a label of theirs.
    """

    study: str
    benchmark: RegisteredBenchmark
    population: str = ""
    labels: str = ""
    correctness: str
    models: tuple[RegisteredModel, ...] = Field(min_length=1)
    configurations: tuple[RegisteredConfiguration, ...] = Field(min_length=1)
    responses_before: int = 0
    responses_sha256: str | None = None
    responses_elsewhere: int = 0


class Registration(_Frozen):
    """The whole file. `items_sha256` is over the sorted ids, `sha256` over everything but itself."""

    schema_id: Literal["leadline.registration/1"] = Field(default="leadline.registration/1", alias="schema")
    registered: AwareDatetime
    leadline_version: str
    prediction: Prediction
    items: tuple[str, ...] = Field(min_length=1)
    items_sha256: str
    other_items: tuple[str, ...] = ()
    tested: Arm
    reference: Arm | None = None
    commit: str | None = None
    sha256: str = ""

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        comparison = self.prediction.comparison
        if (self.reference is not None) != (comparison == "paired"):
            raise ValueError("a paired comparison, and no other, has a reference study")
        if bool(self.other_items) != (comparison == "groups"):
            raise ValueError("a comparison of groups, and no other, has other_items")
        if len({*self.items, *self.other_items}) != len(self.items) + len(self.other_items):
            raise ValueError("an item is listed twice")
        if self.items_sha256 != items_hash(self.items, self.other_items):
            raise ValueError("items_sha256 is not that of the items")
        return self


def items_hash(items: tuple[str, ...], other: tuple[str, ...] = ()) -> str:
    """sha256 of the sorted ids, as "sha256:<hex>"; the order in which they are listed does not matter.

    >>> items_hash(("b", "a")) == items_hash(("a", "b"))
    True
    """
    return _digest([sorted(items), sorted(other)])


def stamp(content: dict[str, Any]) -> str:
    """sha256 over a registration's canonical JSON, without its own stamp."""
    return _digest({key: value for key, value in content.items() if key != STAMP})


def _digest(content: object) -> str:
    text = json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def write_registration(registration: Registration, path: Path) -> Registration:
    """Stamp it and write it to `path`, which must not exist: a registration is never changed."""
    content = registration.model_dump(mode="json", by_alias=True, exclude={"sha256"})
    content[STAMP] = stamp(content)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(json.dumps(content, ensure_ascii=False, indent=2) + "\n")
    except FileExistsError:
        raise UsageError(
            "there is a file already, and a registration is never replaced",
            where=str(path),
            fix="write the new one beside it: --out another-name.json",
        ) from None
    except OSError as error:
        raise LeadlineError(f"cannot be written: {error.strerror}", where=str(path)) from error
    return Registration.model_validate(content)


def read_registration(path: Path) -> Registration:
    """The registration in `path`, with its stamp verified.

    Raises UsageError for what is no registration, LeadlineError for one that was changed since.
    """
    content = _content(path)
    found = content.get("schema")
    if found != SCHEMA:
        raise UsageError(
            f"not a registration: its schema is {shortened(str(found))}, this version reads {SCHEMA!r}",
            where=str(path),
        )
    if content.get(STAMP) != stamp(content):
        raise LeadlineError(
            "no verdict: the file was changed after it was written, its own hash does not fit",
            where=str(path),
            fix="restore it as it was, from version control or a backup",
        )
    try:
        return Registration.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "registration"
        message = first["msg"].removeprefix("Value error, ")
        raise UsageError(f"{place}: {message}", where=str(path)) from None


def _content(path: Path) -> dict[str, Any]:
    """The file's JSON object. Repeated keys are refused: people and programs would read different ones."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) != len(pairs):
            raise UsageError("not a registration: a key occurs twice", where=str(path))
        return dict(pairs)

    try:
        with opened(path) as file:
            raw = file.read(_MAX_BYTES + 1)
        if len(raw) > _MAX_BYTES:
            raise UsageError(f"is larger than {_MAX_BYTES:,} bytes: not a registration", where=str(path))
        content = json.loads(raw.decode("utf-8"), object_pairs_hook=once)
    except FileNotFoundError:
        raise UsageError("there is no such file", where=str(path), fix="leadline prereg STUDY ...") from None
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from error
    except json.JSONDecodeError as error:
        raise UsageError(f"not JSON: {error.msg}", where=f"{path}:{error.lineno}") from None
    except (ValueError, RecursionError):  # not UTF-8, a number of thousands of digits, brackets without end
        raise UsageError("not a registration: it is no JSON text", where=str(path)) from None
    if not isinstance(content, dict):
        raise UsageError("not a registration: expected keys and values", where=str(path))
    return content
