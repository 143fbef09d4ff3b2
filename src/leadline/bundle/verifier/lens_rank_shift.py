"""Where the gold token stands under a method and under the baseline, on what both get wrong."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log2
from statistics import median
from typing import Any

from leadline.bundle.verifier.expected import Expected, Table, median_figure, p_figure, row_key, wilson_share
from leadline.bundle.verifier.intervals import holm_corrected, mcnemar_exact
from leadline.bundle.verifier.loading import Answer
from leadline.bundle.verifier.votes import Parts

# (baseline's rank, method's median rank, ruled out on half of its paths or more)
Shift = tuple[float, float, bool]


def rank_shift_tables(parts: Parts) -> dict[str, Table]:
    """Overall, by category and by task; sampling changes no order and has no rows."""
    overall: Table = {}
    groups: dict[str, Table] = {"by category": {}, "by task": {}}
    p_values, rows = [], []
    for method in parts.methods:
        if method["is_sampling"]:
            continue
        if not probed(parts, method):
            continue
        shifts = rank_shifts(parts, method)
        figures = _shares(list(shifts.values()))
        up, down = int(figures["improved"].numerator), int(figures["worsened"].numerator)
        p_values.append(mcnemar_exact(up, down))
        figures["sign_p"] = p_figure(p_values[-1], up + down)
        rows.append(figures)
        overall[row_key(method=method["name"])] = figures
        for table, key, name in (
            ("by category", "category", parts.bundle.category),
            ("by task", "task", parts.bundle.task),
        ):
            # Where some have one, those without are a group of their own.
            for group in sorted({name(item) for item in shifts}) if any(map(name, shifts)) else ():
                within = [shift for item, shift in shifts.items() if name(item) == group]
                groups[table][row_key(**{key: group or "(none)", "method": method["name"]})] = _shares(within)
    for figures, corrected in zip(rows, holm_corrected(p_values)):
        figures["sign_p_holm"] = Expected(corrected, None, figures["sign_p"].denominator)
    return {name: table for name, table in {"overall": overall, **groups}.items() if table}


def probed(parts: Parts, method: dict[str, Any]) -> bool:
    """The gold token was probed under the baseline and under the method."""
    first, vote = parts.cells(parts.baseline_name), method["vote"]
    return all(
        any(one.rank is not None and one.sample < limit for answers in cells.values() for one in answers)
        for cells, limit in ((first, 1), (parts.cells(method["name"]), vote))
    )


def rank_shifts(parts: Parts, method: dict[str, Any]) -> dict[str, Shift]:
    """Item -> ranks, for the items that baseline and method both get wrong and that were probed in both."""
    found: dict[str, Shift] = {}
    own = parts.verdicts(method)
    before = parts.cells(parts.baseline_name)
    after = parts.cells(method["name"])
    for item in sorted(set(own) & set(parts.baseline)):
        if own[item].correct or parts.baseline[item].correct:
            continue
        first = next((one for one in before[item] if one.sample == 0 and one.rank is not None), None)
        paths = [one for one in after[item] if one.sample < method["vote"] and one.rank is not None]
        if first is None or not paths:
            continue
        ruled_out = sum(one.masked for one in paths) * 2 >= len(paths)
        found[item] = (_rank(first), float(median(map(_rank, paths))), ruled_out)
    return found


def _rank(answer: Answer) -> float:
    """A token that was ruled out stands behind all others."""
    return inf if answer.masked else float(answer.rank or 0)


def _shares(shifts: Sequence[Shift]) -> dict[str, Expected]:
    n = len(shifts)
    improved = sum(after < before and not masked for before, after, masked in shifts)
    worsened = sum(after > before or masked for before, after, masked in shifts)
    return {
        "improved": wilson_share(improved, n),
        "tied": wilson_share(n - improved - worsened, n),
        "worsened": wilson_share(worsened, n),
        "masked": wilson_share(sum(masked for _, _, masked in shifts), n),
        # A token that was ruled out has no rank: it fell without end.
        "median_log2_shift": median_figure(
            [-inf if masked else log2(before / after) for before, after, masked in shifts]
        ),
    }
