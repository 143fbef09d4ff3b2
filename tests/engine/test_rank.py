"""Where a token stands in a distribution."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="local models need the 'local' extra")

from leadline.engine.rank import token_ranks  # noqa: E402


def _ranks(scores: list[float]) -> tuple[list[int], list[float], list[bool]]:
    """Rank, log-probability and mask of every token of one distribution."""
    row = torch.tensor([scores]).expand(len(scores), -1)
    rank, logprob, masked = token_ranks(row, torch.arange(len(scores)))
    return rank.tolist(), logprob.tolist(), masked.tolist()


def test_the_likeliest_is_first_and_ties_share_the_best_rank() -> None:
    assert _ranks([1.0, 3.0, 2.0, 3.0, 0.0])[0] == [4, 1, 3, 1, 5]
    assert _ranks([0.0] * 4)[0] == [1] * 4


def test_ruled_out_tokens_come_after_all_others_together() -> None:
    ranks, logprobs, masked = _ranks([1.0, -math.inf, 2.0, -math.inf, -math.inf])
    assert ranks == [2, 3, 1, 3, 3]
    assert masked == [False, True, False, True, True]
    assert [logprobs[1], logprobs[3]] == [-math.inf] * 2
    assert math.exp(logprobs[0]) + math.exp(logprobs[2]) == pytest.approx(1)


@given(st.integers(1, 200), st.integers(0, 2**32), st.sampled_from([0.1, 1.0, 30.0]))
@settings(max_examples=50, deadline=None)
def test_log_probabilities_are_those_of_log_softmax(vocabulary: int, seed: int, spread: float) -> None:
    scores = spread * torch.randn(3, vocabulary, generator=torch.Generator().manual_seed(seed))
    tokens = torch.randint(vocabulary, (3,), generator=torch.Generator().manual_seed(seed + 1))
    _, logprob, _ = token_ranks(scores, tokens)
    expected = scores.double().log_softmax(-1).gather(1, tokens[:, None])[:, 0]
    torch.testing.assert_close(logprob, expected, atol=1e-5, rtol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_a_whole_vocabulary_in_any_precision(dtype: torch.dtype) -> None:
    scores = (4 * torch.randn(4, 151_936, generator=torch.Generator().manual_seed(1))).to(dtype)
    tokens = torch.tensor([0, 77, 151_935, 4])
    rank, logprob, _ = token_ranks(scores, tokens)
    expected = scores.double().log_softmax(-1).gather(1, tokens[:, None])[:, 0]
    torch.testing.assert_close(logprob, expected, atol=1e-5, rtol=1e-6)
    assert rank.tolist() == [
        int((row > row[token]).sum()) + 1 for row, token in zip(scores, tokens, strict=True)
    ]
