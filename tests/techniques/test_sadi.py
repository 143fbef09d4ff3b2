"""SADI: which elements are scaled, by how much, and on what that was decided."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="local models need the 'local' extra")

from leadline.bench import load_benchmark  # noqa: E402
from leadline.engine.capture import at_site  # noqa: E402
from leadline.engine.edits import edited  # noqa: E402
from leadline.engine.lm import CausalLM  # noqa: E402
from leadline.errors import UsageError  # noqa: E402
from leadline.techniques.folds import fold_of  # noqa: E402
from leadline.techniques.prepared import Bench  # noqa: E402
from leadline.techniques.residual_directions import first_token_probabilities  # noqa: E402
from leadline.techniques.sadi import SADI, Site, sadi_intervention, top_masks  # noqa: E402
from leadline.techniques.spelling import technique_from  # noqa: E402
from tests.engine.tiny import BLOCKS, model  # noqa: E402
from tests.techniques.words import WordTokenizer  # noqa: E402

SITES: tuple[Site, ...] = ("heads", "hidden", "neurons")


@pytest.fixture(scope="module")
def tiny() -> CausalLM:
    return CausalLM(model(BLOCKS["qwen3"]), WordTokenizer())


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path))


def test_the_mask_is_the_largest_differences_over_all_layers_whatever_their_sign() -> None:
    difference = torch.tensor([[0.1, -5.0, 0.2, 0.0], [3.0, 0.3, -0.4, 4.0]])
    masks = top_masks(difference, 3)
    assert {layer: mask.tolist() for layer, mask in masks.items()} == {0: [0, 1, 0, 0], 1: [1, 0, 0, 1]}
    assert set(top_masks(difference, 1)) == {0}


def test_a_head_is_taken_whole_and_by_its_mean_difference() -> None:
    """The largest single number is in a head whose numbers cancel."""
    difference = torch.tensor([[9.0, -9.0, 1.0, 1.0], [0.5, 0.5, -2.0, -1.0]])
    masks = top_masks(difference, 2, unit=2)
    assert {layer: mask.tolist() for layer, mask in masks.items()} == {0: [0, 0, 1, 1], 1: [0, 0, 1, 1]}
    with pytest.raises(UsageError, match=r"there are no 5 elements .*the model has 4"):
        top_masks(difference, 5, unit=2)


@pytest.mark.parametrize("site", SITES)
def test_masked_elements_are_multiplied_by_one_and_delta_and_others_stay(tiny: CausalLM, site: Site) -> None:
    """The input decides what is added: A′ = A + δ (A ⊙ M), here in the first layer that is changed."""
    width = {"heads": 64, "hidden": 48, "neurons": 64}[site]
    mask = torch.zeros(width)
    mask[[1, 5, 40]] = 1
    edits = sadi_intervention({1: mask}, 2.5, site, "all").edits
    ids = torch.tensor([[5, 17, 9, 33, 12]])
    place = "residual" if site == "hidden" else site
    states = []
    for some in ((), edits):
        with torch.no_grad(), edited(tiny.anatomy, some), at_site(tiny.anatomy, place) as state:
            tiny.model(ids)
            states.append(state(1).clone())
    assert torch.allclose(states[1], states[0] * (1 + 2.5 * mask), atol=1e-5)
    assert not torch.allclose(states[1], states[0], atol=1e-2)


@pytest.mark.parametrize("site", SITES)
def test_strength_and_number_are_chosen_on_the_same_fold_and_serve_the_other(
    tiny: CausalLM, site: Site
) -> None:
    bench = Bench(digest="d")
    ready = SADI(site=site, pairs=10).prepare(tiny, bench)
    about = ready.about["sadi"]
    for fold, chosen in zip(about["folds"], about["chosen"], strict=True):
        best = max(fold["development"], key=lambda each: each["delta_p"])
        assert (best["elements"], best["delta"]) == (chosen["elements"], chosen["delta"])
        assert len(fold["development"]) >= 8
    for item in load_benchmark("facts").items[:40]:
        chosen = about["chosen"][1 - fold_of(item.id, 0)]
        edits = ready.for_item(item.id).edits
        assert [edit.layer for edit in edits] == chosen["layers"]
        scales = torch.cat([edit.scale for edit in edits if edit.scale is not None])
        unit = tiny.anatomy.head_dim() if site == "heads" else 1
        assert int((scales != 0).sum()) == chosen["elements"] * unit
        assert set(scales[scales != 0].tolist()) == {chosen["delta"]}
    # The numbers that it was chosen by are those that its own intervention gives.
    from leadline.techniques.folds import two_folds

    technique = SADI(site=site, pairs=10)
    fold = two_folds(bench.fit_items, 0, 10, "sadi")[0]
    items = [pair.item for pair in fold.choose]
    likely = first_token_probabilities(tiny, bench, items, [(), ready.intervention.edits], technique)
    gain = float((likely[:, 1] - likely[:, 0]).mean())
    best = max(each["delta_p"] for each in about["folds"][0]["development"])
    assert gain == pytest.approx(best, rel=1e-3, abs=1e-7)


def test_what_is_given_is_not_chosen(tiny: CausalLM) -> None:
    ready = technique_from("sadi:elements=3,delta=-0.5,pairs=10,positions=generated").prepare(
        tiny, Bench(digest="d")
    )
    about = ready.about["sadi"]
    assert [(each["elements"], each["delta"]) for each in about["chosen"]] == [(3, -0.5)] * 2
    assert "development" not in about["folds"][0]
    assert {edit.positions for edit in ready.intervention.edits} == {"generated"}
    half = technique_from("sadi:elements=3,pairs=10").prepare(tiny, Bench(digest="d"))
    assert {each["elements"] for each in half.about["sadi"]["folds"][0]["development"]} == {3}
    assert len(half.about["sadi"]["folds"][0]["development"]) > 1
