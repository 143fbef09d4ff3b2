"""Tables of texts and how each must be read: YAML files that people extend, checked row by row.

    readings:
      - type: number
        unit: percent
        gold: "20"
        rows:
          - {text: "20%", value: "20", correct: true}
          - {text: "I don't know", state: refused}
          - {text: "20 or 30", reason: range}
    sameness:
      - {first: "0.909", second: "0.9094", exact: false, rounding: true}

A group has the settings of an item (type, gold, question, task, unit, precision, vocabulary, locale,
date_order, fields), which a row may override. A row says what its text must be read as: `value` (then the
state is ok), or `reason` (a piece of it; then it is unreadable), or `state`; and, if it cares, `printed`,
`note` (a piece of one), `correct` and `strict`. A row of `sameness` compares the readings of two texts under
the rules that it names.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, ValidationError

from leadline.answers.classes import is_same_number
from leadline.answers.numerals import separators
from leadline.answers.reading import State
from leadline.answers.registry import read_answer
from leadline.answers.sameness import RULES
from leadline.bench.answer_form import AnswerForm, AnswerType, Part, Term
from leadline.bench.item import Item
from leadline.bench.yaml_lines import YamlFault, compose, faults, follow, plain, take_as_written
from leadline.errors import UsageError

_AS_WRITTEN = frozenset(
    {
        "text", "value", "printed", "reason", "note", "state", "gold", "question", "task", "unit", "locale",
        "date_order", "first", "second", "precision", "type", "name", "answer_type",
    }
)  # fmt: skip


class _Settings(AnswerForm):
    model_config = ConfigDict(frozen=True, extra="forbid")

    type: AnswerType = "number"
    gold: str | None = None
    question: str | None = None
    task: str | None = None
    fields: tuple[Part, ...] = ()


class Row(_Settings):
    """One text and its reading; settings that are not given are the group's."""

    text: str
    value: str | None = None
    printed: str | None = None
    state: State | None = None
    reason: str | None = None
    note: str | None = None
    correct: bool | None = None
    strict: bool | None = None


class Group(_Settings):
    """Rows that share their settings."""

    about: str = ""
    rows: tuple[Row, ...]


class Pair(_Settings):
    """Two texts, and under which rules their numbers are the same."""

    first: str
    second: str
    exact: bool | None = None
    declared: bool | None = None
    rounding: bool | None = None


class Table(AnswerForm):
    """A whole file."""

    readings: tuple[Group, ...] = ()
    sameness: tuple[Pair, ...] = ()


@dataclass(frozen=True, slots=True)
class Checked:
    """One row of a table at `where` ("file:line"); `faults` say how it is read otherwise than it should."""

    where: str
    text: str
    faults: tuple[str, ...]


def check_table(path: Path) -> Iterator[Checked]:
    """Read every text of the table at `path`. Raises UsageError where the file is no table."""
    table, lines = _load(path)
    for number, group in enumerate(table.readings):
        for at, row in enumerate(group.rows):
            where = f"{path}:{lines('readings', number, 'rows', at)}"
            yield Checked(where, row.text, tuple(_row_faults(group, row)))
    for number, pair in enumerate(table.sameness):
        text = f"{pair.first} / {pair.second}"
        yield Checked(f"{path}:{lines('sameness', number)}", text, tuple(_pair_faults(pair)))


def _load(path: Path) -> tuple[Table, Any]:
    if path.is_dir():
        raise UsageError("is a folder", where=str(path), fix="name a YAML file of texts and readings")
    try:
        node = compose(path)
        take_as_written(node, _is_text)
        for fault in faults(node):
            raise fault
        table = Table.model_validate(plain(node))
    except YamlFault as fault:
        raise UsageError(fault.message, where=fault.where(path), fix=fault.fix or None) from None
    except OSError as error:
        raise UsageError(error.strerror or str(error), where=str(path)) from None
    except ValidationError as error:
        first = error.errors()[0]
        line, _ = follow(node, first["loc"])
        said = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).lstrip(
            "."
        )
        raise UsageError(f"{said}: {first['msg'].lower()}", where=f"{path}:{line}") from None
    return table, lambda *location: follow(node, location)[0]


def _is_text(place: tuple[Hashable, ...]) -> bool:
    return place[-1] in _AS_WRITTEN or "vocabulary" in place


def _item(group: _Settings, row: _Settings) -> Item:
    own = row.model_fields_set

    def of(name: str) -> Any:
        return getattr(row if name in own else group, name)

    return Item(
        id="row",
        question=of("question") or "?",
        answer=of("gold") or "\u2205",  # an answer that no text gives
        answer_type=of("type"),
        task=of("task") or "",
        **{name: of(name) for name in ("unit", "precision", "vocabulary", "locale", "date_order", "fields")},
    )


def _row_faults(group: Group, row: Row) -> Iterator[str]:
    reading = read_answer(_item(group, row), row.text)
    state = row.state or (State.UNREADABLE if row.reason is not None else State.OK)
    said = f"is {reading.state}{f' ({reading.reason})' if reading.reason else ''}"
    if reading.value is not None:
        said += f", read as {reading.value!r}"
    if reading.state is not state:
        yield f"{said}, not {state}"
        return
    if row.value is not None and reading.value != row.value:
        yield f"{said}, not {row.value!r}"
    if row.printed is not None and reading.number != row.printed:
        yield f"is printed as {reading.number!r}, not {row.printed!r}"
    if row.reason is not None and row.reason not in reading.reason:
        yield f"is unreadable for another reason: {reading.reason!r}, not {row.reason!r}"
    if row.note is not None and not any(row.note in note for note in reading.notes):
        yield f"has no note {row.note!r}: {list(reading.notes)}"
    for name, expected in (("correct", row.correct), ("strict", row.strict)):
        found = reading.correct if name == "correct" else reading.correct_strict
        if expected is not None and found is not expected:
            yield f"{name} is {str(found).lower()}, not {str(expected).lower()}"


def _pair_faults(pair: Pair) -> Iterator[str]:
    item = _item(pair, pair)
    first, second = read_answer(item, pair.first), read_answer(item, pair.second)
    for text, reading in ((pair.first, first), (pair.second, second)):
        if reading.value is None:
            yield f"{text!r} is {reading.state} ({reading.reason})"
            return
    for rule in RULES:
        expected = getattr(pair, rule)
        found = is_same_number(item, rule, (first.value, first.number), (second.value, second.number))
        if expected is not None and found is not expected:
            words = ("different", "the same")
            yield f"{rule}: {words[found]}, not {words[expected]}"


def item_for(
    answer_type: str,
    *,
    gold: str | None = None,
    unit: str | None = None,
    precision: Decimal | None = None,
    locale: str | None = None,
    date_order: str | None = None,
    vocabulary: tuple[Term, ...] = (),
    fields: tuple[Part, ...] = (),
    question: str | None = None,
) -> Item:
    """An item of these settings, to read texts by. Raises UsageError where a setting is not one."""
    if locale and separators(locale) is None:
        raise UsageError(f"--locale: {locale!r} is not known", fix="a language and a country, such as de-DE")
    try:
        return Item(
            id="text", question=question or "?", answer=gold or "\u2205", answer_type=answer_type,  # type: ignore[arg-type]
            unit=unit, precision=precision, locale=locale, date_order=date_order,  # type: ignore[arg-type]
            vocabulary=vocabulary, fields=fields,
        )  # fmt: skip
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]).replace("_", "-") if first["loc"] else "settings"
        option = {"answer-type": "type", "answer": "gold"}.get(name, name)
        raise UsageError(f"--{option}: {first['msg'].lower()}") from None


Said = dict[str, Any]
Kind = Literal["text", "number", "date", "enum", "boolean", "parts"]


def described(item: Item, text: str, *, has_gold: bool) -> Said:
    """How `text` is read, as plain data: state, value, printed digits, reason, notes; against the gold."""
    reading = read_answer(item, text)
    said: Said = {
        "text": text,
        "state": reading.state.value,
        "value": reading.value,
        "printed": reading.number,
        "reason": reading.reason,
        "notes": list(reading.notes),
    }
    if has_gold:
        gold = read_answer(item, item.answer)
        said["gold"] = {
            "value": gold.value,
            "correct": reading.correct,
            "strict": reading.correct_strict,
            "same": {
                rule: is_same_number(item, rule, (reading.value, reading.number), (gold.value, gold.number))
                for rule in RULES
            }
            if item.answer_type == "number" and reading.value is not None and gold.value is not None
            else None,
        }
    return said
