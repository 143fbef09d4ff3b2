"""A study too large for a page shows the items that differ most, and says what it left out."""

from __future__ import annotations

import polars as pl

from leadline.report.items import items_data
from leadline.report.items_shown import shown
from tests.report.documents import small_frame
from tests.report.stability import stability_document, stability_frame


def test_a_study_that_fits_is_shown_whole() -> None:
    frame = small_frame(8)
    kept = shown(frame)
    assert kept.readings.height == frame.height and kept.left_out == ""


def test_of_a_large_study_the_items_that_most_configurations_are_unsteady_on_are_shown() -> None:
    frame = stability_frame()
    population = frame.filter(pl.col("excluded") == "")
    unsteady = (
        population.group_by("item", "model")
        .agg(pl.col("value").n_unique() > 1)
        .group_by("item")
        .agg(pl.col("value").sum())
    )
    kept = shown(frame, answers=400)
    items = kept.readings["item"].unique()
    assert 0 < len(items) < population["item"].n_unique()
    inside = unsteady.filter(pl.col("item").is_in(items.implode()))["value"]
    outside = unsteady.filter(~pl.col("item").is_in(items.implode()))["value"]
    assert inside.min() >= outside.max()
    distinct = kept.readings.unique(["model", "configuration", "item", "state", "value", "correct", "text"])
    assert distinct.height <= 400
    assert f"Shown are {len(items)} of {population['item'].n_unique()} items" in kept.left_out


def test_long_texts_count_as_well_as_many_and_one_item_is_always_shown() -> None:
    frame = small_frame(6).with_columns(text=pl.lit("x" * 5000) + pl.col("item"))
    kept = shown(frame, characters=10)
    assert kept.readings["item"].n_unique() == 1 and "Shown are 1 of 6 items" in kept.left_out


def test_the_page_data_say_what_was_left_out() -> None:
    data = items_data(stability_document(), stability_frame(), {})
    assert data["left_out"] == "" and len(data["items"]) > 100


def test_the_order_of_rows_decides_nothing() -> None:
    frame = stability_frame()
    first, second = (
        shown(each, answers=500).readings["item"].unique().sort().to_list()
        for each in (frame, frame.sample(fraction=1.0, shuffle=True, seed=5))
    )
    assert first == second
