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

from leadline.lenses.figures import count, counted, median, percent, share, unknown
from leadline.lenses.finding import Claim, ClaimStatus, Figure, Finding, Row
from leadline.lenses.protocol import Method
from leadline.lenses.verdicts import paired, verdicts
from leadline.lenses.view import View
from leadline.stats.intervals import wilson

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
    rows, claims, notes = [], [], []
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
        for verdict, which in _VERDICTS.items():
            figures = _figures(table.filter(which).sort("item"), view, has_plain=plain.height > 0)
            rows.append(Row(keys={"method": method.name, "verdict": verdict}, figures=figures))
            if verdict == "recovered":
                claims.append(_claim(method.called, figures))
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


def _claim(name: str, figures: dict[str, Figure]) -> Claim:
    steady, lucky = figures["steady"], figures["lucky"]
    items = int(steady.denominator or 0)
    text = f"What {name} recovers is mostly steady"
    if not items:
        return Claim(text=f"{text}: no recovered item was asked again.", status=ClaimStatus.NOT_ESTIMABLE)
    if (wilson(items, items).low or 0) <= _HALF:
        text = f"{text}: with {items} recovered items no result could support this."
        return Claim(text=text, status=ClaimStatus.UNREACHABLE)
    evidence = (
        f"of {items} recovered items, asked again, {counted(steady)} are right at least nine times in ten "
        f"and {counted(lucky)} at most every second time."
    )
    by_luck = (lucky.low or 0) > _HALF
    leading = lucky if by_luck or (lucky.value or 0) > (steady.value or 0) else steady
    if leading is lucky:
        text = f"What {name} recovers is mostly luck"
    return Claim(
        text=f"{text}: {evidence}",
        status=ClaimStatus.SUPPORTED if (leading.low or 0) > _HALF else ClaimStatus.NOT_SUPPORTED,
        point=f"{percent(leading.value)} {'lucky' if leading is lucky else 'steady'}",
        conservative=f"{percent(leading.low)} at the Wilson bound",
    )
