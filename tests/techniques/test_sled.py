"""SLED against a slow transcription of its formulas, one row, one layer, one token at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch", reason="local models need the 'local' extra")

from torch import Tensor  # noqa: E402

from leadline.engine import Prompt, Request, Sampling  # noqa: E402
from leadline.engine.decode import generate  # noqa: E402
from leadline.engine.decoding import Seen  # noqa: E402
from leadline.engine.lm import CausalLM  # noqa: E402
from leadline.errors import UsageError  # noqa: E402
from leadline.techniques.prepared import Bench  # noqa: E402
from leadline.techniques.sled import SLED, LogitsEvolution, alignment  # noqa: E402
from tests.engine import tiny  # noqa: E402

if TYPE_CHECKING:
    from leadline.models.local import LocalModel


def _cosine(early: Tensor, final: Tensor, token: int) -> float:
    """cos(ℓ_n − ℓ_N, softmax(ℓ_n) − e_i), the vectors written out. All in float64; only 1 − p_i is taken from
    the other tokens, or a sure layer would give a difference of exactly zero."""
    early, final = early.double(), final.double()
    gradient = early.softmax(-1)
    gradient[token] = 0
    gradient[token] = -gradient.sum()
    moved = early - final
    return float(gradient @ moved / (gradient.norm() * moved.norm()))


def _evolved(earlies: list[Tensor], final: Tensor, rate: float, scale: int, steps: int = 1) -> Tensor:
    """Algorithm 1 for one row: `[vocabulary]`."""
    final = final.double()
    likeliest = final.argsort(descending=True)[:scale].tolist()
    m = [[max(_cosine(early, final, token), 0.0) ** 2 for token in likeliest] for early in earlies]
    everything = sum(map(sum, m))
    latent = torch.zeros_like(final)
    for layer in m:
        if sum(layer) == 0:
            continue
        for token, value in zip(likeliest, layer, strict=True):
            latent[token] += sum(layer) / everything * (value / sum(layer))
    for step in range(steps):
        final = final - rate * (1 - step / steps) * (final.softmax(-1) - latent)
    out = torch.full_like(final, -torch.inf)
    out[likeliest] = final[likeliest]
    return out


class _Given:
    """An anatomy whose "states" are logits already."""

    logits = staticmethod(lambda states: states)
    normed = staticmethod(lambda states: states / 3)


def _seen(rows: int, layers: int, spread: float, seed: int = 0) -> Seen:
    generator = torch.Generator().manual_seed(seed)
    final = torch.randn(rows, 200, generator=generator) * 3
    early = {n: torch.randn(rows, 200, generator=generator) * spread for n in range(layers)}
    return Seen(_Given(), final, early)  # type: ignore[arg-type]


@pytest.mark.parametrize("spread", [0.5, 3.0, 60.0])
@pytest.mark.parametrize(("scale", "steps", "rate"), [(10, 1, 2.0), (3, 10, 1.5), (1, 1, 0.5), (500, 1, 2.0)])
def test_scores_are_those_of_the_formula(spread: float, scale: int, steps: int, rate: float) -> None:
    seen = _seen(6, 4, spread)
    decoding = LogitsEvolution(places=(0, 1, 2, 3), rate=rate, scale=scale, steps=steps)
    found = decoding.scores(seen).values
    for row in range(6):
        earlies = [seen.residuals[n][row] for n in range(4)]
        expected = _evolved(earlies, seen.logits[row], rate, scale, steps)
        assert found[row].isfinite().sum() == min(scale, 200)
        torch.testing.assert_close(found[row].double(), expected, atol=1e-4, rtol=1e-5)


def test_a_layer_that_is_sure_of_a_token_still_points_somewhere() -> None:
    early, final = torch.randn(1, 50, generator=torch.Generator().manual_seed(1)), torch.zeros(1, 50)
    early[0, 7] = 120.0
    final[0, 7] = 200.0  # the later layers want it more still
    assert float(early.softmax(-1)[0, 7]) == 1.0  # so softmax − e is zero in float32
    found = alignment(early, final, torch.tensor([[7, 3]]))[0].tolist()
    assert found == pytest.approx([_cosine(early[0], final[0], token) for token in (7, 3)], abs=1e-5)
    assert found[0] > 0.5


def test_a_layer_without_agreement_has_no_say() -> None:
    seen = _seen(3, 2, 3.0)
    seen.residuals[2] = seen.logits.clone()  # has not moved: every cosine is 0
    with_it = LogitsEvolution(places=(0, 1, 2), rate=2.0, scale=10).scores(seen).values
    without = LogitsEvolution(places=(0, 1), rate=2.0, scale=10).scores(seen).values
    assert torch.equal(with_it, without)
    # If no layer has one, only softmax(ℓ_N) is subtracted.
    alone = LogitsEvolution(places=(2,), rate=2.0, scale=10).scores(seen).values
    kept = alone.isfinite()
    assert torch.allclose(alone[kept], (seen.logits - 2 * seen.logits.softmax(-1))[kept])


def test_the_layer_that_counts_most_is_told() -> None:
    seen = _seen(5, 4, 3.0)
    told = LogitsEvolution(places=(0, 1, 2, 3), rate=2.0, scale=10).scores(seen).details["layer"]
    for row in range(5):
        likeliest = seen.logits[row].topk(10).indices.tolist()
        shares = [
            sum(
                max(_cosine(seen.residuals[n][row], seen.logits[row], token), 0.0) ** 2 for token in likeliest
            )
            for n in range(4)
        ]
        assert told[row] == shares.index(max(shares))


def test_a_row_alone_is_the_row_in_a_batch() -> None:
    seen = _seen(32, 3, 3.0)
    decoding = LogitsEvolution(places=(0, 1, 2), rate=2.0, scale=10)
    together = decoding.scores(seen)
    for row in range(32):
        part = slice(row, row + 1)
        one = Seen(seen.anatomy, seen.logits[part], {n: each[part] for n, each in seen.residuals.items()})
        alone = decoding.scores(one)
        assert torch.allclose(alone.values[0], together.values[row], atol=1e-5)
        assert alone.details["layer"] == together.details["layer"][part]


@pytest.mark.parametrize("layers", ["3", "0,7", ""])
def test_layers_that_are_not_there_are_one_line(layers: str) -> None:
    lm = CausalLM(tiny.model(tiny.BLOCKS["llama"]), tiny.NumberTokenizer())
    with pytest.raises(
        UsageError, match=r"^sled: layers .*no early layers.*0 \(the embeddings\) to 2"
    ) as told:
        SLED(layers=layers).prepare(lm, Bench())
    assert "\n" not in str(told.value)


def test_all_layers_are_the_default_and_lists_are_read() -> None:
    lm = CausalLM(tiny.model(tiny.BLOCKS["llama"]), tiny.NumberTokenizer())
    for given, places in ((None, (0, 1, 2)), ("0,2", (0, 2)), ("low", (0,)), ("high", (1,))):
        technique = SLED() if given is None else SLED(layers=given)  # type: ignore[arg-type]
        decoding = technique.prepare(lm, Bench()).intervention.decoding
        assert decoding is not None
        assert decoding.places == places


@pytest.mark.model
@pytest.mark.parametrize("lens", ["raw", "normed"])
def test_on_the_real_model_scores_are_those_of_the_formula(smollm2: LocalModel, lens: Any) -> None:
    lm = smollm2.lm
    texts = ["Q: What is the capital of France?\nA:", "The largest planet of the solar system is", "2 + 2 ="]
    technique = SLED(lens=lens, evolution_scale=10)
    requests = [Request(Prompt(text=text), Sampling(0.0, 3), (0, text)) for text in texts]
    first: dict[int, Tensor] = {}
    together = dict(
        generate(
            lm,
            requests,
            None,
            technique.prepare(lm, Bench()).intervention,
            lambda at, scores: first.update({at: scores.clone()}),
        )
    )
    head = lm.model.get_output_embeddings()
    for at, text in enumerate(texts):
        ids = torch.tensor([lm.encode(text, True)])
        with torch.no_grad():
            out = lm.model(ids, output_hidden_states=True)
            states = torch.stack([layer[0, -1] for layer in out.hidden_states[:-1]])
            earlies = head(lm.model.model.norm(states) if lens == "normed" else states)
        expected = _evolved(list(earlies), out.logits[0, -1], 2.0, 10)
        torch.testing.assert_close(first[at].double(), expected, atol=2e-3, rtol=1e-4)
        # The same row alone, and on the ordinary model.
        alone = dict(generate(lm, [requests[at]], None, technique.prepare(lm, Bench()).intervention))[0]
        assert alone.token_ids == together[at].token_ids
        assert alone.details == together[at].details
        with technique.on(lm.model, lm.tokenizer):
            found = lm.model.generate(ids, do_sample=False, max_new_tokens=3, pad_token_id=0)
        assert tuple(found[0, ids.shape[1] :].tolist()) == together[at].token_ids
