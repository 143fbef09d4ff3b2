"""Inspect reducers over the epochs of a sample: `leadline/wobble`, `leadline/dispersion`, `leadline/vote`.

They look at what was read, not at what was right: a model that gives four different wrong answers is not
steady. With the scorer `leadline/reading` two answers are the same by the item's own rule (numbers by
rounding); with other scorers they are when their `Score.answer` is the same text. Epochs without a readable
answer do not count, and neither do errors; a sample without any is left unscored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from math import nan
from typing import Any

from inspect_ai.scorer import CORRECT, INCORRECT, Score, ScoreReducer, score_reducer, value_to_float

# The key in a reduced score's metadata that says what its value is, under "leadline".
MEASURE = "measure"
# What was reduced last. Inspect hands unscored samples to no metric: where no sample was scored, nothing but
# this tells a metric what its share would have been of.
_last: ContextVar[str | None] = ContextVar("measure", default=None)


@dataclass(frozen=True)
class _Epochs:
    """What the epochs of one sample say: the values that were read, in order, and whose scores they are."""

    values: tuple[str, ...]
    scores: tuple[Score, ...]

    @property
    def counts(self) -> Counter[str]:
        """How often each value was given."""
        return Counter(self.values)

    @property
    def modal(self) -> str:
        """The most frequent value; of equally frequent ones the one seen first."""
        return self.counts.most_common(1)[0][0]

    @property
    def dispersion(self) -> float:
        """1 − m/n: the share of epochs that do not say what the most frequent answer says."""
        return 1 - self.counts[self.modal] / len(self.values)


def last_measure() -> str | None:
    """The measure of the reducer of ours whose scores are now asked for; then it is forgotten."""
    measure = _last.get()
    _last.set(None)
    return measure


@score_reducer
def wobble() -> ScoreReducer:
    """1 where the readings of a sample's epochs are not all the same, else 0; so its mean is the wobble.

    Unscored for a single epoch, which cannot differ from itself. The metadata has the counts, the dispersion
    and the share of pairs that disagree. Source: Probity, section 3; see docs/measures.md.
    """

    def reduce(scores: list[Score]) -> Score:
        return _reduced("wobble", scores, lambda epochs: float(len(epochs.counts) > 1), several=True)

    return reduce


@score_reducer
def dispersion() -> ScoreReducer:
    """1 − m/n: of the n readings of a sample's epochs, the share that does not say what most of them say."""

    def reduce(scores: list[Score]) -> Score:
        return _reduced("dispersion", scores, lambda epochs: epochs.dispersion, several=True)

    return reduce


@score_reducer
def vote() -> ScoreReducer:
    """Right where the most frequent reading is right; of equally frequent ones the first; wrong if none."""
    to_float = value_to_float()

    def reduce(scores: list[Score]) -> Score:
        def right(epochs: _Epochs) -> str:
            first = epochs.scores[epochs.values.index(epochs.modal)]
            return CORRECT if to_float(first.value) >= 1 else INCORRECT

        return _reduced("accuracy", scores, right, otherwise=INCORRECT)

    return reduce


def _reduced(
    measure: str,
    scores: list[Score],
    value: Callable[[_Epochs], str | float],
    *,
    otherwise: str | float = nan,
    several: bool = False,
) -> Score:
    _last.set(measure)
    epochs = _epochs(scores)
    kept = dict(scores[0].metadata or {}) if scores else {}
    told: dict[str, Any] = {MEASURE: measure, "epochs": len(scores), "read": len(epochs.values)}
    if not epochs.values or (several and len(scores) < 2):
        why = (
            "no epoch has a readable answer" if not epochs.values else "one epoch has nothing to differ from"
        )
        return Score(value=otherwise, explanation=why, metadata={**kept, "leadline": told})
    counts = epochs.counts
    n = len(epochs.values)
    told |= {
        "counts": dict(counts.most_common()),
        "dispersion": epochs.dispersion,
        "pairs_that_disagree": 1 - sum(c * (c - 1) for c in counts.values()) / (n * (n - 1))
        if n > 1
        else None,
    }
    return Score(
        value=value(epochs),
        answer=epochs.modal,
        explanation="; ".join(f"{count} × {said}" for said, count in counts.most_common()),
        metadata={**kept, "leadline": told},
    )


def _epochs(scores: list[Score]) -> _Epochs:
    told = [(score.metadata or {}).get("leadline") for score in scores]
    form = next((one["form"] for one in told if isinstance(one, Mapping) and "form" in one), None)
    if form is None:  # the score of another scorer
        said = [score.answer.strip() if score.answer and score.answer.strip() else None for score in scores]
    else:
        said = _same(form, [one if isinstance(one, Mapping) else {} for one in told])
    places = [place for place, value in enumerate(said) if value is not None]
    return _Epochs(tuple(said[place] or "" for place in places), tuple(scores[place] for place in places))


def _same(form: Mapping[str, Any], told: list[Mapping[str, Any]]) -> list[str | None]:
    from leadline.bench import Item
    from leadline.study.number_classes import same_values

    described = {key: value for key, value in form.items() if key != "sameness"}
    item = Item(id="-", question="-", answer="-", **described)
    pairs = [(one.get("value"), one.get("printed")) for one in told]
    return same_values(item, pairs, form.get("sameness", "own"))
