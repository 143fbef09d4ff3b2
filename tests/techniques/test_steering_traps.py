"""Where implementations of steering go wrong: each of these mistakes fails a test here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch", reason="local models need the 'local' extra")

from torch import Tensor  # noqa: E402

from leadline.bench import load_benchmark  # noqa: E402
from leadline.engine import Generation, Prompt, Request, Sampling  # noqa: E402
from leadline.engine.capture import at_site, residuals  # noqa: E402
from leadline.engine.decode import generate  # noqa: E402
from leadline.engine.edits import Edit  # noqa: E402
from leadline.engine.intervention import Intervention  # noqa: E402
from leadline.engine.lm import CausalLM  # noqa: E402
from leadline.engine.plan import Limits  # noqa: E402
from leadline.engine.session import applied  # noqa: E402
from leadline.techniques.caa import CAA, caa_intervention  # noqa: E402
from leadline.techniques.iti import iti_intervention  # noqa: E402
from leadline.techniques.prepared import Bench  # noqa: E402
from leadline.techniques.residual_directions import Positions, pair_states  # noqa: E402
from leadline.techniques.sadi import SADI, sadi_intervention  # noqa: E402
from tests.engine.tiny import BLOCKS, model  # noqa: E402
from tests.techniques.steered import left_padded  # noqa: E402
from tests.techniques.words import WordTokenizer  # noqa: E402

if TYPE_CHECKING:
    from leadline.models.local import LocalModel

FAMILIES = ["llama", "qwen3", "gemma3", "olmo2", "phi3", "gpt-neox"]
TEXTS = [[5, 17, 9, 33, 12, 60, 7, 81], [44, 8], [9, 9, 71, 20, 13], [30, 31, 32, 33, 34, 35, 36]]
STEPS = 6


def _lm(family: str) -> CausalLM:
    return CausalLM(model(BLOCKS[family]), WordTokenizer())


def _vector(width: int, size: float = 4.0, seed: int = 1) -> Tensor:
    drawn = torch.randn(width, generator=torch.Generator().manual_seed(seed))
    return size * torch.nn.functional.normalize(drawn, dim=0)


def _interventions(lm: CausalLM, positions: Positions) -> dict[str, Intervention]:
    """One of each technique's kind, strong enough to change tokens."""
    anatomy = lm.anatomy
    mask = torch.zeros(anatomy.hidden)
    mask[::3] = 1
    return {
        "caa": caa_intervention(_vector(anatomy.hidden), 1, 2.0, positions),
        "iti": iti_intervention(
            lm, {(0, 3): _vector(anatomy.head_dim()), (2, 1): _vector(anatomy.head_dim())}, 3.0, positions
        ),
        "sadi": sadi_intervention({0: mask, 2: mask}, 1.5, "hidden", positions),
    }


class ByHand:
    """The reference: one text at a time, no cache, no padding, every pass over the whole text so far, and the
    change made at exactly the positions that are meant."""

    def __init__(self, lm: CausalLM, intervention: Intervention, positions: Positions) -> None:
        self.lm, self.intervention, self.positions = lm, intervention, positions

    def logits(self, text: list[int], prompt: int) -> Tensor:
        """`[vocabulary]` after `text`, of which the first `prompt` tokens are the prompt."""
        first = {"last": prompt - 1, "generated": prompt, "all": 0}[self.positions]
        handles = []
        for edit in self.intervention.edits:

            def changed(hidden: Tensor, edit: Edit = edit) -> Tensor:
                out = hidden.clone()
                part = out[:, first:]
                if edit.scale is not None:
                    part = part * (1 + edit.scale)
                out[:, first:] = part if edit.shift is None else part + edit.shift
                return out

            if edit.site == "residual":

                def after(module: Any, inputs: Any, output: Any, changed: Any = changed) -> Any:
                    if isinstance(output, tuple):
                        return (changed(output[0]), *output[1:])
                    return changed(output)

                handles.append(self.lm.anatomy.blocks[edit.layer].register_forward_hook(after))
            else:
                part = self.lm.anatomy.output_projection(edit.layer)
                handles.append(
                    part.register_forward_pre_hook(
                        lambda module, inputs, changed=changed: (changed(inputs[0]), *inputs[1:])
                    )
                )
        try:
            with torch.no_grad():
                out: Tensor = self.lm.model(torch.tensor([text]), use_cache=False).logits[0, -1]
                return out
        finally:
            for handle in handles:
                handle.remove()

    def greedy(self, text: list[int]) -> tuple[list[int], Tensor]:
        """Tokens, and the logits of each step `[steps, vocabulary]`."""
        tokens: list[int] = []
        steps = []
        for _ in range(STEPS):
            logits = self.logits([*text, *tokens], len(text))
            steps.append(logits)
            tokens.append(int(logits.argmax()))
            if tokens[-1] in self.lm.end_tokens:
                break
        return tokens, torch.stack(steps)


def _generated(lm: CausalLM, texts: list[list[int]]) -> tuple[list[list[int]], Tensor]:
    """Tokens of `generate` on one left-padded batch, with a cache, and logits `[steps, rows, vocabulary]`."""
    ids, mask = left_padded(texts)
    out = lm.model.generate(
        ids, attention_mask=mask, do_sample=False, max_new_tokens=STEPS, pad_token_id=0,
        return_dict_in_generate=True, output_logits=True,
    )  # fmt: skip
    return out.sequences[:, ids.shape[1] :].tolist(), torch.stack(out.logits)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("positions", ["last", "generated", "all"])
def test_a_padded_batch_with_a_cache_is_steered_where_a_single_text_is(
    family: str, positions: Positions
) -> None:
    """Traps: steering at an index that counts from the left of a padded batch; steering cached steps at an
    index that counts from the beginning (they hold one token); steering padding; leaving the first generated
    token out; a head's columns taken to be hidden / heads wide where head_dim is another (Qwen 3, Gemma)."""
    lm = _lm(family)
    for name, intervention in _interventions(lm, positions).items():
        by_hand = [ByHand(lm, intervention, positions).greedy(text) for text in TEXTS]
        with applied(lm.model, intervention):
            tokens, logits = _generated(lm, TEXTS)
        for row, (expected, steps) in enumerate(by_hand):
            assert tokens[row][: len(expected)] == expected, (name, row)
            assert torch.allclose(logits[: len(steps), row], steps, atol=2e-3), (name, row)
        if positions != "generated":  # each of these changes the very first distribution
            plain = ByHand(lm, Intervention(), positions)
            for text, (_, steps) in zip(TEXTS, by_hand, strict=True):
                assert float((plain.logits(text, len(text)) - steps[0]).abs().max()) > 0.05, name


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("positions", ["last", "generated", "all"])
def test_the_engine_gives_the_same_as_generate_at_batch_1_and_32(family: str, positions: Positions) -> None:
    """Traps: an engine of one's own that steers other positions than the hooks do; answers that depend on the
    size of the batch. The engine gives the tokens of the reference at any size."""
    lm = _lm(family)
    texts = [[*text, 3 + at] for at in range(8) for text in TEXTS]
    # Number tokens, as the engine reads them from a prompt.
    lm.tokenizer = _Numbers()
    intervention = _interventions(lm, positions)["caa"].and_then(_interventions(lm, positions)["iti"])
    requests = [
        Request(Prompt(text=" ".join(map(str, text))), Sampling(0.0, STEPS), (at,))
        for at, text in enumerate(texts)
    ]
    found: list[dict[int, tuple[int, ...]]] = []
    for rows in (1, 32):
        out = dict(generate(lm, requests, Limits(max_rows=rows), intervention))
        found.append({at: each.token_ids for at, each in out.items() if isinstance(each, Generation)})
    assert len(found[0]) == 32
    assert found[0] == found[1]
    with applied(lm.model, intervention):
        tokens, _ = _generated(lm, texts)
    for at in range(32):
        assert list(found[1][at]) == tokens[at][: len(found[1][at])]
    for at in range(4):
        assert list(found[1][at]) == ByHand(lm, intervention, positions).greedy(texts[at])[0]


class _Numbers(WordTokenizer):
    def __call__(self, text: str, add_special_tokens: bool = True) -> Any:
        return super(WordTokenizer, self).__call__(text, add_special_tokens)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("positions", ["last", "all"])
def test_padding_is_never_changed(side: str, positions: Positions) -> None:
    """Trap: steering every column of a padded batch. What lies at padded positions stays bit for bit, and a
    text that is padded on the right is steered at its own last token."""
    lm = _lm("qwen3")
    ids, mask = left_padded(TEXTS)
    if side == "right":
        order = mask.argsort(dim=1, descending=True, stable=True)
        ids, mask = ids.gather(1, order), mask.gather(1, order)
    intervention = _interventions(lm, positions)["caa"]
    states = []
    for some in (Intervention(), intervention):
        with torch.no_grad(), applied(lm.model, some), residuals(lm.anatomy, [2]) as found:
            logits = lm.model(ids, attention_mask=mask).logits
            states.append(found[2].clone())
    padded = mask == 0
    assert torch.equal(states[0][padded], states[1][padded])
    moved = (states[1] - states[0]).norm(dim=-1) > 1.0
    assert moved.sum(1).tolist() == ([1] * 4 if positions == "last" else [len(text) for text in TEXTS])
    if side == "right":
        for row, text in enumerate(TEXTS):
            by_hand = ByHand(lm, intervention, positions).logits(text, len(text))
            assert torch.allclose(logits[row, len(text) - 1], by_hand, atol=2e-3)


@pytest.mark.parametrize("family", ["qwen3", "gemma3"])
def test_a_head_has_its_own_width(family: str) -> None:
    """Trap: with grouped queries or a free head_dim, heads × head_dim is not hidden. A shift of one head
    moves that head's columns of the output projection's input, and no others."""
    lm = _lm(family)
    assert lm.anatomy.heads * lm.anatomy.head_dim() != lm.anatomy.hidden
    vector = _vector(lm.anatomy.head_dim())
    (edit,) = iti_intervention(lm, {(1, 2): vector}, 2.0, "all").edits
    states = []
    for some in (Intervention(), Intervention((edit,))):
        with torch.no_grad(), applied(lm.model, some), at_site(lm.anatomy, "heads") as state:
            lm.model(torch.tensor([TEXTS[0]]))
            states.append(state(1).unflatten(-1, (4, 16)).clone())
    moved = states[1] - states[0]
    assert torch.allclose(moved[..., 2, :], (2 * vector).expand(1, 8, 16), atol=1e-5)
    assert torch.equal(moved[..., [0, 1, 3], :], torch.zeros(1, 8, 3, 16))


def test_capture_sees_what_steering_did_in_either_order() -> None:
    """Trap: a capture installed before the steering hook reads the state as it was before."""
    lm = _lm("llama")
    vector = _vector(lm.anatomy.hidden)
    ids = torch.tensor([TEXTS[0]])
    with torch.no_grad():
        with residuals(lm.anatomy, [2]) as plain:
            lm.model(ids)
        with residuals(lm.anatomy, [2]) as before, applied(lm.model, caa_intervention(vector, 1)):
            lm.model(ids)
        with applied(lm.model, caa_intervention(vector, 1)), residuals(lm.anatomy, [2]) as after:
            lm.model(ids)
    assert torch.allclose(after[2][0, -1] - plain[2][0, -1], vector, atol=1e-5)
    assert torch.equal(before[2], after[2])


def _hooks(lm: CausalLM) -> int:
    return sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in lm.model.modules())


def test_nothing_stays_after_an_exception_or_a_failed_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trap: hooks that stay on the model when something fails in between."""
    monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path))
    lm = _lm("llama")
    ids = torch.tensor([TEXTS[0]])
    forward = lm.model.forward
    attention = lm.model.config._attn_implementation
    with torch.no_grad():
        plain = lm.model(ids).logits
    with pytest.raises(RuntimeError, match="in between"), applied(lm.model, _interventions(lm, "all")["iti"]):
        raise RuntimeError("in between")
    with monkeypatch.context() as patched, pytest.raises(ZeroDivisionError):
        patched.setattr(lm.anatomy.blocks[1], "forward", lambda *args, **kwargs: 1 / 0)
        CAA(layer=1, pairs=10).prepare(lm, Bench(digest="d"))
    assert _hooks(lm) == 0
    assert lm.model.forward == forward
    assert lm.model.config._attn_implementation == attention
    with torch.no_grad():
        assert torch.equal(lm.model(ids).logits, plain)


def test_contexts_nest_and_come_off_one_by_one() -> None:
    """Trap: leaving an inner context takes the outer one's hooks with it, or leaves its own."""
    lm = _lm("llama")
    ids = torch.tensor([TEXTS[0]])
    outer, inner = _interventions(lm, "last")["caa"], _interventions(lm, "last")["iti"]
    with torch.no_grad():
        plain = lm.model(ids).logits
        with applied(lm.model, outer):
            once = lm.model(ids).logits
            with applied(lm.model, inner):
                twice = lm.model(ids).logits
            assert torch.equal(lm.model(ids).logits, once)
        assert torch.equal(lm.model(ids).logits, plain)
    both = ByHand(lm, outer.and_then(inner), "last").logits(TEXTS[0], len(TEXTS[0]))
    assert torch.allclose(twice[0, -1], both, atol=1e-3)
    assert len({float(each[0, -1, 5]) for each in (plain, once, twice)}) == 3


@pytest.fixture()
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path))
    yield


@pytest.mark.usefixtures("_cache")
def test_a_technique_is_fitted_to_the_model_as_it_is_also_within_another() -> None:
    """Trap: fitting within another technique's context reads states that the other has steered."""
    lm = _lm("qwen3")
    bench = Bench(load_benchmark("facts").items[:40], digest="d", reuse=False)
    technique = CAA(layer=1, pairs=8)
    alone = technique.prepare(lm, bench).intervention.edits[0].shift
    assert alone is not None
    seen = []
    for positions in ("last", "all"):
        outer = _interventions(lm, positions)["sadi"]  # type: ignore[arg-type]
        with applied(lm.model, outer), technique.on(lm.model, lm.tokenizer, bench) as session:
            assert len(session.intervention.edits) == 3
            seen.append(session.intervention.edits[-1].shift)
    for shift in seen:
        assert shift is not None
        assert torch.equal(shift, alone)


@pytest.mark.usefixtures("_cache")
@pytest.mark.parametrize("technique", [CAA(pairs=8), SADI(pairs=8, site="neurons")], ids=["caa", "sadi"])
def test_a_technique_on_a_model_is_the_technique_in_the_engine(technique: CAA | SADI) -> None:
    """Trap: two code paths, two techniques. `generate` under `technique.on` gives the engine's tokens."""
    lm = _lm("llama")
    bench = Bench(load_benchmark("facts").items[:60], digest="d")
    ready = technique.prepare(lm, bench)
    with technique.on(lm.model, lm.tokenizer, bench):
        tokens, logits = _generated(lm, TEXTS)
        with torch.no_grad():
            forward = lm.model(torch.tensor([TEXTS[0]])).logits[0, -1]
    lm.tokenizer = _Numbers()
    requests = [
        Request(Prompt(text=" ".join(map(str, text))), Sampling(0.0, STEPS), (at,))
        for at, text in enumerate(TEXTS)
    ]
    first: dict[int, Tensor] = {}
    out = dict(
        generate(
            lm, requests, None, ready.intervention, lambda at, scores: first.update({at: scores.clone()})
        )
    )
    for at in range(len(TEXTS)):
        generation = out[at]
        assert isinstance(generation, Generation)
        assert list(generation.token_ids) == tokens[at][: len(generation.token_ids)]
        assert torch.allclose(first[at], logits[0, at], atol=1e-3)
    assert torch.allclose(first[0], forward, atol=1e-3)


def test_vectors_go_where_their_layer_computes_in_its_dtype() -> None:
    """Trap: vectors in float32 that turn a bfloat16 model's states into float32, or stay on another device.
    The fit's vector is float32; the state keeps its dtype, also where layers differ."""
    made = model(BLOCKS["llama"]).to(torch.bfloat16)
    lm = CausalLM(made, WordTokenizer())
    vector = _vector(lm.anatomy.hidden)
    with torch.no_grad(), applied(made, caa_intervention(vector, 1)), residuals(lm.anatomy, [2]) as found:
        made(torch.tensor([TEXTS[0]]))
        assert found[2].dtype is torch.bfloat16
    assert vector.dtype is torch.float32
    meta = Edit("residual", 1, shift=vector)
    from leadline.engine.edits import _Placed

    moved = _Placed(meta).applied(torch.zeros(1, 3, lm.anatomy.hidden, device="meta", dtype=torch.float16))
    assert (moved.device.type, moved.dtype) == ("meta", torch.float16)


@pytest.mark.model
def test_letters_of_a_fit_do_not_depend_on_the_batch(smollm2: LocalModel) -> None:
    """Trap: what is fitted depends on what else was read at the same time."""
    from leadline.techniques.contrast_pairs import contrast_pairs

    pairs = contrast_pairs(load_benchmark("facts").items, 0, 6).pairs
    together = pair_states(smollm2.lm, pairs)
    alone = pair_states(smollm2.lm, pairs[3:4])
    error = (together[3] - alone[0]).norm(dim=-1) / alone[0].norm(dim=-1)
    assert float(error.max()) < 1e-5
