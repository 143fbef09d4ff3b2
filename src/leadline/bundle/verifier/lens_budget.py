"""Tokens spent per recovered failure, sampling at the same budget, and what more samples would reach."""

from __future__ import annotations

from math import exp, log, sqrt
from typing import Any

from leadline.bundle.verifier.drawn import Drawn
from leadline.bundle.verifier.expected import (
    Expected,
    Table,
    difference_figure,
    no_figure,
    plain_count,
    ratio_figure,
    row_key,
    wilson_share,
)
from leadline.bundle.verifier.intervals import Z
from leadline.bundle.verifier.lens_beyond import partition_hits
from leadline.bundle.verifier.resampling import statistic_draws
from leadline.bundle.verifier.votes import Parts


def _spent(parts: Parts, method: dict[str, Any], vote: int) -> dict[str, tuple[int, int]]:
    """Item -> tokens generated and read for its first `vote` answers."""
    return {
        item: (
            sum(one.tokens_out or 0 for one in answers if one.sample < vote),
            sum(one.tokens_in or 0 for one in answers if one.sample < vote),
        )
        for item, answers in parts.cells(method["name"]).items()
    }


def budget_table(parts: Parts) -> Table:
    """Tokens over recovered failures, every failure paid for; no rows where no token was counted."""
    table: Table = {}
    own = [cells for (model, _), cells in parts.bundle.cells.items() if model == parts.model]
    if not any(one.tokens_out or one.tokens_in for cells in own for said in cells.values() for one in said):
        return table
    for method in parts.methods if parts.compares else ():
        found = parts.verdicts(method)
        items = [item for item in parts.failures if item in found]
        spent = _spent(parts, method, method["vote"])
        right = [int(found[item].correct) for item in items]
        table[row_key(method=method["name"])] = {
            "recovered": plain_count(sum(right), len(items)),
            "tokens_out_per_recovered": _price([spent[item][0] for item in items], right),
            "tokens_in_per_recovered": _price([spent[item][1] for item in items], right),
        }
    return table


def _price(spent: list[int], right: list[int]) -> Expected:
    """Where no tokens were counted, nothing has a price."""
    return ratio_figure(spent, right, is_share=False) if sum(spent) else no_figure(len(right))


def equal_budget_table(parts: Parts) -> Table:
    """A technique against sampling that may generate as many tokens."""
    table: Table = {}
    for method in parts.methods if parts.compares else ():
        if method["is_sampling"]:
            continue
        own = parts.verdicts(method)
        failures = [item for item in parts.failures if item in own]
        spent = _spent(parts, method, method["vote"])
        for sampling in parts.methods:
            cells = parts.cells(sampling["name"])
            # Every fresh sample of these failures that did not fail has its part in the price of one.
            drawn = {item: [one for one in cells.get(item, ()) if one.state != "error"] for item in failures}
            items = [item for item in failures if drawn[item]]
            samples = [one for answers in drawn.values() for one in answers]
            tokens, budget = (
                sum(one.tokens_out or 0 for one in samples),
                sum(spent[item][0] for item in items),
            )
            if not sampling["is_sampling"] or not tokens or not budget:
                continue
            available = len({one.sample for one in samples})
            bought = min(max(int((budget / len(items)) / (tokens / len(samples))), 1), available)
            other = parts.verdicts(sampling, bought)
            both = [item for item in items if item in other]
            table[row_key(method=method["name"], sampling=sampling["name"])] = {
                "samples_bought": plain_count(bought, available),
                "gain": wilson_share(sum(own[item].correct for item in both), len(both)),
                "gain_equal_budget": wilson_share(sum(other[item].correct for item in both), len(both)),
                "difference": difference_figure([own[item].correct - other[item].correct for item in both]),
            }
    return table


def chao2_unseen(once: int, twice: int, k: int, seen: int, hits: int) -> tuple[float, float, float]:
    """Bias-corrected Chao 2: unseen units, and the log-normal interval of that number (Chao 1987; Colwell's
    EstimateS guide, appendix B, whose variance has another form where nothing was seen twice).

    Where the estimate is zero the interval is that of a complete inventory: a unit with the mean number of
    `hits` goes unseen by Poisson's chance.
    """
    share = (k - 1) / k
    unseen = share * once * (once - 1) / (2 * (twice + 1))
    if unseen == 0:
        missed = exp(-hits / seen)
        middle, half = seen / (1 - missed), Z * sqrt(seen * missed) / (1 - missed)
        return 0.0, max(0.0, middle - half - seen), middle + half - seen
    if twice:
        variance = (
            share * once * (once - 1) / (2 * (twice + 1))
            + share**2 * once * (2 * once - 1) ** 2 / (4 * (twice + 1) ** 2)
            + share**2 * once**2 * twice * (once - 1) ** 2 / (4 * (twice + 1) ** 4)
        )
    else:
        variance = (
            share * once * (once - 1) / 2
            + share**2 * once * (2 * once - 1) ** 2 / 4
            - share**2 * once**4 / (4 * (seen + unseen))
        )
    spread = exp(Z * sqrt(log(1 + variance / unseen**2)))
    return unseen, unseen / spread, unseen * spread


def further(once: int, twice: int, k: int, more: int) -> float:
    """How many of the unseen another `more` samples should show (Colwell and others 2012, eq. 18)."""
    unseen = (k - 1) / k * once * (once - 1) / (2 * (twice + 1))
    if unseen == 0 or once == 0:
        return 0.0
    return unseen * (1 - (1 - once / (k * unseen + once)) ** more)


def unseen_table(parts: Parts) -> Table:
    """Of the deep failures, how many more samples are within reach."""
    table: Table = {}
    for part in parts.partitions:
        k, sweep = part["k"], part["sweep"]
        hits = partition_hits(parts, part, k)
        counts = list(hits.values())
        deep = sum(number == 0 for number in counts)
        once, twice = sum(number == 1 for number in counts), sum(number == 2 for number in counts)
        seen = len(counts) - deep
        figures = {"hit_once": plain_count(once, len(counts)), "hit_twice": plain_count(twice, len(counts))}
        table[row_key(temperature=f"{part['temperature']:g}")] = figures
        if seen == 0:
            for name in ("reachable_deep", "reachable_deep_share", "expected_next_k"):
                figures[name] = no_figure(deep)
        else:
            unseen, low, high = (
                min(deep, number) for number in chao2_unseen(once, twice, k, seen, sum(counts))
            )
            figures["reachable_deep"] = Expected(unseen, unseen, deep, (low, high))
            figures["reachable_deep_share"] = (
                Expected(unseen / deep, unseen, deep, (low / deep, high / deep)) if deep else no_figure(0)
            )
            figures["expected_next_k"] = _expected_after(counts, k, k, deep)
        if sweep > k:
            whole = partition_hits(parts, part, sweep)
            figures["expected_by_sweep"] = (
                _expected_after(counts, k, sweep - k, deep) if seen else no_figure(deep)
            )
            figures["found_by_sweep"] = plain_count(
                sum(whole[item] > 0 and hits[item] == 0 for item in hits), deep
            )
        else:
            figures["expected_by_sweep"] = figures["found_by_sweep"] = no_figure(deep)
    return table


def _expected_after(counts: list[int], k: int, more: int, deep: int) -> Expected:
    def statistic(chosen: Any) -> float:
        drawn = [counts[at] for at in chosen]
        return min(drawn.count(0), further(drawn.count(1), drawn.count(2), k, more))

    value = min(deep, further(counts.count(1), counts.count(2), k, more))
    if len(counts) == 1:
        return Expected(value, value, deep, (value, value))
    ends = Drawn(lambda: statistic_draws(len(counts), statistic), between=True)
    return Expected(value, value, deep, ends)
