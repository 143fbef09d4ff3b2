"""What the figures about one model allow its claims to be: gains, ranks, beyond sampling, steadiness."""

from __future__ import annotations

import re
from typing import Any, Optional

from leadline.bundle.verifier.claimed import (
    AT_MOST,
    NEVER,
    NO,
    UNKNOWN,
    YES,
    Claimed,
    Rule,
    is_small,
    judged_by,
)
from leadline.bundle.verifier.intervals import newcombe_level, wilson_ends


def claim_per_method(difference: str, p: str) -> Rule:
    """The rule for claims that rest on one method's difference and its corrected p."""

    def rule(claimed: Claimed) -> Optional[set[str]]:
        row = claimed.told("method")
        return None if row is None else judged_by(row["figures"], difference, p)

    return rule


def claim_gain_by_audit(claimed: Claimed) -> Optional[set[str]]:
    """As for others, but of a method that recovers nothing it cannot be said where its gain lies."""
    row = claimed.told("method")
    if row is None:
        return None
    allowed = judged_by(row["figures"], "gain_difference", "gain_p_holm")
    nothing = row["figures"]["recovered_flagged"].get("value") is None
    return {UNKNOWN, NEVER} if nothing else allowed


def claim_changes(claimed: Claimed) -> Optional[set[str]]:
    """What a method recovers and breaks, or does better or worse than sampling."""
    row = claimed.told("method")
    if row is None:
        return None
    gain = row["figures"].get("gain")
    if gain and not gain["denominator"]:  # no failure to recover: of recovering nothing can be said
        return {UNKNOWN}
    direction = -1 if "breaks more" in claimed.text or "answers worse" in claimed.text else None
    return judged_by(row["figures"], "difference", "mcnemar_p_holm", direction)


def claim_worst_group(claimed: Claimed) -> set[str]:
    """Whether one group may be called the worst of so many."""
    # Named as the worst after it was picked: the finer rule is not repeated, but nothing is supported that
    # is zero.
    return {UNKNOWN} if "No " in claimed.text[:3] else {NO, YES, UNKNOWN, NEVER} & _worst_allowed(claimed)


def _worst_allowed(claimed: Claimed) -> set[str]:
    """From the counts in its words: "50.0 % (2/4) against 26.4 % (14/53)"; corrected for so many
    "compared"."""
    counts = re.findall(r"\((\d[\d,]*)/(\d[\d,]*)\)", claimed.text)
    compared = re.search(r"of (\d+) compared", claimed.text)
    if len(counts) < 2 or compared is None:
        return {UNKNOWN, NO}
    first, second = ((int(a.replace(",", "")), int(b.replace(",", ""))) for a, b in counts[:2])
    if not second[1]:
        return {UNKNOWN, NO}
    low = newcombe_level(first, second, 1 - AT_MOST / int(compared[1]))[0]
    return {YES} if low > 0 else {NO, NEVER}


def claim_ranks(claimed: Claimed) -> Optional[set[str]]:
    """Whether the gold token moves more often one way than the other."""
    row = claimed.told("method")
    if row is None:
        return None
    p = row["figures"]["sign_p_holm"]
    return {UNKNOWN, NEVER} if p.get("value") is None else {YES} if is_small(p) else {NO, NEVER, UNKNOWN}


def claim_rates(claimed: Claimed) -> Optional[set[str]]:
    """Whether deep failures are reached beyond what fresh samples reach."""
    row = claimed.told("method")
    if row is None:
        return None
    figures = row["figures"]
    if figures.get("dgr_margin", {}).get("low") is None:
        return {NO, UNKNOWN, NEVER}
    holds = figures["dgr_margin"]["low"] > 0 and is_small(figures["dgr_p_holm"])
    return {YES} if holds else {NO, NEVER, UNKNOWN}


def claim_equal_budget(claimed: Claimed) -> Optional[set[str]]:
    """Whether a method recovers more than sampling does for the same tokens."""
    row = claimed.told("method")
    if row is None:
        return None
    told = re.search(r"p = ([\d.e-]+) after Holm", claimed.text)
    low = row["figures"]["difference"].get("low")
    if told is None or low is None:
        return {NO, UNKNOWN, NEVER}
    return {YES} if low > 0 and float(told[1]) <= AT_MOST else {NO, NEVER}


def claim_sweep(claimed: Claimed) -> set[str]:
    """Whether methods are ranked alike at every number of samples."""
    at = re.search(r"τ = ([\d.]+)", claimed.text)
    orders = [
        figure["value"]
        for row in claimed.rows
        if at is None or row["keys"].get("temperature") == at[1]
        for name, figure in row["figures"].items()
        if name.startswith("kendall") and figure["value"] is not None
    ]
    if not orders:
        return {UNKNOWN, NEVER}
    return {YES} if min(orders) > 1 - 1e-9 else {NO, UNKNOWN, NEVER}


def claim_same_order(claimed: Claimed) -> set[str]:
    """Whether configurations are ordered alike by both rules of correctness."""
    found = [row["figures"] for row in claimed.rows]
    both = [
        (one["acc"]["value"], one["acc_strict"]["value"]) for one in found if one["acc"]["value"] is not None
    ]
    if len(both) < 2:
        return {UNKNOWN, NEVER, NO}
    pairs = [(a[0] - b[0], a[1] - b[1]) for at, a in enumerate(both) for b in both[:at]]
    # Configurations that tie under both rules are in no order; a tie under one rule alone is a change.
    ordered = [loose * strict > 0 for loose, strict in pairs if loose or strict]
    if not ordered:
        return {UNKNOWN}
    # In an order at all are those whose intervals do not overlap, by one rule at least.
    apart = any(
        min(one[rule]["high"], other[rule]["high"]) < max(one[rule]["low"], other[rule]["low"])
        for at, one in enumerate(found)
        for other in found[:at]
        for rule in ("acc", "acc_strict")
        if one[rule]["value"] is not None and other[rule]["value"] is not None
    )
    return {NO} if not all(ordered) else {YES} if apart else {UNKNOWN}


def claim_leads(claimed: Claimed) -> set[str]:
    """Whether most answers begin where the gold token is probed."""
    figure: dict[str, Any] = claimed.rows[0]["figures"]["leads"] if claimed.rows else {"value": None}
    if figure["value"] is None:
        return {UNKNOWN}
    return {YES} if figure["low"] > 0.5 else {NO}


def claim_recovered(claimed: Claimed) -> Optional[set[str]]:
    """Whether what a method recovers is mostly steady, or mostly luck."""
    for row in claimed.rows:
        name = claimed.bundle.protocol["methods"]
        called = {one["name"]: one.get("label") or one["name"] for one in name}
        if (
            row["keys"]["verdict"] != "recovered"
            or f"What {called[row['keys']['method']]} recovers" not in claimed.text
        ):
            continue
        which = row["figures"]["lucky" if "mostly luck" in claimed.text else "steady"]
        n = which["denominator"]
        if not n:
            return {UNKNOWN, NEVER}
        if wilson_ends(n, n)[0] <= 0.5:
            return {NEVER}
        p = row["figures"]["majority_p_holm"]["value"]
        return {YES} if which["low"] > 0.5 and p <= AT_MOST else {NO, NEVER}
    return None


def claim_adjudication(claimed: Claimed) -> set[str]:
    """People chose what to decide on: no interval makes of what that changed a thing that was shown."""
    told = [claimed.rows[0]["figures"][f"acc_{name}"] for name in ("labelled", "adjudicated", "change")]
    return {UNKNOWN} if any(figure["value"] is None for figure in told) else {NEVER}
