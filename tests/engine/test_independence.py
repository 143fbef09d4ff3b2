"""What a request gives depends on the request alone: not on the batch, the order or the call it came in."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

torch = pytest.importorskip("torch", reason="local models need the 'local' extra")

from leadline.engine import Generation, Prompt, Request, Sampling  # noqa: E402
from leadline.engine.decode import generate  # noqa: E402
from leadline.engine.plan import Limits  # noqa: E402
from tests.engine.prompts import prompts, questions  # noqa: E402

if TYPE_CHECKING:
    from leadline.models.local import LocalModel

pytestmark = pytest.mark.model

PASSAGE = " ".join(f"The harbour master of pier {at} wrote down {at * 37 % 101} ships." for at in range(24))


def _requests() -> list[Request]:
    """24 requests: few-shot prompts with a common beginning, chat prompts, one short and one long text of its
    own; greedily and at two temperatures, of several lengths, with gold answers."""
    texts = [
        *prompts(3, "few-shot"),
        prompts(1, "chat")[0],
        Prompt(text="The capital of Peru is"),
        Prompt(text=f"{PASSAGE}\nQuestion: How many ships were seen at pier 3?\nAnswer:"),
    ]
    gold = tuple(answer for _, answer in questions(3))
    ways = [(0.0, 12, 0), (0.7, 9, 0), (1.2, 10, 0), (1.2, 10, 1)]
    return [
        Request(text, Sampling(temperature, tokens, ("\n",)), (5, f"{at}", sample, f"{temperature}"), gold)
        for at, text in enumerate(texts)
        for temperature, tokens, sample in ways
    ]


def _run(smollm2: LocalModel, requests: Sequence[Request], max_rows: int) -> dict[object, Generation]:
    found = {}
    for index, generation in generate(smollm2.lm, requests, Limits(max_rows=max_rows)):
        assert isinstance(generation, Generation)
        assert requests[index].key not in found
        found[requests[index].key] = generation
    assert len(found) == len(requests)
    return found


@pytest.fixture(scope="module")
def together(smollm2: LocalModel) -> dict[object, Generation]:
    """All 24 in one call and one batch."""
    return _run(smollm2, _requests(), 64)


def test_the_requests_are_a_fair_trial(together: dict[object, Generation]) -> None:
    """They end at different times, and the samples of a prompt differ."""
    assert {generation.finish for generation in together.values()} == {"stop", "length"}
    assert len({generation.token_ids for generation in together.values()}) >= 20


@pytest.mark.parametrize("max_rows", [1, 7])
def test_in_batches_of(max_rows: int, smollm2: LocalModel, together: dict[object, Generation]) -> None:
    assert _run(smollm2, _requests(), max_rows) == together


def test_in_reverse_order(smollm2: LocalModel, together: dict[object, Generation]) -> None:
    assert _run(smollm2, _requests()[::-1], 7) == together


def test_shuffled(smollm2: LocalModel, together: dict[object, Generation]) -> None:
    requests = _requests()
    random.Random(3).shuffle(requests)
    assert _run(smollm2, requests, 5) == together


def test_spread_over_several_calls(smollm2: LocalModel, together: dict[object, Generation]) -> None:
    """As after an interruption: some of the prompts, and some of the samples of a prompt, come later."""
    requests = _requests()
    random.Random(4).shuffle(requests)
    parts = [requests[:2], requests[2:3], requests[3:13], requests[13:]]
    found = {key: each for part in parts for key, each in _run(smollm2, part, 64).items()}
    assert found == together


def test_among_other_requests(smollm2: LocalModel, together: dict[object, Generation]) -> None:
    requests = _requests()[::3]
    others = [
        Request(prompt, Sampling(0.9, 6), (6, f"other {at}", 0, "x"), ())
        for at, prompt in enumerate(prompts(10, "few-shot"))
    ]
    found = _run(smollm2, [*others[:5], *requests, *others[5:]], 64)
    assert {request.key: found[request.key] for request in requests} == {
        request.key: together[request.key] for request in requests
    }


def test_more_tokens_begin_with_the_fewer(smollm2: LocalModel, together: dict[object, Generation]) -> None:
    requests = [
        Request(each.prompt, Sampling(each.sampling.temperature, 5, ("\n",)), each.key, each.gold)
        for each in _requests()[:8]
    ]
    for key, short in _run(smollm2, requests, 64).items():
        assert together[key].token_ids[: len(short.token_ids)] == short.token_ids
        assert together[key].probes == short.probes
