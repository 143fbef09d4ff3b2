"""What is computed here for being slow to import agrees with the libraries that have it."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln
from scipy.stats import binom, kendalltau, rankdata
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from leadline.stats.binomials import fair_tail, log_factorial
from leadline.stats.intervals import newcombe, wilson
from leadline.stats.least_squares import straight_line
from leadline.stats.mcnemar import mcnemar_exact
from leadline.stats.multiple import holm
from leadline.stats.rank_correlation import kendall_tau_b
from leadline.stats.ranks import average_ranks

SCORES = st.lists(st.sampled_from([-1.5, 0.0, 0.25, 0.5, 3.0, float("nan")]), min_size=1, max_size=12)


@given(st.lists(SCORES, min_size=1, max_size=4))
def test_ranks_are_scipys_with_ties_and_with_scores_that_are_absent(rows: list[list[float]]) -> None:
    width = max(map(len, rows))
    table = np.array([row + [float("nan")] * (width - len(row)) for row in rows])
    np.testing.assert_array_equal(average_ranks(table), rankdata(table, axis=1, nan_policy="omit"))


def test_factorials_are_the_gamma_functions() -> None:
    counts = np.arange(400).reshape(20, 20)
    np.testing.assert_allclose(log_factorial(counts), gammaln(counts + 1.0), rtol=1e-14)


@pytest.mark.parametrize("tosses", [1, 2, 7, 40, 1999, 2000, 2001, 50_000])
def test_the_tail_of_a_fair_coin_is_scipys_also_where_it_is_no_longer_exact(tosses: int) -> None:
    for heads in {0, 1, tosses // 3, tosses // 2}:
        assert fair_tail(heads, tosses) == pytest.approx(binom.cdf(heads, tosses, 0.5), rel=1e-9, abs=1e-300)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_statsmodels(won: int, lost: int) -> None:
    theirs = mcnemar([[0, won], [lost, 0]], exact=True).pvalue if won + lost else 1.0
    assert mcnemar_exact(won, lost) == pytest.approx(min(1.0, theirs), rel=1e-12)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.integers(1, 90))
def test_wilson_and_newcombe_are_statsmodels(first: tuple[int, int], trials: int) -> None:
    assert wilson(*first) == pytest.approx(proportion_confint(*first, method="wilson"), abs=1e-13)
    theirs = confint_proportions_2indep(*first, trials // 3, trials, method="newcomb", compare="diff")
    assert newcombe(*first, trials // 3, trials) == pytest.approx(theirs, abs=1e-12)


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_is_statsmodels(values: list[float]) -> None:
    theirs = multipletests(values, method="holm")[1] if values else []
    assert holm(values) == pytest.approx(list(theirs), rel=1e-12)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=12))
def test_kendalls_tau_is_scipys(pairs: list[tuple[int, int]]) -> None:
    first, second = ([float(pair[side]) for pair in pairs] for side in (0, 1))
    found, theirs = kendall_tau_b(first, second), kendalltau(first, second, variant="b").statistic
    assert (found is None) == bool(np.isnan(theirs))
    if found is not None:
        assert found == pytest.approx(theirs, abs=1e-12)


def test_a_line_far_from_the_origin_has_the_errors_that_statsmodels_gives_it() -> None:
    rng = np.random.default_rng(3)
    x = 1000 + rng.random(30)
    y = 7 - 2 * x + rng.normal(size=30)
    fit, line = OLS(y - y.mean(), np.column_stack([np.ones(30), x - x.mean()])).fit(), straight_line(x, y)
    assert line is not None
    assert (line.slope, *line.slope_interval) == pytest.approx(
        (fit.params[1], *fit.conf_int(0.05)[1]), rel=1e-9
    )
    assert line.r_squared == pytest.approx(fit.rsquared, rel=1e-9)


def test_no_lens_loads_scipy_statsmodels_or_pandas() -> None:
    seen = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; from leadline.lenses.registry import all_lenses; all_lenses();"
            "heavy = {'scipy', 'statsmodels', 'pandas'};"
            "print(sorted({name.split('.')[0] for name in sys.modules} & heavy))",
        ],
        check=True,
        capture_output=True,
        text=True,
    )
    assert seen.stdout.strip() == "[]"
