"""Halves of samples: the quick count is the slow one, and the correction is what it should be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.stats.split_half import half_rates, parity, random_halves, spearman_brown


def slow_rates(codes, tasks, number, half):
    """The share of unstable items by task in one half, item by item."""
    flips, measured = np.zeros(number), np.zeros(number)
    for item, task in zip(codes, tasks, strict=True):
        said = [int(code) for code, is_in in zip(item, half, strict=True) if is_in and code >= 0]
        if len(said) >= 2:
            measured[task] += 1
            flips[task] += len(set(said)) > 1
    return [flip / of if of else np.nan for flip, of in zip(flips, measured, strict=True)]


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10_000), st.integers(1, 9), st.integers(0, 12), st.integers(1, 4))
def test_rates_of_halves_are_those_counted_item_by_item(seed, samples, items, number):
    rng = np.random.default_rng(seed)
    codes = rng.integers(-1, 3, (items, samples)).astype(np.int32)
    codes[rng.random(items) < 0.4] = 1  # steady ones
    tasks = rng.integers(0, number, items)
    halves = np.concatenate([parity(np.arange(samples)), random_halves(samples, 3, seed)])
    found = half_rates(codes, tasks, number, halves)
    for split, half in enumerate(halves):
        assert found.first[split] == pytest.approx(slow_rates(codes, tasks, number, half), nan_ok=True)
        assert found.second[split] == pytest.approx(slow_rates(codes, tasks, number, ~half), nan_ok=True)


def test_random_halves_are_halves_and_the_seed_makes_them():
    halves = random_halves(9, 500, seed=3)
    assert (halves.sum(axis=1) == 4).all()
    assert len(np.unique(halves, axis=0)) > 100
    assert (halves == random_halves(9, 500, seed=3)).all()
    assert (halves != random_halves(9, 500, seed=4)).any()


def test_no_sample_is_likelier_to_be_in_the_first_half():
    share = random_halves(8, 20_000, seed=0).mean(axis=0)
    assert share == pytest.approx([0.5] * 8, abs=0.02)


def test_parity_goes_by_the_number_of_the_sample_not_by_its_place():
    assert parity(np.array([0, 1, 4, 5, 6])).tolist() == [[True, False, True, False, True]]


def test_half_a_test_correlating_at_one_half_is_a_test_of_two_thirds():
    assert spearman_brown([0.5, 1.0, 0.0]) == pytest.approx([2 / 3, 1, 0])


def test_reversed_halves_have_no_correction_and_negative_ones_keep_theirs():
    assert spearman_brown([-1.0, -0.5, np.nan]) == pytest.approx([np.nan, -2, np.nan], nan_ok=True)
