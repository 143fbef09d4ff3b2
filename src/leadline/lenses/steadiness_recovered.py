"""Is what a technique recovers steady or lucky? The same items, asked again.

p = share of the further answers to an item that are right; answers that say nothing count as not right,
failed calls do not count. Steady: p ≥ 0.9. Lucky: p ≤ 0.5. The further answers are never among those that
made the verdict: an item is called recovered because its answers were right, so these answers flatter it.

- A deterministic technique is asked again in a configuration of its own, its answers drawn at a temperature.
- A method that drew more samples than it votes over: the samples beyond its vote.
- A method that votes over all its samples: the majority of its even samples is the verdict here, and p is
  over its odd ones. What it recovers may then differ from what the majority of all of them recovers.

Items with fewer than two further answers are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from leadline.lenses.figures import SIGNIFICANCE, count, counted, median, p_value, percent, share, unknown
from leadline.lenses.finding import Claim, ClaimStatus, Figure, Finding, Row
from leadline.lenses.protocol import Method
from leadline.lenses.verdicts import paired, verdicts
from leadline.lenses.view import View
from leadline.stats.mcnemar import mcnemar_exact, smallest_p
from leadline.stats.multiple import holm

STEADY, LUCKY = 0.9, 0.5
_FEWEST = 2
# "Mostly" is more than this share of them.
_HALF = 0.5

_VERDICTS = {
    "recovered": ~pl.col("y0") & pl.col("ym"),
    "unrecovered": ~pl.col("y0") & ~pl.col("ym"),
    "broken": pl.col("y0") & ~pl.col("ym"),
    "kept": pl.col("y0") & pl.col("ym"),
}


@dataclass(frozen=True)
class AskedAgain:
    """A method's verdicts (columns item, y0, ym), its further answers (item, right, answers), how they came,
    and the configuration that shows what plain sampling gives on the same items ("" where there is none)."""

    verdicts: pl.DataFrame
    further: pl.DataFrame
    how: str
    plain: str


def recovered(view: View) -> Finding | None:
    """Table "recovered"; None where no method has further answers."""
    notes = []
    tables: dict[Method, list[Row]] = {}
    for method in view.protocol.methods:
        if not view.has(method.name):
            continue
        found = asked_again(view, method)
        if found is None:
            notes.append(f"{method.called}: was not asked again.")
            continue
        notes.append(f"{method.called}: {found.how}.")
        plain = _shares(view.readings.filter(pl.col("configuration") == found.plain), "plain")
        table = found.verdicts.join(found.further, on="item", how="left").join(plain, on="item", how="left")
        tables[method] = [
            Row(
                keys={"method": method.name, "verdict": verdict},
                figures=_figures(table.filter(which).sort("item"), view, has_plain=plain.height > 0),
            )
            for verdict, which in _VERDICTS.items()
        ]
    claims = _claims(tables)
    rows = [row for its in tables.values() for row in its]
    if not rows:
        return None
    return Finding(
        lens="steadiness",
        table="recovered",
        model=view.model,
        title="Is what is recovered steady or lucky?",
        definition="Items by what became of the baseline's verdict under the method, asked again. p: share "
        "of an item's further answers that are right; none of them is among those that made the verdict. "
        f"Steady: share of items with p ≥ {STEADY:g}; lucky: with p ≤ {LUCKY:g}. Plain: the same over all "
        "answers of plain sampling to the same items.",
        rows=tuple(rows),
        claims=tuple(claims),
        notes=tuple(notes),
    )


def asked_again(view: View, method: Method) -> AskedAgain | None:
    """The method's further answers, and the verdicts that they have no part in."""
    again = next((one for one in view.protocol.again if one.method == method.name), None)
    plain = again.plain if again else ""
    if again and again.configuration != method.name and view.has(again.configuration):
        answers = view.readings.filter(pl.col("configuration") == again.configuration)
        how = f"asked again at τ = {again.temperature:g}"
        return AskedAgain(view.paired(method), _shares(answers, "own"), how, plain)
    answers = view.readings.filter(pl.col("configuration") == method.name)
    beyond = answers.filter(pl.col("sample") >= method.vote)
    if beyond["sample"].n_unique() >= _FEWEST:
        how = f"its vote is over {method.vote}, the samples after these are the further answers"
        return AskedAgain(view.paired(method), _shares(beyond, "own"), how, plain)
    odd = answers.filter((pl.col("sample") % 2 == 1) & (pl.col("sample") < method.vote))
    if odd["sample"].n_unique() < _FEWEST:
        return None
    even = answers.filter(pl.col("sample") % 2 == 0)
    baseline = view.verdicts.filter(pl.col("configuration") == view.protocol.baseline)
    table = pl.concat([baseline, verdicts(even, {method.name: method.vote})])
    pairs = paired(table, view.protocol.baseline, method.name)
    how = "its even samples make the verdict here, its odd ones are the further answers"
    return AskedAgain(pairs, _shares(odd, "own"), how, plain)


def _shares(answers: pl.DataFrame, name: str) -> pl.DataFrame:
    """By item the share of right answers, `name`, and their number, `name`_answers; two answers at least."""
    return (
        answers.lazy()
        .filter(pl.col("state") != "error")
        .unique(["item", "sample"])
        .group_by("item")
        .agg(pl.col("correct").fill_null(False).mean().alias(name), pl.len().alias(f"{name}_answers"))
        .filter(pl.col(f"{name}_answers") >= _FEWEST)
        .collect()
    )


def _figures(table: pl.DataFrame, view: View, has_plain: bool) -> dict[str, Figure]:
    there = table.filter(pl.col("own").is_not_null())
    p = there["own"].to_numpy()
    plain = there["plain"].drop_nulls().to_numpy()
    none = "no such item was asked again"
    return {
        "items": count(there.height, table.height),
        "answers": count(int(there["own_answers"].sum())),
        "p_median": median(p, view.protocol, empty=none),
        "steady": share(int((p >= STEADY).sum()), len(p), empty=none),
        "lucky": share(int((p <= LUCKY).sum()), len(p), empty=none),
    } | (
        {
            "plain_p_median": median(plain, view.protocol, empty=none),
            "plain_steady": share(int((plain >= STEADY).sum()), len(plain), empty=none),
        }
        if has_plain
        else dict.fromkeys(("plain_p_median", "plain_steady"), unknown("no plain sampling beside it"))
    )


def _claims(tables: dict[Method, list[Row]]) -> list[Claim]:
    """A claim of each technique (temperatures are what these are held against), and its test in the row."""
    leading = {
        method: _leading(rows[0].figures)
        for method, rows in tables.items()
        if not method.is_sampling and rows[0].figures["items"].value
    }
    raw = {method: mcnemar_exact(*sides) for method, (_, *sides) in leading.items()}
    corrected = dict(zip(raw, holm(list(raw.values())), strict=True))
    for method, p in raw.items():
        items = sum(leading[method][1:])
        how = "exact sign test"
        tables[method][0].figures["majority_p"] = p_value(p, how, items)
        how = f"exact sign test, holm over {len(raw)} techniques"
        tables[method][0].figures["majority_p_holm"] = p_value(corrected[method], how, items)
    return [
        _claim(method.called, rows[0].figures, leading.get(method, ("steady", 0, 0)), len(raw))
        for method, rows in tables.items()
        if not method.is_sampling
    ]


def _leading(figures: dict[str, Figure]) -> tuple[str, int, int]:
    """Which of steady and lucky there is more of, how many items are that, and how many are not."""
    name = "lucky" if (figures["lucky"].value or 0) > (figures["steady"].value or 0) else "steady"
    items, its = int(figures[name].denominator or 0), int(figures[name].numerator or 0)
    return name, its, items - its


def _claim(name: str, figures: dict[str, Figure], leading: tuple[str, int, int], compared: int) -> Claim:
    which, its, others = leading
    items = its + others
    text = f"What {name} recovers is mostly {'luck' if which == 'lucky' else 'steady'}"
    if not items:
        return Claim(text=f"{text}: no recovered item was asked again.", status=ClaimStatus.NOT_ESTIMABLE)
    if smallest_p(items) * compared > SIGNIFICANCE:
        number = f"{items} recovered item{'' if items == 1 else 's'}"
        text = f"{text}: with {number} and {compared} techniques no result could support this."
        return Claim(text=text, status=ClaimStatus.UNREACHABLE)
    share, p = figures[which], figures["majority_p_holm"].value
    evidence = (
        f"of {items} recovered items, asked again, {counted(figures['steady'])} are right at least nine "
        f"times in ten and {counted(figures['lucky'])} at most every second time; exact sign test "
        f"p = {p:.3g} after Holm over {compared} techniques."
    )
    supported = p is not None and p <= SIGNIFICANCE and (share.low or 0) > _HALF
    return Claim(
        text=f"{text}: {evidence}",
        status=ClaimStatus.SUPPORTED if supported else ClaimStatus.NOT_SUPPORTED,
        point=f"{percent(share.value)} {which}",
        conservative=f"{percent(share.low)} at the Wilson bound",
    )
