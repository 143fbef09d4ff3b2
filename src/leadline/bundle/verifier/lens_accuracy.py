"""Accuracy, states of answers, and where answers begin."""

from __future__ import annotations

import sys
from collections import Counter

from leadline.bundle.verifier.expected import Table, ratio_figure, row_key, wilson_share
from leadline.bundle.verifier.votes import Parts, verdicts

_STATE_NAMES = ("ok", "empty", "refused", "unreadable", "error")
# Told where there is one at all.
_TRUNCATED = "truncated"


def accuracy_tables(parts: Parts) -> dict[str, Table]:
    """The tables of the lens for one model."""
    tables = {"overall": _overall(parts), "states": _states(parts), "answer position": _position(parts)}
    return {name: table for name, table in tables.items() if table}


def _overall(parts: Parts) -> Table:
    voting = [(parts.baseline_name, parts.baseline_vote)] + [
        (method["name"], method["vote"]) for method in parts.methods
    ]
    if not parts.baseline_name:
        # Nothing is compared: each configuration's own accuracy, over all of its answers.
        apart = {part["configuration"] for part in parts.partitions}
        own = [name for model, name in parts.bundle.cells if model == parts.model and name not in apart]
        voting = [(name, sys.maxsize) for name in own]
    table: Table = {}
    for name, vote in voting:
        found = list(verdicts(parts.cells(name), vote).values())
        if not parts.cells(name):
            continue
        n = len(found)
        table[row_key(configuration=name)] = {
            "acc": wilson_share(sum(one.correct for one in found), n),
            "acc_strict": wilson_share(sum(one.strict for one in found), n),
            "rules_differ": wilson_share(sum(one.correct != one.strict for one in found), n),
            "tied_votes": wilson_share(sum(one.tied for one in found), n),
        }
    return table


def _states(parts: Parts) -> Table:
    table: Table = {}
    own = {name: cells for (model, name), cells in parts.bundle.cells.items() if model == parts.model}
    is_cut = any(one.state == _TRUNCATED for cells in own.values() for of in cells.values() for one in of)
    states = (*_STATE_NAMES, _TRUNCATED) if is_cut else _STATE_NAMES
    for name, cells in own.items():
        counted = [Counter(answer.state for answer in cells[item]) for item in sorted(cells)]
        asked = [sum(counts.values()) for counts in counted]
        table[row_key(configuration=name)] = {
            state: ratio_figure([counts[state] for counts in counted], asked) for state in states
        }
    return table


def _position(parts: Parts) -> Table:
    recorded = {
        one["configuration"] for one in parts.bundle.protocol["members"] if one.get("kind") == "recorded"
    }
    readable = [
        answer
        for answers in parts.cells(parts.baseline_name).values()
        for answer in answers
        if answer.sample == 0 and answer.state == "ok"
    ]
    # Where an answer begins matters to ranks, and what was recorded, or came from elsewhere, has none.
    own = [cells for (model, _), cells in parts.bundle.cells.items() if model == parts.model]
    has_ranks = any(one.rank is not None for cells in own for of in cells.values() for one in of)
    is_elsewhere = any(
        (one.get("serving") or "local") != "local"
        for one in parts.bundle.protocol["members"]
        if (one["model"], one["configuration"]) == (parts.model, parts.baseline_name)
    )
    if not parts.compares or parts.baseline_name in recorded or (is_elsewhere and not has_ranks):
        return {}
    leading = sum(answer.leads for answer in readable)
    return {row_key(configuration=parts.baseline_name): {"leads": wilson_share(leading, len(readable))}}
