"""Every technique on every family of models: the engine and an ordinary model under `on` write the same, and
a batch writes what each prompt gets alone.

The techniques come from the registry, so a new one is tried on all families by itself.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="local models need the 'local' extra")

from torch import Tensor  # noqa: E402

from leadline.bench import Item  # noqa: E402
from leadline.engine import Generation, Prompt, Request, Sampling  # noqa: E402
from leadline.engine.capture import head_outputs  # noqa: E402
from leadline.engine.decode import generate  # noqa: E402
from leadline.engine.edits import HeadMask, edited  # noqa: E402
from leadline.engine.intervention import NOTHING, Intervention  # noqa: E402
from leadline.engine.lm import CausalLM  # noqa: E402
from leadline.engine.passes import Pass, passing  # noqa: E402
from leadline.engine.session import Session, is_under_a_technique  # noqa: E402
from leadline.errors import UsageError  # noqa: E402
from leadline.techniques.conversation import Job, converse  # noqa: E402
from leadline.techniques.prepared import AS_IT_IS, Bench  # noqa: E402
from leadline.techniques.prompts_library import Prompts  # noqa: E402
from leadline.techniques.registry import technique_named, techniques  # noqa: E402
from leadline.techniques.technique import Answer, Question, Technique  # noqa: E402
from tests.engine import tiny  # noqa: E402
from tests.techniques.words import WordTokenizer  # noqa: E402

# Among them: grouped keys and values, a head_dim that is not hidden_size / heads, windows of 24 tokens, soft
# caps, fused projections, norms of queries per head and over all heads. None has a chat template.
FAMILIES: dict[str, tuple[tiny.Family, dict[str, Any]]] = {
    **{name: (family, {}) for name, family in tiny.BLOCKS.items() if name != "gpt-oss"},
    "smollm2": (tiny.BLOCKS["llama"], {"tie_word_embeddings": True}),
}
# Settings that a model of three layers with random weights needs, or that make a technique's mark large.
SETTINGS: dict[str, dict[str, Any]] = {
    "dola": {"layers": (0, 1, 2)},
    "activation-decoding": {"alpha": 3.0},
    "decore": {"selection": "random", "heads": 4},
    "cad": {"alpha": 1.5},
    "sled": {"evolution_scale": 5},
    "iti": {"heads": 4},
    "caa": {"multiplier": 4.0},
    "mean-centring": {"multiplier": 4.0},
    "pca": {"layer": 0, "multiplier": 300.0},  # right and wrong are no direction of a random model
    "sadi": {"elements": 3, "delta": 2.0},
    "recite": {"paths": 2, "passage_tokens": 12, "max_tokens": 5},
    "genread": {"passage_tokens": 12, "max_tokens": 5},
}
INSIDE = [name for name, kind in techniques().items() if kind.kind in ("decoding", "steering")]
OUTSIDE = [name for name in techniques() if name not in INSIDE]
TOKENS = 6
WORDS = ["sea", "river", "lake", "mountain", "king", "queen", "city", "song", "bread", "stone", "red", "old"]
# Some are longer than a window, one is longer than a block of 64.
PROMPTS = [" ".join(random.Random(n).choices(WORDS, k=n)) for n in (3, 67, 24, 9, 35)]
ITEMS = [
    Item(id=f"i{n}", question=f"which {WORDS[n % 5]} has the {WORDS[5 + n // 5]}", answer=answer, task="t")
    for n, answer in enumerate(random.Random(1).choices([f"{a}{b}" for a in WORDS for b in WORDS], k=24))
]
BENCH = Bench(items=ITEMS)


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """These products are too small to be shared out."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path))


@cache
def _lm(family: str) -> CausalLM:
    made, changes = FAMILIES[family]
    longest = "n_positions" if "n_positions" in made.settings else "max_position_embeddings"
    return CausalLM(tiny.model(made, **{**changes, longest: 4096}), WordTokenizer(), family)


def _technique(name: str) -> Technique:
    return techniques()[name](**SETTINGS.get(name, {}))


def _half(ids: Sequence[int]) -> list[int]:
    """What stands for a prompt without its context."""
    return list(ids[len(ids) // 2 :])


def _on(technique: Technique, lm: CausalLM | SimpleNamespace) -> AbstractContextManager[Session]:
    on: Callable[..., Any] = technique.on
    if technique.needs_context:
        return on(lm.model, lm.tokenizer, without=_half)
    return on(lm.model, lm.tokenizer, BENCH)


Ran = tuple[list[tuple[int, ...]], list[Tensor]]  # tokens, and scores of the first one, of each prompt


def _engine(lm: CausalLM, prompts: Sequence[str], intervention: Intervention, contrasts: bool = False) -> Ran:
    requests = [
        Request(
            Prompt(text=prompt),
            Sampling(0.0, TOKENS),
            (0, prompt),
            without=Prompt(text=" ".join(_half(prompt.split()))) if contrasts else None,  # type: ignore[arg-type]
        )
        for prompt in prompts
    ]
    first: dict[int, Tensor] = {}

    def watch(at: int, scores: Tensor) -> None:
        first[at] = scores.float().clone()

    found = dict(generate(lm, requests, None, intervention, watch))
    tokens = []
    for at in range(len(prompts)):
        generation = found[at]
        assert isinstance(generation, Generation), generation
        tokens.append(generation.token_ids)
    return tokens, [first[at] for at in range(len(prompts))]


def _ordinary(lm: CausalLM | SimpleNamespace, prompts: Sequence[str]) -> Ran:
    encoded = [lm.encode(prompt, True) for prompt in prompts]
    width = max(map(len, encoded))
    ids = torch.tensor([[0] * (width - len(row)) + row for row in encoded])
    mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in encoded])
    out = lm.model.generate(
        ids, attention_mask=mask, do_sample=False, max_new_tokens=TOKENS, pad_token_id=0,
        return_dict_in_generate=True, output_logits=True,
    )  # fmt: skip
    tokens = []
    for row in out.sequences[:, width:].tolist():
        end = row.index(tiny.END) + 1 if tiny.END in row else len(row)
        tokens.append(tuple(row[:end]))
    return tokens, list(out.logits[0].float())


def _assert_same(one: Ran, other: Ran) -> None:
    for mine, theirs in zip(one[1], other[1], strict=True):
        torch.testing.assert_close(mine, theirs, atol=2e-3, rtol=1e-4)
    assert one[0] == other[0]


@cache
def _baseline(family: str) -> Ran:
    return _engine(_lm(family), PROMPTS, NOTHING)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", INSIDE)
def test_engine_and_ordinary_model_write_the_same_together_and_alone(name: str, family: str) -> None:
    lm, technique = _lm(family), _technique(name)
    intervention = technique.prepare(lm, BENCH).intervention
    together = _engine(lm, PROMPTS, intervention, technique.needs_context)
    with _on(technique, lm):
        ordinary = _ordinary(lm, PROMPTS)
        lone = _ordinary(lm, PROMPTS[:1])
    _assert_same(ordinary, together)
    _assert_same(lone, (together[0][:1], together[1][:1]))
    for at, prompt in enumerate(PROMPTS):
        alone = _engine(lm, [prompt], intervention, technique.needs_context)
        _assert_same(alone, (together[0][at : at + 1], together[1][at : at + 1]))
    # The technique does something: the distribution over the tokens that it allows is another one.
    moved = [
        float((mine.log_softmax(-1) - base.log_softmax(-1))[mine.isfinite()].abs().max())
        for mine, base in zip(together[1], _baseline(family)[1], strict=True)
    ]
    assert max(moved) > 1e-2


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", [*OUTSIDE, "recite+dola", "genread+cad"])
def test_what_asks_in_its_own_way_answers_the_same_in_any_company(name: str, family: str) -> None:
    """Prompting, sampling, and stacks of prompting with decoding: two questions together and each alone."""
    lm = _lm(family)
    parts = name.split("+")
    if len(parts) > 1:
        technique: Technique = technique_named(name)(**{part: SETTINGS[part] for part in parts})
    else:
        technique = _technique(name)
    prepared = technique.prepare(lm, BENCH)
    jobs = [Job(Question(f"q{n}", PROMPTS[n]), sample) for n, sample in ((0, 0), (3, 0), (3, 1))]

    def answers(some: Sequence[Job]) -> dict[Job, Any]:
        def ask(requests: Sequence[Request], intervention: Intervention) -> Any:
            return generate(lm, requests, None, intervention)

        return dict(converse(technique, some, Prompts(), ask, prepared))

    together = answers(jobs)
    assert all(isinstance(answer, Answer) for answer in together.values())
    for job in (jobs[0], jobs[2]):
        assert answers([job])[job] == together[job]
    if len(parts) > 1 and family == "llama":  # the decoding part has a say
        technique, prepared = _technique(parts[0]), AS_IT_IS
        assert answers(jobs) != together


def test_settings_are_for_techniques_that_there_are() -> None:
    assert set(SETTINGS) <= set(techniques())


@pytest.mark.parametrize("name", OUTSIDE)
def test_what_only_asks_leaves_the_model_as_it_is(name: str) -> None:
    lm = _lm("llama")
    with _on(_technique(name), lm):
        _assert_same(_ordinary(lm, PROMPTS), _baseline("llama"))
    assert not is_under_a_technique(lm.model)


@pytest.mark.parametrize("spread", ["over devices", "offloaded"])
@pytest.mark.parametrize("name", INSIDE)
def test_a_model_that_accelerate_has_spread_writes_the_same(name: str, spread: str) -> None:
    """As `device_map="auto"` does it, with the hooks that move what each part takes; offloaded, a part's
    weights are there only while it computes."""
    accelerate = pytest.importorskip("accelerate")
    lm, technique = _lm("llama"), _technique(name)
    with _on(technique, lm):
        expected = _ordinary(lm, PROMPTS)
    model = tiny.model(tiny.BLOCKS["llama"], max_position_embeddings=4096)
    if spread == "offloaded":
        model = accelerate.cpu_offload(model, torch.device("cpu"))
        assert model.get_output_embeddings().weight.is_meta
    else:
        model = accelerate.dispatch_model(model, {"": "cpu"}, force_hooks=True)
    forward = model.forward
    assert "forward" in vars(model)  # where the hooks sit, and a technique too
    there = SimpleNamespace(model=model, tokenizer=lm.tokenizer, encode=lm.encode)
    if name == "activation-decoding" and spread == "offloaded":
        with pytest.raises(UsageError, match="offloaded"), _on(technique, there):
            _ordinary(there, PROMPTS)
    else:
        with _on(technique, there):
            _assert_same(_ordinary(there, PROMPTS), expected)
    assert model.forward == forward


# Masked heads


def _values(attention: Any, states: Tensor, heads: int, width: int) -> Tensor:
    """The value vectors that each query head reads, `[rows, tokens, heads, width]`, by family."""
    if hasattr(attention, "query_key_value"):  # GPT-NeoX: query, key and value of a head side by side
        return attention.query_key_value(states).unflatten(-1, (heads, 3, width))[..., 2, :]
    if hasattr(attention, "qkv_proj"):  # Phi-3: all queries, all keys, all values
        fused = attention.qkv_proj(states)
        groups = (fused.shape[-1] // width - heads) // 2
        values = fused[..., -groups * width :]
    else:
        values = attention.v_proj(states)
    grouped = values.unflatten(-1, (-1, width))
    return grouped.repeat_interleave(heads // grouped.shape[-2], -2)


def _window(lm: CausalLM, layer: int) -> int:
    """How many keys a query of a layer sees, itself among them."""
    kinds = getattr(lm.text_config, "layer_types", None)
    if kinds is not None and kinds[layer] != "sliding_attention":
        return 10_000
    return getattr(lm.text_config, "sliding_window", None) or 10_000


@pytest.mark.parametrize("everywhere", [False, True], ids=["from the last prompt token on", "everywhere"])
@pytest.mark.parametrize(
    "family",
    ["llama", "smollm2", "olmo2", "qwen2", "qwen2, sliding", "qwen3", "gemma2", "gemma3", "mistral", "phi3",
     "phi3, sliding", "gpt-neox"],
)  # fmt: skip
def test_a_masked_head_gives_the_mean_of_the_values_that_it_sees(family: str, everywhere: bool) -> None:
    """Attention written out: a query of zero has the same score with every key of its causal window."""
    lm = _lm(family)
    anatomy, layer, masked = lm.anatomy, 1, (0, 3)
    tokens, pad, prompt_end = 40, 7, 33
    ids = torch.tensor([[0] * pad + lm.encode(" ".join(WORDS * 3), True)[: tokens - pad]] * 2)
    mask = (torch.arange(tokens) >= pad).long().expand(2, -1)
    last = torch.full((2,), prompt_end)
    rows = torch.tensor([True, False])
    states: list[Tensor] = []

    def keep(module: Any, args: Any, kwargs: Any) -> None:
        states.append(args[0] if args else kwargs["hidden_states"])

    def run(head_mask: HeadMask | None) -> Tensor:
        this = Pass(last, real=mask.bool(), masked=rows, everywhere=everywhere)
        with edited(anatomy, (), head_mask), head_outputs(anatomy, [layer]) as found, passing(this):
            handle = anatomy.attention(layer).register_forward_pre_hook(keep, with_kwargs=True)
            try:
                with torch.no_grad():
                    lm.model(ids, attention_mask=mask, position_ids=(mask.cumsum(-1) - 1).clamp(min=0))
            finally:
                handle.remove()
        return found[layer].unflatten(-1, (anatomy.heads, -1))

    plain = run(None)
    changed = run(HeadMask(tuple((layer, head) for head in masked)))
    with torch.no_grad():
        values = _values(anatomy.attention(layer), states[-1], anatomy.heads, anatomy.head_dim(layer))
    begins = pad if everywhere else prompt_end
    for head in range(anatomy.heads):
        for at in range(pad, tokens):
            expected = plain[0, at, head]
            if head in masked and at >= begins:
                first = max(pad, at - _window(lm, layer) + 1)
                expected = values[0, first : at + 1, head].mean(0)
                if at == tokens - 1:  # which is not what it gave before
                    assert (plain[0, at, head] - expected).abs().max() > 1e-2
            torch.testing.assert_close(changed[0, at, head], expected, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(changed[1, pad:], plain[1, pad:])
