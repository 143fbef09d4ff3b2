"""What each method recovers and breaks, and whether sampling does as much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leadline.bundle.verifier.expected import (
    Expected,
    Table,
    difference_figure,
    no_figure,
    p_figure,
    plain_count,
    row_key,
    wilson_share,
)
from leadline.bundle.verifier.intervals import holm_corrected, mcnemar_exact
from leadline.bundle.verifier.resampling import sum_draws
from leadline.bundle.verifier.votes import Parts


def transition_tables(parts: Parts) -> dict[str, Table]:
    """Overall, by category and by task."""
    if not parts.methods or not parts.cells(parts.baseline_name):
        return {}
    overall: Table = {}
    by_category: Table = {}
    by_task: Table = {}
    tested: list[tuple[dict[str, Expected], float]] = []
    for method in parts.methods:
        pairs = _pairs(parts, method)
        figures = _rates(list(pairs.values()))
        recovered, broken = _changed(list(pairs.values()))
        figures["mcnemar_p"] = figures["mcnemar_p_holm"] = no_figure(0)
        if pairs:
            p = mcnemar_exact(recovered, broken)
            figures["mcnemar_p"] = p_figure(p, recovered + broken)
            tested.append((figures, p))
        else:
            figures["net"] = no_figure(0)
        overall[row_key(method=method["name"])] = figures
        for category, items in _grouped(pairs, parts.bundle.category).items():
            group = _rates([pairs[item] for item in items])
            group["tasks"] = plain_count(len({parts.bundle.task(item) for item in items} - {""}))
            by_category[row_key(category=category, method=method["name"])] = group
        for task, items in _grouped(pairs, parts.bundle.task).items():
            by_task[row_key(task=task, method=method["name"])] = _rates([pairs[item] for item in items])
    for (figures, _), corrected in zip(tested, holm_corrected([p for _, p in tested])):
        figures["mcnemar_p_holm"] = Expected(corrected, None, figures["mcnemar_p"].denominator)
    tables = {"overall": overall, "by category": by_category, "by task": by_task}
    return {name: table for name, table in tables.items() if table}


def against_sampling_tables(parts: Parts) -> dict[str, Table]:
    """Techniques against temperatures, on the items that both answered."""
    table: Table = {}
    p_values = []
    samplings = [method for method in parts.methods if method["is_sampling"]]
    for method in parts.methods:
        if method["is_sampling"]:
            continue
        for sampling in samplings:
            own, other = parts.verdicts(method), parts.verdicts(sampling)
            both = sorted(set(own) & set(other))
            only_own = sum(own[item].correct and not other[item].correct for item in both)
            only_other = sum(other[item].correct and not own[item].correct for item in both)
            p_values.append(mcnemar_exact(only_own, only_other))
            table[row_key(method=method["name"], sampling=sampling["name"])] = {
                "acc": wilson_share(sum(own[item].correct for item in both), len(both)),
                "acc_sampling": wilson_share(sum(other[item].correct for item in both), len(both)),
                "difference": difference_figure([own[item].correct - other[item].correct for item in both]),
                "only_method": plain_count(only_own),
                "only_sampling": plain_count(only_other),
            }
    for figures, corrected in zip(table.values(), holm_corrected(p_values)):
        disputed = figures["only_method"].value + figures["only_sampling"].value
        is_tested = figures["acc"].denominator > 0
        figures["mcnemar_p_holm"] = Expected(corrected, None, disputed) if is_tested else no_figure(0)
    return {"overall": table} if table else {}


def _pairs(parts: Parts, method: dict[str, Any]) -> dict[str, tuple[bool, bool]]:
    """Item -> (baseline right, method right), of the items that both answered."""
    found = parts.verdicts(method)
    return {
        item: (parts.baseline[item].correct, found[item].correct)
        for item in sorted(found)
        if item in parts.baseline
    }


def _changed(pairs: Sequence[tuple[bool, bool]]) -> tuple[int, int]:
    return sum(not was and now for was, now in pairs), sum(was and not now for was, now in pairs)


def _rates(pairs: Sequence[tuple[bool, bool]]) -> dict[str, Expected]:
    n = len(pairs)
    right = sum(was for was, _ in pairs)
    recovered, broken = _changed(pairs)
    moved = [int(now) - int(was) for was, now in pairs]
    difference = difference_figure(moved)
    ends: Any = difference.ends
    net = (ends[0] * n, ends[1] * n) if isinstance(ends, tuple) else lambda: sum_draws(moved)
    return {
        "acc": wilson_share(sum(now for _, now in pairs), n),
        "acc_baseline": wilson_share(right, n),
        "gain": wilson_share(recovered, n - right),
        "loss": wilson_share(broken, right),
        "difference": difference,
        "net": Expected(recovered - broken, recovered - broken, n, net),
    }


def _grouped(pairs: dict[str, Any], name: Any) -> dict[str, list[str]]:
    """Items by their group; where some have one, those without are a group of their own."""
    found: dict[str, list[str]] = {}
    for item in pairs if any(map(name, pairs)) else ():
        found.setdefault(name(item) or "(none)", []).append(item)
    return found
