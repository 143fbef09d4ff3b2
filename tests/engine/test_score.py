"""How likely given texts are: as `transformers` has it, as the engine itself had it, and in any company."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

torch = pytest.importorskip("torch", reason="local models need the 'local' extra")

from leadline.engine import Generation, Prompt, Request, Sampling, TokenLogprob  # noqa: E402
from leadline.engine.edits import Edit  # noqa: E402
from leadline.engine.intervention import Intervention  # noqa: E402
from leadline.engine.lm import CausalLM  # noqa: E402
from leadline.engine.score import score  # noqa: E402
from leadline.engine.session import applied  # noqa: E402
from leadline.errors import UsageError  # noqa: E402
from tests.engine import tiny  # noqa: E402
from tests.engine.prompts import prompts  # noqa: E402

if TYPE_CHECKING:
    from leadline.models.local import LocalModel

ALL = {**tiny.BLOCKS, **tiny.PLAIN}


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """These products are too small to be shared out."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def _texts() -> list[tuple[int, ...]]:
    """Of one token, shorter and longer than a block and a window, two of a length, and one twice."""
    drawn = [
        tuple(random.Random(seed).choices(range(3, tiny.VOCABULARY), k=count))
        for seed, count in enumerate([1, 2, 9, 25, 25, 64, 65, 130])
    ]
    return [*drawn, drawn[3]]


def _lm(family: str) -> CausalLM:
    return CausalLM(tiny.model(ALL[family]), tiny.NumberTokenizer())


def _values(found: tuple[TokenLogprob | None, ...]) -> list[float]:
    assert found[0] is None
    return [each.logprob for each in found[1:] if each is not None]


@pytest.mark.parametrize("family", ALL)
def test_log_probabilities_are_those_of_transformers(family: str) -> None:
    lm = _lm(family)
    for text, found in zip(_texts(), score(lm, _texts(), top=3), strict=True):
        with torch.no_grad():
            expected = lm.model(torch.tensor([text])).logits[0, :-1].double().log_softmax(-1)
        own = expected.gather(1, torch.tensor(text[1:], dtype=torch.long)[:, None])[:, 0]
        assert _values(found) == pytest.approx(own.tolist(), abs=1e-4)
        best = expected.topk(3).values.tolist()
        for each, token, top in zip(found[1:], text[1:], best, strict=True):
            assert each is not None
            assert (each.token, each.piece, each.bytes) == (token, f" {token}", f" {token}".encode())
            assert [value for _, _, value in each.top] == pytest.approx(top, abs=1e-4)


@pytest.mark.parametrize("family", ["llama", "gemma3", "gpt2"])
def test_what_a_text_gives_does_not_depend_on_the_others(family: str) -> None:
    lm = _lm(family)
    texts = _texts()
    together = score(lm, texts, top=2)
    assert together[3] == together[-1]
    for at, text in enumerate(texts):
        assert score(lm, [text], top=2) == [together[at]]
    assert score(lm, texts[::-1], top=2) == together[::-1]


def test_a_technique_acts_from_the_last_prompt_token_on() -> None:
    lm = _lm("llama")
    (text,) = _texts()[3:4]
    shift = 3 * torch.randn(48, generator=torch.Generator().manual_seed(1))
    steered = Intervention((Edit("residual", 1, shift),))
    plain, whole = (_values(each) for each in (score(lm, [text])[0], score(lm, [text], steered)[0]))
    (found,) = score(lm, [text], steered, [10])
    assert _values(found)[:9] == plain[:9]
    assert abs(_values(found)[9] - plain[9]) > 1e-3
    assert abs(whole[0] - plain[0]) > 1e-3  # where nothing is said, all but the first token is an answer
    with applied(lm.model, steered) as session, session.scoring([10]), torch.no_grad():
        logits = lm.model(torch.tensor([text])).logits[0, :-1].log_softmax(-1)
    expected = logits.gather(1, torch.tensor(text[1:])[:, None])[:, 0].tolist()
    assert _values(found) == pytest.approx(expected, abs=1e-4)


def test_what_cannot_be_scored_is_said() -> None:
    lm = _lm("gpt2")
    with pytest.raises(UsageError, match="a text of 0 tokens"):
        score(lm, [(5, 6), ()])
    with pytest.raises(UsageError, match="a text of 513 tokens"):
        score(lm, [(5,) * 513])
    assert len(score(lm, [(5,) * 512])[0]) == 512
    for end in (0, 3):
        with pytest.raises(UsageError, match=f"{end} of 2 tokens cannot be the prompt"):
            score(lm, [(5, 6)], prompts=[end])
    with pytest.raises(UsageError, match="1 ends of prompts"):
        score(lm, [(5, 6), (7, 8)], prompts=[1])
    with applied(lm.model, Intervention()), pytest.raises(UsageError, match="under a technique already"):
        score(lm, [(5, 6)])
    assert score(lm, []) == []


def test_a_head_that_scales_in_a_way_of_its_own_is_refused() -> None:
    """A wrong number without a word would be worse."""
    lm = _lm("llama")
    forward = lm.model.forward

    def scaled(*args: object, **kwargs: object) -> object:
        out = forward(*args, **kwargs)
        out.logits = out.logits * 0.7
        return out

    lm.model.forward = scaled
    with pytest.raises(UsageError, match="LlamaForCausalLM: what it does to its logits"):
        score(lm, [(5, 6, 7)])


@pytest.mark.model
def test_the_real_model_finds_its_own_words_as_likely_as_when_it_wrote_them(smollm2: LocalModel) -> None:
    lm = smollm2.lm
    asked = [*prompts(2, "few-shot"), *prompts(2, "chat"), Prompt(text="Emoji: 😀 日本語 é — 😀 日本")]
    requests = [Request(each, Sampling(0.0, 10, logprobs=2), (at,)) for at, each in enumerate(asked)]
    found = dict(smollm2.generate(requests))
    encoded = [lm.encode(lm.text_of(each), each.text is not None) for each in asked]
    texts, written = [], []
    for at, ids in enumerate(encoded):
        generation = found[at]
        assert isinstance(generation, Generation)
        texts.append((*ids, *generation.token_ids))
        written.append(generation)
    for at, scored in enumerate(score(lm, texts, prompts=list(map(len, encoded)), top=2)):
        answer = scored[len(encoded[at]) :]
        for mine, theirs in zip(answer, written[at].logprobs, strict=True):
            assert mine is not None
            assert mine.token == theirs.token
            assert mine.logprob == pytest.approx(theirs.logprob, abs=1e-4)
            assert [entry[2] for entry in mine.top] == pytest.approx(
                [entry[2] for entry in theirs.top], abs=1e-4
            )
        # The prompt's text is there to the letter, special tokens too.
        shown = "".join(each.piece for each in scored if each is not None)
        first = lm.tokenizer.decode([texts[at][0]])
        assert (first + shown).startswith(lm.text_of(asked[at]))
        spelt = b"".join(each.bytes for each in scored if each is not None)
        assert spelt.decode("utf-8", "replace") == shown  # an answer may end within a character
