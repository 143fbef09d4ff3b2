from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from leadline.stats.sign_flips import EXACT_ITEMS, sign_flip_p


@pytest.mark.parametrize(("up", "down"), [(5, 0), (7, 2), (3, 3), (1, 0)])
def test_with_equal_sizes_it_is_the_sign_test(up: int, down: int) -> None:
    found = sign_flip_p([1.0] * up + [-1.0] * down + [0.0] * 4)
    assert found.is_exact
    assert found.p == pytest.approx(binomtest(up, up + down).pvalue)


def test_what_did_not_change_at_all_is_no_change() -> None:
    assert sign_flip_p([0, 0, 0]).p == 1
    assert sign_flip_p([]).p == 1


def test_drawn_signs_come_near_to_all_patterns() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(0.4, 1, EXACT_ITEMS)
    exact = sign_flip_p(values)
    # An item more, too small to matter, is drawn.
    drawn = sign_flip_p([*values, 1e-12], draws=20_000)
    assert exact.is_exact and not drawn.is_exact
    assert drawn.p == pytest.approx(exact.p, abs=0.01)


def test_p_is_uniform_when_nothing_changed() -> None:
    rng = np.random.default_rng(1)
    p = np.array([sign_flip_p(rng.normal(size=30), draws=400, seed=seed).p for seed in range(600)])
    for level in (0.05, 0.2, 0.5, 0.8):
        assert abs((p <= level).mean() - level) < 4 * np.sqrt(level * (1 - level) / 600)
