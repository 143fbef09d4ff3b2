"""Whether a prediction holds, by what was measured and the registered rule."""

from __future__ import annotations

from typing import Literal

from leadline.study.registered_statistic import Measured
from leadline.study.registration import Prediction

Outcome = Literal["holds", "fails", "cannot be decided"]


def decide(prediction: Prediction, measured: Measured) -> tuple[Outcome, str]:
    """Whether the prediction holds, and why, in a sentence. A value on the threshold is on neither side."""
    value, threshold, side = measured.value, prediction.threshold, prediction.direction
    if value is None:
        return "cannot be decided", "nothing was measured"
    if measured.fewest < prediction.minimum_items:
        return "cannot be decided", (
            f"too few: {measured.fewest:,} items were measured, and {prediction.minimum_items:,} were "
            "registered as the fewest that decide"
        )
    if prediction.decided_by == "value":
        held = value < threshold if side == "below" else value > threshold
        words = "is" if held else "is not"
        return "holds" if held else "fails", f"{value:.3f} {words} {side} {threshold:g}"
    ends = [(figure.low, figure.high) for figure in measured.figures]
    if any(low is None or high is None for low, high in ends):
        return "cannot be decided", "there is too little to make an interval of"
    low, high = (
        min(low for low, _ in ends if low is not None),
        max(high for _, high in ends if high is not None),
    )
    if low <= threshold <= high:
        which = [
            figure.method.partition(",")[0]
            for figure, (least, most) in zip(measured.figures, ends, strict=True)
            if least is not None and most is not None and least <= threshold <= most
        ]
        said = f"[{low:.3f}, {high:.3f}] holds the threshold {threshold:g}"
        return "cannot be decided", f"{said} ({', '.join(which)})"
    held = high < threshold if side == "below" else low > threshold
    words = "lies" if held else "does not lie"
    return "holds" if held else "fails", f"[{low:.3f}, {high:.3f}] {words} {side} {threshold:g}"
