"""What may be claimed of shared instability: its lower end over configurations against the null's upper."""

from __future__ import annotations

from leadline.lenses.figures import percent
from leadline.lenses.finding import Claim, ClaimStatus, Figure
from leadline.lenses.transfer_scores import Scores
from leadline.stats.pair_bootstrap import MEMBERS

ALL = "all configurations"


def shared_claim(scores: Scores, k: int, figures: dict[str, Figure]) -> Claim:
    """Whether the set's configurations share unsteady items beyond what shuffled values do."""
    subject = f"Instability is partly shared across configurations{_within(scores)}"
    if reason := _not_estimable(scores, k, figures):
        return Claim(text=f"{subject}: not estimable, {reason}.", status=ClaimStatus.NOT_ESTIMABLE)
    text = (
        f"{subject}: of one's {k} least steady items {percent(figures['mean'].value)} are among another's "
        f"{2 * k} ({_number(figures['hits']):.0f} hits; {_number(figures['expected']):.1f} expected blindly, "
        f"{_number(figures['null_hits']):.1f} in shuffled values)"
    )
    if not scores.crossed.any():
        text += "; all are of one family"
    return _claim(text, figures, _number(figures["ratio"]))


def beyond_difficulty_claim(scores: Scores, k: int, figures: dict[str, Figure]) -> Claim:
    """The same where values were shuffled among items of similar difficulty only."""
    subject = f"Shared instability is more than shared difficulty{_within(scores)}"
    if reason := _not_estimable(scores, k, figures):
        return Claim(text=f"{subject}: not estimable, {reason}.", status=ClaimStatus.NOT_ESTIMABLE)
    hits, chance = _number(figures["hits"]), _number(figures["null_hits"])
    text = f"{subject}: {hits:.0f} hits, {chance:.1f} in values shuffled among items of similar accuracy"
    return _claim(text, figures, hits / chance if chance else None)


def _claim(text: str, figures: dict[str, Figure], times: float | None) -> Claim:
    mean, null = figures["mean"], figures["null_mean"]
    hits, chance = _number(figures["hits"]), _number(figures["null_hits"])
    low, high = mean.low or 0.0, null.high or 0.0
    by_chance = f"{hits / chance:.2f}× the null's mean" if chance else "the null shares nothing"
    if high >= 1:  # any set is within the wide one: sharing all of it shows nothing
        status = ClaimStatus.UNREACHABLE
    else:
        status = ClaimStatus.SUPPORTED if low > high else ClaimStatus.NOT_SUPPORTED
    return Claim(
        text=f"{text}.",
        status=status,
        point=f"{_number(mean):.3f} ({hits:.0f} hits)" + (f", {times:.2f}×" if times is not None else ""),
        conservative=f"{low:.3f} at the lower end over configurations, against {high:.3f} that 2.5 % of "
        f"permutations reach; {by_chance}",
    )


def _not_estimable(scores: Scores, k: int, figures: dict[str, Figure]) -> str:
    """Why nothing can be said, "" where something can."""
    if len(scores.members) < MEMBERS:
        return f"fewer than {MEMBERS} configurations were asked repeatedly"
    if (scores.ranked < k).all():
        return f"no configuration has {k} unstable items"
    if figures["mean"].value is None:
        return figures["mean"].note
    if figures["mean"].low is None:
        return f"fewer than {MEMBERS} configurations have an unstable item"
    return ""


def _within(scores: Scores) -> str:
    return "" if scores.set == ALL else f" (within {scores.set})"


def _number(figure: Figure) -> float:
    return figure.value or 0.0
