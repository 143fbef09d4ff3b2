"""Which answers change with the rule of when two numbers are the same?

0.909 and 0.9090909090909091 are two answers if numbers are compared as floating-point numbers, one if the
shorter is taken for a rounding of the longer. Over the items whose answers are numbers (or parts, which may
be), wobble (see `lenses.wobble`) under three rules:

exact: equal as floating-point numbers. declared: equal after rounding to the precision that the item
declares, over the items that declare one. rounding: they differ by at most half a unit in the last digit of
the coarser one, which must be a decimal fraction of at least two significant digits; integers are exact.
Under `rounding` a cell is stable when every pair of its values is the same.
`flips` lists each cell that is stable under one of exact and rounding alone, with its values as exact
comparison tells them apart, the most frequent first, of equally frequent ones the one seen first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from leadline.lenses.figures import above_zero, between, count, counted, left_out, ratio, share, unknown
from leadline.lenses.finding import Claim, ClaimStatus, Figure, Finding, Row
from leadline.lenses.panel import Panel
from leadline.lenses.protocol import Sameness
from leadline.lenses.registry import ALL_MODELS, Lens
from leadline.lenses.whole import Whole

RULES: tuple[Sameness, ...] = ("exact", "declared", "rounding")
NUMERIC = ("number", "parts")
POOLED = "all configurations"
LISTED = 200  # flips
VALUES = 12  # of one cell; a cell of more says how many
CHARACTERS = 60  # of one value
DEFINITION = (
    "Wobble of the items whose answers are numbers, under three rules of when two numbers are the same. "
    "Exact: equal as floating-point numbers. Declared: equal at the precision that the item declares. "
    "Rounding: one is a correct rounding of the other (a decimal fraction of two or more significant digits; "
    "integers are exact). Changed: items that are stable under rounding and not under exact comparison, or "
    "the reverse. The other tables use what each item declares, else rounding, unless the study has a rule."
)
FLIPS = (
    "Answers that are stable under one of exact and rounding sameness alone, with the values that exact "
    "comparison tells apart and how often each was given. Values exact, values rounding: how many different "
    "values each rule sees, of so many readings."
)


def look(whole: Whole) -> list[Finding]:
    """Findings `overall` and `flips`; none when no number was asked for twice."""
    numeric = np.isin(whole.panel.answer_types, NUMERIC)
    repeated = [number for number in whole.repeated if (whole.panel.n[number, numeric] >= 2).any()]
    if not repeated:
        return []
    exact, declared, rounding = (whole.panel_by(rule).only(repeated, numeric) for rule in RULES)
    declared = declared.only(items=np.isin(declared.items, _declaring(whole.readings)))
    labels = [whole.labels[number] for number in repeated]
    changed = exact.unstable != rounding.unstable
    found = [_overall(whole, labels, (exact, declared, rounding), changed)]
    if changed.any():
        found.append(_flips(labels, exact, rounding, changed))
    return found


def _declaring(readings: pl.DataFrame) -> npt.NDArray[np.str_]:
    """The items that declare a precision."""
    items = readings.filter(pl.col("value_declared").is_not_null())["item"].unique().to_numpy()
    return items.astype(np.str_) if len(items) else np.array([], dtype=np.str_)


def _overall(
    whole: Whole, labels: Sequence[str], panels: Sequence[Panel], changed: npt.NDArray[np.bool_]
) -> Finding:
    undeclared = "no item declares a precision"
    rows = []
    for number, label in enumerate(labels):
        figures = {
            f"wobble_{rule}": share(
                int(panel.unstable[number].sum()),
                int(panel.measured[number].sum()),
                note=left_out(int(panel.once[number].sum())),
            )
            if panel.measured[number].any()
            else unknown(undeclared, 0)
            for rule, panel in zip(RULES, panels, strict=True)
        }
        figures["changed"] = count(int(changed[number].sum()), int(panels[0].measured[number].sum()))
        rows.append(Row(keys={"configuration": label}, figures=figures))
    if len(labels) > 1:
        figures = {
            f"wobble_{rule}": _pooled(whole, panel) if panel.measured.any() else unknown(undeclared, 0)
            for rule, panel in zip(RULES, panels, strict=True)
        }
        figures["changed"] = count(int(changed.sum()), int(panels[0].measured.sum()))
        rows.append(Row(keys={"configuration": POOLED}, figures=figures))
    return Finding(
        lens="sameness",
        table="overall",
        model=ALL_MODELS,
        title="Does the wobble of numbers depend on how they are compared?",
        definition=DEFINITION,
        rows=tuple(rows),
        claims=(_claim(rows[-1].figures),),
    )


def _pooled(whole: Whole, panel: Panel) -> Figure:
    cells = panel.measured.sum(axis=0)
    return ratio(
        panel.unstable.sum(axis=0)[cells > 0],
        cells[cells > 0],
        whole.protocol,
        note=left_out(int(panel.once.sum()), "cell"),
    )


def _claim(figures: dict[str, Figure]) -> Claim:
    """Whether numbers change for another reason than how they are written."""
    exact, rounding = figures["wobble_exact"], figures["wobble_rounding"]
    if not exact.numerator:
        return Claim(
            text="The wobble of numbers is more than how they are written: no number changes under any rule.",
            status=ClaimStatus.NOT_ESTIMABLE,
            point=counted(exact),
            conservative=f"{counted(rounding)} {between(rounding)} under rounding sameness",
        )
    gone = (exact.numerator - (rounding.numerator or 0)) / exact.numerator
    return Claim(
        text="The wobble of numbers is more than how they are written: rounding sameness takes "
        f"{100 * gone:.0f} % of it away.",
        status=ClaimStatus.SUPPORTED if above_zero(rounding) else ClaimStatus.NOT_SUPPORTED,
        point=f"{counted(exact)} under exact sameness",
        conservative=f"{counted(rounding)} {between(rounding)} under rounding sameness",
    )


def _flips(labels: Sequence[str], exact: Panel, rounding: Panel, changed: npt.NDArray[np.bool_]) -> Finding:
    places = np.argwhere(changed.T)  # item by item
    rows = []
    for item, number in places[:LISTED]:
        said, seen = _values(exact, number, item)
        _, kept = _values(rounding, number, item)
        readings = int(exact.n[number, item])
        rows.append(
            Row(
                keys={"item": str(exact.items[item]), "configuration": labels[number], "values": said},
                figures={"values_exact": count(seen, readings), "values_rounding": count(kept, readings)},
            )
        )
    more = len(places) - len(rows)
    return Finding(
        lens="sameness",
        table="flips",
        model=ALL_MODELS,
        title="Answers whose steadiness depends on how numbers are compared",
        definition=FLIPS,
        rows=tuple(rows),
        notes=(f"The first {LISTED} of {len(places)} are listed, in order of item.",) if more else (),
    )


def _values(panel: Panel, number: int, item: int) -> tuple[str, int]:
    """The values of a cell with their counts, "0.909 ×12, 0.9091 ×8", and how many there are."""
    said = panel.codes[number, item]
    codes, first, counts = np.unique(said, return_index=True, return_counts=True)
    order = [at for at in np.lexsort((first, -counts)) if codes[at] >= 0]
    listed = ", ".join(f"{_short(str(panel.values[codes[at]]))} ×{counts[at]}" for at in order[:VALUES])
    more = len(order) - VALUES
    return listed + (f" and {more} more" if more > 0 else ""), len(order)


def _short(value: str) -> str:
    return value if len(value) <= CHARACTERS else value[: CHARACTERS - 1] + "…"


LENS = Lens("sameness", order=51, whole=look)
