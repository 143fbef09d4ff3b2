"""Being told of a text as it comes: what is told is the answer, in any company, and can be cut short."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

torch = pytest.importorskip("torch", reason="local models need the 'local' extra")

from leadline.engine import Generation, Prompt, Request, Sampling, TokenLogprob  # noqa: E402
from leadline.engine.decode import generate  # noqa: E402
from leadline.engine.lm import CausalLM  # noqa: E402
from leadline.engine.plan import Limits  # noqa: E402
from tests.engine import tiny  # noqa: E402
from tests.engine.prompts import prompts  # noqa: E402
from tests.engine.watching import Watch  # noqa: E402

if TYPE_CHECKING:
    from leadline.models.local import LocalModel


class Told:
    """Listens; cancels request i when it has been told `after[i]` times."""

    def __init__(self, after: dict[int, int] | None = None) -> None:
        self.after = after or {}
        self.texts: dict[int, list[str]] = {}
        self.logprobs: dict[int, list[TokenLogprob]] = {}

    def __call__(self, at: int, text: str, logprobs: tuple[TokenLogprob, ...]) -> bool | None:
        self.texts.setdefault(at, []).append(text)
        self.logprobs.setdefault(at, []).extend(logprobs)
        return False if len(self.texts[at]) == self.after.get(at) else None


def _run(
    lm: CausalLM, requests: Sequence[Request], told: Told | None = None, limits: Limits | None = None
) -> list[Generation]:
    found: dict[int, Generation] = {}
    for at, generation in generate(lm, requests, limits, on_text=told):
        assert isinstance(generation, Generation)
        assert at not in found
        found[at] = generation
    return [found[at] for at in range(len(requests))]


# --- a tiny model, whose text is its token ids --------------------------------------------------------------


@pytest.fixture(scope="module", params=["llama", "mamba"])
def lm(request: pytest.FixtureRequest) -> CausalLM:
    return CausalLM(tiny.model({**tiny.BLOCKS, **tiny.PLAIN}[request.param]), tiny.NumberTokenizer())


def _numbers(seed: int, **sampling: object) -> Request:
    text = " ".join(map(str, random.Random(seed).choices(range(3, tiny.VOCABULARY), k=5 + seed)))
    given = {"temperature": 1.0, "max_tokens": 20, "logprobs": 2} | sampling
    return Request(Prompt(text=text), Sampling(**given), (0, f"{seed}"))  # type: ignore[arg-type]


def test_a_cancelled_request_ends_there_and_the_others_go_on(lm: CausalLM) -> None:
    requests = [_numbers(seed % 3, max_tokens=12) for seed in range(12)]
    requests = [replace(request, key=(at,)) for at, request in enumerate(requests)]
    if not lm.in_blocks:  # their log-probabilities may differ by rounding, in another company
        requests = [replace(each, sampling=replace(each.sampling, logprobs=None)) for each in requests]
    whole = _run(lm, requests)
    told = Told({at: 1 + at % 4 for at in range(0, 12, 2)})
    for at, found in enumerate(_run(lm, requests, told)):
        if at % 2 or len(whole[at].token_ids) <= told.after[at]:
            assert found == whole[at]
            assert "".join(told.texts[at]) == found.text
            assert tuple(told.logprobs[at]) == found.logprobs
        else:
            count = told.after[at]
            assert (found.finish, found.token_ids) == ("cancelled", whole[at].token_ids[:count])
            assert "".join(told.texts[at]) == found.text == lm.decode(list(found.token_ids))
            assert found.logprobs == whole[at].logprobs[:count]
            assert len(told.texts[at]) == count  # nobody is told after that


def test_cancelled_rows_are_not_computed_on(lm: CausalLM, monkeypatch: pytest.MonkeyPatch) -> None:
    """39 of 40 rows are cancelled at their second token: from the third on the model sees few rows."""
    sizes: list[int] = []
    from leadline.engine.lanes import Lanes

    step = Lanes.step

    def counted(lanes: Lanes, tokens: torch.Tensor) -> object:  # type: ignore[name-defined]
        sizes.append(len(tokens))
        return step(lanes, tokens)

    monkeypatch.setattr(Lanes, "step", counted)
    requests = [replace(_numbers(3, max_tokens=12), key=(at,)) for at in range(40)]
    _run(lm, requests, Told(dict.fromkeys(range(39), 2)))
    assert sizes[0] > 10  # those that chose the same first token are one
    assert max(sizes[1:], default=0) <= 3
    sizes.clear()
    _run(lm, requests, Told(dict.fromkeys(range(40), 1)))
    assert sizes == []


def test_equal_greedy_requests_are_computed_once_and_told_each(lm: CausalLM) -> None:
    """One of them hangs up; the others are answered as if it had not been there."""
    request = _numbers(4, temperature=0.0)
    (alone,) = _run(lm, [request])
    told = Told({1: 3})
    found = _run(lm, [replace(request, key=(at,)) for at in range(3)], told)
    assert found[0] == found[2] == alone
    assert told.texts[0] == told.texts[2]
    assert "".join(told.texts[0]) == alone.text
    assert (found[1].finish, found[1].token_ids) == ("cancelled", alone.token_ids[:3])
    assert "".join(told.texts[1]) == found[1].text
    everyone = Told({0: 2, 1: 2, 2: 5})
    last = _run(lm, [replace(request, key=(at,)) for at in range(3)], everyone)[2]
    assert last.token_ids == alone.token_ids[:5]


def test_log_probabilities_are_those_of_the_scores_that_were_shown(
    lm: CausalLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At temperature 1, whatever the temperature and `top_p`; with a repetition penalty, after it."""
    requests = [
        _numbers(1, temperature=0.0, logprobs=0),
        _numbers(2, temperature=1.4, logprobs=5, top_p=0.5),
        _numbers(3, temperature=0.7, logprobs=500),
        _numbers(4, temperature=0.0, logprobs=3, repetition_penalty=1.5),
        _numbers(5, logprobs=None),
    ]
    scores: dict[int, torch.Tensor] = {}  # type: ignore[name-defined]
    found = [
        generation
        for _, generation in sorted(
            generate(lm, requests, watch=lambda at, first: scores.setdefault(at, first.clone()))
        )
    ]
    assert isinstance(found[4], Generation)
    assert found[4].logprobs == ()
    for at, generation in enumerate(found[:4]):
        assert isinstance(generation, Generation)
        assert [each.token for each in generation.logprobs] == list(generation.token_ids)
        expected = scores[at].double().log_softmax(-1)
        first = generation.logprobs[0]
        assert first.logprob == pytest.approx(float(expected[first.token]), abs=1e-5)
        count = min(requests[at].sampling.logprobs or 0, tiny.VOCABULARY)
        best = expected.topk(count)
        assert [piece for piece, _, _ in first.top] == [f" {token}" for token in best.indices.tolist()]
        assert [value for _, _, value in first.top] == pytest.approx(best.values.tolist(), abs=1e-5)
        for each in generation.logprobs:
            assert len(each.top) == count
            # A token has one log-probability, in the list of the likeliest too, to the last bit.
            assert all(value == each.logprob for piece, _, value in each.top if piece == f" {each.token}")
        if requests[at].sampling.temperature == 0 and count:
            assert all(each.logprob == each.top[0][2] for each in generation.logprobs)


def test_a_nucleus_is_drawn_from_and_the_full_distribution_stays_as_it_was(lm: CausalLM) -> None:
    asked = [replace(_numbers(6, logprobs=tiny.VOCABULARY), key=(at,)) for at in range(40)]
    narrow = [replace(each, sampling=replace(each.sampling, top_p=0.3)) for each in asked]
    outside = 0
    for generation in _run(lm, narrow):
        for each in generation.logprobs:
            above = sum(2.718281828459045**value for _, _, value in each.top if value > each.logprob)
            assert above < 0.3
    for generation in _run(lm, asked):
        outside += sum(
            sum(2.718281828459045**value for _, _, value in each.top if value > each.logprob) >= 0.3
            for each in generation.logprobs
        )
    assert outside > 100
    plain = [replace(each, sampling=replace(each.sampling, logprobs=None)) for each in asked]
    assert [each.text for each in _run(lm, plain)] == [each.text for each in _run(lm, asked)]


# --- the real model -----------------------------------------------------------------------------------------


def _asked() -> list[Request]:
    """Few-shot and chat prompts, and texts of which characters are cut by tokens; greedy, drawn, from a
    nucleus; stop strings that come, that nearly come, and none."""
    texts = [
        *prompts(1, "chat"),
        Prompt(text="Emoji: 😀 😂 🎉 😎 日本語 é — 😀 😂 🎉 😎 日本語 é — 😀 😂"),
        Prompt(text="The capital of Peru is"),
        Prompt(text="List:\n\n1. one\n\n2. two\n\n"),
    ]
    ways: list[tuple[float, float, tuple[str, ...], int | None]] = [
        (0.0, 1.0, (), 0),
        (0.0, 1.0, ("\n\n", ". ", "the end of it all"), 4),
        (1.3, 1.0, (), 2),
        (1.3, 0.8, ("\n\n", "\n3"), None),
    ]
    return [
        Request(prompt, Sampling(temperature, 16, stop, top_p=top_p, logprobs=top), (at, n))
        for at, prompt in enumerate(texts)
        for n, (temperature, top_p, stop, top) in enumerate(ways)
    ]


@pytest.fixture(scope="module")
def untold(smollm2: LocalModel) -> list[Generation]:
    return _run(smollm2.lm, _asked(), limits=Limits(max_rows=64))


@pytest.mark.model
def test_what_is_told_is_the_answer(smollm2: LocalModel, untold: list[Generation]) -> None:
    told = Told()
    assert list(smollm2_told(smollm2, told)) == untold
    for at, (request, found) in enumerate(zip(_asked(), untold, strict=True)):
        assert "".join(told.texts[at]) == found.text
        assert tuple(told.logprobs[at]) == found.logprobs
        assert len(told.texts[at]) == len(found.token_ids)  # at every token, so that it can be cancelled
        shown = ""
        for text in told.texts[at]:
            shown += text
            assert not any(stop in shown.lstrip() for stop in request.sampling.stop)
    # The trial is a fair one: some were cut, and some characters took several tokens.
    cut = [found for found in untold if found.finish == "stop"]
    assert len(cut) >= 4
    assert any(not each.piece and each.bytes for found in untold for each in found.logprobs)


def smollm2_told(smollm2: LocalModel, told: Told) -> list[Generation]:
    """The same requests through the model that a server has."""
    found = dict(smollm2.generate(_asked(), on_text=told))
    return [each for at in range(len(found)) if isinstance(each := found[at], Generation)]


@pytest.mark.model
def test_pieces_and_bytes_are_the_text(smollm2: LocalModel, untold: list[Generation]) -> None:
    for request, found in zip(_asked(), untold, strict=True):
        if request.sampling.logprobs is None:
            continue
        assert "".join(each.piece for each in found.logprobs) == found.text
        assert [each.token for each in found.logprobs] == list(found.token_ids)
        whole = b"".join(each.bytes for each in found.logprobs).decode("utf-8", "replace")
        assert whole.startswith(found.text) if request.sampling.stop else whole == found.text
        for each in found.logprobs:
            assert each.logprob <= 0
            assert list(each.top) == sorted(each.top, key=lambda entry: -entry[2])
            assert len(each.top) == request.sampling.logprobs


@pytest.mark.model
def test_nothing_of_it_depends_on_the_batch(smollm2: LocalModel, untold: list[Generation]) -> None:
    """Bit for bit, log-probabilities and alternatives too."""
    requests = _asked()
    order = random.Random(5).sample(range(len(requests)), len(requests))
    told = Told()
    found = _run(smollm2.lm, [requests[at] for at in order], told, Limits(max_rows=5))
    for at, each in zip(order, found, strict=True):
        assert each == untold[at]


@pytest.mark.model
def test_the_answers_are_those_without_log_probabilities(
    smollm2: LocalModel, untold: list[Generation], monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = [replace(each, sampling=replace(each.sampling, logprobs=None)) for each in _asked()]
    watch = Watch(monkeypatch)
    for request, mine, theirs in zip(requests, _run(smollm2.lm, requests), untold, strict=True):
        assert mine == replace(theirs, logprobs=())
        shown = watch.logits(request.key, len(theirs.token_ids)).double().log_softmax(-1)
        for at, each in enumerate(theirs.logprobs):
            assert each.logprob == pytest.approx(float(shown[at, each.token]), abs=1e-5)
