"""Random numbers belong to a key, not to a place in a batch."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

from leadline.engine.keyed import philox_key, uniforms

PARTS = st.one_of(
    st.integers(), st.text(max_size=4), st.sampled_from([0, "0", "", 1, "1", -1, "int:1", "\x00"])
)
KEYS = st.lists(PARTS, max_size=4).map(tuple)


@given(KEYS, st.integers(1, 20), st.integers(1, 20), st.integers(1, 18))
@settings(max_examples=50, deadline=None)
def test_a_longer_table_begins_with_the_shorter_one(
    key: tuple[int | str, ...], few: int, more: int, width: int
) -> None:
    assert np.array_equal(uniforms(key, few + more, width)[:few], uniforms(key, few, width))


@given(KEYS, KEYS)
@settings(max_examples=500)
def test_different_keys_never_collide(one: tuple[int | str, ...], other: tuple[int | str, ...]) -> None:
    assert (philox_key(one) == philox_key(other)) == (one == other)


def test_parts_are_not_run_together() -> None:
    alike: list[tuple[int | str, ...]] = [
        (1, "2"), ("1", 2), (12,), ("12",), (1, 2), ("1", "2"), ("ab", "c"), ("a", "bc"), ("abc",),
        ("abc", ""), ("", "abc"), ("\ud800",), ("?",),
    ]  # fmt: skip
    assert len({philox_key(key) for key in alike}) == len(alike)


def test_a_key_means_the_same_numbers_for_ever() -> None:
    """Pinned: other numbers under the same key would make recorded answers another configuration's."""
    assert philox_key((0, "item", 3, "answer")) == 41620428906382843335210183372048112142
    assert uniforms((0, "item", 3, "answer"), 1, 2)[0].tolist() == [0.5378372370717593, 0.7017061241653015]


def test_the_numbers_are_uniform() -> None:
    """Across keys that differ in one part by one (neighbours), within a key, and in each column."""
    across = np.array([uniforms((0, "item", sample, "answer"), 1, 2)[0] for sample in range(4000)])
    assert kstest(across[:, 0], "uniform").pvalue > 1e-3
    assert kstest(across[:, 1], "uniform").pvalue > 1e-3
    assert kstest(uniforms((7, "item", 0, "answer"), 500, 16).ravel(), "uniform").pvalue > 1e-3


def test_neighbouring_keys_are_independent() -> None:
    rows = [uniforms((0, "item", sample, "answer"), 1, 2000)[0] for sample in range(20)]
    rows += [uniforms((seed, "item", 0, "answer"), 1, 2000)[0] for seed in range(1, 20)]
    rows += [uniforms((0, "item", 0, stage), 1, 2000)[0] for stage in ("recite", "answer2")]
    correlations = np.corrcoef(rows)[np.triu_indices(len(rows), 1)]
    # 820 pairs of 2000 independent numbers: |r| > 4.2 / sqrt(2000) happens once in 45 such tests.
    assert np.abs(correlations).max() < 4.2 / 2000**0.5
