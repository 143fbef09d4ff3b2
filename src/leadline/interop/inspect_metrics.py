"""Inspect metric `leadline/accuracy_wilson`: a share of samples, with its Wilson interval.

A share at 0 % or at 100 % keeps an interval of honest width, where the usual standard error is 0.
"""

from __future__ import annotations

from collections import defaultdict
from math import nan
from statistics import fmean

from inspect_ai.scorer import Metric, SampleScore, Value, metric, value_to_float

from leadline.bench.problem import shortened
from leadline.errors import UsageError
from leadline.interop.inspect_faults import as_prerequisite
from leadline.interop.inspect_reducers import MEASURE, last_measure


@metric
def accuracy_wilson(level: float = 0.95) -> Metric:
    """Share of samples that are right, `interval_low` and `interval_high` (Wilson), and `samples`.

    A sample counts once, however many epochs it had: where epochs were not reduced, by the mean over them,
    which makes the interval wider than need be (values between 0 and 1 vary less than 0 and 1 do). Samples
    without a score are left out. Over the scores of `leadline/wobble` or `leadline/dispersion` the share is
    named after them. `level` of the interval lies between 0 and 1; anything else is a fault of one line.

    Source: E. B. Wilson, JASA 22 (1927) 209–212.
    """
    with as_prerequisite():
        if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
            raise UsageError(
                f"accuracy_wilson: level is a share between 0 and 1, not {shortened(str(level))}", fix="0.95"
            )
    to_float = value_to_float()

    def share(scores: list[SampleScore]) -> Value:
        from leadline.stats.intervals import wilson

        of_sample: defaultdict[object, list[float]] = defaultdict(list)
        for place, one in enumerate(scores):
            key = place if one.sample_id is None else str(one.sample_id)
            of_sample[key].append(min(1.0, max(0.0, to_float(one.score.value))))
        values = [fmean(epochs) for epochs in of_sample.values()]
        if not values:
            return {
                last_measure() or "accuracy": nan,
                "interval_low": nan,
                "interval_high": nan,
                "samples": 0,
            }
        last_measure()
        total = min(sum(values), len(values))
        low, high = wilson(total, len(values), level)
        return {
            _measured(scores): total / len(values),
            "interval_low": nan if low is None else low,
            "interval_high": nan if high is None else high,
            "samples": len(values),
        }

    return share


def _measured(scores: list[SampleScore]) -> str:
    """What the values are: a reducer of Leadline's says so."""
    named = {((one.score.metadata or {}).get("leadline") or {}).get(MEASURE, "accuracy") for one in scores}
    return str(named.pop()) if len(named) == 1 else "accuracy"
