"""How often each configuration is right, what its answers are, and whether the questions were put well.

Acc = share of answered items whose verdict is correct. Beside it: Acc under the stricter `words` rule and
the share of items on which the two rules differ; the states of all readings; and the share of baseline
answers that begin with the value read from them, which the probability level relies on.
"""

from __future__ import annotations

from itertools import combinations

import polars as pl

from leadline.lenses.figures import counted, percent, ratio, share
from leadline.lenses.finding import Claim, ClaimStatus, Figure, Finding, Row
from leadline.lenses.frame import STATES
from leadline.lenses.protocol import Protocol
from leadline.lenses.registry import Lens
from leadline.lenses.view import View


def look(view: View) -> list[Finding]:
    """Findings `overall` and `states`; `answer position` of a baseline that may have been probed."""
    found = [_overall(view), _states(view)]
    baseline = view.protocol.baseline
    recorded = {one.configuration for one in view.protocol.members if one.kind == "recorded"}
    is_probed = view.compares and baseline not in recorded and not _is_served(view)
    return [*found, _answer_position(view)] if is_probed else found


def _is_served(view: View) -> bool:
    """Whether the baseline's answers came from elsewhere, and no gold token was ever looked up."""
    is_elsewhere = any(
        one.serving not in ("", "local")
        for one in view.protocol.members
        if (one.model, one.configuration) == (view.model, view.protocol.baseline)
    )
    return is_elsewhere and not view.readings["gold_rank"].is_not_null().any()


def _overall(view: View) -> Finding:
    rows, notes = [], []
    for name, vote in view.votes.items():
        label = view.protocol.label(name)
        table = view.verdicts.filter(pl.col("configuration") == name)
        answered = table.filter(pl.col("answered") > 0)
        if not view.has(name):
            notes.append(f"{label}: no readings.")
            continue
        n = answered.height
        if n < view.items:
            notes.append(
                f"{label}: {view.items - n} of {view.items} items were not answered and are left out."
            )
        if short := answered.filter(pl.col("answered") < vote).height:
            notes.append(f"{label}: {short} verdicts rest on fewer than {vote} answers.")
        differ = answered.filter(pl.col("correct") != pl.col("correct_strict")).height
        figures = {
            "acc": share(int(answered["correct"].sum()), n, empty="no item was answered"),
            "acc_strict": share(int(answered["correct_strict"].sum()), n, empty="no item was answered"),
            "rules_differ": share(differ, n, empty="no item was answered"),
            "tied_votes": share(int(answered["tied"].sum()), n, empty="no item was answered"),
        }
        rows.append(Row(keys={"configuration": name}, figures=figures))
    return Finding(
        lens="accuracy",
        table="overall",
        model=view.model,
        title="Accuracy",
        definition="Share of answered items whose verdict (majority over the configuration's samples) is "
        "correct. The strict rule matches on word boundaries and rejects negated answers and lists of "
        "candidates.",
        rows=tuple(rows),
        claims=_rule_claim(view.protocol, rows),
        notes=tuple(notes),
    )


def _rule_claim(protocol: Protocol, rows: list[Row]) -> tuple[Claim, ...]:
    """Whether the two correctness rules order the configurations alike; no claim about a single one."""
    if len(rows) < 2:
        return ()
    rates = [
        (row.figures["acc"].value, row.figures["acc_strict"].value, protocol.label(row.keys["configuration"]))
        for row in rows
    ]
    known = [
        (loose, strict, label) for loose, strict, label in rates if loose is not None and strict is not None
    ]
    pairs = [
        (loose - other_loose, strict - other_strict, f"{label} and {other}")
        for (loose, strict, label), (other_loose, other_strict, other) in combinations(known, 2)
    ]
    text = "The order of the configurations by accuracy does not hang on the correctness rule"
    if not pairs:
        return (Claim(text=f"{text}: fewer than two were answered.", status=ClaimStatus.NOT_ESTIMABLE),)
    # A pair that ties under both rules has no order that a rule could change.
    ordered = [pair for pair in pairs if pair[0] or pair[1]]
    if not ordered:
        text = f"{text}: no two of them differ in accuracy, by either rule."
        return (Claim(text=text, status=ClaimStatus.NOT_ESTIMABLE),)
    turned = [called for loose, strict, called in ordered if loose * strict < 0]
    half_tied = [called for loose, strict, called in ordered if loose * strict == 0]
    same = len(ordered) - len(turned) - len(half_tied)
    most = max(loose - strict for loose, strict, _ in known)
    ties = len(pairs) - len(ordered)
    apart = sum(_are_apart(one, other) for one, other in combinations(rows, 2))
    status = ClaimStatus.NOT_SUPPORTED if same < len(ordered) else ClaimStatus.SUPPORTED
    if status is ClaimStatus.SUPPORTED and not apart:
        status = ClaimStatus.NOT_ESTIMABLE  # an order that may be chance is none
    return (
        Claim(
            text=f"{text}: the strict rule turns {len(turned)} of {_pairs(len(ordered))}{_named(turned)}"
            + (f", and {len(half_tied)} tie by one rule alone{_named(half_tied)}" if half_tied else "")
            + f"; {apart or 'none'} told apart by intervals that do not overlap.",
            status=status,
            point=f"{same} of {_pairs(len(ordered))} in the same order"
            + (f"; {_pairs(ties)} more tie by both rules and have none" if ties else ""),
            conservative=f"the strict rule takes up to {percent(most)} of the items from a configuration",
        ),
    )


def _are_apart(one: Row, other: Row) -> bool:
    """Whether two configurations' intervals lie apart by some rule, so that they are in an order at all."""
    for name in ("acc", "acc_strict"):
        first, second = sorted((one.figures[name], other.figures[name]), key=lambda each: each.value or 0.0)
        if first.high is not None and second.low is not None and first.high < second.low:
            return True
    return False


def _pairs(number: int) -> str:
    return f"{number} pair" if number == 1 else f"{number} pairs"


def _named(pairs: list[str]) -> str:
    return f" ({pairs[0]}{', ...' if len(pairs) > 1 else ''})" if pairs else ""


def _states(view: View) -> Finding:
    names = list(view.votes)
    names += [part.configuration for part in view.protocol.partitions]
    names += [again.configuration for again in view.protocol.again if again.configuration not in names]
    per_item = (
        view.readings.lazy()
        .filter(pl.col("configuration").is_in(names))
        .group_by("configuration", "item")
        .agg(pl.len().alias("asked"), *((pl.col("state") == state).sum().alias(state) for state in STATES))
        .sort("configuration", "item")
        .collect()
    )
    # Whether an answer was cut off is not always known; where none was, nothing is said of it.
    told = [state for state in STATES if state != "truncated" or per_item[state].sum()]
    cut = "truncated (cut off before anything readable came), " if "truncated" in told else ""
    rows = []
    for name in dict.fromkeys(names):
        items = per_item.filter(pl.col("configuration") == name)
        if items.height == 0:
            continue
        asked = items["asked"].to_numpy()
        figures = {
            state: ratio(items[state].to_numpy(), asked, view.protocol, empty="nothing was asked")
            for state in told
        }
        rows.append(Row(keys={"configuration": name}, figures=figures))
    return Finding(
        lens="accuracy",
        table="states",
        model=view.model,
        title="What the answers are",
        definition=f"Share of all readings in each state: ok, empty, refused, unreadable, {cut}error (the "
        "call failed). Intervals resample items, since the samples of one item resemble each other.",
        rows=tuple(rows),
        notes=(
            "Only readings in state ok vote; a verdict without a vote is incorrect, and an item with nothing "
            "but errors is left out.",
        ),
    )


def _answer_position(view: View) -> Finding:
    baseline = view.protocol.baseline
    answers = view.readings.filter(
        (pl.col("configuration") == baseline) & (pl.col("sample") == 0) & (pl.col("state") == "ok")
    )
    leads = share(int(answers["leads"].sum()), answers.height, empty="the baseline gave no readable answer")
    return Finding(
        lens="accuracy",
        table="answer position",
        model=view.model,
        title="Do answers begin where they are probed?",
        definition="Share of the baseline's readable answers that begin with the value read from them. The "
        "gold token's rank is taken at the first answer position, so it means little for the others.",
        rows=(Row(keys={"configuration": baseline}, figures={"leads": leads}),),
        claims=(_position_claim(leads),),
    )


def _position_claim(leads: Figure) -> Claim:
    text = "Most answers of the baseline begin where the gold token is probed"
    if leads.value is None:
        return Claim(text=f"{text}: {leads.note}.", status=ClaimStatus.NOT_ESTIMABLE)
    return Claim(
        text=f"{text}: {counted(leads)}.",
        status=ClaimStatus.SUPPORTED if (leads.low or 0.0) > 0.5 else ClaimStatus.NOT_SUPPORTED,
        point=counted(leads),
        conservative=f"{percent(leads.low)} at Wilson's lower bound",
    )


LENS = Lens("accuracy", order=10, look=look)
