"""Flag lists as files: a line that says what the list is about, then one flag a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from leadline.bench.benchmark import Benchmark
from leadline.bench.complaint import complaint
from leadline.errors import UsageError
from leadline.ordinary_file import content
from leadline.report.atomic import write_text
from leadline.review.flags import Flag, FlagList, asked_hash, places

SCHEMA = "leadline.flags/1"
Kept = TypeVar("Kept", Flag, FlagList)
_MAKE = "leadline review flags STUDY --out flags.jsonl"


def flags_jsonl(flags: FlagList) -> str:
    """The list as text: its head, then its flags in order; what says nothing is left out.

    >>> from leadline.bench import load_benchmark
    >>> from leadline.review.flags import flag_list
    >>> flags_jsonl(flag_list(load_benchmark("licences"), [])).startswith('{"schema": "leadline.flags/1"')
    True
    """
    head = {"schema": SCHEMA, **flags.model_dump(mode="json", exclude={"flags"}, exclude_defaults=True)}
    lines = [head, *(flag.model_dump(mode="json", exclude_defaults=True) for flag in flags.flags)]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def write_flags(flags: FlagList, path: Path) -> None:
    """Write the list as JSON lines, whole or not at all. Raises LeadlineError."""
    write_text(path, flags_jsonl(flags))


def read_flags(path: Path, benchmark: Benchmark | None = None) -> FlagList:
    """The list in a file; with `benchmark`, only one that is about it as it is now, its items by their ids.

    Raises UsageError, with file and line, for what is no such list, and for one of another content.
    """
    try:
        data = content(path)
    except FileNotFoundError:
        raise UsageError("no flag list here", where=str(path), fix=_MAKE) from None
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror or error}", where=str(path)) from None
    lines = [
        (number, _object(line, f"{path}:{number}"))
        for number, line in enumerate(data.split(b"\n"), 1)
        if line.strip()
    ]
    if not lines or lines[0][1].get("schema") != SCHEMA:
        raise UsageError(f"no flag list: its first line does not say {SCHEMA!r}", where=str(path), fix=_MAKE)
    number, head = lines[0]
    head = {key: value for key, value in head.items() if key != "schema"}
    found = _checked(FlagList, {**head, "flags": ()}, f"{path}:{number}")
    flags = [_checked(Flag, raw, f"{path}:{number}") for number, raw in lines[1:]]
    if benchmark is not None:
        _check_benchmark(found, benchmark, str(path))
        named = places(benchmark) if found.blind else benchmark.by_id
        for (number, _), flag in zip(lines[1:], flags, strict=True):
            if flag.item not in named:
                what = f"{benchmark.name} has no item {flag.item!r}"
                raise UsageError(what, where=f"{path}:{number}", fix=_MAKE)
        flags = [flag.model_copy(update={"item": named[flag.item].id}) for flag in flags]
    return found.model_copy(update={"flags": tuple(flags)})


def _check_benchmark(flags: FlagList, benchmark: Benchmark, where: str) -> None:
    told = flags.asked_hash if flags.blind else flags.content_hash
    own = asked_hash(benchmark) if flags.blind else benchmark.content_hash
    if told != own:
        what = "questions" if flags.blind else "content"
        raise UsageError(
            f"the flags are about other {what}: {flags.benchmark} {flags.version}, {told[:19]}…, and not "
            f"{benchmark.name} {benchmark.version}, {own[:19]}…",
            where=where,
            fix=f"list them for the benchmark as it is: {_MAKE}",
        )


def _object(line: bytes, where: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise UsageError("is no JSON object", where=where, fix=f"one flag a line, as from: {_MAKE}")
    return found


def _checked(kind: type[Kept], raw: dict[str, Any], where: str) -> Kept:
    try:
        return kind.model_validate_json(json.dumps(raw))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        what, fix = complaint(first)
        if first["type"] == "missing":
            what = "is missing"
        elif first["type"] == "extra_forbidden":
            what = "is no key of it"
        elif first["type"] == "json_invalid":
            what, fix = "has a text that is no UTF-8: half of a character", "write the list anew"
        elif first["type"] == "string_pattern_mismatch":
            what, fix = "is no sha256:… of an item", None
        raise UsageError(f"{place} {what}".strip(), where=where, fix=fix) from None
