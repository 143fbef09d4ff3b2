"""Where implementations of decoding techniques go wrong, each a test that fails when it goes wrong again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="local models need the 'local' extra")

from torch import Tensor, nn  # noqa: E402

from leadline.engine import Generation, Prompt, Request, Sampling  # noqa: E402
from leadline.engine.anatomy import Anatomy  # noqa: E402
from leadline.engine.capture import head_outputs, residuals  # noqa: E402
from leadline.engine.decode import generate  # noqa: E402
from leadline.engine.edits import Edit, HeadMask, edited  # noqa: E402
from leadline.engine.intervention import Intervention  # noqa: E402
from leadline.engine.lm import CausalLM  # noqa: E402
from leadline.engine.passes import Pass, passing  # noqa: E402
from leadline.engine.session import Session, applied, is_under_a_technique  # noqa: E402
from leadline.errors import UsageError  # noqa: E402
from leadline.techniques.activation_decoding import ActivationDecoding  # noqa: E402
from leadline.techniques.cad import ContextAwareDecoding  # noqa: E402
from leadline.techniques.contrastive_decoding import ContrastiveDecoding  # noqa: E402
from leadline.techniques.decore import DeCoRe  # noqa: E402
from leadline.techniques.dola import DoLa  # noqa: E402
from leadline.techniques.prepared import Bench  # noqa: E402
from leadline.techniques.sled import SLED  # noqa: E402
from leadline.techniques.technique import Technique  # noqa: E402
from tests.engine import tiny  # noqa: E402

TOKENS = 8
CONTEXT = 6  # tokens of each prompt that are its context
PROMPTS = [[3 + (7 * row + (5 + row) * at) % 90 for at in range(n)] for row, n in enumerate((31, 12, 24, 17))]
FAMILIES = ["llama", "olmo2", "qwen2", "qwen3", "gemma2", "gemma3", "mistral", "phi3", "gpt-neox"]

TECHNIQUES: dict[str, Technique] = {
    "dola": DoLa(layers=(0, 1, 2)),
    "dola, true divergence": DoLa(layers=(0, 1, 2), divergence="jensen-shannon", lens="normed"),
    "sled": SLED(evolution_scale=5),
    "activation-decoding": ActivationDecoding(alpha=2.0),
    "decore": DeCoRe(heads=("1.0", "1.3", "2.2")),
    "decore, zero": DeCoRe(heads=("1.0", "1.3", "2.2"), mask="zero-output"),
    "decore, everywhere": DeCoRe(heads=("1.0", "1.3", "2.2"), scope="everywhere"),
    "contrastive": ContrastiveDecoding(amateur="first-2"),
    "cad": ContextAwareDecoding(alpha=1.5),
}
STATEFUL = ["activation-decoding", "decore", "decore, everywhere", "contrastive", "cad"]


def _lm(family: str, **changes: Any) -> CausalLM:
    return CausalLM(tiny.model(tiny.BLOCKS[family], **changes), tiny.NumberTokenizer())


def _without(ids: list[int]) -> list[int]:
    return ids[CONTEXT:]


def _on(technique: Technique, lm: CausalLM) -> AbstractContextManager[Session]:
    if isinstance(technique, ContextAwareDecoding):
        return technique.on(lm.model, lm.tokenizer, without=_without)
    return technique.on(lm.model, lm.tokenizer)


def _padded(prompts: Sequence[Sequence[int]]) -> dict[str, Tensor]:
    width = max(map(len, prompts))
    return {
        "input_ids": torch.tensor([[0] * (width - len(p)) + list(p) for p in prompts]),
        "attention_mask": torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in prompts]),
    }


def _generate(lm: CausalLM, prompts: Sequence[Sequence[int]], **given: Any) -> Any:
    # Tiny models end texts at random; every row is to write on.
    settings = {
        "do_sample": False, "max_new_tokens": TOKENS, "pad_token_id": 0, "eos_token_id": 10**6,
        "output_scores": True, "return_dict_in_generate": True,
    } | given  # fmt: skip
    return lm.model.generate(**_padded(prompts), **settings)


def _written(out: Any) -> list[list[int]]:
    return [row[-TOKENS:] for row in out.sequences.tolist()]


def _text(ids: Sequence[int]) -> Prompt:
    return Prompt(text=" ".join(map(str, ids)))


def _requests(prompts: Sequence[Sequence[int]]) -> list[Request]:
    return [
        Request(_text(ids), Sampling(0.0, TOKENS), (0, at), without=_text(_without(list(ids))))
        for at, ids in enumerate(prompts)
    ]


def _in_the_engine(lm: CausalLM, technique: Technique, prompts: Sequence[Sequence[int]]) -> list[Generation]:
    found = dict(generate(lm, _requests(prompts), None, technique.prepare(lm, Bench()).intervention))
    assert all(isinstance(each, Generation) for each in found.values())
    return [found[at] for at in range(len(prompts))]  # type: ignore[misc]


def _until_the_end(tokens: Sequence[int]) -> tuple[int, ...]:
    return tuple(tokens[: tokens.index(tiny.END) + 1] if tiny.END in tokens else tokens)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", TECHNIQUES)
def test_left_padding_changes_nothing_and_the_engine_writes_the_same(name: str, family: str) -> None:
    """Unequal prompts in one left-padded batch, each alone, and the engine: the same tokens, scores and
    decisions (so DoLa's layer is each row's own, and no state of one row leaks into another)."""
    lm, technique = _lm(family), TECHNIQUES[name]
    engine = _in_the_engine(lm, technique, PROMPTS)
    with _on(technique, lm) as session:
        with session.recording() as together:
            out = _generate(lm, PROMPTS)
        for row, prompt in enumerate(PROMPTS):
            with session.recording() as steps:
                alone = _generate(lm, [prompt])
            assert _written(alone)[0] == _written(out)[row]
            for mine, theirs in zip(alone.scores, out.scores, strict=True):
                torch.testing.assert_close(mine[0], theirs[row], atol=2e-4, rtol=1e-4)
            if name.startswith("dola"):
                layers = [step["layer"][0] for step in steps]
                assert layers == [step["layer"][row] for step in together]
            written = _until_the_end(_written(alone)[0])
            assert engine[row].token_ids == written
            for key, told in engine[row].details.items():
                if key in ("layer", "alpha"):
                    ours = [step[key][0] for step in steps][: len(written)]
                    assert ours == pytest.approx(told, abs=1e-4)
    if name == "dola":  # rows that all chose the same layer would prove nothing
        assert len({layer for step in together for layer in step["layer"]}) > 1


@pytest.mark.parametrize("name", TECHNIQUES)
def test_models_that_do_not_run_in_blocks_write_the_same(name: str) -> None:
    """Prompts of several lengths, with other prompts of several lengths."""
    lm, technique = _lm("llama"), TECHNIQUES[name]
    prompts = [*PROMPTS, PROMPTS[1][::-1]]
    wanted = _in_the_engine(lm, technique, prompts)
    lm.__dict__["in_blocks"] = False
    found = _in_the_engine(lm, technique, prompts)
    assert [each.token_ids for each in found] == [each.token_ids for each in wanted]


def test_each_row_of_a_batch_has_the_early_layer_that_it_has_alone() -> None:
    """Averaged over the batch, one layer would be chosen for all rows of a step."""
    lm = _lm("llama")
    with _on(TECHNIQUES["dola"], lm) as session, session.recording() as steps:
        _generate(lm, PROMPTS)
    assert any(len(set(step["layer"])) > 1 for step in steps)


class _Fed:
    """Every call of a model class's `forward`: rows and tokens that were fed."""

    def __init__(self, lm: CausalLM, patch: pytest.MonkeyPatch) -> None:
        self.calls: list[tuple[int, int]] = []
        own = type(lm.model).forward
        assert lm.in_blocks  # asked once per model, with passes of its own

        @wraps(own)
        def counting(model: Any, *args: Any, **given: Any) -> Any:
            ids = given.get("input_ids", args[0] if args else None)
            self.calls.append(tuple(ids.shape))
            return own(model, *args, **given)

        patch.setattr(type(lm.model), "forward", counting)


@pytest.mark.parametrize("name", ["decore", "decore, everywhere", "contrastive", "cad"])
def test_a_branch_is_fed_its_prompt_once_and_then_one_token_a_step(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lm, prompt = _lm("llama"), PROMPTS[0]
    fed = _Fed(lm, monkeypatch)
    with _on(TECHNIQUES[name], lm):
        _generate(lm, [prompt])
    n = len(prompt)
    branch = n - CONTEXT if name == "cad" else n
    assert fed.calls == [(1, n), (1, branch), *[(1, 1)] * (2 * (TOKENS - 1))]


@pytest.mark.parametrize(
    ("name", "prompts", "steps"),
    [
        ("decore", 1, TOKENS),  # the prompt but for its last token serves both; that token is the first step
        ("decore, everywhere", 2, 2 * (TOKENS - 1)),
        ("contrastive", 2, 2 * (TOKENS - 1)),
        ("cad", 1, TOKENS - 1),  # both prompts are rows of one pass
    ],
)
def test_the_engine_feeds_each_prompt_once_and_then_one_token_a_step(
    name: str, prompts: int, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lm, prompt = _lm("llama"), PROMPTS[0]
    intervention = TECHNIQUES[name].prepare(lm, Bench()).intervention
    if (lane := intervention.decoding and intervention.decoding.lane) and lane.amateur:
        assert lane.amateur.in_blocks
    fed = _Fed(lm, monkeypatch)
    (found,) = dict(generate(lm, _requests([prompt]), None, intervention)).values()
    assert isinstance(found, Generation)
    assert len(found.token_ids) == TOKENS
    long = [tokens for _, tokens in fed.calls if tokens > 1]
    assert len(long) == prompts
    assert all(tokens < len(prompt) + 8 for tokens in long)
    assert [tokens for _, tokens in fed.calls if tokens == 1] == [1] * steps


@pytest.mark.parametrize("name", ["dola", "activation-decoding", "contrastive"])
def test_tokens_outside_the_plausibility_set_have_no_score(name: str) -> None:
    lm = _lm("llama")
    given = _padded([PROMPTS[0]])
    with torch.no_grad():
        likely = lm.model(**given).logits[0, -1].softmax(-1)
        with _on(TECHNIQUES[name], lm):
            scores = lm.model(**given).logits[0, -1]
    plausible = likely >= 0.1 * likely.max()
    assert 1 < int(plausible.sum()) < len(likely)
    assert torch.equal(scores.isfinite(), plausible)
    assert bool((scores[~plausible] == -torch.inf).all())


def test_sled_scores_its_likeliest_tokens_alone() -> None:
    lm = _lm("llama")
    given = _padded([PROMPTS[0]])
    with torch.no_grad():
        likeliest = set(lm.model(**given).logits[0, -1].topk(5).indices.tolist())
        with _on(TECHNIQUES["sled"], lm):
            scores = lm.model(**given).logits[0, -1]
    assert set(scores.isfinite().nonzero()[:, 0].tolist()) == likeliest


@pytest.mark.parametrize("name", TECHNIQUES)
def test_forward_scores_are_those_of_generate(name: str) -> None:
    lm = _lm("qwen3")
    with _on(TECHNIQUES[name], lm), torch.no_grad():
        once = lm.model(**_padded(PROMPTS[:1])).logits[0, -1]
        out = _generate(lm, PROMPTS[:1])
        cacheless = _generate(lm, PROMPTS[:1], use_cache=False, max_new_tokens=1)
    torch.testing.assert_close(out.scores[0][0], once, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(cacheless.scores[0][0], once, atol=1e-4, rtol=1e-4)


# Where a head's query can be zeroed: in a projection of its own, after a norm over all heads (OLMo 2), before
# one per head (Qwen 3), in one projection with keys and values as blocks (Phi-3) or by head (GPT-NeoX).
MASKED = ["llama", "olmo2", "qwen2", "qwen3", "gemma3", "phi3", "gpt-neox"]


@pytest.mark.parametrize("family", MASKED)
@pytest.mark.parametrize("how", ["query", "output"])
def test_a_masked_head_attends_uniformly_and_no_other_head_changes(family: str, how: str) -> None:
    lm = _lm(family)
    layer, masked = 1, (0, 2)  # a layer of full attention in every family
    anatomy = lm.anatomy
    width = anatomy.head_dim(layer)
    ids = torch.tensor([PROMPTS[0][:20], PROMPTS[2][:20]])
    last = torch.tensor([19, 19])

    def heads(rows: list[bool] | None) -> tuple[Tensor, Tensor]:
        """Outputs of heads `[rows, tokens, heads, width]`, and values `[rows, kv heads, tokens, width]`."""
        mask = HeadMask(tuple((layer, head) for head in masked), how)  # type: ignore[arg-type]
        this = Pass(last, masked=None if rows is None else torch.tensor(rows))
        hooks = edited(anatomy, (), mask)
        with torch.no_grad(), hooks, passing(this), head_outputs(anatomy, [layer]) as found:
            out = lm.model(ids, use_cache=True)
        values = out.past_key_values.layers[layer].values
        return found[layer].unflatten(-1, (anatomy.heads, width)), values

    before, values = heads(None)
    after, _ = heads([False, True])
    shared = anatomy.heads // values.shape[1]
    changed = (before != after).flatten(3).any(-1)  # [rows, tokens, heads]
    expected = torch.zeros_like(changed)
    expected[1, 19, list(masked)] = True  # the row that is named, from its last prompt token on
    assert torch.equal(changed, expected)
    for head in masked:
        mean = values[1, head // shared].mean(0)
        wanted = mean if how == "query" else torch.zeros(width)
        torch.testing.assert_close(after[1, 19, head], wanted, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("family", [*FAMILIES, "cohere", "granite"])
def test_early_exits_have_the_models_own_scaling_and_softcap(family: str) -> None:
    """The last layer's exit, with the norm, is the model's own output; every other is scaled as it is."""
    special = {
        "cohere": tiny.Family("CohereForCausalLM", "CohereConfig", {"logit_scale": 0.25}),
        "granite": tiny.Family("GraniteForCausalLM", "GraniteConfig", {"logits_scaling": 3.0}),
        "gemma2": tiny.Family(
            tiny.BLOCKS["gemma2"].model,
            tiny.BLOCKS["gemma2"].config,
            tiny.BLOCKS["gemma2"].settings | {"final_logit_softcapping": 2.0},
        ),
    }
    model = tiny.model(special.get(family) or tiny.BLOCKS[family])
    anatomy = Anatomy(model)
    ids = torch.tensor([PROMPTS[0]])
    with torch.no_grad(), residuals(anatomy, [1, anatomy.layers]) as found:
        logits = model(ids).logits
        exits = anatomy.logits(anatomy.normed(found[anatomy.layers]))
        early = anatomy.logits(found[1])
        plain = anatomy.head(found[1])
    torch.testing.assert_close(exits, logits, atol=1e-5, rtol=1e-5)
    if family in special:
        wanted = {"cohere": plain * 0.25, "granite": plain / 3, "gemma2": 2 * torch.tanh(plain / 2)}[family]
        torch.testing.assert_close(early, wanted)
        assert not torch.allclose(early, plain, atol=0.1)


@pytest.mark.parametrize("name", TECHNIQUES)
def test_half_precision_works_and_scores_are_float32(name: str) -> None:
    """Numbers differ from float32's; how far says what may be expected of bfloat16."""
    lm = _lm("llama")
    with _on(TECHNIQUES[name], lm), torch.no_grad():
        exact = lm.model(**_padded(PROMPTS)).logits[:, -1]
    half = CausalLM(tiny.model(tiny.BLOCKS["llama"]).to(torch.bfloat16), lm.tokenizer)
    with _on(TECHNIQUES[name], half), torch.no_grad():
        scores = half.model(**_padded(PROMPTS)).logits[:, -1]
        assert _generate(half, PROMPTS).sequences.shape[1] == len(PROMPTS[0]) + TOKENS
    assert all(len(each.token_ids) for each in _in_the_engine(half, TECHNIQUES[name], PROMPTS))
    assert scores.dtype == torch.float32
    both = scores.isfinite() & exact.isfinite()
    assert bool(both.any(-1).all())
    assert float((scores - exact)[both].abs().median()) < 0.5
    assert not torch.equal(scores[both], exact[both])


@pytest.mark.parametrize("name", STATEFUL)
def test_beam_search_is_refused_where_rows_have_a_state(name: str) -> None:
    lm = _lm("llama")
    with _on(TECHNIQUES[name], lm), pytest.raises(UsageError, match=r"beam search.*num_beams=1") as told:
        _generate(lm, PROMPTS[:1], num_beams=2)
    assert "\n" not in str(told.value)
    lm.model.generation_config.num_beams = 2  # a checkpoint may ask for it
    with _on(TECHNIQUES[name], lm), pytest.raises(UsageError, match="beam search"):
        _generate(lm, PROMPTS[:1])


def test_beam_search_goes_on_where_rows_have_none() -> None:
    lm = _lm("llama")
    with _on(TECHNIQUES["dola"], lm):
        out = _generate(lm, PROMPTS[:2], num_beams=2)
    assert out.sequences.shape == (2, len(PROMPTS[0]) + TOKENS)


def _hooks(model: nn.Module) -> int:
    kinds = ("_forward_hooks", "_forward_pre_hooks")
    return sum(len(getattr(module, kind)) for module in model.modules() for kind in kinds)


@contextmanager
def _as_it_was(lm: CausalLM) -> Iterator[None]:
    """The model is afterwards what it was before: no hook, no attribute, the same numbers."""
    given = _padded(PROMPTS)
    with torch.no_grad():
        before = lm.model(**given).logits
    state, hooks, own = dict(vars(lm.model)), _hooks(lm.model), lm.model.config._attn_implementation
    yield
    assert dict(vars(lm.model)) == state
    assert _hooks(lm.model) == hooks == 0
    assert not is_under_a_technique(lm.model)
    assert lm.model.config._attn_implementation == own
    with torch.no_grad():
        assert torch.equal(lm.model(**given).logits, before)


@pytest.mark.parametrize("name", TECHNIQUES)
def test_nothing_is_left_behind_after_an_exception(name: str) -> None:
    lm = _lm("llama")
    with _as_it_was(lm):
        with pytest.raises(ZeroDivisionError), _on(TECHNIQUES[name], lm):
            _generate(lm, PROMPTS)
            raise ZeroDivisionError
        failing = lm.model.model.layers[1].register_forward_hook(_fails)
        with pytest.raises(RuntimeError, match="in the middle"), _on(TECHNIQUES[name], lm):
            _generate(lm, PROMPTS)
        failing.remove()


def _fails(*given: Any) -> None:
    raise RuntimeError("in the middle of a pass")


@pytest.mark.parametrize("name", ["dola", "decore", "contrastive"])
def test_the_engine_leaves_nothing_behind_when_it_is_left_early(name: str) -> None:
    lm = _lm("llama")
    assert lm.in_blocks
    with _as_it_was(lm):
        running = generate(lm, _requests(PROMPTS), None, TECHNIQUES[name].prepare(lm, Bench()).intervention)
        next(running)
        running.close()


@pytest.mark.parametrize("name", ["dola", "decore", "activation-decoding"])
def test_contexts_nest(name: str) -> None:
    """A decoding technique within a steering one is both, whichever is entered first; leaving the inner one
    leaves the outer; two decoding techniques are refused, and the outer goes on."""
    lm, technique = _lm("llama"), TECHNIQUES[name]
    shift = torch.randn(48, generator=torch.Generator().manual_seed(3))
    steering = Intervention((Edit("residual", 0, shift=shift, positions="all"),))
    both = steering.and_then(technique.prepare(lm, Bench()).intervention)
    with _as_it_was(lm), torch.no_grad():
        given = _padded(PROMPTS)
        with applied(lm.model, both):
            wanted = lm.model(**given).logits[:, -1]
        with applied(lm.model, steering):
            outer = lm.model(**given).logits[:, -1]
            with _on(technique, lm):
                torch.testing.assert_close(lm.model(**given).logits[:, -1], wanted)
            assert torch.equal(lm.model(**given).logits[:, -1], outer)
        with _on(technique, lm):
            alone = lm.model(**given).logits[:, -1]
            with applied(lm.model, steering):
                torch.testing.assert_close(lm.model(**given).logits[:, -1], wanted)
            with (
                pytest.raises(UsageError, match="two decoding techniques cannot be stacked"),
                _on(TECHNIQUES["sled"], lm),
            ):
                pass
            assert torch.equal(lm.model(**given).logits[:, -1], alone)
        assert not torch.allclose(outer, wanted)
        assert not torch.allclose(alone, wanted)


def test_a_cache_that_was_filled_before_is_refused() -> None:
    """The second pass would know nothing of the prompt."""
    lm = _lm("llama")
    with torch.no_grad():
        cache = lm.model(torch.tensor([PROMPTS[0]]), use_cache=True).past_key_values
        with _on(TECHNIQUES["decore"], lm), pytest.raises(UsageError, match="start the generation within"):
            lm.model(torch.tensor([[5]]), past_key_values=cache)
