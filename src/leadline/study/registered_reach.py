"""Can a prediction come true, and can it fail? Tried on the best and the worst answers there could be."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from leadline.errors import UsageError
from leadline.study.registered_decision import decide
from leadline.study.registered_statistic import Measured, less, paired, pooled
from leadline.study.registration import Arm, Prediction, RegisteredConfiguration


def check_reach(prediction: Prediction, arm: Arm, items: Sequence[str], others: Sequence[str] = ()) -> None:
    """Raise UsageError where no answers to these items could make the prediction hold, or none make it fail.

    An interval never lies further on one side than where every cell is at its end, so that two cases tell
    it all. What cannot be decided does not hold either.
    """
    high, low = (_measured(prediction, arm, items, others, high=high) for high in (True, False))
    best, worst = (high, low) if prediction.direction == "above" else (low, high)
    outcome, reason = decide(prediction, best)
    if outcome != "holds":
        by_interval = prediction.decided_by == "interval"
        raise UsageError(
            f"this could never hold: with the best answers that there could be, {reason}",
            fix="register more items, or another threshold" if by_interval else "choose another threshold",
        )
    outcome, reason = decide(prediction, worst)
    if outcome == "holds":
        raise UsageError(
            f"this could never fail: with the worst answers that there could be, {reason}",
            fix="choose another threshold",
        )


def _measured(
    prediction: Prediction, arm: Arm, items: Sequence[str], others: Sequence[str], *, high: bool
) -> Measured:
    """What would be measured if all cells were at their highest, or at their lowest."""
    ours = _cells(prediction, arm, items, high=high)
    if prediction.comparison == "value":
        return pooled(ours, prediction.statistic)
    compare = paired if prediction.comparison == "paired" else less
    return compare(ours, _cells(prediction, arm, others or items, high=not high), prediction.statistic)


def _cells(prediction: Prediction, arm: Arm, items: Sequence[str], *, high: bool) -> pl.DataFrame:
    """As `registered_statistic.cells`."""
    ends = [(one.name, *_ends(prediction, one, high=high)) for one in arm.configurations]
    schema = {"configuration": pl.String, "numerator": pl.Float64, "denominator": pl.Float64}
    configurations = pl.DataFrame(ends, schema=schema, orient="row")
    models = pl.DataFrame({"model": [one.label for one in arm.models]})
    return models.join(configurations, how="cross").join(pl.DataFrame({"item": list(items)}), how="cross")


def _ends(prediction: Prediction, one: RegisteredConfiguration, *, high: bool) -> tuple[float, float]:
    """The highest or the lowest that a cell can be, as a numerator and a denominator."""
    match prediction.statistic:
        case "dispersion":  # of n answers, one at the least is the most frequent
            return ((one.samples - 1) / one.samples if high else 0.0), 1.0
        case "response_rate":
            return float(one.samples if high else prediction.minimum_readings), float(one.samples)
        case _:
            return float(high), 1.0
