"""Claims: whether their status is one that the figures allow. Figures are checked elsewhere; here they are
trusted.

Each rule says which statuses a claim may have. Where a claim may be withheld for reasons that no figure
shows (all configurations are of one family), both "supported" and "not supported" are allowed; a claim that
the figures do not carry is never allowed to be supported.
"""

from __future__ import annotations

import re

from leadline.bundle.verifier.claimed import (
    AT_MOST,
    NEVER,
    NO,
    STATUSES,
    UNKNOWN,
    YES,
    Claimed,
    Rule,
    is_small,
    off_zero,
)
from leadline.bundle.verifier.claims_of_models import (
    claim_adjudication,
    claim_changes,
    claim_equal_budget,
    claim_gain_by_audit,
    claim_leads,
    claim_per_method,
    claim_ranks,
    claim_rates,
    claim_recovered,
    claim_same_order,
    claim_sweep,
    claim_worst_group,
)
from leadline.bundle.verifier.dealt_groups import decisive_p, headline_rows, least_p
from leadline.bundle.verifier.faults import Book
from leadline.bundle.verifier.intervals import holm_corrected
from leadline.bundle.verifier.loading import Bundle


def check_claims(bundle: Bundle, book: Book) -> None:
    """Hold every claim's status against the figures of its table."""
    for finding in bundle.document["findings"]:
        lens, table = finding["lens"], finding["table"]
        for place in range(len(finding["claims"])):
            claimed = Claimed(bundle, finding, place)
            status, short = claimed.claim["status"], claimed.text[:90]
            where = f"{lens}, {table}, {finding['model']}: “{short}...”"
            if status not in STATUSES:
                book.fault("claim", f"{where}: no such status: {status}")
                continue
            rule = CLAIM_RULES.get((lens, table))
            try:
                allowed = rule(claimed) if rule else None
            except (KeyError, TypeError, ValueError) as error:
                book.fault("claim", f"{where}: it does not fit its table ({type(error).__name__} {error})")
                continue
            if allowed is None:
                book.not_recomputed(f"{lens}, {table}: a claim's status")
            elif status not in allowed:
                book.fault(
                    "claim",
                    f"{where}: it is called {status}; the figures make it {' or '.join(sorted(allowed))}",
                )
            book.count(lens, "claims")


def _beyond_reach(claimed: Claimed) -> set[str]:
    """No number of samples can show that failures are out of reach; further samples may show the contrary."""
    for row in claimed.rows:
        if f"τ = {row['keys']['temperature']}:" in claimed.text:
            found = row["figures"]["found_by_sweep"]["value"]
            return {NO} if found else {NEVER, UNKNOWN}
    return {NEVER, UNKNOWN}


def _pooled_rounding(claimed: Claimed) -> set[str]:
    """Answers change for another reason than how numbers are written: some cell is unstable under rounding
    too."""
    figure = claimed.rows[-1]["figures"]["wobble_rounding"]
    if figure["value"] is None:
        return {UNKNOWN}
    return {YES} if figure["numerator"] else {NO, NEVER, UNKNOWN}  # one change shows that there is change


def _numbers_change(claimed: Claimed) -> set[str]:
    """Some numbers change under rounding too, and the interval leaves out that none does."""
    figure = claimed.rows[-1]["figures"]["wobble_rounding"]
    if figure["value"] is None or not claimed.rows[-1]["figures"]["wobble_exact"]["numerator"]:
        return {UNKNOWN, NO}
    return {YES} if figure["low"] is not None and figure["low"] > 0 else {NO}


def _steadiest(claimed: Claimed) -> set[str]:
    clear = [
        (row["figures"]["difference"].get("high") or 0) < 0 and is_small(row["figures"]["mcnemar_p"])
        for row in claimed.rows
    ]
    return {YES} if clear and all(clear) else {NO, UNKNOWN, NEVER}


def _worst_category(claimed: Claimed) -> set[str]:
    figures = claimed.row(floor="5 tasks")
    conservative = figures.get("median_conservative", {}).get("value")
    if conservative is None:
        return {UNKNOWN}
    return {YES, NO} if conservative > 1 else {NO, UNKNOWN, NEVER}


def _trend(claimed: Claimed) -> set[str]:
    for row in claimed.rows:
        if f"({row['keys']['subset']})" in claimed.text:
            intercept = row["figures"]["intercept"]
            if intercept["value"] is None:
                return {UNKNOWN}
            clear = row["figures"]["clear"]["value"] > 0.5
            beyond_chance = is_small(row["figures"]["intercept_p"])
            return {YES} if intercept["low"] > 0 and clear and beyond_chance else {NO, NEVER}
    return {UNKNOWN, NO}


def _reliability(claimed: Claimed) -> set[str]:
    figure = claimed.rows[0]["figures"]["median_corrected"]
    if figure["value"] is None:
        return {UNKNOWN}
    if figure["value"] < 0.7:
        return {NO, UNKNOWN, NEVER}
    return {YES, NO, UNKNOWN} if figure["low"] is not None and figure["low"] >= 0.7 else {NO, UNKNOWN}


def _band(claimed: Claimed) -> set[str]:
    figure = claimed.rows[-1]["figures"]["band"]
    if figure["value"] is None:
        return {UNKNOWN}
    return {YES} if figure["high"] is not None and figure["high"] < 0.10 else {NO}


def _difficulty(claimed: Claimed) -> set[str]:
    if "merely difficulty" in claimed.text:
        return {NO, UNKNOWN, NEVER}  # never from this correlation
    figures = claimed.rows[0]["figures"]
    zone = figures["correct_but_unstable"]
    if not zone["denominator"]:
        return {UNKNOWN}
    if zone["numerator"]:
        return {NO}
    reach = [figures[name]["value"] or 0 for name in ("ceiling_lower", "ceiling_upper", "ceiling_observed")]
    if max(reach) < 0.3:
        return {NEVER}
    return {YES} if zone["high"] <= AT_MOST else {NO, NEVER}


def _transfer(claimed: Claimed) -> set[str]:
    """Rows of items at the largest k, or those that pairs of two families are told in."""
    named = re.search(r"\(within (.+?)\)", claimed.text)
    wanted = named[1] if named else "all configurations"
    rows = [
        row
        for row in claimed.rows
        if row["keys"]["set"] == wanted and row["keys"].get("unit", "items") == "items"
    ]
    if not rows:
        return {UNKNOWN, NO, NEVER}
    by_difficulty = "shared difficulty" in claimed.text
    if "families" in rows[0]["figures"]:
        figures = rows[1 if by_difficulty else 0]["figures"]
    else:
        controls = [row for row in rows if row["keys"].get("control", "").startswith("shuffled")]
        figures = (controls or rows)[0 if controls else -1]["figures"]
    mean, null = figures["mean"], figures.get("null_mean") or {}
    if mean.get("low") is None or null.get("high") is None:
        return {UNKNOWN, NO, NEVER}
    return {YES, NO, UNKNOWN} if mean["low"] > null["high"] else {NO, UNKNOWN, NEVER}


def _contrast(claimed: Claimed) -> set[str]:
    """One claim a headline row, in order, then those of groups that have none; p after Holm over the rows.
    Tasks count too, where there are any."""
    headlines = [row["figures"] for row in headline_rows(claimed.rows)]
    if claimed.place >= len(headlines):
        return {UNKNOWN}
    tested = [place for place, figures in enumerate(headlines) if decisive_p(figures) is not None]
    if claimed.place not in tested:
        return {UNKNOWN}
    p_values = [decisive_p(headlines[place]) or 0.0 for place in tested]
    # What would come of them if no way to deal out made as large a difference.
    least = [least_p(headlines[place]) for place in tested]
    at = tested.index(claimed.place)
    if holm_corrected(least)[at] > AT_MOST:
        return {NEVER}
    figures = headlines[claimed.place]
    way = 1 if figures["difference"]["value"] >= 0 else -1
    names = [name for name in ("difference", "difference_tasks") if name in figures]
    clear = all(way * (figures[name]["low" if way > 0 else "high"] or 0) > 0 for name in names)
    return {YES} if clear and holm_corrected(p_values)[at] <= AT_MOST else {NO}


def _exclusion(claimed: Claimed) -> set[str]:
    shared = "configurations share" in claimed.text
    for row in claimed.rows:
        quantity = row["keys"]["quantity"]
        if (quantity == "wobble" and not shared) or (
            shared and re.fullmatch(r"shared top \d+, mean", quantity)
        ):
            change = row["figures"].get("change") or {}
            if change.get("value") is None:
                return {UNKNOWN}
            return {YES} if off_zero(change) else {NO, NEVER, UNKNOWN}
    return {UNKNOWN, NO}


def _repair(claimed: Claimed) -> set[str]:
    figures = claimed.row(task="all tasks", measure="wobble")
    if not figures or figures["p"].get("value") is None:
        return {UNKNOWN}
    if 2.0 ** (1 - figures["items"]["value"]) > AT_MOST:
        return {NEVER}  # even if all items changed one way
    return {YES} if (figures["fall"].get("low") or 0) > 0 and is_small(figures["p"]) else {NO}


def _registered(claimed: Claimed) -> set[str]:
    """As the value lies; where the interval decides or a rule was broken there may be no verdict."""
    told = claimed.bundle.protocol["before"]["registered"]
    figures = claimed.rows[0]["figures"]
    measured, threshold = figures["measured"]["value"], figures["threshold"]["value"]
    if measured is None or told["outcome"] not in ("holds", "fails"):
        return {UNKNOWN}
    held = measured < threshold if told["direction"] == "below" else measured > threshold
    return {YES} if held and told["outcome"] == "holds" else {NO} if not held else set()


def _labels(claimed: Claimed) -> set[str]:
    """Supported by a candidate that most readings say, of all configurations and of the weakest one, and that
    no configuration holds the label against, one that was asked once neither; configurations of one family
    support nothing."""
    for row in claimed.rows:
        support, floor = (row["figures"][name] for name in ("support", "floor"))
        most = all(2 * one["numerator"] > one["denominator"] for one in (support, floor))
        once = row["figures"].get("once_for_label") or {"value": 0}
        if most and row["keys"]["dissent"] != "the label" and not once["value"]:
            return {YES, UNKNOWN}
    # A firm one may stand behind those that are listed.
    return {NO, UNKNOWN} | ({YES} if len(claimed.rows) >= 200 else set())


def _pairs(claimed: Claimed) -> set[str]:
    """The claim is always that two runs differ."""
    if claimed.place >= len(claimed.rows):
        return {UNKNOWN, NO}
    p = claimed.rows[claimed.place]["figures"].get("variation_p_holm") or {}
    return {UNKNOWN, NEVER} if p.get("value") is None else {YES} if is_small(p) else {NO, NEVER}


CLAIM_RULES: dict[tuple[str, str], Rule] = {
    ("accuracy", "overall"): claim_same_order,
    ("accuracy", "answer position"): claim_leads,
    ("transitions", "overall"): claim_changes,
    ("transitions", "by category"): claim_worst_group,
    ("against_sampling", "overall"): claim_changes,
    ("rank_shift", "overall"): claim_ranks,
    ("beyond_sampling", "rates"): claim_rates,
    ("beyond_sampling", "sweep"): claim_sweep,
    ("beyond_sampling", "equal budget"): claim_equal_budget,
    ("beyond_sampling", "unseen"): _beyond_reach,
    ("wobble", "overall"): _pooled_rounding,
    ("wobble", "steadiest"): _steadiest,
    ("sameness", "overall"): _numbers_change,
    ("worst_category", "overall"): _worst_category,
    ("worst_category", "trend"): _trend,
    ("reliability", "overall"): _reliability,
    ("observability", "overall"): _band,
    ("difficulty", "overall"): _difficulty,
    ("transfer", "by k"): _transfer,
    ("transfer", "across families"): _transfer,
    ("transfer", "controls"): _transfer,
    ("contrast", "flagged against clean"): _contrast,
    ("contrast", "by failure type"): _contrast,
    ("contrast", "stated in window"): _contrast,
    ("contrast", "chosen"): _contrast,
    ("exclusion", "both readings"): _exclusion,
    ("adjudication", "both"): claim_adjudication,
    ("repair", "by task"): _repair,
    ("repair", "registered"): _registered,
    ("label_errors", "candidates"): _labels,
    ("equivalence", "pairs"): _pairs,
    ("steadiness", "wobble change"): claim_per_method("rarefied_difference", "mcnemar_p_holm"),
    ("steadiness", "gain by audit"): claim_gain_by_audit,
    ("steadiness", "recovered"): claim_recovered,
    ("steadiness", "rank shift"): claim_per_method("rho", "rho_p_holm"),
}
