"""The datasheet of exclusions: how many items each layer left, in order, which it took, and who decided."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass

import polars as pl

from leadline.lenses.audited import ADJUDICATED, NAMED
from leadline.lenses.protocol import Protocol
from leadline.study.study import Study


@dataclass(frozen=True)
class Layer:
    """One step from what was annotated to what was measured: who stayed and who went."""

    name: str
    meaning: str
    stay: int
    gone: tuple[str, ...]


@dataclass(frozen=True)
class Decided:
    """A decision that applies: `label` is the answer as annotated, `corrected` the one in its place."""

    item: str
    outcome: str
    reader: str
    date: str
    reason: str
    label: str
    corrected: str | None

    @property
    def by_whom(self) -> str:
        """Reader, date and reason, on one line."""
        return f"{_flat(self.reader)}, {self.date}: {_flat(self.reason)}"


def layers(study: Study, frame: pl.DataFrame, protocol: Protocol) -> list[Layer]:
    """As annotated, drawn, audit, named, adjudication, unmeasured; `frame` holds the readings of everybody.

    An item that several layers would leave out is counted once, where it goes first. The layer of people's
    decisions is there where the study follows a file of them.
    """
    excluded: Mapping[str, str] = study.population.excluded
    members = {item.id for item in study.benchmark.items}
    everything = [item.id for item in study.whole.items]
    drawn = [name for name in everything if name in members or name in excluded]
    by_name = [name for name in drawn if excluded.get(name) == NAMED]
    by_people = [name for name in drawn if excluded.get(name) in ADJUDICATED]
    by_audit = [name for name in drawn if excluded.get(name, "") not in ("", NAMED, *ADJUDICATED)]
    measured = set(frame.filter(pl.col("state") == "ok")["item"].unique().to_list())
    stay = [name for name in drawn if name in members]
    unmeasured = [name for name in stay if name not in measured]
    undrawn = tuple(name for name in everything if name not in set(drawn))
    after_audit = len(drawn) - len(by_audit)
    after_names = after_audit - len(by_name)
    found = [
        Layer("as annotated", "all items of the benchmark", len(everything), ()),
        Layer("drawn", "chosen by the study's items, limit and seed", len(drawn), undrawn),
        Layer("audit", "left out by a verdict of the audit", after_audit, tuple(by_audit)),
        Layer("named", "left out by name in study.yaml", after_names, tuple(by_name)),
    ]
    if study.population.adjudications:
        meaning = "left out by a person's decision on the label"
        found.append(Layer("adjudication", meaning, len(stay), tuple(by_people)))
    readable = len(stay) - len(unmeasured)
    return [
        *found,
        Layer("unmeasured", "no configuration gave a readable answer", readable, tuple(unmeasured)),
    ]


def decided(study: Study) -> list[Decided]:
    """The decisions that apply to items that were drawn, by item."""
    before = study.whole.by_id
    return [
        Decided(
            item,
            decision.outcome,
            decision.reader,
            decision.date,
            decision.reason,
            before[item].answer,
            decision.corrected,
        )
        for item, decision in sorted(study.population.decisions.applied.items())
    ]


def reasons(study: Study) -> dict[str, str]:
    """Item -> why it was left out, of those that were drawn."""
    return dict(sorted(study.population.excluded.items()))


def exclusions_json(study: Study, found: list[Layer]) -> str:
    """The layers for programs, and the decisions where the study follows any."""
    entries = [
        {"layer": layer.name, "meaning": layer.meaning, "items": layer.stay, "left_out": sorted(layer.gone)}
        for layer in found
    ]
    told: dict[str, object] = {"layers": entries, "reasons": reasons(study)}
    if study.population.adjudications:
        told["decisions"] = {
            "applied": [asdict(one) for one in decided(study)],
            "stale": sorted(study.population.decisions.stale),
        }
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def exclusions_text(study: Study, found: list[Layer]) -> str:
    """The layers for people. Items that were not drawn are counted, not listed: see the JSON file."""
    lines = [
        "# Datasheet of exclusions",
        "",
        "Each layer takes items away from what the layer above it left. The figures are about the last line",
        "but one: an item that nobody answered readably has no wobble and counts as wrong.",
        "",
        "| layer | what it is | items left | left out |",
        "| --- | --- | ---: | ---: |",
    ]
    lines += [f"| {one.name} | {one.meaning} | {one.stay:,} | {len(one.gone):,} |" for one in found]
    said, by_item = reasons(study), {one.item: one for one in decided(study)}
    for layer in found[2:]:
        if layer.gone:
            lines += ["", f"## {layer.name.capitalize()}", ""]
            for name in sorted(layer.gone):
                by_whom = f"; {by_item[name].by_whom}" if layer.name == "adjudication" else ""
                lines.append(f"- `{name}`{_reason(said.get(name, ''))}{by_whom}")
    lines += _labels(by_item, study.population.decisions.stale)
    lines += ["", "All ids, also of what was not drawn: DATASHEET_EXCLUSIONS.json.", ""]
    return "\n".join(lines)


def _labels(by_item: Mapping[str, Decided], stale: Collection[str]) -> list[str]:
    """What was decided of labels whose items stay: corrected, doubted and upheld, not applied."""
    lines = []
    if corrected := [one for one in by_item.values() if one.corrected is not None]:
        lines += ["", "## Corrected labels", "", "`benchmark/` keeps the labels as they were annotated.", ""]
        lines += [
            f"- `{one.item}`: {_flat(one.label)} → {_flat(one.corrected or '')}; {one.by_whom}"
            for one in corrected
        ]
    if rejected := [one for one in by_item.values() if one.outcome == "rejected"]:
        lines += ["", "## Doubts that were rejected: the label stands", ""]
        lines += [f"- `{one.item}`: {one.by_whom}" for one in rejected]
    if stale:
        lines += ["", "## Stale decisions: question, window or label has changed since; not applied", ""]
        lines += [f"- `{name}`" for name in sorted(stale)]
    return lines


def _reason(reason: str) -> str:
    return f": {reason}" if reason and reason != NAMED else ""


def _flat(text: str) -> str:
    """What a person wrote, on one line, and as no HTML of the page."""
    return " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
