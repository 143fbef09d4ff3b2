"""Whether a technique does anything that raising the temperature does not: its verdicts against sampling's.

Both sides answer the same items, so the comparison is paired: McNemar's exact test on the items that only
one of the two gets right, Holm's correction over all pairs, and a bootstrap interval of the difference in
accuracy. Source: MAPLE, section 3.2, with temperature sampling in the place of the greedy baseline.
"""

from __future__ import annotations

from leadline.lenses.figures import SIGNIFICANCE, count, in_points, p_value, points, unknown
from leadline.lenses.finding import Claim, ClaimStatus, Figure, Finding, Row
from leadline.lenses.protocol import Method
from leadline.lenses.registry import Lens
from leadline.lenses.transitions import Transitions, surface_figures, transitions_of
from leadline.lenses.verdicts import paired
from leadline.lenses.view import View
from leadline.stats.mcnemar import mcnemar_exact, smallest_p
from leadline.stats.multiple import holm


def look(view: View) -> list[Finding]:
    """The finding `overall`, where the study has techniques and temperatures."""
    present = [method for method in view.protocol.methods if view.has(method.name)]
    sampling = [method for method in present if method.is_sampling]
    techniques = [method for method in present if not method.is_sampling]
    if not sampling or not techniques:
        return []
    moves = {
        (technique.name, rival.name): transitions_of(paired(view.verdicts, rival.name, technique.name))
        for technique in techniques
        for rival in sampling
    }
    corrected = dict(
        zip(moves, holm([mcnemar_exact(m.recovered, m.broken) for m in moves.values()]), strict=True)
    )
    rows, claims = [], []
    for technique in techniques:
        judged: list[tuple[Method, Transitions, dict[str, Figure]]] = []
        for rival in sampling:
            pair = technique.name, rival.name
            figures = _figures(view, moves[pair], corrected[pair], len(moves))
            rows.append(Row(keys={"method": technique.name, "sampling": rival.name}, figures=figures))
            judged.append((rival, moves[pair], figures))
        # The temperature that does best: to differ from a worse one would be no news.
        best = max(judged, key=lambda one: one[2]["acc_sampling"].value or 0.0)
        claims.append(_claim(technique.called, *best, len(moves)))
    votes = ", ".join(
        f"{method.called}: majority of {method.vote}" if method.vote > 1 else f"{method.called}: one answer"
        for method in sampling
    )
    return [
        Finding(
            lens="against_sampling",
            table="overall",
            model=view.model,
            title="Techniques against temperature sampling",
            definition="Difference: accuracy of the technique minus accuracy of sampling at a temperature, "
            "on the items that both answered. Only it: items that the technique alone gets right; only "
            "sampling: items that sampling alone gets right.",
            rows=tuple(rows),
            claims=tuple(claims),
            notes=(f"Verdicts of sampling: {votes}.",),
        )
    ]


def _figures(view: View, moved: Transitions, corrected: float, compared: int) -> dict[str, Figure]:
    surface = surface_figures(moved, view.protocol)
    figures = {
        "acc": surface["acc"],
        "acc_sampling": surface["acc_baseline"],
        "difference": surface["difference"],
        "only_method": count(moved.recovered),
        "only_sampling": count(moved.broken),
    }
    if not moved.items:
        return {**figures, "mcnemar_p_holm": unknown("no items", 0)}
    method = f"exact mcnemar, holm over {compared} comparisons"
    return {**figures, "mcnemar_p_holm": p_value(corrected, method, moved.recovered + moved.broken)}


def _claim(name: str, rival: Method, moved: Transitions, figures: dict[str, Figure], compared: int) -> Claim:
    text = f"{name} differs from sampling at {rival.called}"
    if moved.items == 0:
        return Claim(text=f"{text}: no item was answered by both.", status=ClaimStatus.NOT_ESTIMABLE)
    if smallest_p(moved.items) * compared > SIGNIFICANCE:
        return Claim(
            text=f"{text}: with {moved.items} items and {compared} comparisons no result could support this.",
            status=ClaimStatus.UNREACHABLE,
        )
    p = figures["mcnemar_p_holm"].value
    evidence = (
        f"{moved.recovered} items only it, {moved.broken} only sampling, of {moved.items}; accuracy "
        f"{points(figures['difference'])}, exact McNemar p = {p:.3g} after Holm over {compared} comparisons."
    )
    difference = figures["difference"]
    nearer, end = (difference.low, "lower") if moved.net >= 0 else (difference.high, "upper")
    readings = {
        "point": f"{in_points(difference.value)} of accuracy",
        "conservative": f"{in_points(nearer)} at the interval's {end} end",
    }
    if p is None or p > SIGNIFICANCE:
        return Claim(text=f"{text}: {evidence}", status=ClaimStatus.NOT_SUPPORTED, **readings)
    way = "better" if moved.net > 0 else "worse"
    return Claim(
        text=f"{name} answers {way} than sampling at {rival.called}: {evidence}",
        status=ClaimStatus.SUPPORTED,
        **readings,
    )


LENS = Lens("against_sampling", order=25, look=look)
