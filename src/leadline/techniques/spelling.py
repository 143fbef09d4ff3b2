"""Techniques as people type them: "dola", "dola:layers=high,relative_top=0", "recite+dola:recite.paths=5"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from leadline.bench.complaint import complaint
from leadline.bench.problem import did_you_mean
from leadline.errors import UsageError
from leadline.techniques.registry import technique_named
from leadline.techniques.stack import Stack
from leadline.techniques.technique import Technique


def technique_from(text: str) -> Technique:
    """The technique that `text` names, with its settings.

    A value may contain commas (`layers=0,2,4`): a part without "=" continues the value before it. In a stack
    a setting is written part.setting, or by itself where only one part has it. Raises UsageError, naming the
    setting, for whatever is wrong.
    """
    name, _, rest = text.partition(":")
    kind = technique_named(name.strip())
    given: dict[str, Any] = {}
    for key, value in _pairs(text, rest):
        inside, field = _place(kind, key)
        (given.setdefault(inside, {}) if inside else given)[field] = _value(value)
    try:
        return kind(**given)
    except ValidationError as error:
        setting, first = main_fault(error, kind)
        message, _ = complaint(first)
        place = f"{kind.name}: {setting}" if setting else kind.name
        raise UsageError(f"{place}: {_or_words(error, first)}{message}") from None


def _or_words(error: ValidationError, fault: Mapping[str, Any]) -> str:
    """What a setting may be instead of numbers: "must be 'low' or 'high', or a list of numbers: "."""
    at = next((place for place, part in enumerate(fault["loc"]) if isinstance(part, int)), 0)
    if not at:
        return ""
    beside = fault["loc"][: at - 1]
    words = [
        each["ctx"]["expected"]
        for each in error.errors(include_url=False)
        if each["type"] == "literal_error" and each["loc"][:-1] == beside
    ]
    return f"must be {words[0]}, or numbers with commas between: each " if words else ""


def main_fault(error: ValidationError, kind: type[Technique]) -> tuple[str, Mapping[str, Any]]:
    """The setting that is wrong ("layers", in a stack "dola.layers"), and the fault that says most.

    Where a setting may be of several kinds every kind complains; the one that the value came nearest to
    complains last and of more than the kind.
    """
    faults = error.errors(include_url=False)
    kinds = ("literal_error", "int_type", "int_parsing", "tuple_type")
    telling = [fault for fault in faults if fault["type"] not in kinds]
    fault = (telling or faults)[-1] if faults[0]["loc"][:1] == faults[-1]["loc"][:1] else faults[0]
    depth = 2 if issubclass(kind, Stack) else 1
    return ".".join(str(part) for part in fault["loc"][:depth]), fault


def _pairs(text: str, rest: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for part in rest.split(",") if rest.strip() else ():
        key, equals, value = part.partition("=")
        if equals:
            found.append((key.strip().replace("-", "_"), value.strip()))
        elif found:
            found[-1] = (found[-1][0], f"{found[-1][1]},{part.strip()}")
        else:
            raise UsageError(
                f"{text}: {part.strip()!r} is not a setting", fix="write settings as NAME:key=value,key=value"
            )
    return found


def _place(kind: type[Technique], key: str) -> tuple[str | None, str]:
    """The part of a stack that a setting belongs to (None without a stack), and the setting."""
    if not issubclass(kind, Stack):
        if key not in kind.model_fields:
            raise _unknown(kind.name, key, list(kind.model_fields))
        return None, key
    parts = {name.replace("-", "_"): type(part) for name, part in kind().parts.items()}
    part, dot, field = key.partition(".")
    if dot:
        if part not in parts:
            raise _unknown(kind.name, part, list(parts))
        if field not in parts[part].model_fields:
            raise _unknown(part, field, list(parts[part].model_fields))
        return part, field
    having = [name for name, one in parts.items() if key in one.model_fields]
    if not having:
        raise _unknown(kind.name, key, [field for one in parts.values() for field in one.model_fields])
    if len(having) > 1:
        ways = " or ".join(f"{name}.{key}" for name in having)
        raise UsageError(f"{kind.name}: {key} is a setting of several parts", fix=f"write {ways}")
    return having[0], key


def _unknown(name: str, key: str, known: list[str]) -> UsageError:
    hint = did_you_mean(key, known, otherwise=f"its settings: {', '.join(known)}")
    return UsageError(f"{name} has no setting {key!r}", fix=hint)


def _value(text: str) -> Any:
    """none, true and false mean what they say; numbers are read by the setting's own type."""
    return {"none": None, "true": True, "false": False}.get(text.lower(), text)
