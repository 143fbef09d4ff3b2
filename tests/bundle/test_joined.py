"""verify.py: one file, Python 3.9, standard library; and its formulas against the field's own libraries."""

from __future__ import annotations

import ast
import math
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from leadline.bundle.joining import PARTS, defined, verifier
from leadline.bundle.verifier.intervals import (
    fisher_exact,
    holm_corrected,
    mcnemar_exact,
    newcombe_ends,
    wilson_ends,
)
from leadline.bundle.verifier.ranks import Line, kendall_tau_b, spearman_rho, student_quantile
from leadline.bundle.verifier.resampling import end_fits, ends_fit, mean_draws, ratio_draws


def test_it_imports_the_standard_library_alone() -> None:
    for node in ast.walk(ast.parse(verifier())):
        if isinstance(node, ast.Import):
            modules = [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module or ""]
        else:
            continue
        assert {name.split(".")[0] for name in modules} <= sys.stdlib_module_names, modules


def test_it_says_leadline_nowhere_but_in_words() -> None:
    assert "import leadline" not in verifier() and "from leadline" not in verifier()


def test_it_is_written_in_python_3_9() -> None:
    ast.parse(verifier(), feature_version=(3, 9))
    assert "strict=" not in verifier()  # zip has it from 3.10 on


def test_no_name_is_given_a_meaning_twice() -> None:
    names = Counter(name for node in ast.parse(verifier()).body for name in defined(node))
    assert [name for name, times in names.items() if times > 1] == []


def test_all_parts_are_in_it() -> None:
    import leadline.bundle.verifier as package

    files = {path.stem for path in Path(package.__path__[0]).glob("*.py")} - {"__init__"}
    assert files == set(PARTS)


def test_no_part_is_longer_than_a_file_may_be() -> None:
    import leadline.bundle.verifier as package

    for path in Path(package.__path__[0]).glob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 300, path.name


def test_it_runs_alone_and_says_how_it_is_used(tmp_path: Path) -> None:
    (tmp_path / "verify.py").write_text(verifier(), encoding="utf-8")
    asked = [sys.executable, "-I", "-S", "verify.py"]
    helped = subprocess.run([*asked, "--help"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert helped.returncode == 0 and "--json" in helped.stdout
    ended = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 1 and "findings.json is missing" in ended.stdout


counts = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts)
def test_wilson_is_that_of_statsmodels(pair: tuple[int, int]) -> None:
    assert wilson_ends(*pair) == pytest.approx(proportion_confint(*pair, method="wilson"), abs=1e-9)


@given(counts, counts)
def test_newcombe_is_that_of_statsmodels(first: tuple[int, int], second: tuple[int, int]) -> None:
    expected = confint_proportions_2indep(*first, *second, method="newcomb", compare="diff")
    assert newcombe_ends(first, second) == pytest.approx(expected, abs=1e-9)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_the_binomial_test(a: int, b: int) -> None:
    expected = stats.binomtest(a, a + b).pvalue if a + b else 1.0
    assert mcnemar_exact(a, b) == pytest.approx(expected, rel=1e-9)


@given(*(st.integers(0, 25) for _ in range(4)))
def test_fisher_is_that_of_scipy(a: int, b: int, c: int, d: int) -> None:
    assert fisher_exact(a, b, c, d) == pytest.approx(stats.fisher_exact([[a, b], [c, d]]).pvalue, rel=1e-7)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_is_that_of_statsmodels(p_values: list[float]) -> None:
    assert holm_corrected(p_values) == pytest.approx(multipletests(p_values, method="holm")[1])


series = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=3, max_size=30)


@given(series)
def test_rank_correlations_are_those_of_scipy(pairs: list[tuple[int, int]]) -> None:
    x, y = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    if len(set(x)) < 2 or len(set(y)) < 2:
        assert spearman_rho(x, y) is None and kendall_tau_b(x, y) is None
        return
    assert spearman_rho(x, y) == pytest.approx(stats.spearmanr(x, y).statistic)
    assert kendall_tau_b(x, y) == pytest.approx(stats.kendalltau(x, y).statistic)


def test_straight_lines_and_t_are_those_of_scipy() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=12)
    y = 2 * x + rng.normal(size=12)
    line, expected = Line(list(x), list(y)), stats.linregress(x, y)
    assert (line.slope, line.intercept) == pytest.approx((expected.slope, expected.intercept))
    assert (line.slope_error, line.intercept_error) == pytest.approx(
        (expected.stderr, expected.intercept_stderr)
    )
    for freedom in (3, 8, 40):
        assert student_quantile(0.975, freedom) == pytest.approx(stats.t.ppf(0.975, freedom), abs=1e-8)


def drawn_ends(values: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    """What a report says: values that were drawn, of 2,000 draws."""
    draws = rng.choice(values, (2000, len(values))).mean(axis=1)
    low, high = (
        float(np.quantile(draws, share, method=way)) for share, way in ((0.025, "lower"), (0.975, "higher"))
    )
    return low, high


@pytest.mark.parametrize("items", [5, 12, 44, 150])
def test_ends_of_other_draws_of_the_same_bootstrap_fit(items: int) -> None:
    rng = np.random.default_rng(items)
    missed = 0
    for _ in range(40):
        values = (rng.random(items) < rng.random()).astype(float)
        missed += not ends_fit(drawn_ends(values, rng), mean_draws(list(values)), 2000)
        fractions = rng.integers(0, 21, items) / 20
        missed += not ends_fit(drawn_ends(fractions, rng), mean_draws(list(fractions)), 2000)
    assert missed == 0


def test_of_few_items_an_interval_a_step_narrower_at_both_ends_does_not_fit() -> None:
    # 24 of 44: steps of 0.023, of which each holds more than the fortieth that an end cuts off
    draws = mean_draws([1.0] * 24 + [0.0] * 20)
    honest = [(0.3864, 0.7045), (0.4091, 0.6818), (0.3864, 0.6818), (0.4091, 0.7045)]
    steps = {round(step / 44, 4): step / 44 for step in range(45)}
    assert all(ends_fit((steps[low], steps[high]), draws, 2000) for low, high in honest)
    for low, high in ((0.4318, 0.6591), (0.4091, 0.6364), (0.4545, 0.7045), (0.3182, 0.6818)):
        assert not ends_fit((steps[low], steps[high]), draws, 2000), (low, high)


def test_an_end_far_beyond_a_few_draws_does_not_fit() -> None:
    draws = [at / 300 for at in range(300)]
    assert end_fits(1.0, draws, 0.975, 400)
    assert not end_fits(1.2, draws, 0.975, 400)


def test_an_end_that_no_resample_can_give_does_not_fit() -> None:
    draws = mean_draws([1.0] * 24 + [0.0] * 20)
    assert not end_fits(17.5 / 44, draws, 0.025, 2000)
    assert end_fits(17.5 / 44, draws, 0.025, 2000, between=True)  # where quantiles are interpolated
    rng = random.Random(4)
    smooth = mean_draws([rng.random() for _ in range(44)])
    at = smooth[100]
    assert end_fits((at + smooth[101]) / 2, smooth, 0.025, 2000)


def test_ends_that_were_moved_by_half_a_standard_error_do_not_fit() -> None:
    rng = random.Random(3)
    values = [rng.gauss(0, 1) for _ in range(200)]
    draws = mean_draws(values)
    middle = sum(values) / 200
    spread = math.sqrt(sum((draw - middle) ** 2 for draw in draws) / len(draws))
    low = middle - 1.96 * spread
    assert end_fits(low, draws, 0.025, 2000)
    assert not end_fits(low + 0.5 * spread, draws, 0.025, 2000)
    assert not end_fits(low - 1.0 * spread, draws, 0.025, 2000)


def test_an_end_without_a_number_fits_where_some_draws_have_nothing_to_divide_by() -> None:
    draws = ratio_draws([3.0, 2.0, 4.0], [0.0, 0.0, 1.0])
    assert end_fits(None, draws, 0.975, 2000)
    assert not end_fits(None, mean_draws([1.0, 2.0, 3.0]), 0.975, 2000)
