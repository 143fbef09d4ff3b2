"""Are configurations unsteady on the same items?

Units: the items that every configuration of a set measured, ranked by dispersion (1 - m/n), those without any
left unranked, ties by item id (see `lenses.transfer_scores`; tasks by the share of their items that are
unstable). For each ordered pair (A, B): the share of A's top k that lies among B's top 2k, both cut to what
is ranked. Mean and median over pairs; hits = Σ |top A ∩ top B|; expected = Σ |top A| · |top B| / N.

The null shuffles each configuration's values among its own places; p = (1 + permutations that reach the
mean) / (1 + permutations). The interval resamples configurations; a pair of one with itself is no pair.
Where a set holds several configurations of one family, its claims rest on pairs of two families alone
(`lenses.transfer_families`), and so does the table `null`.

Where more items tie at a cut than fit above it, their ids decide, the same for all configurations: that
makes even shuffled values share more than `expected`. So the null's own mean is what hits are to be read
against (`null_hits`), and `mean_untied` breaks such ties at random, exactly (see `stats.top_sets`), which
has no such bias: over shuffled values its mean is `chance`.

Source: Probity, section 5, tables 3, 8, 9 and 10; there chance is the median pair's |top B| / N.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from leadline.lenses.figures import count
from leadline.lenses.finding import Claim, Finding, Row
from leadline.lenses.registry import ALL_MODELS, Lens
from leadline.lenses.transfer_claims import ALL, beyond_difficulty_claim, shared_claim
from leadline.lenses.transfer_controls import (
    control_rows,
    dropped_rows,
    overlap_row,
    serving_rows,
    strata_of,
)
from leadline.lenses.transfer_families import ANYWHERE, IN_STRATA, across_null, families_repeat, family_row
from leadline.lenses.transfer_families import DEFINITION as ACROSS
from leadline.lenses.transfer_figures import count_figures, drawn_members, null_figures, null_of, pair_figures
from leadline.lenses.transfer_scores import ITEMS, Scores, item_scores, task_scores
from leadline.lenses.whole import Whole
from leadline.stats.permutation import SharedByChance
from leadline.stats.top_sets import top_sets

_BINS = 20
_FIGURES = (
    "units", "mean", "median", "mean_untied", "chance", "null_mean", "p",
    "hits", "expected", "null_hits", "ratio", "pairs_sharing", "truncated",
)  # fmt: skip

DEFINITION = (
    "For each ordered pair of configurations: the share of A's k least steady units that are among B's 2k "
    "least steady (units that every configuration measured, by dispersion; steady ones unranked; ties by "
    "name). Expected: hits if sets of these sizes were drawn blindly. Null: the same with each "
    "configuration's values shuffled among its own units; ties are broken by name for all alike, so shuffled "
    "values share more than expected, and the null's mean is the line to read hits against. Untied: ties at "
    "the cut broken at random, in the mean over all ways; its line is chance. Intervals resample "
    "configurations."
)
_CONTROLS = (
    "The same measure at the largest k, over items, under other conditions. Shuffled within accuracy strata: "
    "the null keeps values within items of similar difficulty, so what difficulty makes configurations share "
    "is in it. Accuracy a to b: only items that this share of the configurations gets right."
)
_OVERLAP = (
    "Rank-biased overlap (p = 0.9) of two configurations' rankings of unsteady items, cut at the longer one; "
    "ceiling: the most that two rankings of these lengths reach; relative: overlap over ceiling. It hangs on "
    "no k, and on the order more than on the set."
)
_NULL = (
    "How many permutations have a mean share in each bin. Of all pairs or, where a set holds several "
    "configurations of one family, of pairs of two families, a family's configurations shuffled together."
)


def look(whole: Whole) -> list[Finding]:
    """Findings `by k`, `across families` (where these repeat), `controls`, `leave one out`, `by serving`,
    `rank-biased overlap` and `null`; none when fewer than two configurations were asked twice."""
    if len(whole.repeated) < 2:
        return []
    protocol, ks = whole.protocol, whole.protocol.stability.top
    main = ks[-1]
    by_k: list[Row] = []
    claims: list[Claim] = []
    difficulty: list[Claim] = []
    across: list[Row] = []
    of_families: list[Claim] = []
    nulls: list[Row] = []
    controls: list[Row] = []
    dropped: list[Row] = []
    serving: list[Row] = []
    overlap: list[Row] = []
    notes: list[str] = []
    for name, numbers in _sets(whole):
        for scores in _ranked(whole, name, numbers):
            null = null_of(scores, ks, protocol)
            drawn = drawn_members(scores, protocol)
            for k in ks:
                sets = top_sets(scores.table, k)
                figures = {
                    "units": count(scores.units),
                    **pair_figures(sets, sets.pairs, drawn, protocol),
                    **null_figures(sets, null[k], protocol),
                    **count_figures(sets),
                }
                figures = {key: figures[key] for key in _FIGURES}
                by_k.append(Row(keys={"set": name, "unit": scores.unit, "k": str(k)}, figures=figures))
                if scores.unit == ITEMS and k == main:
                    if families_repeat(scores):
                        apart = across_null(scores, k, protocol)
                        across.append(family_row(scores, ANYWHERE, k, protocol, apart))
                        of_families.append(shared_claim(scores, k, across[-1].figures))
                        nulls += _histogram(name, apart or null[k])
                    else:
                        claims.append(shared_claim(scores, k, figures))
                        nulls += _histogram(name, null[k])
                    serving += serving_rows(scores, sets, protocol)
            if scores.unit == ITEMS:
                dropped += dropped_rows(scores, main)
                overlap.append(overlap_row(scores, protocol))
                if scores.left_out:
                    notes.append(
                        f"{name}: {scores.left_out:,} items left out that not every one has two readings of"
                    )
        checked = control_rows(whole, name, numbers, main)
        controls += checked
        its = item_scores(whole.panel, name, numbers, whole.labels)
        if families_repeat(its):
            apart = across_null(its, main, protocol, strata_of(whole, its))
            across.append(family_row(its, IN_STRATA, main, protocol, apart))
            of_families.append(beyond_difficulty_claim(its, main, across[-1].figures))
        else:
            difficulty.append(beyond_difficulty_claim(its, main, checked[0].figures))
    of_k = f"k = {main}, items"
    found = [
        ("by k", "Are configurations unsteady on the same items?", DEFINITION, by_k),
        ("across families", f"Are families unsteady on the same items? {of_k}", ACROSS, across),
        ("controls", f"Shared instability under controls, {of_k}", _CONTROLS, controls),
        ("leave one out", f"Shared instability without each configuration, {of_k}", DEFINITION, dropped),
        ("by serving", f"Shared instability by how both sides are served, {of_k}", DEFINITION, serving),
        ("rank-biased overlap", "How alike the rankings of unsteady items are", _OVERLAP, overlap),
        ("null", f"Mean share of shuffled values, {of_k}: permutations by bin", _NULL, nulls),
    ]
    claimed = {"by k": claims, "across families": of_families, "controls": difficulty}
    return [
        Finding(
            lens="transfer",
            table=table,
            model=ALL_MODELS,
            title=title,
            definition=definition,
            rows=tuple(rows),
            claims=tuple(claimed.get(table, ())),
            notes=tuple(notes) if table == "by k" else (),
        )
        for table, title, definition, rows in found
        if rows
    ]


def _sets(whole: Whole) -> Iterator[tuple[str, Sequence[int]]]:
    """All repeated configurations, then the study's own sets of two or more."""
    yield ALL, whole.repeated
    for name, numbers in whole.subsets.items():
        if len(numbers) > 1 and name != ALL:
            yield name, numbers


def _ranked(whole: Whole, name: str, numbers: Sequence[int]) -> Iterator[Scores]:
    """The set's scores by item and, where there are several tasks, by task."""
    items = item_scores(whole.panel, name, numbers, whole.labels)
    yield items
    tasks = task_scores(whole.panel, name, numbers, whole.labels)
    # One item a task would be the items again, by another name.
    if 1 < tasks.units < items.units:
        yield tasks


def _histogram(name: str, null: SharedByChance) -> list[Row]:
    """How many permutations have a mean share in each bin; the last bin is closed."""
    means = null.mean[np.isfinite(null.mean)]
    if not len(means):
        return []
    # Edges as they are printed, so that whoever counts again counts over the same bins.
    width = max(np.ceil(float(means.max()) / _BINS * 1000) / 1000, 0.001)
    edges = np.round(np.arange(_BINS + 1) * width, 3)
    counts, _ = np.histogram(means, bins=edges)
    return [
        Row(
            keys={"set": name, "from": f"{low:.3f}", "to": f"{high:.3f}"},
            figures={"permutations": count(int(number), len(means))},
        )
        for low, high, number in zip(edges[:-1], edges[1:], counts, strict=True)
    ]


LENS = Lens("transfer", order=56, whole=look)
