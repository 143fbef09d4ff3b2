"""The needle test reads off right what heads attend to, and the heads that it finds are those that copy."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch", reason="local models need the 'local' extra")

from leadline.engine import Generation, Prompt, Request, Sampling  # noqa: E402
from leadline.engine.attention_weights import attended, with_weights  # noqa: E402
from leadline.engine.decode import generate  # noqa: E402
from leadline.engine.lm import CausalLM  # noqa: E402
from leadline.errors import UsageError  # noqa: E402
from leadline.techniques import retrieval_heads as module  # noqa: E402
from leadline.techniques.decore import DeCoRe, random_heads  # noqa: E402
from leadline.techniques.prepared import Bench  # noqa: E402
from leadline.techniques.retrieval_heads import (  # noqa: E402
    Needle,
    NeedleTest,
    RetrievalHeads,
    copied,
    needle_prompt,
    needle_span,
    needle_test,
    retrieval_heads,
    rouge1_recall,
)
from tests.engine import tiny  # noqa: E402

if TYPE_CHECKING:
    from leadline.models.local import LocalModel

PROMPT = tuple(3 + (11 * at) % 90 for at in range(40))
# Bloom and Mamba have attentions of other kinds.
FAMILIES = [*tiny.BLOCKS]


class WordTokenizer(tiny.NumberTokenizer):
    """Every word is a token, by its checksum."""

    def __call__(self, text: str, add_special_tokens: bool = True) -> SimpleNamespace:
        return SimpleNamespace(input_ids=[3 + zlib.crc32(word.encode()) % 90 for word in text.split()])


def _tiny(name: str = "llama", **changes: Any) -> CausalLM:
    return CausalLM(tiny.model(tiny.BLOCKS[name], **changes), WordTokenizer())


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    if "smollm2" not in request.fixturenames:  # the model itself lies in the user's cache
        monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path))


def _attended(lm: CausalLM, limit: int, ends: frozenset[int] = frozenset()) -> tuple[list[int], Any]:
    (found,) = attended(lm, [PROMPT], limit, ends)
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_tokens_are_greedy_and_positions_are_those_of_whole_attention(family: str) -> None:
    lm = _tiny(family)
    prompts = [PROMPT, PROMPT[::-1]]
    for prompt, (written, looked) in zip(prompts, attended(lm, prompts, 6, frozenset()), strict=True):
        ids = torch.tensor([[*prompt, *written]])
        with torch.no_grad(), with_weights(lm.model):
            out = lm.model(ids, output_attentions=True)
        first = len(prompt) - 1
        assert out.logits[0, first:-1].argmax(-1).tolist() == written
        assert looked.shape == (6, lm.layers, lm.anatomy.heads)
        for layer, weights in enumerate(out.attentions):
            assert looked[:, layer].T.tolist() == weights[0, :, first:-1].argmax(-1).tolist()


def test_the_prompt_is_computed_once_and_then_one_token_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    lm, fed = _tiny(), []
    forward = lm.model.forward

    def counted(*args: Any, **given: Any) -> Any:
        weights = bool(given.get("output_attentions"))
        fed.append((given["input_ids"].shape[1], weights, lm.model.config._attn_implementation))
        return forward(*args, **given)

    own = lm.model.config._attn_implementation
    assert own != "eager"
    monkeypatch.setattr(lm.model, "forward", counted)
    _attended(lm, 5)
    assert fed == [(len(PROMPT) - 1, False, own), *[(1, True, "eager")] * 5]


def test_the_models_own_attention_is_put_back_even_after_an_exception(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lm = _tiny()
    own = lm.model.config._attn_implementation
    _attended(lm, 2)
    assert lm.model.config._attn_implementation == own

    def broken(*args: Any) -> Any:
        assert lm.model.config._attn_implementation == "eager"
        raise RuntimeError("in the middle")

    monkeypatch.setattr("leadline.engine.plain.step_with_weights", broken)
    with pytest.raises(RuntimeError, match="in the middle"):
        _attended(lm, 2)
    assert lm.model.config._attn_implementation == own


def test_a_text_ends_with_its_last_token() -> None:
    lm = _tiny()
    prompts = [PROMPT, PROMPT[::-1]]  # one ends before the other
    whole = attended(lm, prompts, 6, frozenset())
    end = whole[0][0][2]
    for (written, _), (short, looked) in zip(whole, attended(lm, prompts, 6, frozenset({end})), strict=True):
        assert short == (written[: written.index(end) + 1] if end in written else written)
        assert len(looked) == len(short)
    assert whole[1][0][2] != end  # or both would end there


def test_layers_without_attention_weights_are_one_line() -> None:
    lm = CausalLM(tiny.model(tiny.PLAIN["lfm2"]), tiny.NumberTokenizer())
    with pytest.raises(UsageError, match=r"Lfm2ForCausalLM has layers without attention weights") as told:
        _attended(lm, 2)
    assert "\n" not in str(told.value)


def test_a_head_scores_where_it_looks_at_the_very_token_that_is_written() -> None:
    prompt = [10, 11, 12, 13, 14, 11]  # the needle is 11 12 13 14, positions 1 to 4
    written = [12, 13, 20, 12]
    looked = torch.tensor(
        [
            [[2, 2], [1, 0]],  # writes 12: heads 0.0 and 0.1 look at it in the needle
            [[3, 4], [0, 5]],  # writes 13: head 0.0 does
            [[3, 3], [1, 8]],  # writes 20, which is not there
            [[2, 6], [5, 2]],  # writes 12: heads 0.0 and 1.1; 0.1 looks at an answer token of the same kind
        ]
    )
    assert copied(prompt, 1, 5, written, looked).tolist() == [[0.75, 0.25], [0.0, 0.25]]
    # The same token outside the needle is no retrieval.
    elsewhere = torch.full((1, 1, 1), 5)
    assert copied(prompt, 1, 5, [11], elsewhere).tolist() == [[0.0]]


def test_the_needle_is_where_its_tokens_are_covered_best() -> None:
    prompt = [9, 4, 5, 6, 4, 5, 7, 8, 9]
    assert needle_span(prompt, [4, 5, 7]) == (4, 7)
    # Merged with its neighbour at the beginning, it still has its own length and place.
    assert needle_span([1, 2, 3, 40, 5, 6, 7, 1], [4, 5, 6, 7]) == (3, 7)
    # Of two ways to write it the one that is there.
    assert needle_span([1, 2, 14, 5, 6], [4, 5, 6], [14, 5, 6]) == (2, 5)


def test_recall_counts_words_as_often_as_they_stand_in_the_needle() -> None:
    assert rouge1_recall("The cat, the CAT!", "the cat sat on the mat") == pytest.approx(3 / 6)
    assert rouge1_recall("the the the the", "the cat sat on the mat") == pytest.approx(2 / 6)
    assert rouge1_recall("", "the cat") == 0


def test_ranking_is_by_score_and_equal_heads_come_from_the_bottom() -> None:
    found = RetrievalHeads(torch.tensor([[0.0, 0.5], [0.5, 0.9]]), 3, 2)
    assert found.ranked() == ((1, 1), (0, 1), (1, 0), (0, 0))
    assert found.table(2) == [
        {"rank": 1, "head": "1.1", "score": 0.9},
        {"rank": 2, "head": "0.1", "score": 0.5},
    ]


def test_the_packaged_texts_are_enough_for_the_default_lengths() -> None:
    test = NeedleTest()
    assert len(test.needles) >= 3
    assert sum(len(sentence.split()) for sentence in test.haystack) > max(test.lengths)
    words = {word for sentence in test.haystack for word in sentence.lower().split()}
    for needle in test.needles:  # the haystack must not hold what is asked for
        rare = {word.strip(".,").lower() for word in needle.needle.split() if word[0].isupper()} - {"the"}
        assert rare
        assert not rare & words


@pytest.mark.parametrize("depth", [0.0, 0.3, 1.0])
def test_a_prompt_is_as_long_as_asked_and_holds_the_needle_at_its_depth(depth: float) -> None:
    lm, test = _tiny(), NeedleTest()
    needle = test.needles[0]
    prompt = needle_prompt(lm, test, needle, 300, depth)
    assert 250 < len(prompt) <= 300
    begin, end = needle_span(prompt, lm.encode(needle.needle, False))
    assert prompt[begin:end] == lm.encode(needle.needle, False)
    assert begin / len(prompt) == pytest.approx(depth * (1 - 45 / 300), abs=0.1)


@pytest.mark.parametrize(
    ("test", "said"),
    [
        (NeedleTest(lengths=(40,)), "40 tokens has no room"),
        (NeedleTest(lengths=(400,), haystack=("One short sentence.",)), "longer than its haystack"),
        (NeedleTest(lengths=(600,)), "lengths that fit model"),
        (NeedleTest(depths=(), lengths=(200,)), "needs needles, depths and lengths"),
    ],
)
def test_tests_that_cannot_be_made_are_one_line(test: NeedleTest, said: str) -> None:
    with pytest.raises(UsageError, match=said) as told:
        needle_test(_tiny(), Bench(), test)
    assert "\n" not in str(told.value)


def test_a_model_that_repeats_no_needle_has_no_retrieval_heads() -> None:
    test = NeedleTest(lengths=(200,), answer_tokens=8)
    with pytest.raises(UsageError, match=r"in none of 9 runs .*heads=.*selection=random") as told:
        needle_test(_tiny(), Bench(), test)
    assert "\n" not in str(told.value)


def test_all_runs_count_if_asked_and_what_was_found_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    lm, said = _tiny(), []
    test = NeedleTest(lengths=(200, 300), depths=(0.5,), answer_tokens=12, count_all=True)
    found = needle_test(lm, Bench(say=said.append), test)
    assert (found.runs, found.counted) == (6, 6)
    assert found.scores.shape == (lm.layers, lm.anatomy.heads)
    assert Path(found.folder).is_dir()
    assert any("6 needles" in line for line in said)
    runs: list[int] = []
    real = attended

    def watched(lm: CausalLM, prompts: Any, *given: Any) -> Any:
        runs.extend([1] * len(prompts))
        return real(lm, prompts, *given)

    monkeypatch.setattr("leadline.engine.attention_weights.attended", watched)
    again = needle_test(lm, Bench(), test)
    assert torch.equal(again.scores, found.scores)
    assert retrieval_heads(lm, Bench(), test) == found.ranked()
    assert not runs  # from the cache
    needle_test(lm, Bench(reuse=False), test)
    assert len(runs) == 6
    needle_test(lm, Bench(), NeedleTest(lengths=(200,), depths=(0.5,), answer_tokens=12, count_all=True))
    assert len(runs) == 9  # another test is another artefact


def test_only_runs_that_repeat_the_needle_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each run copies with one head of its own; two of three needles are repeated."""
    lm = _tiny()
    needles = tuple(Needle(f"alpha{n} beta{n} gamma{n} delta{n}", f"what{n}") for n in range(3))
    test = NeedleTest(lengths=(120,), depths=(0.5,), needles=needles)
    texts = {0: "alpha0 beta0 gamma0", 1: "nothing", 2: "alpha2 beta2 gamma2 delta2"}
    asked = iter(range(3))
    current = {"run": 0}

    def fake(lm: CausalLM, prompts: list[list[int]], limit: int, ends: frozenset[int]) -> Any:
        (prompt,) = prompts
        run = current["run"] = next(asked)
        tokens = lm.encode(needles[run].needle, False)
        begin, _ = needle_span(prompt, tokens)
        looked = torch.zeros(4, lm.layers, lm.anatomy.heads, dtype=torch.long)
        looked[:, run, run] = torch.arange(begin, begin + 4)
        return [(tokens, looked)]

    monkeypatch.setattr("leadline.engine.attention_weights.attended", fake)
    monkeypatch.setattr(CausalLM, "decode", lambda lm, ids: texts[current["run"]])
    found = needle_test(lm, Bench(), test)
    assert (found.runs, found.counted) == (3, 2)
    expected = torch.zeros(3, 4)
    expected[0, 0] = expected[2, 2] = 0.5  # a mean over the two runs that count
    assert torch.equal(found.scores, expected)
    assert found.ranked()[:2] == ((0, 0), (2, 2))


@pytest.mark.model
def test_without_its_retrieval_heads_the_model_cannot_repeat_the_needle(
    smollm2: LocalModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The masked pass of DeCoRe alone (a constant alpha of −1), with the heads that were found and with as
    many drawn ones."""
    lm = smollm2.lm
    kept: dict[str, Any] = {}
    monkeypatch.setattr(
        module, "kept_or_made", lambda key, lm, bench, make: kept.setdefault("made", _Made(*make()))
    )
    test = NeedleTest(lengths=(256,), depths=(0.2, 0.8), answer_tokens=28)
    found = needle_test(lm, Bench(digest=smollm2.identity.digest), test)
    assert found.counted >= 5
    best = [f"{layer}.{head}" for layer, head in found.ranked()[:10]]
    assert found.table(1)[0]["score"] > 0.5  # the best head copies most of the needle
    # Few heads retrieve: most of the 270 hardly ever do.
    assert float((found.scores > 0.1).float().mean()) < 0.15
    drawn = [f"{layer}.{head}" for layer, head in random_heads(lm.anatomy, 10, 1)]

    def repeated(heads: Sequence[str]) -> float:
        requests = [
            Request(
                Prompt(text=lm.tokenizer.decode(needle_prompt(lm, test, needle, 256, 0.5))),
                Sampling(0.0, 28),
                (0, needle.needle),
            )
            for needle in test.needles
        ]
        technique = DeCoRe(heads=tuple(heads), alpha=-1.0, scope="everywhere")
        answers = dict(generate(lm, requests, None, technique.prepare(lm, Bench()).intervention))
        recalls = []
        for at, needle in enumerate(test.needles):
            answer = answers[at]
            assert isinstance(answer, Generation)
            recalls.append(rouge1_recall(answer.text, needle.needle))
        return sum(recalls) / len(recalls)

    assert repeated(drawn) - repeated(best) > 0.3


class _Made:
    def __init__(self, tensors: Any, about: Any) -> None:
        self.tensors, self.about = tensors, about
