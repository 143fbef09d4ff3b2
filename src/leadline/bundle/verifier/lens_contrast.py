"""Two groups of items: pooled figures of either, their difference, and what chance would make of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Optional

from leadline.bundle.verifier.alike import apart_of_alike
from leadline.bundle.verifier.cells import Cell, Sides
from leadline.bundle.verifier.dealt_groups import dealt_p, decisive_p, headline_rows
from leadline.bundle.verifier.decisions import BY_PEOPLE
from leadline.bundle.verifier.drawn import Drawn
from leadline.bundle.verifier.expected import (
    Expected,
    Table,
    no_figure,
    plain_count,
    ratio_figure,
    row_key,
    wilson_share,
)
from leadline.bundle.verifier.intervals import holm_corrected, newcombe_ends
from leadline.bundle.verifier.lens_wobble import POOLED
from leadline.bundle.verifier.resampling import difference_draws, joint_difference_draws

ALL_ITEMS = "all items"
UNFLAGGED = ("", "clean", "not checkable")
_MEASURES = ("wobble", "wobble, rounding", "wobble, rarefied", "dispersion", "accuracy")
_OF_STRATA = ("wobble", "wobble, rounding", "wobble, rarefied")
_OF_FAILURES = ("wobble", "wobble, rounding", "wobble, rarefied", "accuracy")
_COUNTED = ("wobble", "wobble, rounding", "accuracy")

_FEWEST_CLUSTERS = 3

# Item -> (sum of a number over its cells, cells).
Parts_of = dict[str, tuple[float, int]]


class Groups:
    """Everyone's items but those that people left out, the audit's words on them, their parts in measures."""

    def __init__(self, sides: Sides) -> None:
        self.sides = sides
        self.audit: dict[str, str] = {}
        self.stated: dict[str, str] = {}
        self.excluded: dict[str, str] = {}
        for cells in sides.bundle.everyone.values():
            for item, answers in cells.items():
                first = answers[0]
                self.audit[item], self.stated[item] = first.audit, first.stated
                self.excluded[item] = first.excluded
        self.everybody = sorted(item for item, reason in self.excluded.items() if reason not in BY_PEOPLE)
        self.population = [item for item in self.everybody if not self.excluded[item]]
        # Only then is there a row for it: numbers, and the study's own rule is another.
        self.rounds = sides.stability["sameness"] != "rounding" and any(
            sides.bundle.answer_type(item) in ("number", "parts") for item in self.excluded
        )
        self._parts: dict[tuple[str, tuple[int, ...]], Parts_of] = {}

    def is_flagged(self, item: str) -> bool:
        """Whether the audit flags it."""
        return self.audit[item] not in UNFLAGGED

    def parts(self, measure: str, places: Sequence[int]) -> Parts_of:
        """What each item adds to a measure over these configurations."""
        key = (measure, tuple(places))
        if key not in self._parts:
            by_rounding = measure == "wobble, rounding"
            measured = self.sides.measured("rounding" if by_rounding else "study", everyone=True)
            found: dict[str, tuple[float, int]] = {}
            for place in places if self.rounds or not by_rounding else ():
                for item, cell in measured[place].items():
                    number = _number(measure, cell, self.sides.rarefy)
                    if number is not None:
                        above, below = found.get(item, (0.0, 0))
                        found[item] = (above + number, below + 1)
            self._parts[key] = found
        return self._parts[key]

    def chosen(self, selection: dict[str, Any]) -> list[str]:
        """The items that meet every condition of a selection."""
        bundle = self.sides.bundle

        def fits(item: str) -> bool:
            wanted = selection.get("audit") or ()
            said = self.audit[item]
            flag = "flagged" if self.is_flagged(item) else said
            return (
                (not wanted or said in wanted or flag in wanted)
                and (not selection.get("stated") or self.stated[item] in selection["stated"])
                and (not selection.get("categories") or bundle.category(item) in selection["categories"])
                and (not selection.get("tasks") or bundle.task(item) in selection["tasks"])
                and (
                    not selection.get("answer_types") or bundle.answer_type(item) in selection["answer_types"]
                )
                and (not selection.get("items") or item in selection["items"])
            )

        return [item for item in self.everybody if fits(item)]


def _number(measure: str, cell: Cell, m: int) -> Optional[float]:
    if measure in ("wobble", "wobble, rounding"):
        return float(cell.unstable)
    if measure == "dispersion":
        return cell.dispersion
    if measure == "accuracy":
        return float(cell.correct)
    return cell.rarefied(m) if cell.n >= m else None


def contrast_tables(sides: Sides, shown: dict[str, list[dict[str, Any]]]) -> dict[str, Table]:
    """All tables of the lens, as there are groups; `shown` are the report's rows of each.

    Corrected p-values follow from those that are shown, which are checked by themselves.
    """
    if not sides.repeated:
        return {}
    tables = _uncorrected(sides)
    for name, table in tables.items():
        headlines = headline_rows(shown.get(name, []))
        p_values = [decisive_p(row["figures"]) for row in headlines]
        corrected = iter(holm_corrected([p for p in p_values if p is not None]))
        for row, p in zip(headlines, p_values):
            own = table.get(row_key(**row["keys"]), {})
            if "p_holm" in own and p is not None:
                decisive = own["p_tasks" if "p_tasks" in own else "p"]
                own["p_holm"] = Expected(next(corrected), None, decisive.denominator)
    return tables


def _uncorrected(sides: Sides) -> dict[str, Table]:
    groups = Groups(sides)
    tables: dict[str, Table] = {}
    flagged = [item for item in groups.everybody if groups.is_flagged(item)]
    clean = [item for item in groups.population if groups.audit[item] and not groups.is_flagged(item)]
    categories = sorted({sides.bundle.category(item) for item in groups.everybody} - {""})
    if flagged and clean:
        table = _strata(groups, flagged, clean)
        for category in categories:
            own = [
                [item for item in group if sides.bundle.category(item) == category]
                for group in (flagged, clean)
            ]
            _add(groups, table, own[0], own[1], ("wobble",), f"category {category}", POOLED)
        tables["flagged against clean"] = table
        failures: Table = {}
        for failure in sorted({groups.audit[item] for item in flagged}):
            kind = [item for item in flagged if groups.audit[item] == failure]
            for measure in _OF_FAILURES:
                figures = compared(
                    groups, kind, clean, measure, _everyone(sides), is_headline=measure in _OF_STRATA[:2]
                )
                if figures:
                    failures[row_key(failure=failure, measure=measure)] = figures
        tables["by failure type"] = failures
    unstated = [item for item in groups.everybody if groups.stated[item] == "not stated"]
    stated = [item for item in groups.everybody if groups.stated[item] == "stated"]
    if unstated and stated:
        table = _strata(groups, stated, unstated)
        own = [[item for item in group if groups.audit[item] == "clean"] for group in (stated, unstated)]
        _add(groups, table, own[0], own[1], _OF_STRATA, "clean items", POOLED)
        tables["stated in window"] = table
    chosen: Table = {}
    for contrast in sides.stability["contrasts"]:
        of, against = groups.chosen(contrast["of"]), groups.chosen(contrast["against"])
        if not contrast["of"].get("audit") and not contrast["against"].get("audit"):
            of = [item for item in of if not groups.excluded[item]]
            against = [item for item in against if not groups.excluded[item]]
        against = [item for item in against if item not in set(of)]
        for keys, figures in _all_items(groups, of, against).items():
            chosen[row_key(contrast=contrast["name"], **dict(keys))] = figures
    tables["chosen"] = chosen
    return tables


def _everyone(sides: Sides) -> list[int]:
    return list(range(len(sides.repeated)))


def _all_items(groups: Groups, of: Sequence[str], against: Sequence[str]) -> Table:
    table: Table = {}
    _add(groups, table, of, against, _MEASURES, ALL_ITEMS, POOLED)
    for subset in groups.sides.subsets:
        _add(groups, table, of, against, _MEASURES, ALL_ITEMS, subset)
    return table


def _strata(groups: Groups, of: Sequence[str], against: Sequence[str]) -> Table:
    """All items, then numbers and other types where both are anywhere in the study."""
    table = _all_items(groups, of, against)
    numeric = {item for item in groups.excluded if groups.sides.bundle.answer_type(item) == "number"}
    kinds: tuple[tuple[str, Callable[[str], bool]], ...] = (
        ("numbers", lambda item: item in numeric),
        ("other types", lambda item: item not in numeric),
    )
    if len(numeric) in (0, len(groups.excluded)):
        return table
    for stratum, fits in kinds:
        own = [[item for item in group if fits(item)] for group in (of, against)]
        for subset in (POOLED, *groups.sides.subsets):
            _add(groups, table, own[0], own[1], _OF_STRATA, stratum, subset)
    return table


def _add(
    groups: Groups,
    table: Table,
    of: Sequence[str],
    against: Sequence[str],
    measures: Iterable[str],
    stratum: str,
    subset: str,
) -> None:
    places = _everyone(groups.sides) if subset == POOLED else groups.sides.subsets[subset]
    for measure in measures:
        is_headline = stratum == ALL_ITEMS and subset == POOLED and measure in _OF_STRATA[:2]
        figures = compared(groups, of, against, measure, places, is_headline)
        if figures:
            table[row_key(measure=measure, stratum=stratum, subset=subset)] = figures


def compared(
    groups: Groups,
    of: Sequence[str],
    against: Sequence[str],
    measure: str,
    places: Sequence[int],
    is_headline: bool = False,
) -> dict[str, Expected]:
    """The figures of one comparison; none where a side has no measured item."""
    parts = groups.parts(measure, places)
    one = [parts[item] for item in of if item in parts]
    other = [parts[item] for item in against if item in parts]
    if not one or not other:
        return {}
    figures = {"items_of": plain_count(len(one)), "items_against": plain_count(len(other))}
    enough = len(one) >= 2 and len(other) >= 2
    sides = (([a for a, _ in one], [b for _, b in one]), ([a for a, _ in other], [b for _, b in other]))
    for name, (above, below) in zip(("of", "against"), sides):
        # One item says nothing of its group: it is counted, and has no rate.
        figures[name] = ratio_figure(above, below) if len(above) >= 2 else no_figure(sum(below), sum(above))
        if measure in _COUNTED:
            counted = wilson_share(int(sum(above)), int(sum(below)))
            figures[f"{name}_wilson"] = counted if len(above) >= 2 else no_figure(sum(below), sum(above))
    cells = sum(sides[0][1]) + sum(sides[1][1])
    figures["difference"], difference = no_figure(cells), 0.0
    if enough:
        difference = figures["of"].value - figures["against"].value
        ends = apart_of_alike(*sides) or Drawn(lambda: difference_draws(*sides))
        figures["difference"] = Expected(difference, None, cells, ends)
    if measure in _COUNTED:
        counts = [(sum(above), sum(below)) for above, below in sides]
        figures["difference_newcombe"] = (
            Expected(difference, None, cells, newcombe_ends(*counts)) if enough else no_figure(cells)
        )
    if is_headline:
        items = len(one) + len(other)
        p = dealt_p(one, other, difference, groups.sides.stability["permutations"]) if enough else None
        figures["p"] = Expected(p, None, items)
        if measure == "wobble":
            figures["p_holm"] = no_figure()
    if any(groups.sides.bundle.task(item) for item in groups.excluded):
        own = [[item for item in group if item in parts] for group in (of, against)]
        figures.update(_over_tasks(groups, own[0], own[1], parts, is_headline))
    return figures


def _over_tasks(
    groups: Groups, of: Sequence[str], against: Sequence[str], parts: Parts_of, is_headline: bool
) -> dict[str, Expected]:
    """The difference with whole tasks as what is drawn, and dealt out where the groups share none."""
    clusters: dict[str, list[float]] = {}
    for place, items in ((0, of), (2, against)):
        for item in items:
            # An item without a task is a task of its own.
            entry = clusters.setdefault(groups.sides.bundle.task(item) or f"\n{item}", [0.0, 0, 0.0, 0])
            entry[place] += parts[item][0]
            entry[place + 1] += parts[item][1]
    every = [(a, b, c, d) for _, (a, b, c, d) in sorted(clusters.items())]
    one = [(above, below) for above, below, _, _ in every if below]
    other = [(above, below) for _, _, above, below in every if below]
    shared = len(one) + len(other) > len(every)
    top, bottom, rest_top, rest_bottom = (sum(row[at] for row in every) for at in range(4))
    cells, difference = bottom + rest_bottom, top / bottom - rest_top / rest_bottom
    figures = {"tasks_of": plain_count(len(one)), "tasks_against": plain_count(len(other))}
    few = min(len(one), len(other)) < _FEWEST_CLUSTERS

    sides = [([a for a, _ in group], [b for _, b in group]) for group in (one, other)]

    def draws() -> list[float]:
        return joint_difference_draws(every) if shared else difference_draws(sides[0], sides[1])

    ends = apart_of_alike(sides[0], sides[1]) or Drawn(draws)
    figures["difference_tasks"] = no_figure(cells) if few else Expected(difference, None, cells, ends)
    if is_headline and not shared:
        permutations = groups.sides.stability["permutations"]
        p = None if few else dealt_p(one, other, difference, permutations)
        figures["p_tasks"] = Expected(p, None, len(every))
    return figures
