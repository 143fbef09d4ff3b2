"""CAA gives the vectors and the scores of its reference implementation, and fits on two folds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="local models need the 'local' extra")

from leadline.bench import Item  # noqa: E402
from leadline.engine.forks import states_at  # noqa: E402
from leadline.techniques.caa import CAA, caa_intervention  # noqa: E402
from leadline.techniques.contrast_pairs import ContrastPair, letter_tokens, texts  # noqa: E402
from tests.techniques.steered import CLOSE, GOLDEN, furthest, golden  # noqa: E402

if TYPE_CHECKING:
    from leadline.models.local import LocalModel

pytestmark = pytest.mark.model
here = pytest.mark.skipif(not GOLDEN.is_dir(), reason="the reference runs (../shared/golden) are not here")
REFERENCE = golden("caa")
# Name of the reference configuration: multiplier, positions.
CONFIGS = {
    "from_last_prompt_token": (1.0, "last"),
    "from_last_prompt_token_x4": (4.0, "last"),
    "from_last_prompt_token_x-4": (-4.0, "last"),
    "strictly_after_template": (1.0, "generated"),
    "all_positions": (1.0, "all"),
}


def _pair(each: dict[str, Any]) -> ContrastPair:
    """A pair of the reference as one of ours."""
    question, choices = each["user_content"].split("\n\nChoices:\n")
    a, b = (line.strip()[4:] for line in choices.split("\n"))
    is_a = each["positive"] == "(A)"
    item = Item(id=str(each["id"]), question=question, answer=a if is_a else b)
    return ContrastPair(item, b if is_a else a, is_a)


@here
def test_pairs_are_written_as_in_the_reference(smollm2: LocalModel) -> None:
    assert len(REFERENCE["pairs"]) == 40
    for each in REFERENCE["pairs"]:
        assert texts(_pair(each), smollm2.lm) == (each["positive_text"], each["negative_text"])
        (tokens,) = letter_tokens([_pair(each)], smollm2.lm)
        assert tokens.right == each["positive_ids_tail"][1]
        assert tokens.wrong == each["negative_ids_tail"][1]


@here
def test_vectors_are_those_of_the_reference(smollm2: LocalModel) -> None:
    expected = torch.from_numpy(np.load(GOLDEN / "caa_vectors.npy"))
    found = CAA().directions(smollm2.lm, [_pair(each) for each in REFERENCE["pairs"]])
    assert found.shape == expected.shape
    norm = expected.norm(dim=-1)
    assert norm.tolist() == pytest.approx(REFERENCE["norms_by_layer"], rel=1e-5)
    assert float(((found - expected).norm(dim=-1) / norm).max()) < 1e-4


@here
@pytest.mark.parametrize("name", CONFIGS)
def test_scores_are_those_of_the_reference(smollm2: LocalModel, name: str) -> None:
    config = REFERENCE["configs"][name]
    multiplier, positions = CONFIGS[name]
    assert (config["multiplier"], config["layer"]) == (multiplier, 12)
    vector = torch.from_numpy(np.load(GOLDEN / "caa_vectors.npy"))[12]
    intervention = caa_intervention(vector, 12, multiplier, positions)  # type: ignore[arg-type]
    # One configuration of each kind of position also under `generate`.
    ordinary = name in ("from_last_prompt_token_x4", "strictly_after_template", "all_positions")
    assert furthest(smollm2.lm, intervention, config["results"], ordinary) < CLOSE
    if name == "from_last_prompt_token_x-4":  # the references tell one strength from another
        other = caa_intervention(vector, 12, 4.0)
        with pytest.raises(AssertionError):
            assert furthest(smollm2.lm, other, config["results"], ordinary=False) < CLOSE


def test_the_letter_is_read_after_the_prompt_in_any_company(smollm2: LocalModel) -> None:
    """States of a pair do not depend on the other pairs, and are those of the model on the whole text."""
    items = [
        Item(id=f"{n}", question="Which metal is liquid? " * n, answer="Mercury", aliases=("quicksilver",))
        for n in (1, 2, 5)
    ]
    tokens = letter_tokens([ContrastPair(item, "Iron", True) for item in items], smollm2.lm)
    prompts, nexts = [each.prompt for each in tokens], [(each.right, each.wrong) for each in tokens]
    found = states_at(smollm2.lm, prompts, nexts, "residual")
    with torch.no_grad():
        for at, (prompt, pair) in enumerate(zip(prompts, nexts, strict=True)):
            for way, token in enumerate(pair):
                out = smollm2.lm.model(torch.tensor([[*prompt, token]]), output_hidden_states=True)
                expected = torch.stack([state[0, -1] for state in out.hidden_states[1:-1]])
                error = (found[at, way, :-1] - expected).norm(dim=-1) / expected.norm(dim=-1)
                assert float(error.max()) < 1e-4


def test_it_is_fitted_on_one_fold_and_steers_the_other(
    smollm2: LocalModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from leadline.techniques.folds import fold_of, two_folds
    from leadline.techniques.prepared import Bench

    monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path))
    said: list[str] = []
    bench = Bench(digest="d", say=said.append)
    technique = CAA(pairs=10)
    ready = technique.prepare(smollm2.lm, bench)
    about = ready.about["caa"]
    folds = two_folds(bench.fit_items, 0, 10, "caa")
    assert {fold["fitted_on"] for fold in about["folds"]} == {8}
    assert {fold["chosen_with"] for fold in about["folds"]} == {2}
    for item in bench.fit_items:
        other = 1 - fold_of(item.id, 0)
        (edit,) = ready.for_item(item.id).edits
        assert edit.layer == about["folds"][other]["layer"]
        (first,) = ready.for_item(next(each for each in folds[1 - other].ids)).edits
        assert edit is first
    one, two = (ready.for_item(fold.ids[0]).edits[0].shift for fold in folds)
    assert one is not None
    assert two is not None
    assert not torch.equal(one, two)
    for number in (0, 1):  # the layer is the one whose Δp is largest
        gains = about["folds"][number]["delta_p"]
        assert len(gains) == smollm2.lm.layers
        assert gains[about["folds"][number]["layer"]] == max(gains)
    # What is in the cache is used again, and means the same.
    count = len(said)
    again = CAA(pairs=10).prepare(smollm2.lm, bench)
    assert len(said) == count
    shift = again.for_item(folds[0].ids[0]).edits[0].shift
    assert shift is not None
    assert torch.equal(shift, one)


def test_delta_p_is_the_change_that_steering_makes(smollm2: LocalModel) -> None:
    """The batched choice of a layer sees what answering under the steered model sees."""
    from leadline.engine import Generation, Prompt, Request, Sampling
    from leadline.engine.decode import generate
    from leadline.engine.edits import Edit
    from leadline.engine.forks import answer_probabilities
    from leadline.engine.intervention import Intervention

    lm = smollm2.lm
    asked = ["Q: What is the capital of France?\nA:", "Q: Who wrote the play Hamlet?\nA:"]
    gold = ["Paris", "William Shakespeare"]
    vectors = 20 * torch.nn.functional.normalize(
        torch.randn(2, 576, generator=torch.Generator().manual_seed(3)), dim=-1
    )
    variants = [(), (Edit("residual", 4, vectors[0]),), (Edit("residual", 29, vectors[1]),)]
    prompts = [tuple(lm.encode(text, True)) for text in asked]
    tokens = [lm.first_token(text, answer) for text, answer in zip(asked, gold, strict=True)]
    found = answer_probabilities(lm, prompts, tokens, variants)
    for way, edits in enumerate(variants):
        requests = [
            Request(Prompt(text=text), Sampling(0.0, 1), (text,), (answer,))
            for text, answer in zip(asked, gold, strict=True)
        ]
        for at, generation in generate(lm, requests, None, Intervention(tuple(edits))):
            assert isinstance(generation, Generation)
            likely = float(np.exp(generation.probes[0].logprob))
            assert float(found[at, way]) == pytest.approx(likely, rel=1e-3)
    assert len({round(float(each), 6) for each in found[0]}) == 3
