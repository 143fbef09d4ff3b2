"""Draws follow the whole distribution of the model, nothing truncated, nothing favoured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import chisquare

torch = pytest.importorskip("torch", reason="local models need the 'local' extra")

from leadline.engine import Generation, Prompt, Request, Sampling  # noqa: E402
from leadline.engine.draw import SumTree, tree_depth  # noqa: E402
from leadline.engine.keyed import uniforms  # noqa: E402

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from leadline.models.local import LocalModel

DRAWS = 20_000


def _draw(logits: torch.Tensor, temperature: float, draws: int, name: str) -> NDArray[np.int64]:
    """`draws` keyed draws from one distribution `[vocabulary]`: how often each token came."""
    tree = SumTree(logits[None], temperature)
    table = uniforms((0, name, 0, "draw"), draws, tree_depth(len(logits)))
    # One row of sums serves all draws: expand, so that no distribution is computed twice.
    tree.levels = [level.expand(draws, -1) for level in tree.levels]
    tree.maximum = tree.maximum.expand(draws, -1)
    return np.bincount(tree.draw(torch.from_numpy(table)).numpy(), minlength=len(logits))


def _fit(counts: NDArray[np.int64], logits: torch.Tensor, temperature: float = 1.0) -> float:
    """p of a chi-square test against softmax(logits / temperature); rare tokens are taken together, by how
    rare they are, until at least 5 of each group are expected."""
    expected = (logits.double() / temperature).softmax(-1).numpy() * counts.sum()
    assert counts[expected == 0].sum() == 0
    order = np.argsort(expected)
    groups = np.floor(np.cumsum(expected[order]) / 5).astype(int)
    groups[order.argsort()[expected >= 5]] = groups.max() + 1 + np.arange((expected >= 5).sum())
    _, groups = np.unique(groups, return_inverse=True)
    seen = np.bincount(groups, weights=counts[order])
    hoped = np.bincount(groups, weights=expected[order])
    if hoped[0] < 5 and len(hoped) > 1:  # what is left over of the rarest
        seen, hoped = np.append(seen[2:], seen[:2].sum()), np.append(hoped[2:], hoped[:2].sum())
    return float(chisquare(seen, hoped).pvalue) if len(hoped) > 1 else 1.0


@pytest.mark.parametrize("temperature", [0.3, 1.0, 1.7])
@pytest.mark.parametrize("vocabulary", [2, 3, 5, 1000, 49_152, 151_936])
def test_draws_fit_the_distribution(vocabulary: int, temperature: float) -> None:
    logits = 2 * torch.randn(vocabulary, generator=torch.Generator().manual_seed(vocabulary))
    counts = _draw(logits, temperature, DRAWS, f"{vocabulary}")
    assert _fit(counts, logits, temperature) > 1e-3


def test_the_test_would_notice_a_small_favour() -> None:
    logits = 2 * torch.randn(1000, generator=torch.Generator().manual_seed(1))
    counts = _draw(logits, 1.0, DRAWS, "favour")
    assert _fit(counts, logits) > 1e-3
    assert _fit(counts, logits, temperature=1.1) < 1e-6
    assert _fit(counts, torch.where(torch.arange(1000) < 500, logits + 0.3, logits)) < 1e-6


@pytest.mark.parametrize("vocabulary", [2, 3, 5, 1000, 49_152])
def test_ruled_out_tokens_are_never_drawn(vocabulary: int) -> None:
    generator = torch.Generator().manual_seed(vocabulary)
    logits = torch.randn(vocabulary, generator=generator)
    out = torch.rand(vocabulary, generator=generator) < 0.7
    out[0] = True
    out[-1] = False
    logits[out] = -torch.inf
    counts = _draw(logits, 1.0, DRAWS, f"masked {vocabulary}")
    assert counts[out.numpy()].sum() == 0
    assert _fit(counts, logits) > 1e-3


@pytest.mark.parametrize("vocabulary", [2, 3, 5, 1000, 49_152, 151_936])
@pytest.mark.parametrize("uniform", [0.0, 1 - 2**-53])
def test_extreme_numbers_draw_a_token_that_can_be_drawn(vocabulary: int, uniform: float) -> None:
    """Also where padding stands beside the last token, and where only one token is left."""
    for left in {0, vocabulary // 2, vocabulary - 1}:
        logits = torch.full((1, vocabulary), -torch.inf)
        logits[0, left] = 3.0
        table = torch.full((1, tree_depth(vocabulary)), uniform, dtype=torch.float64)
        assert SumTree(logits).draw(table).tolist() == [left]
    token = int(SumTree(torch.zeros(1, vocabulary)).draw(table)[0])
    assert 0 <= token < vocabulary


def test_a_rounding_error_in_the_logits_hardly_ever_changes_a_draw() -> None:
    generator = torch.Generator().manual_seed(1)
    logits = 2 * torch.randn(1000, 5000, generator=generator)
    noisy = logits + 1e-6 * torch.randn(logits.shape, generator=generator)
    table = torch.from_numpy(uniforms((0, "noise"), 1000, tree_depth(5000)))
    same = SumTree(logits).draw(table) == SumTree(noisy).draw(table)
    assert int((~same).sum()) <= 1


def test_a_temperature_that_is_no_positive_number_is_refused() -> None:
    for temperature in (0.0, -1.0, float("inf"), float("nan")):
        with pytest.raises(ValueError, match="temperature"):
            SumTree(torch.zeros(1, 4), temperature)


PROMPT = "Q: Which colour is the sky?\nA:"


@pytest.mark.model
@pytest.mark.parametrize("temperature", [0.7, 1.2])
def test_draws_fit_the_next_token_distribution_of_a_real_model(
    smollm2: LocalModel, temperature: float
) -> None:
    logits = _next_token(smollm2)
    counts = _draw(logits, temperature, DRAWS, "sky")
    assert _fit(counts, logits, temperature) > 1e-3


@pytest.mark.model
def test_first_tokens_of_the_engine_fit_the_distribution_of_the_model(smollm2: LocalModel) -> None:
    requests = [
        Request(Prompt(text=PROMPT), Sampling(1.0, 1), (0, "sky", sample, "answer")) for sample in range(2000)
    ]
    counts = np.zeros(smollm2.lm.vocabulary, dtype=int)
    for _, found in smollm2.generate(requests):
        assert isinstance(found, Generation)
        counts[found.token_ids[0]] += 1
    assert counts.sum() == 2000
    assert _fit(counts, _next_token(smollm2)) > 1e-3


def _next_token(smollm2: LocalModel) -> torch.Tensor:
    """`[vocabulary]`, by the model's own attention."""
    with torch.no_grad():
        return smollm2.lm.model(torch.tensor([smollm2.lm.encode(PROMPT, True)])).logits[0, -1]
