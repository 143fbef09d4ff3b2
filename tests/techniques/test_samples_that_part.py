"""Samples that have said the same so far are computed once, and give what each would give by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="local models need the 'local' extra")

from torch import Tensor  # noqa: E402

from leadline.engine import Generation, Prompt, Request, Sampling  # noqa: E402
from leadline.engine.decode import generate  # noqa: E402
from leadline.engine.intervention import NOTHING, Intervention  # noqa: E402
from leadline.engine.lanes import Lanes  # noqa: E402
from leadline.engine.lm import CausalLM  # noqa: E402
from leadline.engine.plan import Limits  # noqa: E402
from leadline.techniques.prepared import Bench  # noqa: E402
from leadline.techniques.registry import techniques  # noqa: E402
from tests.engine import tiny  # noqa: E402

TOKENS, K = 40, 12  # longer than a block of a row's own keys
# One lane; two rows of one trunk each; prompts of two kinds in one trunk; states along the way.
TECHNIQUES: dict[str, dict[str, Any]] = {
    "dola": {"layers": (0, 1, 2)},
    "activation-decoding": {"alpha": 3.0},
    "decore": {"selection": "random", "heads": 4},
    "cad": {"alpha": 1.5},
    "sled": {"evolution_scale": 5},
}


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """These products are too small to be shared out."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def stepped(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each step of the lanes had."""
    sizes: list[int] = []
    step = Lanes.step

    def counted(lanes: Lanes, tokens: Tensor) -> object:
        sizes.append(len(tokens))
        return step(lanes, tokens)

    monkeypatch.setattr(Lanes, "step", counted)
    return sizes


def _lm(family: tiny.Family, name: str) -> CausalLM:
    return CausalLM(tiny.model(family), tiny.NumberTokenizer(), name)


def _requests(with_other: bool = False) -> list[Request]:
    """Three prompts of different length, K samples each: at temperatures that let them part early and late,
    some with a penalty, some with a nucleus, some of fewer tokens."""
    ways = [
        Sampling(0.02, TOKENS),
        Sampling(0.05, TOKENS),
        Sampling(0.05, TOKENS, repetition_penalty=1.3),
        Sampling(0.3, TOKENS, top_p=0.5),
        Sampling(0.02, 5),
        Sampling(0.0, TOKENS),
    ]
    texts = [
        " ".join(str(3 + (n * m) % 40) for n in range(length)) for m, length in ((3, 9), (5, 70), (7, 33))
    ]
    return [
        Request(
            Prompt(text=text),
            ways[sample % len(ways)],
            (1, at, sample),
            # Of the same prompt, samples with two different other prompts.
            without=Prompt(text=" ".join(text.split()[3 + sample % 2 :])) if with_other else None,
        )
        for at, text in enumerate(texts)
        for sample in range(K)
    ]


def _answers(
    lm: CausalLM, requests: list[Request], rows: int, intervention: Intervention = NOTHING
) -> list[Generation]:
    found = dict(generate(lm, requests, Limits(max_rows=rows), intervention))
    answers = [found[at] for at in range(len(requests))]
    assert all(isinstance(answer, Generation) for answer in answers)
    return answers  # type: ignore[return-value]


def _prefixes(requests: list[Request], answers: list[Generation]) -> int:
    """How many different things were said by somebody who went on after."""
    return len(
        {
            (request.prompt, request.without, answer.token_ids[:length])
            for request, answer in zip(requests, answers, strict=True)
            for length in range(1, len(answer.token_ids))
        }
    )


@pytest.mark.parametrize("family", ["llama", "qwen2, sliding", "gemma2", "gpt2", "gpt-oss"])
def test_what_was_said_alike_is_computed_once_and_to_the_bit(family: str, stepped: list[int]) -> None:
    lm, requests = _lm(tiny.BLOCKS[family], family), _requests()
    together = _answers(lm, requests, 64)
    all_at_once = sum(stepped)
    stepped.clear()
    assert together == _answers(lm, requests, 1)
    one_by_one = sum(stepped)
    needed = _prefixes(requests, together)
    # Rows that have ended are computed on until they are 6 % of the batch.
    assert needed <= all_at_once <= needed * 1.07 + TOKENS
    assert all_at_once < 0.8 * one_by_one, "the samples had nothing in common: the trial is none"
    assert len({answer.token_ids for answer in together}) > 12, "no sample parted: the trial is none"


@pytest.mark.parametrize("family", ["mamba", "lfm2", "bloom"])
def test_models_with_a_cache_of_their_own_fork_too(family: str, stepped: list[int]) -> None:
    lm, requests = _lm(tiny.PLAIN[family], family), _requests()
    together = _answers(lm, requests, 64)
    all_at_once = sum(stepped)
    stepped.clear()
    alone = _answers(lm, requests, 1)
    same = sum(one.token_ids == other.token_ids for one, other in zip(together, alone, strict=True))
    assert same >= len(requests) - 1  # rounding may differ from batch to batch
    assert all_at_once < 0.9 * sum(stepped)


@pytest.mark.parametrize("family", ["mistral"])
@pytest.mark.parametrize("name", TECHNIQUES)
def test_under_techniques_with_all_that_they_keep(name: str, family: str, stepped: list[int]) -> None:
    lm = _lm(tiny.BLOCKS[family], family)
    technique = techniques()[name](**TECHNIQUES[name])
    intervention = technique.prepare(lm, Bench(items=[])).intervention
    requests = _requests(with_other=technique.needs_context)
    together = _answers(lm, requests, 64, intervention)
    all_at_once = sum(stepped)
    stepped.clear()
    assert together == _answers(lm, requests, 1, intervention)
    assert all_at_once < 0.9 * sum(stepped)


def test_log_probabilities_are_those_of_each_sample(stepped: list[int]) -> None:
    lm = _lm(tiny.BLOCKS["llama"], "llama")
    requests = [
        replace(each, sampling=replace(each.sampling, logprobs=each.key[2] % 3))  # type: ignore[operator]
        for each in _requests()
    ]
    assert _answers(lm, requests, 64) == _answers(lm, requests, 1)
