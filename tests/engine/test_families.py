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


@pytest.mark.parametrize("family", ["llama", "gemma3", "mamba", "qwen3-next"])
def test_results_do_not_depend_on_limits(family: str) -> None:
    lm = CausalLM(tiny.model(ALL[family]), tiny.NumberTokenizer())
    requests = _requests([*APART[:4], *TOGETHER[:3]], 16)
    together = _answers(lm, requests)
    for limits in (Limits(max_rows=1), Limits(max_rows=7), Limits(max_rows=64, token_budget=300)):
        assert _answers(lm, requests[::-1], limits) == together[::-1]


def test_frequencies_that_change_with_length_change_for_long_texts_alone() -> None:
    """With "longrope" a text of more than 64 tokens is turned by other frequencies, all of it, and so
    would be whatever shares its pass. Here are texts below, above, and on their way across."""
    parameters = {
        "rope_type": "longrope", "rope_theta": 10_000.0, "original_max_position_embeddings": 64,
        "short_factor": [1.0] * 6, "long_factor": [3.0, 5.0, 7.0, 9.0, 11.0, 13.0],
    }  # fmt: skip
    changes = {"rope_parameters": parameters, "original_max_position_embeddings": 64}
    model = tiny.model(tiny.BLOCKS["phi3"], **changes)
    lm = CausalLM(model, tiny.NumberTokenizer())
    assert lm.in_blocks
    assert lm.block_context == 64
    prompts = [_ids(count, count) for count in (10, 24, 40, 60, 63, 64, 65, 100)]
    answers = _answers(lm, _requests(prompts))
    for at, prompt in enumerate(prompts):
        assert answers[4 * at].token_ids == _greedy(model, prompt), len(prompt)
        assert _answers(lm, _requests(prompts)[4 * at + 1 : 4 * at + 2]) == [answers[4 * at + 1]]


def test_an_attention_that_blocks_get_wrong_is_left_to_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as one with a bias for distance that nothing in the configuration tells of."""
    from transformers import AttentionInterface

    from leadline.engine import attention

    def biased(module: Any, query: Any, *rest: Any, **options: Any) -> Any:
        out, weights = attention.attend(module, query, *rest, **options)
        return out * 0.9, weights

    assert CausalLM(tiny.model(tiny.BLOCKS["llama"]), tiny.NumberTokenizer()).in_blocks
    monkeypatch.setitem(AttentionInterface._global_mapping, attention.IMPLEMENTATION, biased)
    model = tiny.model(tiny.BLOCKS["llama"])
    lm = CausalLM(model, tiny.NumberTokenizer())
    assert not lm.in_blocks
    (answer,) = _answers(lm, _requests([APART[2]])[:1])
    assert answer.token_ids == _greedy(model, APART[2])


def test_the_model_has_its_own_attention_back_after_use() -> None:
    model = tiny.model(tiny.BLOCKS["mistral"])
    before = model.config._attn_implementation
    with torch.no_grad():
        logits = model(torch.tensor([APART[4]])).logits
        lm = CausalLM(model, tiny.NumberTokenizer())
        _answers(lm, _requests([APART[4]]))
        assert model.config._attn_implementation == before
        assert torch.equal(model(torch.tensor([APART[4]])).logits, logits)


def test_defaults_of_a_checkpoint_never_reach_the_answers() -> None:
    model = tiny.model(tiny.BLOCKS["qwen3"])
    plain = _answers(CausalLM(model, tiny.NumberTokenizer()), _requests([APART[2]]))
    model.generation_config.update(repetition_penalty=1.7, temperature=0.1, top_k=1, do_sample=True)
    assert _answers(CausalLM(model, tiny.NumberTokenizer()), _requests([APART[2]])) == plain


@pytest.mark.parametrize(
    ("kind", "config", "said"),
    [
        (
            "T5ForConditionalGeneration",
            {"d_model": 8, "d_kv": 4, "num_heads": 2, "num_layers": 1},
            "encoder-decoder",
        ),
        (
            "RwkvForCausalLM",
            {"hidden_size": 8, "num_hidden_layers": 2},
            "keeps its state in a way of its own",
        ),
    ],
)
def test_what_cannot_be_run_is_named(kind: str, config: dict[str, int], said: str) -> None:
    import transformers

    family = tiny.Family(kind, f"{kind.split('For', maxsplit=1)[0]}Config", config)
    model = getattr(transformers, kind)(getattr(transformers, family.config)(vocab_size=97, **config))
    with pytest.raises(UsageError, match=f"my-model: .*{kind}.*{said}|my-model: {kind}.*{said}"):
        CausalLM(model, tiny.NumberTokenizer(), "my-model")
