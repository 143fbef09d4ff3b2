"""Every family of models: what the engine computes is what `transformers` computes, prompt by prompt."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="local models need the 'local' extra")

from leadline.engine import Failure, Generation, Prompt, Request, Sampling  # noqa: E402
from leadline.engine.decode import generate  # noqa: E402
from leadline.engine.lm import CausalLM  # noqa: E402
from leadline.engine.plan import Limits, plan  # noqa: E402
from leadline.errors import UsageError  # noqa: E402
from tests.engine import tiny  # noqa: E402
from tests.engine.watching import Watch  # noqa: E402


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """These products are too small to be shared out."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


ALL = {**tiny.BLOCKS, **tiny.PLAIN}
TOKENS = 40  # more than one block of a row's own


def _ids(count: int, seed: int) -> list[int]:
    return random.Random(seed).choices(range(3, tiny.VOCABULARY), k=count)


# Shorter and longer than a block of 64 and than a sliding window of 24; alone, and with a common beginning
# that is no whole number of blocks.
APART = [_ids(count, seed) for seed, count in enumerate([1, 7, 23, 24, 25, 64, 65, 130])]
TOGETHER = [_ids(70, 99) + _ids(count, seed) for seed, count in enumerate([1, 5, 58, 59, 130])]


def _requests(prompts: list[list[int]], tokens: int = TOKENS) -> list[Request]:
    """Each prompt greedily, and in three samples."""
    return [
        Request(
            Prompt(text=" ".join(map(str, ids))), Sampling(0.0 if k == 0 else 1.0, tokens), (0, f"{at}", k)
        )
        for at, ids in enumerate(prompts)
        for k in range(4)
    ]


def _answers(lm: CausalLM, requests: list[Request], limits: Limits | None = None) -> list[Generation]:
    found = dict(generate(lm, requests, limits))
    assert sorted(found) == list(range(len(requests)))
    return [_text(found[at]) for at in range(len(requests))]


def _text(found: Generation | Failure) -> Generation:
    assert isinstance(found, Generation), found
    return found


def _teacher(model: Any, prompt: list[int], answer: tuple[int, ...]) -> torch.Tensor:
    """Logits of one uncached pass of the model's own over prompt and answer, at each token of the answer."""
    with torch.no_grad():
        return model(torch.tensor([[*prompt, *answer]])).logits[0, len(prompt) - 1 : -1]


def _greedy(model: Any, prompt: list[int], tokens: int = TOKENS) -> tuple[int, ...]:
    out = model.generate(
        torch.tensor([prompt]),
        attention_mask=torch.ones(1, len(prompt)),
        do_sample=False,
        max_new_tokens=tokens,
    )
    return tuple(out[0, len(prompt) :].tolist())


@pytest.mark.parametrize("together", [False, True], ids=["apart", "common beginning"])
@pytest.mark.parametrize("family", ALL)
def test_tokens_and_logits_are_those_of_transformers(
    family: str, together: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tiny.model(ALL[family])
    lm = CausalLM(model, tiny.NumberTokenizer())
    assert lm.in_blocks == (family in tiny.BLOCKS)
    prompts = TOGETHER if together else APART
    if together:
        assert plan([tuple(ids) for ids in prompts], [TOKENS] * len(prompts), Limits())[0].prefix == 70
    requests = _requests(prompts)
    watch = Watch(monkeypatch)
    answers = _answers(lm, requests)
    for request, answer in zip(requests, answers, strict=True):
        ids = lm.encode(request.prompt.text or "", True)
        seen = watch.logits(request.key, len(answer.token_ids))
        torch.testing.assert_close(seen, _teacher(model, ids, answer.token_ids), atol=1e-4, rtol=1e-4)
        if request.sampling.temperature == 0:
            assert answer.token_ids == _greedy(model, ids)
    assert len({answer.token_ids for answer in answers}) > 2 * len(prompts)  # the samples are different texts
