"""What may be claimed of shared instability: its lower end over configurations, or over families where these
repeat, against the null's upper."""

from __future__ import annotations

from leadline.lenses.figures import percent
from leadline.lenses.finding import Claim, ClaimStatus, Figure
from leadline.lenses.transfer_scores import Scores
from leadline.stats.pair_bootstrap import MEMBERS

ALL = "all configurations"


def shared_claim(scores: Scores, k: int, figures: dict[str, Figure]) -> Claim:
    """Whether the set's configurations share unsteady items beyond what shuffled values do.

    `figures` are those of pairs of two families where there is a figure `families`.
    """
    among = "families of configurations" if "families" in figures else "configurations"
    subject = f"Instability is partly shared across {among}{_within(scores)}"
    if reason := _not_estimable(scores, k, figures):
        return _silent(subject, reason)
    other = "another family's" if "families" in figures else "another's"
    text = (
        f"{subject}: of one's {k} least steady items {percent(figures['mean'].value)} are among {other} "
        f"{2 * k} ({_number(figures['hits']):.0f} hits; {_number(figures['expected']):.1f} expected blindly, "
        f"{_number(figures['null_hits']):.1f} in shuffled values)"
    )
    blind = _number(figures["expected"])
    return _claim(text, figures, _number(figures["hits"]) / blind if blind else None)


def beyond_difficulty_claim(scores: Scores, k: int, figures: dict[str, Figure]) -> Claim:
    """The same where values were shuffled among items of similar difficulty only."""
    shared = "Instability shared across families" if "families" in figures else "Shared instability"
    subject = f"{shared} is more than shared difficulty{_within(scores)}"
    if reason := _not_estimable(scores, k, figures):
        return _silent(subject, reason)
    hits, chance = _number(figures["hits"]), _number(figures["null_hits"])
    text = f"{subject}: {hits:.0f} hits, {chance:.1f} in values shuffled among items of similar accuracy"
    return _claim(text, figures, hits / chance if chance else None)


def _silent(subject: str, reason: str) -> Claim:
    return Claim(
        text=f"{subject}: not estimable, {reason}.",
        status=ClaimStatus.NOT_ESTIMABLE,
        point="n/a",
        conservative=reason,
    )


def _claim(text: str, figures: dict[str, Figure], times: float | None) -> Claim:
    mean, null = figures["mean"], figures["null_mean"]
    hits, chance = _number(figures["hits"]), _number(figures["null_hits"])
    low, high = mean.low or 0.0, null.high or 0.0
    by_chance = f"{hits / chance:.2f}× the null's mean" if chance else "the null shares nothing"
    over = "families" if "families" in figures else "configurations"
    if high >= 1:  # any set is within the wide one: sharing all of it shows nothing
        status = ClaimStatus.UNREACHABLE
    else:
        status = ClaimStatus.SUPPORTED if low > high else ClaimStatus.NOT_SUPPORTED
    return Claim(
        text=f"{text}.",
        status=status,
        point=f"{_number(mean):.3f} ({hits:.0f} hits)" + (f", {times:.2f}×" if times is not None else ""),
        conservative=f"{low:.3f} at the lower end over {over}, against {high:.3f} that 2.5 % of "
        f"permutations reach; {by_chance}",
    )


def _not_estimable(scores: Scores, k: int, figures: dict[str, Figure]) -> str:
    """Why nothing can be said, "" where something can."""
    if len(scores.members) < MEMBERS:
        return f"fewer than {MEMBERS} configurations were asked repeatedly"
    families = figures.get("families")
    if families and _number(families) < MEMBERS:
        one = families.value == 1
        return (
            f"the {len(scores.members)} configurations are of {_number(families):.0f} "
            f"{'family' if one else 'families'}, and those of one are no independent witnesses: "
            f"at least {MEMBERS} families are needed"
        )
    if (scores.ranked < k).all():
        return f"no configuration has {k} unstable items"
    if figures["mean"].value is None:
        return figures["mean"].note
    if figures["mean"].low is None:
        of = "families" if families else "configurations"
        return f"fewer than {MEMBERS} {of} have an unstable item"
    return ""


def _within(scores: Scores) -> str:
    return "" if scores.set == ALL else f" (within {scores.set})"


def _number(figure: Figure) -> float:
    return figure.value or 0.0
