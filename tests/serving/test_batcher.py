"""What waits is answered together and in turn; what fails fails alone."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from leadline.engine import Generation, OnText, Prompt, Request, Sampling
from leadline.engine.intervention import NOTHING, Intervention
from leadline.errors import LeadlineError
from leadline.serving import Batcher, make_app, offered, running
from leadline.serving.asking import Asked, Call, Choice, Talk
from leadline.serving.problem import ProblemError
from leadline.serving.work import Event, Outcome, Work
from tests.serving.asked import at_once, chat, chunks, completion, error, texts

if TYPE_CHECKING:
    from leadline.models.local import LocalModel

Waiting = Callable[[int, Sequence[Request]], None]


class Watched:
    """A model that tells which requests come together, and stumbles over a prompt with token 5 ("d")."""

    def __init__(self, model: LocalModel, stumbles: type[Exception] | None = None) -> None:
        self.model, self.stumbles = model, stumbles
        self.lm, self.identity = model.lm, model.identity
        self.batches: list[list[Request]] = []

    def generate(
        self, requests: Sequence[Request], intervention: Intervention = NOTHING, on_text: OnText | None = None
    ) -> Iterator[tuple[int, Any]]:
        self.batches.append(list(requests))
        bad = self.lm.encode("d", True)[0]
        for at, found in self.model.generate(requests, intervention, on_text):
            if self.stumbles is not None and bad in (requests[at].prompt.tokens or ()):
                raise self.stumbles("a kernel that does not know this")
            yield at, found


def asked(number: int, intervention: Intervention = NOTHING, tokens: int = 3, seed: int = 0) -> Asked:
    """`number` choices for one prompt of the token `seed`."""

    def talk(at: int) -> Talk:
        yield Call(Request(Prompt(tokens=(4 + seed,)), Sampling(1.0, tokens), (seed, at)))

    return Asked([Choice(talk(at), intervention) for at in range(number)], seed, 1)


async def ended(work: Work, number: int) -> list[Event]:
    return [await asyncio.wait_for(work.events.get(), 30) for _ in range(number)]


def test_requests_that_wait_run_together_and_take_turns(little: LocalModel) -> None:
    model = Watched(little)
    batcher = Batcher(offered(model), max_batch=4)  # type: ignore[arg-type]

    async def ask() -> list[list[Event]]:
        works = [batcher.submit(asked(number, seed=at), False) for at, number in enumerate((6, 1, 2))]
        batcher.start()
        return [await ended(work, number) for work, number in zip(works, (6, 1, 2), strict=True)]

    found = asyncio.run(ask())
    batcher.close()
    seeds = [sorted(request.key[0] for request in batch) for batch in model.batches]
    # Of each of the three one, then of those who want more one more, until four are together.
    assert seeds == [[0, 0, 1, 2], [0, 0, 0, 2], [0]]
    assert [sorted(each.choice for each in events if isinstance(each, Outcome)) for events in found] == [
        [0, 1, 2, 3, 4, 5],
        [0],
        [0, 1],
    ]


def test_what_runs_under_another_intervention_waits_for_its_own_batch(little: LocalModel) -> None:
    model = Watched(little)
    batcher = Batcher(offered(model), max_batch=8)  # type: ignore[arg-type]
    other = Intervention()

    async def ask() -> None:
        works = [
            batcher.submit(asked(1, each, seed=at), False) for at, each in enumerate((NOTHING, other) * 2)
        ]
        batcher.start()
        for work in works:
            await ended(work, 1)

    asyncio.run(ask())
    batcher.close()
    assert [[request.key[0] for request in batch] for batch in model.batches] == [[0, 2], [1, 3]]


def test_more_than_may_wait_are_told_when_to_come_back(little: LocalModel) -> None:
    batcher = Batcher(offered(little), max_waiting=2)

    async def ask() -> None:
        works = [batcher.submit(asked(1), False) for _ in range(2)]
        with pytest.raises(ProblemError) as raised:
            batcher.submit(asked(1), False)
        assert raised.value.status == 429
        assert 1 <= int(raised.value.headers["retry-after"]) <= 60
        batcher.forget(works[0])
        works[0] = batcher.submit(asked(1), False)
        batcher.start()
        for work in works:
            assert isinstance((await ended(work, 1))[0], Outcome)

    asyncio.run(ask())
    batcher.close()


def test_over_http_those_who_wait_too_many_get_429_and_the_others_their_answers(little: LocalModel) -> None:
    with running(make_app(Batcher(offered(little), max_batch=1, max_waiting=2))) as url:
        found = at_once([lambda: chat(url, "ab", max_tokens=300, temperature=5) for _ in range(12)])
        refused = [each for each in found if each.status_code == 429]
        assert refused
        for each in refused:
            assert error(each, 429)["code"] == "rate_limit_exceeded"
            assert int(each.headers["retry-after"]) >= 1
        assert all(len(texts(each)) == 1 for each in found if each.status_code != 429)
        assert len(refused) <= 9  # one runs, two wait


def test_who_is_forgotten_is_not_computed(little: LocalModel) -> None:
    model = Watched(little)
    batcher = Batcher(offered(model))  # type: ignore[arg-type]

    async def ask() -> None:
        gone, stays = (batcher.submit(asked(2, seed=seed), False) for seed in (0, 1))
        batcher.forget(gone)
        batcher.start()
        await ended(stays, 2)
        assert gone.events.empty()

    asyncio.run(ask())
    batcher.close()
    assert [[request.key[0] for request in batch] for batch in model.batches] == [[1, 1]]


def test_a_bug_fails_the_request_that_meets_it_and_no_other(
    little: LocalModel, caplog: pytest.LogCaptureFixture
) -> None:
    model = Watched(little, ZeroDivisionError)
    parameters: dict[str, Any] = {"max_tokens": 10, "seed": 3}
    with running(make_app(Batcher(offered(little)))) as url:
        expected = [texts(completion(url, each, **parameters)) for each in ("a", "b", "c")]
    with running(make_app(Batcher(offered(model)))) as url:  # type: ignore[arg-type]
        calls = [lambda each=each: completion(url, each, **parameters) for each in ("a", "b", "d", "c")]
        *good, bad = (at_once(calls)[at] for at in (0, 1, 3, 2))
        assert [texts(each) for each in good] == expected
        message = error(bad, 500)["message"]
        identifier = message.split()[-1]
        assert identifier.startswith("fault-")
        assert "kernel" not in message
        logged = [record for record in caplog.records if identifier in record.getMessage()]
        assert len(logged) == 1 and "ZeroDivisionError" in caplog.text
        assert texts(completion(url, "a", **parameters)) == expected[0]


def test_a_stream_that_stumbles_over_its_company_says_nothing_twice(little: LocalModel) -> None:
    caught = logging.getLogger("leadline.serving")
    caught.setLevel(logging.CRITICAL)
    parameters: dict[str, Any] = {"max_tokens": 30, "seed": 3, "temperature": 1.5, "stream": True}
    with running(make_app(Batcher(offered(little)))) as url:
        expected = chunks(completion(url, "a", **parameters))
    with running(make_app(Batcher(offered(Watched(little, ZeroDivisionError))))) as url:  # type: ignore[arg-type]
        calls = [lambda each=each: completion(url, each, **parameters) for each in ("a", "d", "d")]
        found, *bad = at_once(calls)
    caught.setLevel(logging.NOTSET)
    said = [
        "".join(c["text"] for chunk in part for c in chunk["choices"]) for part in (chunks(found), expected)
    ]
    assert said[0] == said[1] and len(said[0]) > 10
    for each in bad:
        assert each.status_code == 200 and '"server_error"' in each.text and "[DONE]" not in each.text


def test_what_the_model_cannot_be_asked_is_the_clients_mistake(little: LocalModel) -> None:
    with running(make_app(Batcher(offered(Watched(little, LeadlineError))))) as url:  # type: ignore[arg-type]
        assert "kernel" in error(completion(url, "d", max_tokens=2), 400)["message"]


def test_the_end_cuts_short_what_runs_and_refuses_what_waits(little: LocalModel) -> None:
    batcher = Batcher(offered(little), max_batch=1)

    async def ask() -> None:
        works = [batcher.submit(asked(1, tokens=400, seed=seed), False) for seed in (0, 1)]
        batcher.start()
        while not batcher.running:
            await asyncio.sleep(0.001)
        await asyncio.to_thread(batcher.close)
        for work in works:
            (found,) = await ended(work, 1)
            assert isinstance(found, Outcome | ProblemError)
        with pytest.raises(ProblemError) as raised:
            batcher.submit(asked(1), False)
        assert raised.value.status == 503

    asyncio.run(ask())


def test_the_watched_model_does_answer(little: LocalModel) -> None:
    request = Request(Prompt(tokens=(4,)), Sampling(0.0, 3), (0,))
    ((_, found),) = Watched(little).generate([request])
    assert isinstance(found, Generation)
