"""Decoding techniques give the numbers of their reference implementations (`../shared/golden`): in the
engine's own loop, and on an ordinary model under `technique.on`, all prompts in one left-padded batch."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch", reason="local models need the 'local' extra")

from torch import Tensor  # noqa: E402

from leadline.engine import Generation, Prompt, Request, Sampling  # noqa: E402
from leadline.engine.decode import generate  # noqa: E402
from leadline.engine.intervention import NOTHING  # noqa: E402
from leadline.engine.session import applied  # noqa: E402
from leadline.engine.shallow import first_blocks  # noqa: E402
from leadline.techniques.activation_decoding import ActivationDecoding, sharpness  # noqa: E402
from leadline.techniques.contrastive_decoding import ContrastiveDecoding  # noqa: E402
from leadline.techniques.decore import DeCoRe  # noqa: E402
from leadline.techniques.dola import DoLa, _distances  # noqa: E402
from leadline.techniques.prepared import Bench  # noqa: E402
from leadline.techniques.technique import Technique  # noqa: E402

if TYPE_CHECKING:
    from leadline.engine.lm import CausalLM
    from leadline.models.local import LocalModel

GOLDEN = Path(__file__).parents[3] / "shared" / "golden"
pytestmark = [
    pytest.mark.model,
    pytest.mark.skipif(not GOLDEN.is_dir(), reason="the reference runs (../shared/golden) are not here"),
]
TOKENS = 16
Result = dict[str, Any]


def _golden(name: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((GOLDEN / f"{name}.json").read_text()) if GOLDEN.is_dir() else {}
    return read


PROMPTS = {each["id"]: each for each in _golden("prompts").get("prompts", ())}
DOLA, SHARP, DECORE, CONTRASTIVE, BASELINE = map(
    _golden, ("dola", "activation_decoding", "decore", "contrastive_decoding", "baseline")
)
HEADS = tuple(f"{layer}.{head}" for layer, head in DECORE.get("heads", ()))


# Greedy steps along which both divergences are computed for every layer.
STEPS = 6


@dataclass(frozen=True)
class Ran:
    """What one prompt gave: scores of the first token `[vocabulary]`, greedy tokens, decisions by step."""

    first: Tensor
    tokens: list[int]
    details: dict[str, list[Any]]


def _tokens(results: Sequence[Result]) -> int:
    """How many are to be written: the references of some configurations have a first position alone."""
    return TOKENS if "greedy_ids" in results[0] else 1


Way = Callable[["CausalLM", Technique | None, Sequence[Result], float], list[Ran]]


def _in_the_engine(
    lm: CausalLM, technique: Technique | None, results: Sequence[Result], penalty: float
) -> list[Ran]:
    intervention = technique.prepare(lm, Bench()).intervention if technique else NOTHING
    requests = [
        Request(
            Prompt(text=PROMPTS[r["id"]]["prompt"]),
            Sampling(0.0, _tokens(results), (), penalty),
            (0, r["id"]),
        )
        for r in results
    ]
    first: dict[int, Tensor] = {}

    def watch(at: int, scores: Tensor) -> None:
        first[at] = scores.clone()

    found = dict(generate(lm, requests, None, intervention, watch))
    ran = []
    for at, r in enumerate(results):
        generation = found[at]
        assert isinstance(generation, Generation)
        assert generation.prompt_tokens == PROMPTS[r["id"]]["n_tokens"]
        ran.append(Ran(first[at], list(generation.token_ids), generation.details))
    return ran


def _on_the_ordinary_model(
    lm: CausalLM, technique: Technique | None, results: Sequence[Result], penalty: float
) -> list[Ran]:
    prompts = [PROMPTS[r["id"]]["input_ids"] for r in results]
    width = max(map(len, prompts))
    ids = torch.tensor([[2] * (width - len(prompt)) + prompt for prompt in prompts])
    mask = torch.tensor([[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in prompts])
    context = technique.on(lm.model, lm.tokenizer) if technique else applied(lm.model, NOTHING)
    with context as session, session.recording() as steps:
        out = lm.model.generate(
            ids,
            attention_mask=mask,
            do_sample=False,
            max_new_tokens=_tokens(results),
            pad_token_id=2,
            repetition_penalty=penalty,
            output_scores=True,
            return_dict_in_generate=True,
        )
    ran = []
    for row, written in enumerate(out.sequences[:, width:].tolist()):
        end = written.index(2) + 1 if 2 in written else len(written)
        details: dict[str, list[Any]] = {}
        for step in steps[:end]:
            for name, entries in step.items():
                details.setdefault(name, []).append(entries[row])
        ran.append(Ran(out.scores[0][row], written[:end], details))
    return ran


WAYS = pytest.mark.parametrize("way", [_in_the_engine, _on_the_ordinary_model], ids=["engine", "ordinary"])


def _agree(ran: Sequence[Ran], results: Sequence[Result], tolerance: float) -> float:
    """Scores of the listed tokens are the reference's, no other token has one where the list is short, and
    greedy tokens differ only where the reference's own margin is within the tolerance."""
    worst = 0.0
    assert len(ran) == len(results) >= 8
    for mine, r in zip(ran, results, strict=True):
        for token, value, *_ in r["top20"]:
            worst = max(worst, abs(float(mine.first[token]) - value))
        if len(r["top20"]) < 20:
            assert int(mine.first.isfinite().sum()) == r["n_finite_step1"] == len(r["top20"])
        theirs = r.get("greedy_ids")
        if theirs is not None and mine.tokens != theirs:
            pairs = zip(mine.tokens, theirs, strict=False)
            at = next(i for i, (a, b) in enumerate(pairs) if a != b)
            assert float(r["step_margins"][at]) < tolerance, (r["id"], at, mine.tokens, theirs)
    assert worst < tolerance
    return worst


@WAYS
def test_baseline(smollm2: LocalModel, way: Way) -> None:
    results = BASELINE["results"]
    ran = way(smollm2.lm, None, results, 1.0)
    _agree([Ran(mine.first.log_softmax(-1), mine.tokens, {}) for mine in ran], results, 2e-3)


@WAYS
@pytest.mark.parametrize("name", sorted(DOLA.get("configs", ())))
def test_dola(smollm2: LocalModel, way: Way, name: str) -> None:
    config = DOLA["configs"][name]
    technique = DoLa(layers=tuple(config["candidate_premature_layers"]), relative_top=config["relative_top"])
    ran = way(smollm2.lm, technique, config["results"], config["repetition_penalty"])
    _agree(ran, config["results"], 5e-3)
    for mine, r in zip(ran, config["results"], strict=True):
        steps = len(r["premature_layers"])
        sure = [at for at in range(steps) if r["layer_choice_margin"][at] > 5e-3]
        assert len(sure) > steps / 2
        layers = mine.details["layer"]
        assert [layers[at] for at in sure] == [r["premature_layers"][at] for at in sure]


@pytest.mark.parametrize("bucket", ["low", "high"])
def test_dola_knows_the_buckets_by_name(smollm2: LocalModel, bucket: str) -> None:
    name = {"low": "low_hf_2-14", "high": "high_hf_odd_15-29"}[bucket]
    technique = DoLa(layers=bucket)  # type: ignore[arg-type]
    decoding = technique.prepare(smollm2.lm, Bench()).intervention.decoding
    assert decoding is not None
    assert list(decoding.places) == DOLA["configs"][name]["candidate_premature_layers"]


@pytest.mark.parametrize("name", sorted(DOLA.get("configs", ())))
def test_dola_divergences_and_the_layer_of_the_true_one(smollm2: LocalModel, name: str) -> None:
    """Along the reference's own text: both divergences of all layers, and what the true one would pick. Its
    values lie within 1e-7 of each other where early layers are sure, so picks count where they are apart."""
    config = DOLA["configs"][name]
    places = tuple(config["candidate_premature_layers"])
    technique = DoLa(layers=places, divergence="jensen-shannon")
    lm, checked = smollm2.lm, 0
    head = lm.model.get_output_embeddings()
    for r in config["results"]:
        prompt = PROMPTS[r["id"]]["input_ids"]
        kept = min(STEPS, len(r["greedy_ids"]))  # positions that predict an answer token
        ids = torch.tensor([[*prompt, *r["greedy_ids"][: kept - 1]]])
        first = len(prompt) - 1
        with torch.no_grad(), technique.on(lm.model, lm.tokenizer) as session, session.recording() as steps:
            lm.model(ids, logits_to_keep=kept)
        picked = steps[0]["layer"]
        with torch.no_grad():
            out = lm.model(ids, output_hidden_states=True)
            mature = out.logits[0, first:].log_softmax(-1)
            early = torch.stack([head(out.hidden_states[place][0, first:]) for place in places])
        true = _distances(mature, early, "jensen-shannon")
        reverse = _distances(mature[:1], early[:, :1], "reversed")
        assert true[:, 0].tolist() == pytest.approx(list(r["true_js_step1"].values()), abs=1e-6)
        assert reverse[:, 0].tolist() == pytest.approx(list(r["divergence_step1"].values()), abs=5e-3)
        best = true.topk(2, 0).values
        apart = (best[0] - best[1] > 1e-7).tolist()
        for at, theirs in enumerate(r["layer_true_js_would_pick"][:kept]):
            if apart[at]:
                assert picked[at] == theirs
                checked += 1
    assert checked >= 2


@WAYS
@pytest.mark.parametrize("name", sorted(SHARP.get("configs", ())))
def test_activation_decoding(smollm2: LocalModel, way: Way, name: str) -> None:
    config = SHARP["configs"][name]
    technique = ActivationDecoding(alpha=config["alpha"], relative_top=config["relative_top"])
    decoding = technique.prepare(smollm2.lm, Bench()).intervention.decoding
    assert decoding is not None
    assert decoding.context == config["info_layer"]
    ran = way(smollm2.lm, technique, config["results"], config["repetition_penalty"])
    _agree(ran, config["results"], 1e-3)
    for mine, r in zip(ran, config["results"], strict=True):
        for step, expected in enumerate(r.get("entropy_at_generated", ())):
            entropy = mine.details["entropy"][step]
            assert entropy == pytest.approx(expected, abs=1e-3)


def test_activation_decoding_entropies(smollm2: LocalModel) -> None:
    lm = smollm2.lm
    for at, r in enumerate(SHARP["configs"]["alpha0.5"]["results"]):
        with torch.no_grad():
            out = lm.model(torch.tensor([PROMPTS[r["id"]]["input_ids"]]), output_hidden_states=True)
        states = out.hidden_states[24][0]
        tokens = torch.tensor([token for token, *_ in r["entropy_top10"]])
        with torch.no_grad():
            found = sharpness(lm.anatomy, states, tokens)
            assert found.tolist() == pytest.approx([each[2] for each in r["entropy_top10"]], abs=1e-3)
            if at < 2:  # the whole vocabulary
                every = sharpness(lm.anatomy, states, torch.arange(lm.vocabulary))
                assert float(every.mean()) == pytest.approx(r["entropy_all_mean"], abs=1e-4)
                assert float(every.max()) == pytest.approx(r["entropy_all_max"], abs=1e-3)


_DECORE: dict[str, dict[str, Any]] = {
    "entropy_alpha": {},
    "entropy_alpha_scaled": {"scale_alpha": True},
    "entropy_alpha_cap2": {"alpha_cap": 2.0},
    "static_alpha_0.5": {"alpha": 0.5},
    "full_sequence_masking_first_position": {"scope": "everywhere"},
    "zeroed_head_output_first_position": {"mask": "zero-output"},
}


def test_every_configuration_of_decore_is_tested() -> None:
    assert set(_DECORE) == set(DECORE["configs"])


@WAYS
@pytest.mark.parametrize("name", sorted(_DECORE))
def test_decore(smollm2: LocalModel, way: Way, name: str) -> None:
    results = DECORE["configs"][name]["results"]
    ran = way(smollm2.lm, DeCoRe(heads=HEADS, **_DECORE[name]), results, 1.0)
    _agree(ran, results, 1e-2)
    for mine, r in zip(ran, results, strict=True):
        expected = [r["alpha"]] if "alpha" in r else r["alphas"] or []
        same = mine.tokens == r.get("greedy_ids")
        alphas = mine.details.get("alpha", [])[: None if same else 1]
        assert alphas == pytest.approx(expected[: len(alphas)], abs=2e-3)
        if "top20_log_softmax" in r:
            finished = mine.first.log_softmax(-1)
            values = [float(finished[token]) for token, *_ in r["top20_log_softmax"]]
            assert values == pytest.approx([value for _, value, *_ in r["top20_log_softmax"]], abs=1e-2)


@WAYS
@pytest.mark.parametrize(
    ("name", "field", "alpha"),
    [
        ("entropy_alpha", "base_top20", 0.0),
        ("entropy_alpha", "masked_top20", -1.0),
        ("full_sequence_masking_first_position", "masked_top20", -1.0),
        ("zeroed_head_output_first_position", "masked_top20", -1.0),
    ],
)
def test_the_two_passes_of_decore(smollm2: LocalModel, way: Way, name: str, field: str, alpha: float) -> None:
    """A constant alpha of 0 leaves the model's own log-probabilities, one of −1 those of the masked pass."""
    results = [{"id": r["id"], "top20": r[field]} for r in DECORE["configs"][name]["results"]]
    _agree(way(smollm2.lm, DeCoRe(heads=HEADS, alpha=alpha, **_DECORE[name]), results, 1.0), results, 2e-3)


@WAYS
def test_contrastive_decoding(smollm2: LocalModel, way: Way) -> None:
    results = CONTRASTIVE["results"]
    technique = ContrastiveDecoding(beta=CONTRASTIVE["alpha"], relative_top=0)
    _agree(way(smollm2.lm, technique, results, 1.0), results, 1e-2)


@WAYS
def test_the_amateur_of_contrastive_decoding(smollm2: LocalModel, way: Way) -> None:
    results = [{"id": r["id"], "top20": r["amateur_top20"]} for r in CONTRASTIVE["results"]]
    ran = way(first_blocks(smollm2.lm, 15), None, results, 1.0)
    _agree([Ran(mine.first.log_softmax(-1), mine.tokens, {}) for mine in ran], results, 2e-3)
