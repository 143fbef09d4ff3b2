"""`top_p` leaves the smallest set of most likely tokens whose probability reaches it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="local models need the 'local' extra")

from transformers import TopPLogitsWarper  # noqa: E402

from leadline.engine import Sampling  # noqa: E402
from leadline.engine.nucleus import nucleus  # noqa: E402


@given(
    st.integers(2, 3000),
    st.integers(0, 2**32),
    st.sampled_from([0.3, 2.0, 8.0]),
    st.sampled_from([0.5, 1.0, 1.6]),
    st.floats(0.01, 0.99),
)
@settings(max_examples=80, deadline=None)
def test_the_tokens_that_are_left_are_those_of_transformers(
    vocabulary: int, seed: int, spread: float, temperature: float, top_p: float
) -> None:
    """From nearly flat, where most of the vocabulary is left, to nearly certain."""
    scores = spread * torch.randn(3, vocabulary, generator=torch.Generator().manual_seed(seed)).double()
    expected = TopPLogitsWarper(top_p)(None, scores / temperature).isneginf()
    found = nucleus(scores, temperature, top_p)
    assert torch.equal(found.isneginf(), expected)
    assert torch.equal(found[~expected], scores[~expected])


def test_a_whole_vocabulary_that_is_nearly_flat() -> None:
    """More tokens are needed than the likeliest that are looked at first; the other row needs one."""
    scores = 0.1 * torch.randn(2, 49_152, generator=torch.Generator().manual_seed(1))
    scores[1, 7] = 30.0
    found = nucleus(scores, 1.0, 0.9)
    expected = TopPLogitsWarper(0.9)(None, scores.double())
    assert 40_000 < int(found[0].isfinite().sum()) < 45_000
    # The sum of so many roundings decides about the last token or two.
    assert int((found[0].isneginf() != expected[0].isneginf()).sum()) <= 2
    assert found[1].isfinite().nonzero().flatten().tolist() == [7]


def test_a_row_keeps_the_same_tokens_in_any_company() -> None:
    scores = torch.randn(9, 5000, generator=torch.Generator().manual_seed(2)) * torch.arange(1, 10)[:, None]
    together = nucleus(scores, 0.7, 0.95)
    for at in range(9):
        assert torch.equal(nucleus(scores[at : at + 1], 0.7, 0.95)[0], together[at])


def test_the_likeliest_token_always_stays_and_ties_stay_together() -> None:
    scores = torch.tensor([[1.0, 3.0, 2.0, 3.0, -math.inf]])
    assert nucleus(scores, 1.0, 0.0).isfinite().tolist() == [[False, True, False, True, False]]
    assert nucleus(scores, 1.0, 0.9).isfinite().tolist() == [[False, True, True, True, False]]
    assert nucleus(scores, 1.0, 1.0) is scores


@pytest.mark.parametrize("wrong", [{"top_p": -0.1}, {"top_p": 1.1}, {"top_p": math.nan}, {"logprobs": -1}])
def test_impossible_settings_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="not a way to choose tokens"):
        Sampling(1.0, **wrong)  # type: ignore[arg-type]
