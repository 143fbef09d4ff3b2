"""Do the items of one group wobble more than those of another?

Cells of a group are pooled over the configurations: wobble = Σ unstable / Σ measured over its items. The
intervals of both rates and of their difference resample items, each group by itself; beside them stands
Newcombe's interval of the difference, which takes cells as independent. p: which items are in the first group
is dealt out anew. Items of one task resemble each other, so where items carry tasks the difference also has
an interval from resampled tasks, and where the groups share no task a p from whole tasks dealt out.

Groups: flagged and clean items of an audit, each failure type against clean, the gold answer stated in the
window or not, and whatever a study names. Flagged items are usually left out of the population: they are
compared here all the same. Items left out by name are in no group.

A difference between groups is an association.
Source: Probity, section 3 and Table 2; the permutation and what is said of tasks are added here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from leadline.lenses.audited import chosen, flagged_and_clean, named
from leadline.lenses.contrast_claims import P_OF, Claimed, Sides, contrast_claims, with_holm
from leadline.lenses.contrast_measures import (
    ACCURACY,
    DISPERSION,
    ROUNDING,
    WOBBLE,
    Comparison,
    Measures,
    compare,
    comparison,
)
from leadline.lenses.figures import SIGNIFICANCE
from leadline.lenses.finding import Claim, ClaimStatus, Finding, Row
from leadline.lenses.protocol import Contrast
from leadline.lenses.registry import ALL_MODELS, Lens
from leadline.lenses.whole import Whole

Mask = npt.NDArray[np.bool_]
Asked = tuple[dict[str, str], Comparison]

ALL_ITEMS, ALL_CONFIGURATIONS = "all items", "all configurations"
DEFINITION = (
    "of, against: the pooled figure of either group, Σ over its items and the configurations that read them "
    "twice or more (wobble: unstable cells; rarefied: the wobble that a common number of answers would "
    "show; dispersion: mean of 1 - m/n; accuracy: cells whose majority is right). difference: the first "
    "less the second. Intervals resample items, each group by itself. of_wilson, against_wilson, "
    "difference_newcombe take cells as independent, which those of one item are not. p: items change groups "
    "at random. tasks_of, tasks_against: tasks with measured items of either group (an item without one "
    "counts as one). difference_tasks: the same difference, tasks resampled with all their items; p_tasks: "
    "whole tasks change groups at random, where the groups share none. Of at most 20,000 ways to deal out, "
    "all are gone through. p_holm: p_tasks where it is there, else p, after Holm's correction over the "
    "table. Claims rest on it and on the wider of both intervals. A difference is an association: it does "
    "not say why."
)


def look(whole: Whole) -> list[Finding]:
    """Findings `flagged against clean`, `by failure type`, `stated in window` and `chosen`, as there are."""
    if not whole.repeated:
        return []
    measures = Measures(whole)
    found = [_flagged(measures), _failures(measures), _stated(measures), _chosen(measures)]
    return [one for one in found if one is not None]


def _flagged(measures: Measures) -> Finding | None:
    panel = measures.panel
    sides = Sides(*flagged_and_clean(panel), "Items that the audit flags", "items that it does not")
    if not sides.of.any() or not sides.against.any():
        return None
    strata = {ALL_ITEMS: _everything(sides), **_by_type(measures)}
    asked = list(_asked(measures, sides, strata))
    for category in np.unique(panel.categories[panel.categories != ""]):
        within = panel.categories == category
        stratum = f"{measures.whole.protocol.category_name} {category}"
        asked += _ask(measures, sides, WOBBLE, stratum, within, ALL_CONFIGURATIONS)
    rows = _rows(measures, asked)
    if not rows:
        return None
    return _finding(
        measures,
        "flagged against clean",
        "Do flagged items wobble more than clean ones?",
        rows,
        [(sides, rows[0], _accuracy(rows))],
    )


def _failures(measures: Measures) -> Finding | None:
    panel = measures.panel
    flags, clean = flagged_and_clean(panel)
    rows, claimed = [], []
    for failure in np.unique(panel.audit[flags]):
        sides = Sides(flags & (panel.audit == failure), clean, f"Items flagged as {failure}", "clean items")
        asked = []
        for measure in (*measures.steadiness, ACCURACY):
            asked += _ask(measures, sides, measure, ALL_ITEMS, _everything(sides), ALL_CONFIGURATIONS)
        if not asked:
            continue
        its = [
            Row(keys={"failure": str(failure), "measure": row.keys["measure"]}, figures=row.figures)
            for row in _rows(measures, asked)
        ]
        claimed.append((sides, its[0], _accuracy(its)))
        rows += its
    if not rows:
        return None
    return _finding(measures, "by failure type", "Each failure type against clean items", rows, claimed)


def _stated(measures: Measures) -> Finding | None:
    panel = measures.panel
    there = ~named(panel)
    sides = Sides(
        there & (panel.stated == "stated"),
        there & (panel.stated == "not stated"),
        "Items whose gold answer stands in the window",
        "items whose gold answer does not",
    )
    if not sides.of.any() or not sides.against.any():
        return None
    flags, clean = flagged_and_clean(panel)
    strata = {ALL_ITEMS: _everything(sides), **_by_type(measures)}
    if flags.any():
        strata["clean items"] = clean
    rows = _rows(measures, list(_asked(measures, sides, strata)))
    if not rows:
        return None
    title = "Do items wobble less when their window states the answer?"
    return _finding(measures, "stated in window", title, rows, [(sides, rows[0], _accuracy(rows))])


def _chosen(measures: Measures) -> Finding | None:
    rows, claimed, notes, untold = [], [], [], []
    for contrast in measures.whole.protocol.stability.contrasts:
        sides, shared = _sides(measures, contrast)
        if shared:
            notes.append(f"{contrast.name}: {shared} items of both groups count in the first alone.")
        found = _rows(measures, list(_asked(measures, sides, {ALL_ITEMS: _everything(sides)})))
        if not found:
            untold.append(_untold(contrast, sides, shared))
            continue
        its = [Row(keys={"contrast": contrast.name, **row.keys}, figures=row.figures) for row in found]
        claimed.append((sides, its[0], _accuracy(its)))
        rows += its
    if not rows and not untold:
        return None
    return _finding(measures, "chosen", "The study's own groups", rows, claimed, notes, untold)


def _untold(contrast: Contrast, sides: Sides, shared: int) -> Claim:
    """What is said of groups that cannot be compared."""
    if shared and not sides.against.any():
        why = "every item of the second group is in the first"
    elif not sides.of.any() or not sides.against.any():
        why = f"no item is in the {'second' if sides.of.any() else 'first'} group"
    else:
        why = "a group has no item that was measured"
    return Claim(text=f"{contrast.name} cannot be told: {why}.", status=ClaimStatus.NOT_ESTIMABLE)


def _sides(measures: Measures, contrast: Contrast) -> tuple[Sides, int]:
    """The groups of a study's contrast, and how many items were in both.

    Items left out of the population take part where the contrast asks for an audit's verdict.
    """
    panel = measures.panel
    asks = contrast.of.audit or contrast.against.audit
    there = ~named(panel) if asks else panel.excluded == ""
    of, against = (there & chosen(panel, one) for one in (contrast.of, contrast.against))
    sides = Sides(
        of,
        against & ~of,
        f"{contrast.name}: items of the first group",
        "those of the second",
    )
    return sides, int((of & against).sum())


def _everything(sides: Sides) -> Mask:
    return np.ones(len(sides.of), dtype=bool)


def _by_type(measures: Measures) -> dict[str, Mask]:
    """Numbers and all other answer types, where there are both."""
    numbers = measures.panel.answer_types == "number"
    return {"numbers": numbers, "other types": ~numbers} if numbers.any() and not numbers.all() else {}


def _asked(measures: Measures, sides: Sides, strata: Mapping[str, Mask]) -> Iterator[Asked]:
    """Every measure in every stratum and every set of configurations; the headline comes first."""
    for subset in (ALL_CONFIGURATIONS, *measures.whole.subsets):
        for stratum, within in strata.items():
            whole = stratum == ALL_ITEMS
            for measure in (*measures.steadiness, *((DISPERSION, ACCURACY) if whole else ())):
                yield from _ask(measures, sides, measure, stratum, within, subset)


def _ask(
    measures: Measures, sides: Sides, measure: str, stratum: str, within: Mask, subset: str
) -> list[Asked]:
    """One comparison; none where a side is empty. The headline has a p."""
    members = measures.whole.repeated if subset == ALL_CONFIGURATIONS else measures.whole.subsets[subset]
    headline = measure in (WOBBLE, ROUNDING) and stratum == ALL_ITEMS and subset == ALL_CONFIGURATIONS
    counts = measures.per_item(measure, members)
    found = comparison(measure, counts, sides.of & within, sides.against & within, measures.tasks, headline)
    keys = {"measure": measure, "stratum": stratum, "subset": subset}
    return [] if found is None else [(keys, found)]


def _rows(measures: Measures, asked: Sequence[Asked]) -> list[Row]:
    figures = compare([one for _, one in asked], measures.whole.protocol)
    return [Row(keys=keys, figures=its) for (keys, _), its in zip(asked, figures, strict=True)]


def _accuracy(rows: Sequence[Row]) -> Row | None:
    return next((row for row in rows if row.keys["measure"] == ACCURACY), None)


def _finding(
    measures: Measures,
    table: str,
    title: str,
    rows: Sequence[Row],
    claimed: Sequence[Claimed],
    notes: Sequence[str] = (),
    untold: Sequence[Claim] = (),
) -> Finding:
    whole = measures.whole
    rows = list(rows)
    places = [rows.index(row) for _, row, _ in claimed]
    for place, row in zip(places, with_holm([rows[place] for place in places]), strict=True):
        rows[place] = row
    claims = contrast_claims(
        [(sides, rows[place], accuracy) for place, (sides, _, accuracy) in zip(places, claimed, strict=True)]
    )
    tested = [row for row in rows if "p_holm" in row.figures and row.figures["p_holm"].value is not None]
    permutations = whole.protocol.stability.permutations
    is_drawn = any(
        " permutations" in row.figures[key].method
        for row in tested
        for key in P_OF.values()
        if key in row.figures
    )
    if is_drawn and len(tested) > SIGNIFICANCE * (permutations + 1):
        told = f"{permutations} permutations are too few for {len(tested)} contrasts: none that is drawn can "
        notes = [*notes, f"{told}be supported. Raise stability.permutations."]
    single = len(whole.members) - len(whole.repeated)
    if single:
        notes = [*notes, f"Configurations with a single answer to each item left out: {single}."]
    if any(row.keys["measure"] == "wobble, rarefied" for row in rows):
        notes = [*notes, f"Rarefied to {whole.protocol.stability.rarefy} answers; cells of fewer left out."]
    return Finding(
        lens="contrast",
        table=table,
        model=ALL_MODELS,
        title=title,
        definition=DEFINITION,
        rows=tuple(rows),
        claims=(*claims, *untold),
        notes=tuple(notes),
    )


LENS = Lens("contrast", order=57, whole=look)
