"""Mean-centring and PCA: what their formulas say, on states that can be checked by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="local models need the 'local' extra")

from leadline.bench import Item, load_benchmark  # noqa: E402
from leadline.engine.lm import CausalLM  # noqa: E402
from leadline.errors import UsageError  # noqa: E402
from leadline.techniques.caa import CAA  # noqa: E402
from leadline.techniques.contrast_pairs import ContrastPair, contrast_pairs  # noqa: E402
from leadline.techniques.mean_centring import MeanCentring  # noqa: E402
from leadline.techniques.pca_direction import PCADirection, principal_directions  # noqa: E402
from leadline.techniques.prepared import Bench  # noqa: E402
from leadline.techniques.residual_directions import ResidualDirection, pair_states  # noqa: E402
from leadline.techniques.spelling import technique_from  # noqa: E402
from tests.engine.tiny import BLOCKS, PLAIN, model  # noqa: E402
from tests.techniques.words import WordTokenizer  # noqa: E402

FACTS = load_benchmark("facts").items


@pytest.fixture(scope="module")
def tiny() -> CausalLM:
    return CausalLM(model(BLOCKS["qwen3"]), WordTokenizer())


def _hidden_states(lm: CausalLM, text: str) -> list[torch.Tensor]:
    """Outputs of all blocks but the last (whose `hidden_states` entry is normed): `[tokens, hidden]` each."""
    with torch.no_grad():
        ids = torch.tensor([lm.encode(text, True)])
        return [state[0] for state in lm.model(ids, output_hidden_states=True).hidden_states[1:-1]]


def test_mean_centring_is_the_mean_of_true_statements_less_that_of_all_positions(tiny: CausalLM) -> None:
    pairs = contrast_pairs(FACTS, 0, 7).pairs
    found = MeanCentring().directions(tiny, pairs)
    assert found.shape == (3, 48)
    read = [_hidden_states(tiny, f"Q: {pair.item.question} A: {pair.item.answer}") for pair in pairs]
    for layer in range(2):
        target = torch.stack([states[layer][-1] for states in read]).mean(0)
        ordinary = torch.stack([states[layer][1:].mean(0) for states in read]).mean(0)
        assert torch.allclose(found[layer], target - ordinary, atol=1e-5)


def test_pca_finds_the_axis_of_the_differences_its_sign_and_their_size() -> None:
    axis = torch.nn.functional.normalize(torch.tensor([1.0, -2.0, 0.5, 0.0]), dim=0)
    noise = torch.randn(60, 1, 4, generator=torch.Generator().manual_seed(1)) * 0.05
    sizes = 2 + torch.rand(60, 1, 1, generator=torch.Generator().manual_seed(2))
    for sign in (1, -1):
        found = principal_directions(sign * sizes * axis + noise)
        assert float(torch.nn.functional.cosine_similarity(found[0], sign * axis, dim=0)) > 0.999
        assert float(found[0].norm()) == pytest.approx(float(sizes.mean()), rel=0.02)


def test_pca_is_not_the_mean_where_spread_and_mean_differ() -> None:
    """Differences that mostly spread along one axis, both ways, and lean a little along another."""
    first = torch.tensor([[5.0, 0.1, 0.0], [-5.0, 0.1, 0.0], [5.5, 0.1, 0.0], [-5.0, 0.1, 0.0]])[:, None]
    found = principal_directions(first)[0]
    assert abs(float(found[1])) < 0.02
    assert float(first.mean(0)[0, 1]) == pytest.approx(0.1)


def test_caa_and_pca_read_the_letter(tiny: CausalLM) -> None:
    from leadline.techniques.contrast_pairs import texts

    pairs = contrast_pairs(FACTS, 0, 6).pairs
    states = pair_states(tiny, pairs)
    for at, pair in enumerate(pairs):
        for way, text in enumerate(texts(pair, tiny)):
            expected = [state[-2] for state in _hidden_states(tiny, text)]  # ")" comes last
            for layer in range(2):
                assert torch.allclose(states[at, way, layer], expected[layer], atol=1e-4)
    mean = (states[:, 0] - states[:, 1]).mean(0)
    assert torch.equal(CAA().directions(tiny, pairs), mean)
    pca = PCADirection().directions(tiny, pairs)
    unit = torch.nn.functional.normalize(pca, dim=-1)
    assert torch.allclose(pca, (mean * unit).sum(-1, keepdim=True) * unit, atol=1e-5)
    assert bool(((mean * pca).sum(-1) > 0).all())


@pytest.mark.parametrize("kind", [CAA, MeanCentring, PCADirection])
@pytest.mark.parametrize("family", ["gpt-neox", "phi3", "gemma3", "lfm2"])
def test_every_variant_fits_every_family(
    kind: type[ResidualDirection], family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path))
    lm = CausalLM(model((BLOCKS | PLAIN)[family]), WordTokenizer())
    ready = kind(pairs=10).prepare(lm, Bench(digest="d"))
    about = ready.about[kind.name]
    assert [0 <= layer < lm.layers for layer in about["layers"]] == [True, True]
    (edit,) = ready.intervention.edits
    assert edit.site == "residual"
    assert edit.shift is not None
    assert edit.shift.shape == (lm.anatomy.hidden,)
    assert 0 < float(edit.shift.norm()) < float("inf")


def test_a_given_layer_and_multiplier_are_taken(
    tiny: CausalLM, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path))
    bench = Bench(digest="d")
    shifts = []
    for text in ("caa:layer=1,multiplier=-4,pairs=10,positions=all", "caa:layer=1,pairs=10"):
        technique = technique_from(text)
        (edit,) = technique.prepare(tiny, bench).intervention.edits
        assert edit.layer == 1
        shifts.append(edit.shift)
    assert torch.allclose(shifts[0], -4 * shifts[1])
    assert len(list((tmp_path / "artefacts").iterdir())) == 1  # one fit serves both
    with pytest.raises(UsageError, match=r"layer 9 is not in this model .*0 to 2"):
        technique_from("pca:layer=9").prepare(tiny, bench)


def test_items_that_no_question_prompt_fits_are_said_to_be_too_long(
    tiny: CausalLM, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path))
    window = "word " * 600  # the tiny models read 512 tokens
    items = [Item(id=f"{n}", question=f"Q{n}?", answer=f"{n}", task="t", window=window) for n in range(40)]
    with pytest.raises(UsageError, match="no question of the benchmark fits"):
        CAA(pairs=10).prepare(tiny, Bench(items, digest="d"))


def test_a_pair_says_which_answer_is_right() -> None:
    item = Item(id="1", question="Who?", answer="Ann", task="t")
    assert ContrastPair(item, "Bob", True).question == "Who?\n\nChoices:\n (A) Ann\n (B) Bob"
    assert ContrastPair(item, "Bob", True).answers == ("(A)", "(B)")
    assert ContrastPair(item, "Bob", False).question == "Who?\n\nChoices:\n (A) Bob\n (B) Ann"
    assert ContrastPair(item, "Bob", False).answers == ("(B)", "(A)")
