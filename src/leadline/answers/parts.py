"""Reads answers in several parts: a JSON object, each field of which is read by its own declaration.

The value is the JSON text of an object of the fields' values, null where a field could not be read; a
response is ok when one field could. It is correct when every field is. Where there is no JSON, tags, tables
and lines such as "**rate**: 8%" are looked at (see `named_values`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from leadline.answers import boolean, date, enum, number, text
from leadline.answers.named_values import Unclear, named_values, names_in_json
from leadline.answers.reading import Reading, State
from leadline.answers.reasoning import outside_reasoning
from leadline.answers.refusal import declines
from leadline.bench.answer_form import Part
from leadline.bench.item import Item

_READERS = {
    "text": text.read, "number": number.read, "date": date.read, "enum": enum.read, "boolean": boolean.read,
}  # fmt: skip


def read(item: Item, raw: str) -> Reading:
    """Read one response. Total: every text has a reading, and none raises.

    >>> fields = (Part(name="rate", answer_type="number"), Part(name="capped", answer_type="boolean"))
    >>> gold = '{"rate": 8, "capped": false}'
    >>> item = Item(id="1", question="?", answer=gold, answer_type="parts", fields=fields)
    >>> read(item, '{"rate": "8.0%", "capped": "no"}').value
    '{"rate": "8", "capped": "false"}'
    """
    body, reason = outside_reasoning(raw)
    if reason:
        return Reading(State.UNREADABLE, reason=reason)
    if not body.strip():
        return Reading(State.EMPTY)
    said = said_parts(body, item.fields)
    if not said and names_in_json(body, [part.name for part in item.fields]):
        return Reading(State.EMPTY)
    if not said:
        return Reading(State.REFUSED) if declines(body) else Reading(State.UNREADABLE, reason="no fields")
    golds = _gold(item.valid_answers, item.fields)
    readings = {
        part.name: _part(item, part, said[part.name], tuple(gold.get(part.name, "") for gold in golds))
        for part in item.fields
        if part.name in said
    }
    ok = {name: reading for name, reading in readings.items() if reading.state is State.OK}
    if not ok:
        return _none_read(readings)
    return Reading(
        State.OK,
        value=_json({part.name: ok[part.name].value if part.name in ok else None for part in item.fields}),
        correct=_all_of_one_gold(item, said, golds, strict=False),
        correct_strict=_all_of_one_gold(item, said, golds, strict=True),
        leads=raw.lstrip(" \t\r\n`").startswith("{"),
        number=_json({part.name: ok[part.name].number if part.name in ok else None for part in item.fields}),
        notes=_notes(item, readings),
    )


def unread_parts(item: Item, raw: str) -> dict[str, str]:
    """The fields that an answer names and that are not read by their own declaration, and why.

    >>> fields = (Part(name="rate", answer_type="number"), Part(name="capped", answer_type="boolean"))
    >>> item = Item(id="1", question="?", answer="{}", answer_type="parts", fields=fields)
    >>> list(unread_parts(item, '{"rate": 8, "capped": "green"}'))
    ['capped']
    """
    said = said_parts(outside_reasoning(raw)[0], item.fields)
    readings = {
        part.name: _part(item, part, said[part.name], ()) for part in item.fields if part.name in said
    }
    return {
        name: reading.reason or f"it is {reading.state.value}"
        for name, reading in readings.items()
        if reading.state is not State.OK
    }


def said_parts(body: str, fields: Sequence[Part]) -> dict[str, str]:
    """The text that stands for each field that `body` names."""
    return named_values(body, [part.name for part in fields])


def _part(item: Item, part: Part, said: str, golds: tuple[str, ...]) -> Reading:
    if isinstance(said, Unclear):
        return Reading(State.UNREADABLE, reason=f"named twice: {said}"[:200])
    return _READERS[part.answer_type](_item_of(item.question, part, golds), said)


@lru_cache(maxsize=4096)
def _item_of(question: str, part: Part, golds: tuple[str, ...]) -> Item:
    """The item that one field would be."""
    known = [gold for gold in golds if gold.strip()] or ["\u2205"]  # what no response says
    form = {name: getattr(part, name) for name in Part.model_fields if name not in ("name", "answer_type")}
    return Item(
        id=part.name[:200].strip() or "part",
        question=question,
        answer=known[0],
        aliases=tuple(known[1:]),
        answer_type=part.answer_type,
        task=re.sub(r"[\x00-\x1f\x7f-\x9f]", "", part.name).strip(),
        **form,
    )


def _all_of_one_gold(
    item: Item, said: Mapping[str, str], golds: Sequence[Mapping[str, str]], *, strict: bool
) -> bool:
    """Every field is correct by one and the same gold answer, not one by this alias and one by that."""

    def right(part: Part, gold: Mapping[str, str]) -> bool:
        if part.name not in gold:
            return part.name not in said
        if part.name not in said:
            return False
        reading = _part(item, part, said[part.name], (gold[part.name],))
        return reading.correct_strict if strict else reading.correct

    return bool(golds) and any(all(right(part, gold) for part in item.fields) for gold in golds)


@lru_cache(maxsize=4096)
def _gold(answers: tuple[str, ...], fields: tuple[Part, ...]) -> tuple[dict[str, str], ...]:
    return tuple(said for answer in answers if (said := said_parts(answer, fields)))


def _none_read(readings: Mapping[str, Reading]) -> Reading:
    states = {reading.state for reading in readings.values()}
    if states <= {State.REFUSED}:
        return Reading(State.REFUSED)
    if states <= {State.EMPTY}:
        return Reading(State.EMPTY)
    reasons = [f"{name}: {reading.reason or reading.state}" for name, reading in readings.items()]
    return Reading(State.UNREADABLE, reason="; ".join(reasons)[:500])


def _notes(item: Item, readings: Mapping[str, Reading]) -> tuple[str, ...]:
    notes = []
    for part in item.fields:
        reading = readings.get(part.name)
        if reading is None:
            notes.append(f"{part.name}: absent")
        elif reading.state is not State.OK:
            notes.append(f"{part.name}: {reading.reason or reading.state}")
        else:
            notes += [f"{part.name}: {note}" for note in reading.notes]
    return tuple(notes)


def _json(value: Mapping[str, str | None]) -> str:
    return json.dumps(value, ensure_ascii=False)
