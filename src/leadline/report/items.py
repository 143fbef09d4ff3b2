"""The answers themselves, arranged for browsing: every item with what each configuration said about it.

Everything that is a judgement (verdicts, shallow or deep, steady or not) is decided here and not in the
page's script, so that what the browser counts is what the lenses counted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from leadline.lenses.protocol import Protocol
from leadline.lenses.verdicts import verdicts
from leadline.report.document import FindingsDocument
from leadline.report.items_shown import RAW_LIMIT, shown


@dataclass(frozen=True)
class ItemText:
    """What was asked: the question and the answers that count as right, the canonical one first."""

    id: str
    question: str
    answers: tuple[str, ...]
    category: str = ""
    task: str = ""


class _Texts:
    """A table of distinct strings: most answers are given many times, and are stored once."""

    def __init__(self) -> None:
        self.strings: list[str] = []
        self._index: dict[str, int] = {}

    def add(self, text: str) -> int:
        if text not in self._index:
            self._index[text] = len(self.strings)
            self.strings.append(text)
        return self._index[text]


def items_data(
    document: FindingsDocument,
    readings: pl.DataFrame,
    items: Mapping[str, ItemText],
    evidence: Collection[str] = (),
) -> dict[str, Any]:
    """What the page's item browser reads, as plain JSON values (see `templates/report.js`).

    `texts` is a table of strings that everything else points into. Each item has, per model, a list of
    answers: [configuration, verdict text or -1, right, votes, asked, unsteady, groups], where a
    group is [value text or -1, state, right, count, [[raw text, count], ...]] in order of count. `depth`
    is, per model, "shallow" or "deep" for each partition temperature, on failures of the baseline. A study
    too large for a page is shown in part (see `items_shown`): `left_out` then says so. `evidence` are the
    items that the evidence page shows.
    """
    kept = shown(readings)
    readings = kept.readings
    texts = _Texts()
    protocol = document.protocol
    names = _configuration_names(document, readings)
    order = {name: place for place, name in enumerate(names)}
    groups = _groups(readings, texts)
    unsteady = _unsteady(readings)
    depth = _depth(readings, protocol)
    verdict_of = _verdicts(readings, protocol)
    entries = []
    for item in _item_order(readings, items):
        text = items.get(item) or ItemText(item, item, ())
        answers: dict[str, list[list[Any]]] = {}
        for model in (entry.name for entry in document.models):
            rows = []
            for name in names:
                key = (model, name, item)
                if key not in groups:
                    continue
                value, right, votes, asked = verdict_of.get(key, (None, -1, 0, 0))
                said = -1 if value is None else texts.add(value)
                rows.append([order[name], said, right, votes, asked, int(key in unsteady), groups[key]])
            answers[model] = rows
        entries.append(
            {
                "id": text.id,
                "question": text.question,
                "answers": list(text.answers),
                "category": text.category,
                "task": text.task,
                "evidence": item in evidence,
                "of": answers,
                "depth": {
                    entry.name: depth[entry.name, item]
                    for entry in document.models
                    if (entry.name, item) in depth
                },
            }
        )
    roles = {entry.name: entry.role for entry in document.configurations}
    return {
        "models": [entry.name for entry in document.models],
        "baseline": order.get(protocol.baseline, -1),
        "methods": [order[method.name] for method in protocol.methods if method.name in order],
        "configurations": [
            {"name": name, "label": document.label(name), "role": roles.get(name, _role(protocol, name))}
            for name in names
        ],
        "temperatures": [f"{partition.temperature:g}" for partition in protocol.partitions],
        "left_out": kept.left_out,
        "texts": texts.strings,
        "items": entries,
    }


def _role(protocol: Protocol, name: str) -> str:
    if name == protocol.baseline:
        return "baseline"
    return "partition" if name in {part.configuration for part in protocol.partitions} else "method"


def _configuration_names(document: FindingsDocument, readings: pl.DataFrame) -> list[str]:
    """The baseline, the methods, the partitions, then whatever else was answered, each once."""
    protocol = document.protocol
    answered = set(readings["configuration"].unique().to_list())
    wanted = [
        protocol.baseline,
        *(method.name for method in protocol.methods),
        *(partition.configuration for partition in protocol.partitions),
        *(entry.name for entry in document.configurations),
        *sorted(answered),
    ]
    return [name for name in dict.fromkeys(wanted) if name in answered]


def _item_order(readings: pl.DataFrame, items: Mapping[str, ItemText]) -> list[str]:
    """Items that were answered, in the benchmark's order; those that the benchmark lacks come last."""
    answered = set(readings["item"].unique().to_list())
    return [item for item in items if item in answered] + sorted(answered - set(items))


def _groups(readings: pl.DataFrame, texts: _Texts) -> dict[tuple[str, str, str], list[list[Any]]]:
    """The distinct answers of each (model, configuration, item), most frequent first, with their texts."""
    counted = (
        readings.group_by("model", "configuration", "item", "state", "value", "correct", "text")
        .agg(pl.len().alias("count"), pl.col("sample").min().alias("first"))
        .sort("model", "configuration", "item", "first")
    )
    grouped: dict[tuple[str, str, str], dict[tuple[Any, ...], list[Any]]] = {}
    for model, configuration, item, state, value, right, raw, count, _ in counted.iter_rows():
        of_item = grouped.setdefault((model, configuration, item), {})
        group = of_item.get((state, value))
        if group is None:
            shown = -1 if value is None else texts.add(value)
            group = of_item[state, value] = [shown, state, int(bool(right)), 0, []]
        group[3] += count
        group[4].append([texts.add(_shortened(raw or "")), count])
    return {key: sorted(of_item.values(), key=lambda group: -group[3]) for key, of_item in grouped.items()}


def _shortened(raw: str) -> str:
    if len(raw) <= RAW_LIMIT:
        return raw
    return f"{raw[:RAW_LIMIT]} […] ({len(raw) - RAW_LIMIT} more characters in the study)"


def _verdicts(readings: pl.DataFrame, protocol: Protocol) -> dict[tuple[str, str, str], tuple[Any, ...]]:
    """(value, right, votes, asked) per (model, configuration, item): the verdicts that the lenses use.

    `right` is 1 or 0, or -1 where every call failed. Partitions have no verdict.
    """
    votes = {method.name: method.vote for method in protocol.methods}
    votes[protocol.baseline] = protocol.baseline_vote
    return {
        (model, name, item): (value, int(right) if answered else -1, winning, asked)
        for model, name, item, value, right, winning, asked, answered in verdicts(readings, votes)
        .select("model", "configuration", "item", "value", "correct", "votes", "asked", "answered")
        .iter_rows()
    }


def _unsteady(readings: pl.DataFrame) -> set[tuple[str, str, str]]:
    """Where two readings of one configuration of one item say different things."""
    spread = (
        readings.filter(pl.col("state") == "ok")
        .group_by("model", "configuration", "item")
        .agg(pl.col("value").drop_nulls().n_unique().alias("values"))
        .filter(pl.col("values") > 1)
    )
    return set(spread.select("model", "configuration", "item").iter_rows())


def _depth(readings: pl.DataFrame, protocol: Protocol) -> dict[tuple[str, str], dict[str, str]]:
    """Per (model, item), for failures of the baseline: shallow or deep at each partition temperature."""
    failures = (
        verdicts(readings, {protocol.baseline: protocol.baseline_vote})
        .filter(~pl.col("correct") & (pl.col("answered") > 0))
        .select("model", "item")
    )
    found: dict[tuple[str, str], dict[str, str]] = {}
    for partition in protocol.partitions:
        reached = (
            readings.filter(
                (pl.col("configuration") == partition.configuration) & (pl.col("sample") < partition.k)
            )
            .group_by("model", "item")
            .agg(pl.col("correct").fill_null(value=False).any().alias("reached"))
            .join(failures, on=["model", "item"], how="semi")
        )
        for model, item, is_reached in reached.iter_rows():
            depth = "shallow" if is_reached else "deep"
            found.setdefault((model, item), {})[f"{partition.temperature:g}"] = depth
    return found
