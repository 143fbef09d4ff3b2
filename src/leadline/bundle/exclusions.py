"""The datasheet of exclusions: how many items each layer left, in order, and which ones it took."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from leadline.lenses.protocol import Protocol
from leadline.study.study import Study


@dataclass(frozen=True)
class Layer:
    """One step from what was annotated to what was measured: who stayed and who went."""

    name: str
    meaning: str
    stay: int
    gone: tuple[str, ...]


def layers(study: Study, frame: pl.DataFrame, protocol: Protocol) -> list[Layer]:
    """As annotated, drawn, audit, named, unmeasured; `frame` holds the readings of everybody.

    An item that the audit and study.yaml both leave out is counted once, where it goes first: with the audit.
    """
    excluded: Mapping[str, str] = study.population.excluded
    members = {item.id for item in study.benchmark.items}
    everything = [item.id for item in study.whole.items]
    drawn = [name for name in everything if name in members or name in excluded]
    by_audit = [name for name in drawn if excluded.get(name, "") not in ("", "named")]
    by_name = [name for name in drawn if excluded.get(name) == "named"]
    measured = set(frame.filter(pl.col("state") == "ok")["item"].unique().to_list())
    stay = [name for name in drawn if name in members]
    unmeasured = [name for name in stay if name not in measured]
    undrawn = tuple(name for name in everything if name not in set(drawn))
    after_audit = len(drawn) - len(by_audit)
    return [
        Layer("as annotated", "all items of the benchmark", len(everything), ()),
        Layer("drawn", "chosen by the study's items, limit and seed", len(drawn), undrawn),
        Layer("audit", "left out by a verdict of the audit", after_audit, tuple(by_audit)),
        Layer("named", "left out by name in study.yaml", len(stay), tuple(by_name)),
        Layer(
            "unmeasured",
            "no configuration gave a readable answer",
            len(stay) - len(unmeasured),
            tuple(unmeasured),
        ),
    ]


def reasons(study: Study) -> dict[str, str]:
    """Item -> why it was left out, of those that were drawn."""
    return dict(sorted(study.population.excluded.items()))


def exclusions_json(study: Study, found: list[Layer]) -> str:
    """The layers for programs."""
    entries = [
        {"layer": layer.name, "meaning": layer.meaning, "items": layer.stay, "left_out": sorted(layer.gone)}
        for layer in found
    ]
    return json.dumps({"layers": entries, "reasons": reasons(study)}, indent=1, ensure_ascii=False) + "\n"


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
    said = reasons(study)
    for layer in found[2:]:
        if layer.gone:
            lines += ["", f"## {layer.name.capitalize()}", ""]
            lines += [f"- `{name}`{_reason(said.get(name, ''))}" for name in sorted(layer.gone)]
    lines += ["", "All ids, also of what was not drawn: DATASHEET_EXCLUSIONS.json.", ""]
    return "\n".join(lines)


def _reason(reason: str) -> str:
    return f": {reason}" if reason and reason != "named" else ""
