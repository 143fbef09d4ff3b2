"""Techniques asked again: their further answers, and whether what they recover is steady or lucky."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from leadline.bundle.verifier.expected import (
    Expected,
    Table,
    median_figure,
    no_figure,
    plain_count,
    row_key,
    wilson_share,
)
from leadline.bundle.verifier.intervals import holm_corrected, mcnemar_exact
from leadline.bundle.verifier.loading import Answer, Cells
from leadline.bundle.verifier.votes import Parts, Verdict, verdict_over


def again_of(parts: Parts, method: dict[str, Any]) -> Optional[dict[str, Any]]:
    """The entry of the protocol by which a method was asked again, if it was and there are answers."""
    for entry in parts.bundle.protocol.get("again", []):
        if entry["method"] == method["name"] and parts.cells(entry["configuration"]):
            found: dict[str, Any] = entry
            return found
    return None


def plain_of(parts: Parts, method: dict[str, Any]) -> str:
    """The plain sampling that a method is set against: at its own temperature, else the first that there
    is."""
    own = [one["plain"] for one in parts.bundle.protocol.get("again", []) if one["method"] == method["name"]]
    others = [one["name"] for one in parts.methods if one["is_sampling"]]
    return next((str(name) for name in [*own, *others] if name and parts.cells(name)), "")


def further_answers(
    parts: Parts, method: dict[str, Any]
) -> Optional[tuple[dict[str, Verdict], dict[str, list[Answer]]]]:
    """Verdicts, and the answers that had no part in them; None where there are none."""
    cells, vote = parts.cells(method["name"]), method["vote"]
    again = again_of(parts, method)
    # A method with paths of its own is listed as well, under its own name: these paths made its verdict.
    if again and again["configuration"] != method["name"]:
        return parts.verdicts(method), parts.cells(again["configuration"])
    beyond = {item: [one for one in answers if one.sample >= vote] for item, answers in cells.items()}
    if _numbers(beyond) >= 2:
        return parts.verdicts(method), beyond
    odd = {
        item: [one for one in answers if one.sample % 2 and one.sample < vote]
        for item, answers in cells.items()
    }
    if _numbers(odd) < 2:
        return None
    halved = {}
    for item, answers in cells.items():
        verdict = verdict_over([one for one in answers if one.sample % 2 == 0], vote)
        if verdict is not None:
            halved[item] = verdict
    return halved, odd


def _numbers(cells: Cells) -> int:
    """How many sample numbers there are among these answers."""
    return len({one.sample for answers in cells.values() for one in answers})


def _right_shares(cells: Cells, items: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Item -> (right answers, answers that did not fail), of items with two such answers."""
    found = {}
    for item in items:
        answers = [one.correct for one in cells.get(item, []) if one.state != "error"]
        if len(answers) >= 2:
            found[item] = (sum(answers), len(answers))
    return found


def recovered_table(parts: Parts) -> Table:
    """Items by what became of the baseline's verdict, and how often their further answers are right."""
    table: Table = {}
    tested: list[tuple[dict[str, Expected], float]] = []
    for method in parts.methods:
        found = further_answers(parts, method)
        if found is None:
            continue
        own, further = found
        plain = next(
            (
                one["plain"]
                for one in parts.bundle.protocol.get("again", [])
                if one["method"] == method["name"]
            ),
            "",
        )
        has_plain = bool(_right_shares(parts.cells(plain), list(parts.cells(plain)))) if plain else False
        both = [item for item in sorted(own) if item in parts.baseline]
        for verdict, was, now in (
            ("recovered", False, True),
            ("unrecovered", False, False),
            ("broken", True, False),
            ("kept", True, True),
        ):
            items = [
                item for item in both if parts.baseline[item].correct == was and own[item].correct == now
            ]
            shares = _right_shares(further, items)
            p = [right / n for right, n in shares.values()]
            figures = {
                "items": plain_count(len(p), len(items)),
                "answers": plain_count(sum(n for _, n in shares.values())),
                "p_median": median_figure(p),
                "steady": wilson_share(sum(10 * right >= 9 * n for right, n in shares.values()), len(p)),
                "lucky": wilson_share(sum(2 * right <= n for right, n in shares.values()), len(p)),
            }
            if has_plain:
                beside = _right_shares(parts.cells(plain), list(shares))
                figures["plain_p_median"] = median_figure([right / n for right, n in beside.values()])
                steady = sum(10 * right >= 9 * n for right, n in beside.values())
                figures["plain_steady"] = wilson_share(steady, len(beside))
            else:
                figures["plain_p_median"] = figures["plain_steady"] = no_figure()
            if verdict == "recovered" and p and not method["is_sampling"]:
                # Of the two kinds the more frequent one, against the rest of the items.
                kind = max(int(figures["steady"].numerator), int(figures["lucky"].numerator))
                chance = mcnemar_exact(kind, len(p) - kind)
                figures["majority_p"] = Expected(chance, None, len(p))
                figures["majority_p_holm"] = Expected(None, None, len(p))
                tested.append((figures, chance))
            table[row_key(method=method["name"], verdict=verdict)] = figures
    for (figures, _), corrected in zip(tested, holm_corrected([chance for _, chance in tested])):
        figures["majority_p_holm"].value = corrected
    return table
