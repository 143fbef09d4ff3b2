"""Responses become readings here, and only here: raw text, read by the item's answer type, in one frame."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterator, Sequence

import polars as pl

from leadline.answers import Reading, failed, read_answer, readable_types, reader_for
from leadline.answers.classes import classes
from leadline.answers.table import check_table, described, item_for
from leadline.bench import Item
from leadline.errors import UsageError
from leadline.lenses.frame import readings_frame
from leadline.study.configuration import Configuration
from leadline.study.store import Response, Store
from leadline.study.study import Study

__all__ = [
    "check_readable",
    "check_table",
    "described",
    "gold_fault",
    "item_for",
    "judged",
    "readable_types",
    "readings",
]


def check_readable(study: Study) -> None:
    """Raise UsageError, which names an item, where answers to it cannot be read, or its gold answer is none
    of its type, so that no answer could be right: before anybody is asked."""
    for item in study.benchmark.items:
        where = f"{study.whole.name}: item {item.id}"
        try:
            reader_for(item.answer_type)
        except UsageError as error:
            raise UsageError(error.what, where=where, fix=error.fix) from None
        if fault := gold_fault(item):
            what = f"the gold answer is not of its type, {item.answer_type}: {fault}"
            raise UsageError(what, where=where, fix="leadline bench validate lists all such items")


def gold_fault(item: Item) -> str:
    """Why the gold answer is not read as its own type says, "" if it is; texts mean what they say."""
    if item.answer_type == "text" or item.answer_type not in readable_types():
        return ""
    for answer in item.valid_answers:
        reading = read_answer(item, answer)
        if reading.value is None:
            return reading.reason or f"it is {reading.state.value}"
    return ""


def judged(study: Study, item: Item, text: str) -> Reading:
    """What a response says, correct by the study's own rule."""
    reading = read_answer(item, text)
    if study.config.correctness == "words":
        return dataclasses.replace(reading, correct=reading.correct_strict)
    return reading


def readings(study: Study, store: Store) -> pl.DataFrame:
    """All readings of the study's configurations and models, as `lenses.frame` describes them."""
    rows: list[dict[str, object]] = []
    identities = store.models()
    for entry in study.config.models:
        if entry.label not in identities:
            continue
        identity = identities[entry.label]
        for configuration in study.configurations:
            identifier = study.configuration_id(configuration, identity)
            rows += _rows(study, store, entry.label, configuration, identifier)
    return readings_frame(rows)


def _rows(
    study: Study, store: Store, model: str, configuration: Configuration, identifier: str
) -> Iterator[dict[str, object]]:
    items = study.benchmark.by_id
    read: dict[tuple[str, str], Reading] = {}  # samples repeat themselves: each text is read once per item
    numbers: dict[str, list[tuple[Reading, dict[str, object]]]] = defaultdict(list)
    for response in store.responses(identifier):
        item = items.get(response.key.item)
        if (
            item is None
            or response.key.asked != study.asked(item)
            or response.key.sample >= configuration.samples
        ):
            continue
        known = (item.id, response.text)
        if known not in read:
            read[known] = judged(study, item, response.text)
        row = {
            **_place(model, configuration, item, response.key.sample),
            **_said(read[known], response, item),
        }
        if item.answer_type in ("number", "parts") and read[known].value is not None:
            numbers[item.id].append((read[known], row))
        else:
            yield row
    for identity, answers in numbers.items():
        yield from _same(items[identity], answers)
    for key, kind in sorted(
        store.failures(identifier).items(), key=lambda pair: (pair[0].item, pair[0].sample)
    ):
        item = items.get(key.item)
        if item is not None and key.asked == study.asked(item) and key.sample < configuration.samples:
            reading = failed(kind)
            yield {
                **_place(model, configuration, item, key.sample),
                "state": reading.state.value,
                "text": "",
                "correct": False,
                "correct_strict": False,
                "leads": False,
            }


def _same(item: Item, answers: Sequence[tuple[Reading, dict[str, object]]]) -> Iterator[dict[str, object]]:
    """The rows of one configuration's numbers for one item, with what each counts as under each rule."""
    found = classes(item, [reading for reading, _ in answers])
    is_declared = any(form.precision is not None for form in (item, *item.fields))
    own = found["declared" if is_declared else "rounding"]
    for place, (_, row) in enumerate(answers):
        values = {f"value_{rule}": found[rule][place] for rule in found if rule != "declared" or is_declared}
        yield {**row, **values, "value": own[place]}


def _place(model: str, configuration: Configuration, item: Item, sample: int) -> dict[str, object]:
    return {
        "model": model,
        "configuration": configuration.name,
        "item": item.id,
        "category": item.category,
        "task": item.task,
        "answer_type": item.answer_type,
        "sample": sample,
    }


def _said(reading: Reading, response: Response, item: Item) -> dict[str, object]:
    probe = next((probe for probe in response.probes if probe.answer == item.answer), None)
    return {
        "state": reading.state.value,
        "text": response.text,
        "value": reading.value,
        "correct": reading.correct,
        "correct_strict": reading.correct_strict,
        "leads": reading.leads,
        "tokens_in": response.tokens_in,
        "tokens_out": response.tokens_out,
        "gold_token": probe.token if probe else None,
        "gold_rank": probe.rank if probe else None,
        "gold_logprob": probe.logprob if probe else None,
        "gold_masked": probe.masked if probe else None,
    }
