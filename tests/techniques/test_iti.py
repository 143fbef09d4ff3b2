"""ITI gives the probes, heads, directions, deviations and scores of its reference implementation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="local models need the 'local' extra")
pytest.importorskip("sklearn", reason="probes need scikit-learn, of the 'local' extra")

from leadline.bench import Item, load_benchmark  # noqa: E402
from leadline.engine.lm import CausalLM  # noqa: E402
from leadline.engine.shallow import first_blocks  # noqa: E402
from leadline.errors import UsageError  # noqa: E402
from leadline.techniques.folds import fold_of  # noqa: E402
from leadline.techniques.iti import ITI, best_heads, fit_iti, head_states, iti_intervention  # noqa: E402
from leadline.techniques.prepared import Bench  # noqa: E402
from leadline.techniques.probes import fit_probes, spread_along  # noqa: E402
from leadline.techniques.spelling import technique_from  # noqa: E402
from leadline.techniques.statements import of_file, truths  # noqa: E402
from tests.engine.tiny import BLOCKS, model  # noqa: E402
from tests.techniques.steered import CLOSE, GOLDEN, TRUTHFUL, furthest, golden  # noqa: E402
from tests.techniques.words import WordTokenizer  # noqa: E402

if TYPE_CHECKING:
    from leadline.models.local import LocalModel

here = pytest.mark.skipif(not GOLDEN.is_dir(), reason="the reference runs (../shared/golden) are not here")
REFERENCE = golden("iti")
# Name of the reference configuration: α, positions.
CONFIGS = {
    "alpha15_last": (15.0, "last"),
    "alpha5_last": (5.0, "last"),
    "alpha15_decode_only": (15.0, "generated"),
    "alpha15_all_positions": (15.0, "all"),
}


@pytest.fixture(scope="module")
def tiny() -> CausalLM:
    return CausalLM(model(BLOCKS["qwen3"]), WordTokenizer())


@here
@pytest.mark.model
@pytest.mark.skipif(not TRUTHFUL.is_file(), reason="TruthfulQA.csv (../shared/data) is not here")
def test_the_fit_is_that_of_the_reference(smollm2: LocalModel) -> None:
    """Accuracies, heads, directions and deviations of the first 16 layers, from 1575 answers of TruthfulQA.

    Later layers only take longer. The whole model gives the same: all directions within 3.1e-6, deviations
    within 2.5e-6, and accuracies within one statement in all heads (265 of 270 equal).
    """
    lm = first_blocks(smollm2.lm, 16)
    rows = of_file(TRUTHFUL)
    every = [rows[at] for at in REFERENCE["csv_rows"]]
    sizes = REFERENCE["sizes"]
    assert len(truths(every)) == sizes["n_samples"]
    assert sum(truths(every)) == sizes["n_true"]
    trained = {*REFERENCE["train_idx"]}
    is_train = [at in trained for at, each in enumerate(every) for _ in each.answers]
    states = head_states(lm, [each.texts() for each in every])
    probes = fit_probes(states, truths(every), is_train)
    accuracy = torch.tensor(REFERENCE["probe_val_accuracy_30x9"])[:16]
    off = (probes.accuracy - accuracy).abs()
    assert float(off.max()) < 1.5 / sizes["n_val_samples"]  # one statement on the edge
    assert int((off > 1e-5).sum()) <= 5
    (chosen,) = (each for each in REFERENCE["chosen_heads"] if each["layer"] < 16)
    assert best_heads(probes.accuracy, 1) == [(chosen["layer"], chosen["head"])]
    expected = torch.from_numpy(np.load(GOLDEN / "iti_directions.npy"))[:16]
    true = torch.tensor(truths(every))
    found = states[true].mean(0) - states[~true].mean(0)
    assert float((found - expected).abs().max()) < 1e-5
    at = chosen["layer"], chosen["head"]
    unit = torch.nn.functional.normalize(expected[at], dim=0)
    assert torch.allclose(probes.direction[at], unit, atol=1e-5)
    assert float(probes.sigma[at]) == pytest.approx(chosen["sigma_probing_prompts_ddof1"], abs=1e-5)


@here
@pytest.mark.model
@pytest.mark.parametrize("name", CONFIGS)
def test_scores_are_those_of_the_reference(smollm2: LocalModel, name: str) -> None:
    config = REFERENCE["configs"][name]
    alpha, positions = CONFIGS[name]
    assert config["alpha"] == alpha
    directions = torch.from_numpy(np.load(GOLDEN / "iti_directions.npy"))
    vectors = {
        (each["layer"], each["head"]): each["sigma_end_q_ddof1"]
        * torch.nn.functional.normalize(directions[each["layer"], each["head"]], dim=0)
        for each in REFERENCE["chosen_heads"]
    }
    assert len(vectors) == 8
    intervention = iti_intervention(smollm2.lm, vectors, alpha, positions)  # type: ignore[arg-type]
    assert len(intervention.edits) == len({layer for layer, _ in vectors})  # one shift per layer
    # One configuration of each kind of position also under `generate`.
    assert furthest(smollm2.lm, intervention, config["results"], name != "alpha5_last") < CLOSE


def test_a_probe_finds_the_head_that_knows_and_both_directions_point_to_true() -> None:
    drawn = torch.Generator().manual_seed(5)
    true = [at % 2 == 0 for at in range(400)]
    train = [at < 320 for at in range(400)]
    states = torch.randn(400, 2, 3, 8, generator=drawn)
    axis = torch.nn.functional.normalize(torch.randn(8, generator=drawn), dim=0)
    states[:, 1, 2] += 3 * axis * torch.tensor(true)[:, None]
    for direction in ("com", "probe"):
        probes = fit_probes(states, true, train, direction)
        assert best_heads(probes.accuracy, 1) == [(1, 2)]
        assert float(probes.accuracy[1, 2]) > 0.85
        assert float(probes.direction[1, 2] @ axis) > 0.9
        assert torch.allclose(probes.direction.norm(dim=-1), torch.ones(2, 3))
        along = (states[:, 1, 2] @ probes.direction[1, 2]).numpy()
        assert float(probes.sigma[1, 2]) == pytest.approx(along.std(ddof=1), rel=1e-4)


def test_deviations_as_in_the_code_come_from_statements_with_another_question(tiny: CausalLM) -> None:
    bench = Bench(digest="d")
    data = ITI(questions=10)._data(bench, None)[0]
    every = [*data.train, *data.validation]
    follows = [each.question for each in reversed(every)]
    paper = fit_iti(tiny, data.train, data.validation, "com", "paper", 0)
    code = fit_iti(tiny, data.train, data.validation, "com", "code", 0, follows)
    assert torch.equal(paper.direction, code.direction)
    longer = head_states(
        tiny,
        [
            [f"Q: {each.question} A: {answer} Q: {follow}" for answer in each.answers]
            for each, follow in zip(every, follows, strict=True)
        ],
    )
    assert torch.allclose(code.sigma, spread_along(longer, code.direction))
    assert not torch.allclose(code.sigma, paper.sigma, rtol=0.05)


def test_texts_are_read_at_their_last_token_whatever_they_share(tiny: CausalLM) -> None:
    """Head outputs equal those of one text at a time, unpadded."""
    groups = [
        ["Q: Who? A: Ann", "Q: Who? A: Bob the builder of bridges", "Q: Who? A: Ann or Bob"],
        ["Q: Where is it? A: Rome"],
        ["one", "two"],
    ]
    found = head_states(tiny, groups)
    assert found.shape == (6, 3, 4, 16)
    seen: dict[int, torch.Tensor] = {}
    handles = [
        tiny.anatomy.output_projection(layer).register_forward_pre_hook(
            lambda module, inputs, layer=layer: seen.__setitem__(layer, inputs[0])
        )
        for layer in range(3)
    ]
    try:
        for at, text in enumerate(text for group in groups for text in group):
            with torch.no_grad():
                tiny.model(torch.tensor([tiny.encode(text, True)]))
            for layer in range(3):
                assert torch.allclose(found[at, layer].flatten(), seen[layer][0, -1], atol=1e-4)
    finally:
        for handle in handles:
            handle.remove()


def test_two_folds_share_no_question_and_each_serves_the_other(
    tiny: CausalLM, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path))
    bench = Bench(digest="d")
    technique = technique_from("iti:heads=3,questions=20,alpha=4,positions=all")
    ready = technique.prepare(tiny, bench)
    heads = ready.about["iti"]["heads"]
    assert [len(fold) for fold in heads] == [3, 3]
    for item in load_benchmark("facts").items:
        intervention = ready.for_item(item.id)
        layers = {edit.layer for edit in intervention.edits}
        other = heads[1 - fold_of(item.id, 0)]
        assert layers == {int(head.split(".")[0]) for head in other}
        assert {edit.positions for edit in intervention.edits} == {"all"}
    # Another α, or more heads, needs no other fit; 48 heads are more than there are.
    said: list[str] = []
    more = ITI(questions=20).prepare(tiny, Bench(digest="d", say=said.append))
    assert not said
    assert [len(fold) for fold in more.about["iti"]["heads"]] == [12, 12]
    # By question: no question of the training part is among those that heads are chosen by.
    for data in ITI(questions=20)._data(bench, None):
        assert not {each.question for each in data.train} & {each.question for each in data.validation}


HEADER = "Type,Question,Correct Answers,Incorrect Answers\n"


def test_a_file_as_truthfulqas_is_fitted_on_once_for_all(
    tiny: CausalLM, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "truthful.csv"
    lines = [f'x,"What is {n}, then?",Right {n}; Also right,Wrong {n}; ;Wrong\n' for n in range(12)]
    path.write_text("\ufeff" + HEADER + "".join(lines), encoding="utf-8")
    read = of_file(path)
    assert read[3].question == "What is 3, then?"
    assert read[3].answers == ("Right 3", "Also right", "Wrong 3", "Wrong")
    assert read[3].true == (True, True, False, False)
    technique = technique_from(f"iti:data={path},heads=2")
    ready = technique.prepare(tiny, Bench(digest="d"))
    assert not ready.by_item
    assert ready.about["iti"]["fitted_on"]["name"] == "truthful.csv"
    assert len(ready.about["iti"]["heads"]) == 1
    # What counts is what is in the file, not where it lies.
    moved = tmp_path / "moved.csv"
    path.rename(moved)
    assert technique_from(f"iti:data={moved},heads=2").settings() == {
        **technique.model_copy(update={"data": str(moved)}).settings()
    }
    assert len(list((tmp_path / "cache" / "artefacts").iterdir())) == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a,b\n1,2\n", r"bad.csv:1: has no column 'Question'"),
        ("Question,Correct Answers\n1,2\n", r"bad.csv:1: has no column 'Incorrect Answers'"),
        ("", r"bad.csv:1: has no column 'Question'"),
        (HEADER + "x,Who?,A,B\nx,,A,B\n", r"bad.csv:3: there is no question here"),
        (HEADER + "x,Who?,A,B\nx,What?\n", r"bad.csv:3: there are no answers here"),
        (HEADER + 'x,"Who?,A,B\n', r"bad.csv:2: not CSV: unexpected end of data"),
        (HEADER + "x,Who?,A,B\n", r"bad.csv: too few questions to fit on"),
        (HEADER + "x,Who?,A,\nx,What?,B,\nx,Why?,C,\n", r"bad.csv: too few questions"),
        (None, r"bad.csv: there is no such file"),
    ],
)
def test_a_bad_file_is_one_line_with_its_place(
    tiny: CausalLM, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None, said: str
) -> None:
    monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "bad.csv"
    if content is not None:
        path.write_text(content)
    with pytest.raises(UsageError, match=said) as error:
        ITI(data=str(path)).prepare(tiny, Bench(digest="d"))
    assert "\n" not in str(error.value)


def test_bytes_that_are_no_text_and_a_folder_are_one_line(tiny: CausalLM, tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(b"Question\xff\n")
    with pytest.raises(UsageError, match="is not UTF-8 text"):
        of_file(path)
    with pytest.raises(UsageError, match="cannot be read: Is a directory"):
        of_file(tmp_path)


def test_a_head_that_is_not_there_is_one_line(tiny: CausalLM) -> None:
    with pytest.raises(UsageError, match=r"there is no head 4 .*heads 0 to 3"):
        iti_intervention(tiny, {(0, 4): torch.ones(16)})
    with pytest.raises(UsageError, match="layer 3 is not in this model"):
        iti_intervention(tiny, {(3, 0): torch.ones(16)})


def test_too_few_items_are_one_line(tiny: CausalLM) -> None:
    items = [Item(id=f"{n}", question="Q?", answer=f"{n}", task="t") for n in range(8)]
    with pytest.raises(UsageError, match=r"^iti: \d of \d items in one half"):
        ITI().prepare(tiny, Bench(items, digest="d"))
