"""Greedy decoding is `transformers`' own greedy decoding, token for token."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

torch = pytest.importorskip("torch", reason="local models need the 'local' extra")

from leadline.engine import Generation, Prompt, Request, Sampling  # noqa: E402
from leadline.engine.rank import token_ranks  # noqa: E402
from tests.engine.prompts import prompts  # noqa: E402
from tests.engine.watching import Watch  # noqa: E402

if TYPE_CHECKING:
    from leadline.models.local import LocalModel

pytestmark = pytest.mark.model
GOLDEN = Path(__file__).parents[3] / "shared" / "golden"
ALIKE = 1e-3  # two logits this close may change places with the order of a sum


def _reference(smollm2: LocalModel, texts: list[list[int]], tokens: int) -> list[tuple[int, ...]]:
    """What `generate` gives, in batches padded on the left; up to and with the token that ends a text."""
    lm = smollm2.lm
    found: dict[int, tuple[int, ...]] = {}
    order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
    for start in range(0, len(order), 16):
        part = order[start : start + 16]
        width = max(len(texts[at]) for at in part)
        ids = torch.tensor([[2] * (width - len(texts[at])) + texts[at] for at in part])
        mask = torch.tensor([[0] * (width - len(texts[at])) + [1] * len(texts[at]) for at in part])
        out = lm.model.generate(
            ids, attention_mask=mask, do_sample=False, max_new_tokens=tokens, pad_token_id=2
        )
        for at, row in zip(part, out[:, width:].tolist(), strict=True):
            end = next((i + 1 for i, token in enumerate(row) if token in lm.end_tokens), len(row))
            found[at] = tuple(row[:end])
    return [found[at] for at in range(len(texts))]


def _is_a_tie(smollm2: LocalModel, prompt: list[int], ours: tuple[int, ...], theirs: tuple[int, ...]) -> bool:
    """Whether the first two tokens that differ had the same logit, but for rounding."""
    at = next(i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b)
    with torch.no_grad():
        logits = smollm2.lm.model(torch.tensor([[*prompt, *ours[:at]]]), logits_to_keep=1).logits[0, -1]
    return abs(float(logits[ours[at]] - logits[theirs[at]])) < ALIKE


def test_greedy_equals_generate_token_for_token(smollm2: LocalModel) -> None:
    lm = smollm2.lm
    ties = 0
    checked = 0
    for asked, tokens in ((prompts(60, "few-shot"), 16), (prompts(42, "chat"), 20)):
        requests = [Request(prompt, Sampling(0.0, tokens), (0, f"{at}")) for at, prompt in enumerate(asked)]
        ours = dict(smollm2.generate(requests))
        ids = [lm.encode(lm.text_of(prompt), prompt.text is not None) for prompt in asked]
        for at, theirs in enumerate(_reference(smollm2, ids, tokens)):
            mine = ours[at]
            assert isinstance(mine, Generation)
            checked += 1
            if mine.token_ids != theirs:
                assert _is_a_tie(smollm2, ids[at], mine.token_ids, theirs), (asked[at], mine.text)
                ties += 1
            assert (
                mine.finish == ("stop" if theirs[-1] in lm.end_tokens else "length")
                or mine.token_ids != theirs
            )
    assert checked >= 100
    assert ties <= 0.01 * checked


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="the reference runs (../shared/golden) are not here")
def test_tokens_ranks_and_probabilities_are_those_of_the_reference_runs(
    smollm2: LocalModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = json.loads((GOLDEN / "prompts.json").read_text())["prompts"]
    expected = json.loads((GOLDEN / "baseline.json").read_text())["results"]
    watch = Watch(monkeypatch)
    requests = [
        Request(
            Prompt(messages=(("user", each["user_content"]),)),
            Sampling(0.0, 16),
            (each["id"],),
            (each["gold_answer"],),
        )
        for each in asked
    ]
    found = dict(smollm2.generate(requests))
    assert len(found) == len(expected) >= 8
    for at, result in enumerate(expected):
        generation = found[at]
        assert isinstance(generation, Generation)
        assert generation.prompt_tokens == asked[at]["n_tokens"]
        assert list(generation.token_ids) == result["greedy_ids"]
        assert generation.text == result["greedy_text"].removesuffix("<|im_end|>")
        (probe,) = generation.probes
        assert probe.token == result["gold_first_token_id"]
        assert probe.rank == result["gold_rank"]
        assert probe.logprob == pytest.approx(result["gold_logprob"], abs=2e-3)
        assert not probe.masked
        logits = watch.logits(requests[at].key, 1)
        tokens = torch.tensor([token for token, _, _ in result["top20"]])
        ranks, logprobs, _ = token_ranks(logits.expand(20, -1), tokens)
        assert logprobs.tolist() == pytest.approx([value for _, value, _ in result["top20"]], abs=2e-3)
        # Neighbours whose probabilities are closer than that may change places.
        assert all(abs(rank - place) <= 1 for place, rank in enumerate(ranks.tolist(), start=1))
