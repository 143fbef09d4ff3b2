"""What else could make configurations unsteady on the same items: difficulty, one of them, the way they are
served, a shared family, flagged items, or where a top k was cut.

Difficulty: an item's accuracy is the share of all repeated configurations that measured it whose majority is
correct. Accuracy strata: [0, 0.25), [0.25, 0.5), [0.5, 0.75), [0.75, 1]; inside one, items are ranked anew.
Held fixed altogether: all items are ranked, and each configuration's values are shuffled among the places of
their own stratum only, so that the null shares whatever difficulty makes configurations share.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from leadline.lenses.audited import flagged
from leadline.lenses.figures import count, unknown
from leadline.lenses.finding import Figure, Row
from leadline.lenses.panel import Floats, Panel
from leadline.lenses.protocol import Protocol
from leadline.lenses.transfer_figures import (
    NO_PAIRS,
    drawn_members,
    mean_over,
    null_figures,
    null_of,
    pair_figures,
)
from leadline.lenses.transfer_scores import Scores, item_scores
from leadline.lenses.whole import Whole
from leadline.stats.pair_bootstrap import bootstrap_pair_median
from leadline.stats.rank_biased_overlap import PERSISTENCE, ceiling, rank_biased_overlap
from leadline.stats.top_sets import TopSets, best_first, top_sets

STRATA = ("0 to 0.25", "0.25 to 0.5", "0.5 to 0.75", "0.75 to 1")
DIFFICULTY_FIXED = "shuffled within accuracy strata"
_SHOWN = ("units", "mean", "mean_untied", "null_mean", "p", "hits", "expected", "null_hits", "ratio")


def stratum_of(panel: Panel, repeated: Sequence[int]) -> Floats:
    """The accuracy stratum of every item of the panel [items], 0 to 3; nan where nobody measured it."""
    measured = panel.measured[list(repeated)].sum(axis=0)
    right = (panel.correct & panel.measured)[list(repeated)].sum(axis=0)
    found = np.full(len(panel.items), np.nan)
    there = measured > 0
    # In whole numbers: 3 of 4 lies in the last stratum, whatever 3/4 is as a float.
    found[there] = np.minimum(4 * right[there] // measured[there], 3)
    return found


def strata_of(whole: Whole, scores: Scores) -> Floats:
    """The accuracy stratum of each unit of `scores`, which are items."""
    panel = whole.panel
    by_id = dict(zip(panel.items.tolist(), stratum_of(panel, whole.repeated).tolist(), strict=True))
    return np.array([by_id[item] for item in scores.names])


def control_rows(whole: Whole, name: str, numbers: Sequence[int], k: int) -> list[Row]:
    """Accuracy strata, and the same with other items, for one set of configurations."""
    protocol, panel = whole.protocol, whole.panel
    scores = item_scores(panel, name, numbers, whole.labels)
    strata = strata_of(whole, scores)
    rows = [_row(scores, DIFFICULTY_FIXED, k, protocol, strata)]
    rows += [
        _row(scores.within(strata == number), f"accuracy {label}", k, protocol)
        for number, label in enumerate(STRATA)
    ]
    if whole.everyone.height > whole.readings.height:
        everyone = whole.panel_by(protocol.stability.sameness, everyone=True)
        more = item_scores(everyone, name, numbers, whole.labels)
        if more.units > scores.units:
            rows.append(_row(more, "with the items that were left out", k, protocol))
    marked = flagged(panel)
    among = marked[np.isin(panel.items, scores.names)]
    if among.any() and not among.all():
        rest = item_scores(panel, name, numbers, whole.labels, only=~marked)
        rows.append(_row(rest, "without flagged items", k, protocol))
    return rows


def _row(scores: Scores, control: str, k: int, protocol: Protocol, strata: Floats | None = None) -> Row:
    keys = {"set": scores.set, "control": control}
    if scores.units < 2 * k:
        note = f"fewer than {2 * k} items: any set of them is among the top {2 * k}"
        figures = {"units": count(scores.units), "mean": unknown(note)}
        return Row(keys=keys, figures=figures)
    sets = top_sets(scores.table, k)
    figures = {
        "units": count(scores.units),
        **pair_figures(sets, sets.pairs, drawn_members(scores, protocol), protocol),
        **null_figures(sets, null_of(scores, (k,), protocol, strata)[k], protocol),
    }
    return Row(keys=keys, figures={key: figures[key] for key in _SHOWN})


def dropped_rows(scores: Scores, k: int) -> list[Row]:
    """All configurations, and each in turn left out, over the same items."""
    rows = [_dropped(scores, "none", k)]
    if len(scores.members) > 2:
        rows += [_dropped(scores.without(number), label, k) for number, label in enumerate(scores.labels)]
    return rows


def _dropped(scores: Scores, label: str, k: int) -> Row:
    sets = top_sets(scores.table, k)
    pairs = sets.pairs
    figures: dict[str, Figure] = {"configurations": count(len(scores.members))}
    if not pairs.any():
        figures["mean"] = unknown(NO_PAIRS, 0)
    else:
        shared, expected, number = sets.hits[pairs].sum(), sets.expected[pairs].sum(), int(pairs.sum())
        mean = float(sets.share[pairs].sum())
        figures |= {
            "mean": Figure(value=mean / number, numerator=mean, denominator=number, method="mean over pairs"),
            "hits": count(int(shared)),
            "ratio": Figure(
                value=float(shared / expected),
                numerator=float(shared),
                denominator=float(expected),
                method="hits over expected",
            ),
        }
    return Row(keys={"set": scores.set, "dropped": label}, figures=figures)


def serving_rows(scores: Scores, sets: TopSets, protocol: Protocol) -> list[Row]:
    """All pairs, then pairs by how their two sides are served; each also without pairs of one family."""
    drawn = drawn_members(scores, protocol)
    paths = np.array([one.serving or "not known" for one in scores.members])
    groups = [("all pairs", np.ones_like(sets.pairs))]
    named = sorted(set(paths.tolist())) if len(set(paths.tolist())) > 1 else []
    for at, first in enumerate(named):
        for second in named[at:]:
            both = (paths == first)[:, None] & (paths == second)[None, :]
            label = f"both {first}" if first == second else f"{first} and {second}"
            groups.append((label, both | both.T))
    rows = []
    for label, group in groups:
        pairs = sets.pairs & group
        if not pairs.any():
            continue
        figures = pair_figures(sets, pairs, drawn, protocol)
        cross = pairs & scores.crossed
        rows.append(
            Row(
                keys={"set": scores.set, "pairing": label},
                figures={
                    "pairs": count(int(pairs.sum())),
                    "mean": figures["mean"],
                    "median": figures["median"],
                    "cross_pairs": count(int(cross.sum())),
                    "cross_mean": mean_over(sets.share, cross, drawn, protocol)
                    if cross.any()
                    else unknown("all pairs are of one family", 0),
                },
            )
        )
    return rows


def overlap_row(scores: Scores, protocol: Protocol) -> Row:
    """Rank-biased overlap: the median over pairs, the most that rankings of those lengths reach, and both's
    quotient."""
    order, ranked = best_first(scores.table), scores.ranked.tolist()
    members = len(scores.members)
    values = np.zeros((3, members, members))
    for a in range(members):
        for b in range(a):
            found = rank_biased_overlap(order[a, : ranked[a]], order[b, : ranked[b]])
            most = ceiling(ranked[a], ranked[b])
            if found is not None and most is not None:
                values[:, a, b] = values[:, b, a] = (found, most, found / most)
    pairs = values[1] > 0
    # The ordered pairs of a symmetric measure come in twos: the median over either is the same.
    named = dict(zip(("median_rbo", "ceiling_rbo", "relative_rbo"), values, strict=True))
    if not pairs.any():
        return Row(keys={"set": scores.set}, figures=dict.fromkeys(named, unknown(NO_PAIRS, 0)))
    drawn = drawn_members(scores, protocol)
    figures = {}
    for name, of in named.items():
        ends = bootstrap_pair_median(of, pairs, drawn).interval
        figures[name] = Figure(
            value=float(np.median(of[pairs])),
            denominator=int(pairs.sum()) // 2,
            low=ends.low,
            high=ends.high,
            method=f"median over pairs, p = {PERSISTENCE}; bootstrap over configurations, "
            f"{protocol.bootstrap_draws} draws, seed {protocol.bootstrap_seed}",
        )
    return Row(keys={"set": scores.set}, figures=figures)
