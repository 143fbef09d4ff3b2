"""Reads a prediction from a YAML file: what `leadline prereg` takes as options, for those who write more."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from leadline.bench.complaint import complaint
from leadline.bench.problem import did_you_mean, shortened
from leadline.bench.yaml_lines import YamlFault, compose, faults, follow, plain
from leadline.errors import UsageError
from leadline.ordinary_file import text
from leadline.study.registration import Comparison, Prediction, Sameness, Statistic


class Draft(BaseModel):
    """The keys of a prediction file; every one of them is also an option. See `Prediction` and `register`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str | None = None
    hypothesis: str | None = None
    statistic: Statistic | None = None
    below: float | None = Field(default=None, strict=True)
    above: float | None = Field(default=None, strict=True)
    decided_by: Literal["value", "interval"] | None = None
    sameness: Sameness | None = None
    minimum_items: int | None = Field(default=None, strict=True, ge=1)
    minimum_readings: int | None = Field(default=None, strict=True, ge=0)
    exclusions: tuple[str, ...] | None = None
    items: tuple[str, ...] | None = None
    other_items: tuple[str, ...] | None = None
    configurations: tuple[str, ...] | None = None
    models: tuple[str, ...] | None = None

    def over(self, other: Draft) -> Draft:
        """These keys, and where one is not given, that of `other`."""
        given = self.model_dump(exclude_none=True)
        if "below" in given or "above" in given:  # a direction replaces the other direction
            other = other.model_copy(update={"below": None, "above": None})
        return Draft.model_validate({**other.model_dump(exclude_none=True), **given})

    def prediction(self, *, has_reference: bool, where: str) -> Prediction:
        """The prediction; `where` is the file that a fault is laid to. Raises UsageError for what is missing
        and for what could not hold or could not fail."""
        for name in ("title", "statistic"):
            if not getattr(self, name):
                raise UsageError(f"the prediction has no {name}", where=where, fix=f"--{name}")
        if (self.below is None) == (self.above is None):
            what = "no direction" if self.below is None else "two directions"
            raise UsageError(f"the prediction has {what}", where=where, fix="--below X or --above X")
        if has_reference and self.other_items:
            raise UsageError(
                "a comparison with a reference study compares the same items, not two groups",
                where=where,
                fix="leave out one of them",
            )
        comparison: Comparison = "paired" if has_reference else "groups" if self.other_items else "value"
        names = (
            "title",
            "hypothesis",
            "statistic",
            "decided_by",
            "sameness",
            "minimum_items",
            "minimum_readings",
            "exclusions",
        )
        given = {name: value for name in names if (value := getattr(self, name)) is not None}
        below = self.below is not None
        given |= {
            "comparison": comparison,
            "direction": "below" if below else "above",
            "threshold": self.below if below else self.above,
        }
        try:
            return Prediction.model_validate(given)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            what, fix = complaint(first)
            place = ".".join(map(str, first["loc"]))
            raise UsageError(f"{place}: {what}" if place else what, where=where or None, fix=fix) from None


def read_draft(path: Path) -> Draft:
    """The prediction file `path`. Raises UsageError with file, line and remedy at its first fault."""
    try:
        node = compose(path)
        if (fault := next(faults(node), None)) is not None:
            raise fault
        content: Any = plain(node)
    except FileNotFoundError:
        raise UsageError("there is no such file", where=str(path)) from None
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from error
    except YamlFault as fault:
        raise UsageError(fault.message, where=fault.where(path), fix=fault.fix or None) from None
    try:
        return Draft.model_validate(content)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        first = next((one for one in errors if one["type"] == "extra_forbidden"), errors[0])
        line, _ = follow(node, first["loc"])
        key = str(first["loc"][0])
        if first["type"] == "extra_forbidden":
            known = f"known keys: {', '.join(Draft.model_fields)}"
            raise UsageError(
                f"unknown key {shortened(key)}",
                where=f"{path}:{line}",
                fix=did_you_mean(key, Draft.model_fields, otherwise=known),
            ) from None
        what, fix = complaint(first)
        raise UsageError(f"{key}: {what}", where=f"{path}:{line}", fix=fix) from None


def read_ids(path: Path) -> tuple[str, ...]:
    """Item ids, one a line; blank lines do not count. Raises UsageError."""
    try:
        lines = text(path).splitlines()
    except FileNotFoundError:
        raise UsageError("there is no such file", where=str(path)) from None
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from error
    except UnicodeDecodeError:
        raise UsageError("not UTF-8", where=str(path), fix="item ids, one a line") from None
    if not (found := tuple(line.strip() for line in lines if line.strip())):
        raise UsageError("the file names no item", where=str(path), fix="item ids, one a line")
    return found
