"""How many of the "deep" failures would more samples reach?

No number of samples proves that an item is out of reach. Among the items of D0, f1 were hit by exactly one of
K partition samples, f2 by exactly two; many singletons mean that sampling has not run dry. Chao's estimate
turns them into a lower bound of the deep failures within reach (see `leadline.stats.unseen`).
"""

from __future__ import annotations

from leadline.lenses.figures import bootstrapped, count, unknown
from leadline.lenses.finding import Claim, ClaimStatus, Figure, Finding, Row
from leadline.lenses.partition import Split, split
from leadline.lenses.registry import Lens
from leadline.lenses.view import View
from leadline.stats.unseen import expected_new, expected_new_interval, unseen_reachable


def look(view: View) -> list[Finding]:
    """Finding `unseen`; none when the study has no partition samples."""
    splits = [split(view, one) for one in view.protocol.partitions if view.has(one.configuration)]
    if not splits:
        return []
    rows = [Row(keys={"temperature": one.temperature}, figures=_figures(view, one)) for one in splits]
    return [
        Finding(
            lens="beyond_sampling",
            table="unseen",
            model=view.model,
            title="Deep failures that more samples would reach",
            definition="reachable_deep: at least so many of the deep failures have a chance above zero of a "
            "correct sample (Chao's lower bound from the failures hit once and twice in K samples). "
            "expected_next_k: how many of them another K samples are expected to reach. expected_by_sweep "
            "and found_by_sweep: the same for the rest of the sweep, as expected and as it came out.",
            rows=tuple(rows),
            claims=tuple(_claim(one, row.figures) for one, row in zip(splits, rows, strict=True)),
            notes=(
                "A lower bound: items with a very small chance leave no trace in K samples, and the interval "
                "is that of the bound.",
            ),
        )
    ]


def _figures(view: View, one: Split) -> dict[str, Figure]:
    k, deep = one.partition.k, int(one.deep.sum())
    more = one.partition.sweep - k
    counts = {
        "hit_once": count(int((one.hits == 1).sum()), len(one.items)),
        "hit_twice": count(int((one.hits == 2).sum()), len(one.items)),
    }
    unseen = unseen_reachable(one.hits, k)
    if unseen is None:
        reason = "no failure was reached by any sample, which says nothing about what more would reach"
        keys = ("reachable_deep", "reachable_deep_share", "expected_next_k", "expected_by_sweep")
        return {**counts, **{key: unknown(reason, deep) for key in keys}, **_found(one, deep, more)}
    low, high = unseen.interval
    bound = Figure(
        value=unseen.estimate,
        numerator=unseen.estimate,
        denominator=deep,
        low=low,
        high=high,
        method="chao2, bias-corrected, log-normal interval, capped at the deep failures",
    )
    return {
        **counts,
        "reachable_deep": bound,
        "reachable_deep_share": _as_share(bound, deep),
        "expected_next_k": _expected(view, one, k),
        "expected_by_sweep": _expected(view, one, more) if more > 0 else unknown("the sweep ends at K", deep),
        **_found(one, deep, more),
    }


def _as_share(bound: Figure, deep: int) -> Figure:
    if deep == 0 or bound.value is None or bound.low is None or bound.high is None:
        return unknown("no deep failures", deep)
    scaled = {"value": bound.value / deep, "low": bound.low / deep, "high": bound.high / deep}
    return bound.model_copy(update=scaled)


def _expected(view: View, one: Split, more: int) -> Figure:
    k, protocol = one.partition.k, view.protocol
    low, high = expected_new_interval(
        one.hits, k, more, draws=protocol.bootstrap_draws, seed=protocol.bootstrap_seed
    )
    value = expected_new(one.hits, k, more)
    return Figure(
        value=value,
        numerator=value,
        denominator=int(one.deep.sum()),
        low=low,
        high=high,
        method=f"incidence extrapolation by {more} samples, {bootstrapped(protocol)}",
    )


def _found(one: Split, deep: int, more: int) -> dict[str, Figure]:
    if more <= 0:
        return {"found_by_sweep": unknown("the sweep ends at K", deep)}
    return {"found_by_sweep": count(int((one.deep & (one.sweep_hits > 0)).sum()), deep)}


def _claim(one: Split, figures: dict[str, Figure]) -> Claim:
    """That deep failures cannot be reached: no number of samples shows it, but more samples may refute it."""
    deep, k = int(one.deep.sum()), one.partition.k
    text = f"Deep failures are beyond the reach of sampling at τ = {one.temperature}"
    if deep == 0:
        return Claim(text=f"{text}: there are none.", status=ClaimStatus.NOT_ESTIMABLE)
    bound, found = figures["reachable_deep"], figures["found_by_sweep"].value or 0
    readings = {
        "point": f"{deep} {'failure' if deep == 1 else 'failures'} that {k} samples never reached",
        "conservative": "nothing was reached, so nothing can be said of what more samples would reach"
        if bound.value is None
        else f"at least {bound.value:.1f} of them [{bound.low:.1f}, {bound.high:.1f}] are within reach",
    }
    if found:
        more = one.partition.sweep - k
        return Claim(
            text=f"{text}: {more} more samples reached {found:.0f} of {deep}.",
            status=ClaimStatus.NOT_SUPPORTED,
            **readings,
        )
    return Claim(
        text=f"{text}: no number of samples could show this; a further one may always reach them.",
        status=ClaimStatus.UNREACHABLE,
        **readings,
    )


LENS = Lens("beyond_sampling", order=43, look=look)
