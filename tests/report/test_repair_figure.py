"""The panel of the same items before and after a change, beside the flagged items or alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from leadline.lenses.finding import Figure
from leadline.lenses.protocol import Before, Registered
from leadline.report.document import FindingsDocument
from leadline.report.figures.contrast import draw
from leadline.report.figures.plot import Plot, Skipped
from leadline.report.figures.write import write_figures
from leadline.report.stability import repaired
from tests.lenses.test_repair import PROTOCOL, look, side
from tests.report.stability import stability_document

THRESHOLD = Registered("wobble below 0.161", "below", 0.161, False, "fails", "it is 0.208")
PAIRED = replace(THRESHOLD, threshold=-0.1, is_paired=True)


def document(registered: Registered | None = THRESHOLD, alone: bool = False) -> FindingsDocument:
    """Findings with the published repair, beside those of an audit or alone."""
    whole = stability_document()
    told = Before("original", registered)
    found = look(side(0), side(1), replace(PROTOCOL, before=told))
    return whole.model_copy(
        update={
            "findings": (*(() if alone else whole.findings), *found),
            "protocol": replace(whole.protocol, before=told),
        }
    )


def plot(found: FindingsDocument, width: float = 7.0) -> Plot:
    drawn = draw(found, width)
    assert isinstance(drawn, Plot)
    return drawn


def test_it_is_the_second_panel_and_the_differences_follow() -> None:
    caption = plot(document()).caption
    assert "(b) Wobble of 10 items before and after they were changed, over the same 120 cells" in caption
    assert "(c) Difference to the clean items" in caption
    assert "registered beforehand (0.161)" in caption


def test_without_a_change_there_are_two_panels() -> None:
    caption = plot(stability_document()).caption
    assert "(b) Difference to the clean items" in caption and "(c)" not in caption


def test_without_an_audit_it_stands_alone_and_bears_no_letter() -> None:
    drawn = plot(document(alone=True))
    assert len(drawn.picture.axes) == 1
    assert drawn.caption.startswith("Wobble of 10 items before and after")


def test_with_neither_the_figure_is_skipped() -> None:
    assert isinstance(draw(stability_document().model_copy(update={"findings": ()}), 7.0), Skipped)


@pytest.mark.parametrize(
    ("registered", "threshold"), [(THRESHOLD, 0.161), (PAIRED, 32 / 120 - 0.1), (None, None)]
)
def test_the_threshold_stands_where_the_rate_after_the_change_should_be(
    registered: Registered | None, threshold: float | None
) -> None:
    found = repaired(document(registered))
    assert found is not None
    assert found.threshold == (None if threshold is None else pytest.approx(threshold))


def test_the_interval_of_the_change_is_drawn_against_the_rate_before_it() -> None:
    drawn = plot(document(alone=True))
    fall: Figure = repaired(document()).figures["fall"]  # type: ignore[union-attr]
    ends = [[float(value) for value in np.asarray(line.get_xdata())] for line in drawn.picture.axes[0].lines]
    assert [pytest.approx(32 / 120 - (fall.high or 0)), pytest.approx(32 / 120 - (fall.low or 0))] in ends


@pytest.mark.parametrize("width", ["column", "page"])
def test_it_is_written_in_both_widths(width: str, tmp_path: Path) -> None:
    write_figures(document(), tmp_path, ("svg",), width)
    text = (tmp_path / "contrast.svg").read_text("utf-8")
    assert "before the change" in text and "difference to clean items" in text
