"""The layout of the public Probity artefact on disk: tasks, their items, and one file of answers each.

    leaves/TASK/oracle.jsonl               one item a line: id, the answer under the field's name, evidence
    leaves/TASK/corpus/questions/ID.txt    the window
    leaves/TASK/runs_[ARM_]LABEL.jsonl     one answer a line: instance_idx, run_idx, parsed, normalized
    engine/registry.json                   field, answer type and category of each task (may be absent)
    dump/INDEX.json                        the configurations of the study (may be absent)

Its irregularities, all of which are met here: files of older runs have no item_id (instance_idx is then the
line of oracle.jsonl); ids repeat from task to task; two tasks call their field otherwise than themselves;
failed calls have an `error` and no `normalized`; answers that could not be read have `normalized` null, {} or
{field: null}; labels of other experiments lie beside those of the study, and files of other arms (t01, t07)
carry the arm in their name. Folders that begin with _archive hold runs against an older oracle: not read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from leadline.bench.problem import shortened
from leadline.errors import UsageError

Kind = Literal["number", "boolean", "date", "word"]
# Keys of an oracle line that are not the answer.
_ABOUT = {
    "id", "validating_quote", "source_url", "url", "company", "anchor", "difficulty", "field_name", "notes",
    "reasoning",
}  # fmt: skip
_ARM = re.compile(r"^t\d+_")
_ISO_DATE = re.compile(r"^\d{4}-\d{2}-\d{2}$")
# A window longer than this is no excerpt, and a file of answers longer than this none of this artefact.
_MOST_BYTES = 1 << 30
_MOST_DIGITS = 400
# More answers to one item than anybody asked for; and of what a file may be named.
_MOST_RUNS = 2**31
_LONGEST_NAME = 200


@dataclass(frozen=True)
class ReleaseItem:
    """A line of an oracle: `position` is its line from 0, which older files of answers refer to."""

    task: str
    id: str
    position: int
    answer: Any
    quote: str
    url: str
    window: str | None
    where: str

    @property
    def name(self) -> str:
        """Unique over the artefact. Sorts as the published rankings break their ties: task, then position."""
        return f"{self.task}/{self.position}/{self.id}"


@dataclass(frozen=True)
class ReleaseTask:
    """A task with its items; `folder` holds its files of answers."""

    name: str
    field: str
    category: str
    folder: Path
    items: tuple[ReleaseItem, ...]


@dataclass(frozen=True)
class ReleaseAnswer:
    """One line of a file of answers.

    `value` is the published reading as text, None where there is none; `said` what was parsed or the raw
    text's beginning, where the artefact has kept it; `error` what the call failed of. `elsewhere` is whether
    the line names an item that is not at the position that it names as well.
    """

    item: str
    run: int
    value: str | None
    said: str | None
    error: str
    where: str
    elsewhere: bool = False


def release_tasks(root: Path) -> list[ReleaseTask]:
    """The tasks in order of name. Raises UsageError for a folder of another layout, with what is missing."""
    leaves = root if root.name == "leaves" else root / "leaves"
    if not leaves.is_dir():
        raise UsageError(
            "is no Probity release: there is no folder 'leaves' in it",
            where=str(root),
            fix="name the folder that holds leaves/TASK/oracle.jsonl",
        )
    registry = _registry(leaves.parent)
    tasks = []
    for folder in sorted(one for one in leaves.iterdir() if one.is_dir()):
        oracle = folder / "oracle.jsonl"
        if folder.name.startswith(("_", ".")) or not oracle.is_file():
            continue
        known = registry.get(folder.name, {})
        lines = list(_lines(oracle))
        field = str(known.get("field") or "") or _field(folder.name, lines, oracle)
        items = tuple(
            _item(folder, field, position, line, f"{oracle}:{number}")
            for position, (number, line) in enumerate(lines)
        )
        _check_ids(items)
        if items:
            tasks.append(ReleaseTask(folder.name, field, str(known.get("family") or ""), folder, items))
    if not tasks:
        raise UsageError("holds no task: no leaves/TASK/oracle.jsonl was found", where=str(leaves))
    return tasks


def lineup(root: Path, tasks: list[ReleaseTask], arm: str = "") -> list[str]:
    """The labels whose answers belong to the study: those of dump/INDEX.json, else all that have files."""
    index = (root.parent if root.name == "leaves" else root) / "dump" / "INDEX.json"
    if index.is_file():
        found = _json(index).get("lineup")
        if isinstance(found, list) and all(isinstance(one, str) for one in found):
            for one in found:
                if Path(one).name != one or not one.isprintable() or len(one) > _LONGEST_NAME:
                    raise UsageError(f"'lineup' names {shortened(one)}, no configuration", where=str(index))
            return list(dict.fromkeys(found))
    labels = {label for task in tasks for label in _labels(task.folder, arm)}
    return sorted(labels)


def answers(task: ReleaseTask, label: str, arm: str = "") -> Iterator[ReleaseAnswer]:
    """One configuration's answers to a task, in the order of the file; none where there is no file.

    Raises UsageError, with file and line, for a line that belongs to no item, or is no JSON object.
    """
    path = task.folder / f"runs_{arm}{label}.jsonl"
    if not path.is_file():
        return
    by_id = {item.id: item for item in task.items}
    for number, found in _lines(path):
        where = f"{path}:{number}"
        key = found.get("_key")
        line = {"instance_idx": key[0], **found} if isinstance(key, list) and key else found
        item = _of(line, task, by_id, where)
        run = line.get("run_idx", key[-1] if isinstance(key, list) and key else None)
        if not isinstance(run, int) or isinstance(run, bool) or not 0 <= run < _MOST_RUNS:
            raise UsageError("'run_idx' is no whole number from 0", where=where)
        yield ReleaseAnswer(
            item=item.name,
            run=run,
            value=_value(line.get("normalized"), task.field),
            said=_said(line, task.field),
            error=str(line.get("error") or ""),
            where=where,
            elsewhere=line.get("instance_idx", item.position) != item.position,
        )


def text_of(value: Any) -> str:
    """A JSON value as an answer's text; a whole number without its point."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Decimal):
        return format(value.quantize(Decimal(1)) if value == value.to_integral_value() else value, "f")
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def kind_of(task: ReleaseTask) -> Kind:
    """What the answers of a task are, judged by all of its labels.

    Raises UsageError, with the oracle's line, where most labels are numbers and one is none: taken for words,
    all numbers of the task would be compared letter by letter.
    """
    labels = [item.answer for item in task.items]
    if all(isinstance(one, bool) or str(one).strip().casefold() in ("yes", "no") for one in labels):
        return "boolean"
    others = [item for item in task.items if not _is_number(item.answer)]
    if not others:
        return "number"
    if len(others) * 2 < len(labels):
        odd = others[0]
        raise UsageError(
            f"the gold answer of {odd.id} is {shortened(text_of(odd.answer))}, those of most items of "
            f"{task.name} are numbers",
            where=odd.where,
        )
    if all(isinstance(one, str) and _ISO_DATE.match(one.strip()) for one in labels):
        return "date"
    return "word"


def _is_number(label: Any) -> bool:
    if isinstance(label, bool):
        return False
    if isinstance(label, (int, Decimal)):
        return True
    try:
        return Decimal(re.sub(r"[$,\s]", "", str(label))).is_finite()
    except ArithmeticError:
        return False


def _labels(folder: Path, arm: str) -> Iterator[str]:
    for path in folder.glob("runs_*.jsonl"):
        name = path.name.removeprefix("runs_").removesuffix(".jsonl")
        if arm and name.startswith(arm):
            yield name.removeprefix(arm)
        elif not arm and not _ARM.match(name):
            yield name


def _of(line: Mapping[str, Any], task: ReleaseTask, by_id: dict[str, ReleaseItem], where: str) -> ReleaseItem:
    identity = line.get("item_id")
    if identity is not None:
        if str(identity) in by_id:
            return by_id[str(identity)]
        raise UsageError(f"the task {task.name} has no item {shortened(str(identity))}", where=where)
    position = line.get("instance_idx")
    if isinstance(position, int) and not isinstance(position, bool) and 0 <= position < len(task.items):
        return task.items[position]
    said = shortened(repr(position))
    raise UsageError(
        f"belongs to no item: 'instance_idx' is {said}, the oracle has {len(task.items)} lines",
        where=where,
    )


def _value(normalized: Any, field: str) -> str | None:
    value = normalized.get(field) if isinstance(normalized, dict) else None
    return None if value is None else text_of(value)


def _said(line: Mapping[str, Any], field: str) -> str | None:
    parsed = line.get("parsed")
    if parsed is None:
        raw = line.get("raw_output")
        return raw if isinstance(raw, str) else None
    if isinstance(parsed, dict):
        if field in parsed:
            return text_of(parsed[field])
        if len(parsed) == 1:  # a mis-spelt key: the one value that there is
            return text_of(next(iter(parsed.values())))
    return text_of(parsed)


def _item(folder: Path, field: str, position: int, line: dict[str, Any], where: str) -> ReleaseItem:
    identity = str(line.get("id", position))
    if field not in line:
        raise UsageError(f"item {identity}: there is no answer under {field!r}", where=where)
    return ReleaseItem(
        task=folder.name,
        id=identity,
        position=position,
        answer=line[field],
        quote=str(line.get("validating_quote") or ""),
        url=str(line.get("source_url") or line.get("url") or ""),
        window=_window(folder / "corpus" / "questions", identity),
        where=where,
    )


def _check_ids(items: tuple[ReleaseItem, ...]) -> None:
    first: dict[str, ReleaseItem] = {}
    for item in items:
        if not item.id.isprintable() or not item.id.strip():
            raise UsageError(f"an id that cannot be printed: {item.id!a}", where=item.where)
        if first.setdefault(item.id, item) is not item:
            where = first[item.id].where.rpartition(":")[2]
            raise UsageError(f"the id {shortened(item.id)} is also that of line {where}", where=item.where)


def _window(folder: Path, identity: str) -> str | None:
    path = folder / f"{identity}.txt"
    # An id is somebody else's text: it names a file in this folder, or none.
    if path.parent != folder or path.name != f"{identity}.txt" or len(identity) > _LONGEST_NAME:
        return None
    if "\0" in identity or not path.is_file():
        return None
    return path.read_text(encoding="utf-8", errors="replace") or None


def _field(task: str, lines: list[tuple[int, dict[str, Any]]], oracle: Path) -> str:
    """The key that holds the answer: the task's name, else the only key that is nothing else."""
    keys = set.intersection(*(set(line) for _, line in lines)) - _ABOUT if lines else set()
    if task in keys or not lines:
        return task
    if len(keys) == 1:
        return keys.pop()
    said = ", ".join(sorted(keys)) or "none"
    raise UsageError(
        f"cannot tell which key holds the answer: {said}",
        where=f"{oracle}:1",
        fix="the artefact's engine/registry.json says so: keep it beside leaves/",
    )


def _registry(root: Path) -> dict[str, dict[str, Any]]:
    """What engine/registry.json says of each task that is built, by the name of its folder."""
    path = root / "engine" / "registry.json"
    if not path.is_file():
        return {}
    entries = _json(path).get("leaves")
    return {
        Path(str(entry["leaf"])).name: entry
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict) and entry.get("leaf") and entry.get("tier", "built") == "built"
    }


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except ValueError as error:
        raise UsageError(f"not JSON: {error}", where=str(path)) from None
    if not isinstance(found, dict):
        raise UsageError("expected a JSON object", where=str(path))
    return found


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON objects of a file with their line numbers; numbers keep the digits that they have there."""
    if path.stat().st_size > _MOST_BYTES:
        raise UsageError("is larger than 1 GB: no file of this artefact", where=str(path))
    with path.open(encoding="utf-8-sig", errors="strict") as file:
        number = 0
        try:
            for number, text in enumerate(file, start=1):
                if not text.strip():
                    continue
                line = json.loads(
                    text, parse_float=Decimal, parse_int=_whole_number, parse_constant=lambda _: None
                )
                if not isinstance(line, dict):
                    raise UsageError("expected a JSON object", where=f"{path}:{number}")
                yield number, line
        except UnicodeDecodeError:
            raise UsageError("not UTF-8 text", where=f"{path}:{number + 1}") from None
        except (json.JSONDecodeError, RecursionError) as error:
            said = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deep"
            raise UsageError(f"not JSON: {said}", where=f"{path}:{number}") from None


def _whole_number(digits: str) -> int | str:
    """An integer; one that is too long to be meant as a number stays what was written."""
    return int(digits) if len(digits) <= _MOST_DIGITS else digits
