"""Two runs of what should be the same configuration: do their answers differ more than chance has it?

What a run does instead of answering counts as an answer: refused, empty, unreadable, cut off and failed are
a value each, so that a run that refuses half of the time is told apart. On the items that both runs were
asked: how many have another most frequent answer (differing), and the mean total variation distance
½ Σ |c_a/n_a - c_b/n_b| of their answers (variation). Against both stands what is seen when each item's pooled
answers are dealt out to the runs again (exact if they are exchangeable), and against the first also the
published null, resamples of the first run's answers against its own most frequent.

A large p is no proof that two runs are the same. So the claim is always that they differ, and where that is
not found the report says which change would have been.
Sources: Probity, Limitations (differing, resampled null); the deals and distances are added here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from leadline.lenses.equivalence_pairs import Compared, compared, pairs_of, shared_panel
from leadline.lenses.figures import (
    SIGNIFICANCE,
    count,
    counted,
    mean,
    p_value,
    percent,
    ratio,
    share,
    unknown,
)
from leadline.lenses.finding import Claim, ClaimStatus, Figure, Finding, Row
from leadline.lenses.protocol import Protocol
from leadline.lenses.registry import ALL_MODELS, Lens
from leadline.lenses.whole import Whole
from leadline.stats.detectable_change import detectable_items
from leadline.stats.multiple import holm
from leadline.stats.resampled_modes import at_least, modes_lost
from leadline.stats.two_runs import Tally, deal, variation

POWER = 0.8
DEFINITION = (
    "Answers: values, and as a value each refused, empty, unreadable, and a failed call; items: those that "
    "both runs were asked. readable, readable_other: share of the answers that are none of these four, first "
    "run and second. differing: items whose most frequent answer (of equally frequent ones the first) is not "
    "the same in both runs. variation: mean over items of the total variation distance "
    "½ Σ |c_a/n_a - c_b/n_b| of the two runs' answers. *_expected and *_p: when each item's pooled answers "
    "are dealt out to the runs again at random; p = (1 + deals with at least as much) / (1 + deals). "
    "resampled_expected, resampled_p, resampled_z: the published null, resamples with replacement of the "
    "first run's answers against its own most frequent one; p is the tail of the sum of independent items, "
    "z = (observed - expected) / sd, consistent by the published rule when |z| ≤ 2. detectable: share of "
    "items which, had the second run answered them altogether otherwise, would have made variation_p at most "
    f"0.05 in {100 * POWER:.0f} % of simulations."
)


def look(whole: Whole) -> list[Finding]:
    """Finding `pairs`; none when the study names no pair of runs."""
    pairs, notes = pairs_of(whole)
    if not pairs and not notes:
        return []
    rows, claims = [], []
    if pairs:
        panel = shared_panel(whole)
        figures = [_figures(whole, compared(panel, pair)) for pair in pairs]
        p_values = [one["variation_p"].value for one in figures]
        tested = sum(p is not None for p in p_values)
        corrected = iter(holm([p for p in p_values if p is not None]))
        for pair, its, p in zip(pairs, figures, p_values, strict=True):
            holms = None if p is None else next(corrected)
            its["variation_p_holm"] = (
                unknown("nothing was tested")
                if holms is None
                else p_value(holms, f"deals, holm over {tested} pairs", int(its["items"].value or 0))
            )
            keys = {"configuration": whole.labels[pair.first], "other": whole.labels[pair.second]}
            rows.append(Row(keys=keys, figures=its))
            claims.append(_claim(keys, its, tested))
    return [
        Finding(
            lens="equivalence",
            table="pairs",
            model=ALL_MODELS,
            title="Two runs of the same thing?",
            definition=DEFINITION,
            rows=tuple(rows),
            claims=tuple(claims),
            notes=(
                *notes,
                "A large p is not evidence that two runs are the same: read detectable beside it. The "
                "resampled null takes the first run's most frequent answer for the truth and so expects too "
                "few differences where answers waver.",
            ),
        )
    ]


def _figures(whole: Whole, runs: Compared) -> dict[str, Figure]:
    protocol, items, groups = whole.protocol, runs.items, runs.groups
    settings = protocol.stability
    figures = {"items": count(items, of=whole.panel.shape[1])}
    if items == 0:
        names = ("differing", "variation", "variation_p", "detectable")
        return {**figures, **{name: unknown("both were asked no item", 0) for name in names}}
    distances = np.concatenate([variation(group) for group in groups])
    deals = deal(groups, settings.permutations, settings.permutation_seed)
    method = f"{settings.permutations} deals of the pooled answers, seed {settings.permutation_seed}"
    lost = modes_lost(groups, runs.stored, settings.permutations, settings.permutation_seed)
    resampled = f"{settings.permutations} resamples of the first run, seed {settings.permutation_seed}"
    return {
        **figures,
        "readable": ratio(*runs.readable[0], protocol),
        "readable_other": ratio(*runs.readable[1], protocol),
        "differing": share(runs.differing, items),
        "differing_expected": _expected(deals.differing / items, items, method),
        "differing_p": _p(deals.p_differing(runs.differing), method, items, settings.permutations),
        "variation": mean(np.sort(distances), protocol),
        "variation_expected": _expected(deals.variation / items, items, method),
        "variation_p": _p(deals.p_variation(float(distances.sum())), method, items, settings.permutations),
        **_resampled(runs.differing, lost, resampled),
        "detectable": _detectable(groups, items, protocol),
    }


def _expected(null: npt.NDArray[np.float64], items: int, method: str) -> Figure:
    """The null's mean, and between which ends 95 % of it lie."""
    low, high = np.quantile(null, [0.025, 0.975])
    center = float(null.mean())
    return Figure(
        value=center,
        numerator=center * items,
        denominator=items,
        low=float(low),
        high=float(high),
        method=method,
        note="low, high: the middle 95 % of the deals",
    )


def _p(value: float, method: str, items: int, permutations: int) -> Figure:
    least = value * (permutations + 1) < 1.5
    note = f"no deal reaches it: < 1/{permutations + 1}" if least else ""
    return Figure(value=value, denominator=items, method=method, note=note)


def _resampled(differing: int, lost: npt.NDArray[np.float64], method: str) -> dict[str, Figure]:
    items, expected = len(lost), float(lost.sum())
    spread = float(np.sqrt((lost * (1 - lost)).sum()))
    figures = {
        "resampled_expected": Figure(
            value=expected / items, numerator=expected, denominator=items, method=method
        ),
        "resampled_p": p_value(at_least(differing, lost), f"poisson binomial tail, {method}", items),
    }
    if spread == 0:
        figures["resampled_z"] = unknown("the first run is stable on every item", items)
    else:
        z = (differing - expected) / spread
        note = "consistent by the published rule" if abs(z) <= 2 else "not consistent by the published rule"
        figures["resampled_z"] = Figure(value=z, denominator=items, method=method, note=note)
    return figures


def _detectable(groups: Sequence[Tally], items: int, protocol: Protocol) -> Figure:
    seed = protocol.stability.permutation_seed
    smallest = detectable_items(tuple(groups), SIGNIFICANCE, POWER, seed=seed)
    method = f"simulated on the pooled answers, seed {seed}"
    if smallest is None:
        note = "not even a change in all items would be found this often"
        return Figure(value=None, denominator=items, method=method, note=note)
    return Figure(value=smallest / items, numerator=smallest, denominator=items, method=method)


def _claim(keys: dict[str, str], figures: dict[str, Figure], tested: int) -> Claim:
    names, p = " and ".join(keys.values()), figures["variation_p_holm"].value
    if p is None:
        text = f"{names} cannot be compared: there is no item that both were asked."
        return Claim(text=text, status=ClaimStatus.NOT_ESTIMABLE)
    differing, detectable = figures["differing"], figures["detectable"]
    expected, apart = figures["differing_expected"], figures["variation"]
    chance = figures["variation_expected"]
    point = (
        f"{counted(differing)} most frequent answers differ; mean distance of all answers {apart.value:.3f}"
    )
    conservative = (
        f"up to {percent(expected.high)} differ, and a distance up to {chance.high:.3f}, when the pooled "
        f"answers are dealt out; p = {p:.2g}" + (f", after Holm over {tested} pairs" if tested > 1 else "")
    )
    if p <= SIGNIFICANCE:
        text = f"{names} answer differently: they are not two runs of the same thing{_states(figures)}."
        return Claim(text=text, status=ClaimStatus.SUPPORTED, point=point, conservative=conservative)
    if detectable.value is None:
        text = f"No difference between {names} could have been detected: too few answers."
        return Claim(text=text, status=ClaimStatus.UNREACHABLE, point=point, conservative=conservative)
    return Claim(
        text=f"No difference between {names} was detected, which does not show that they are the same: "
        f"another answer altogether in {counted(detectable)} of the items would have been detected with "
        f"{100 * POWER:.0f} % chance.",
        status=ClaimStatus.NOT_SUPPORTED,
        point=point,
        conservative=conservative,
    )


def _states(figures: dict[str, Figure]) -> str:
    """What is said of answers that cannot be read, where there are any."""
    rates = [figures["readable"].value, figures["readable_other"].value]
    return (
        f" (readable: {percent(rates[0])} against {percent(rates[1])})" if min(map(_zero, rates)) < 1 else ""
    )


def _zero(rate: float | None) -> float:
    return rate or 0.0


LENS = Lens("equivalence", order=60, whole=look)
