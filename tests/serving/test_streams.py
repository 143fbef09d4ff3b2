"""A stream says what the whole answer says, as it comes; who leaves it frees its place."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from leadline.serving import Batcher, make_app, offered, running
from leadline.serving import stream as stream_module
from tests.serving.asked import CHAT, at_once, chat, chunks, completion, error, texts, user

if TYPE_CHECKING:
    from leadline.models.local import LocalModel

WAIT = 20.0


def assembled(found: list[dict[str, Any]], choices: int) -> list[str]:
    """The text of each choice, after the rules that clients rely on have been looked at."""
    said = [""] * choices
    ended = [False] * choices
    opened = [False] * choices
    for chunk in found:
        assert chunk["id"] == found[0]["id"] and chunk["created"] == found[0]["created"]
        for choice in chunk["choices"]:
            at = choice["index"]
            assert not ended[at]
            if chunk["object"] == "chat.completion.chunk":
                if not opened[at]:
                    assert choice["delta"]["role"] == "assistant"
                said[at] += choice["delta"].get("content") or ""
            else:
                said[at] += choice["text"]
            opened[at] = True
            ended[at] = choice["finish_reason"] is not None
    assert all(ended)
    return said


@pytest.mark.parametrize("stop", [None, ["e"], ["ab", "the"]])
def test_a_chat_that_is_streamed_is_the_chat(server: str, stop: list[str] | None) -> None:
    parameters: dict[str, Any] = {"n": 3, "seed": 11, "temperature": 1.2, "max_tokens": 40, "stop": stop}
    whole = chat(server, "ab", **parameters)
    found = chunks(chat(server, "ab", stream=True, **parameters))
    assert all(chunk["object"] == "chat.completion.chunk" for chunk in found)
    assert assembled(found, 3) == texts(whole)
    assert all("usage" not in chunk for chunk in found)
    reasons = [c["finish_reason"] for chunk in found for c in chunk["choices"] if c["finish_reason"]]
    assert sorted(reasons) == sorted(each["finish_reason"] for each in whole.json()["choices"])


def test_a_completion_that_is_streamed_is_the_completion_and_may_begin_with_its_prompt(server: str) -> None:
    parameters: dict[str, Any] = {"seed": 2, "temperature": 0.8, "max_tokens": 20, "echo": True}
    whole = completion(server, ["ab", "cab"], **parameters)
    found = chunks(completion(server, ["ab", "cab"], stream=True, **parameters))
    assert assembled(found, 2) == texts(whole)
    assert texts(whole)[1].startswith("cab")


def test_usage_comes_last_where_it_is_asked_for(server: str) -> None:
    parameters: dict[str, Any] = {"seed": 2, "max_tokens": 5, "n": 2}
    whole = chat(server, "ab", **parameters).json()["usage"]
    found = chunks(chat(server, "ab", stream=True, stream_options={"include_usage": True}, **parameters))
    assert found[-1]["choices"] == [] and found[-1]["usage"] == whole
    assert all("usage" not in chunk for chunk in found[:-1])


def test_logprobs_come_with_their_text(server: str) -> None:
    parameters: dict[str, Any] = {"seed": 4, "max_tokens": 10, "logprobs": True, "top_logprobs": 2}
    (whole,) = chat(server, "ab", **parameters).json()["choices"]
    found = chunks(chat(server, "ab", stream=True, **parameters))
    told = [
        entry
        for chunk in found
        for choice in chunk["choices"]
        for entry in (choice["logprobs"] or {}).get("content", ())
    ]
    assert told == whole["logprobs"]["content"]
    assert "".join(entry["token"] for entry in told) == whole["message"]["content"]


def test_a_completions_logprobs_keep_their_offsets_in_a_stream(server: str) -> None:
    parameters: dict[str, Any] = {"seed": 4, "max_tokens": 10, "logprobs": 1}
    (whole,) = completion(server, "ab", **parameters).json()["choices"]
    found = chunks(completion(server, "ab", stream=True, **parameters))
    parts = [chunk["choices"][0]["logprobs"] for chunk in found if chunk["choices"][0]["logprobs"]]
    for name in ("tokens", "token_logprobs", "text_offset"):
        assert [value for part in parts for value in part[name]] == whole["logprobs"][name]


def test_streams_of_many_clients_at_once_do_not_mix(server: str) -> None:
    def ask(number: int, stream: bool) -> list[str]:
        parameters: dict[str, Any] = {"seed": number, "max_tokens": 30, "temperature": 1.3}
        answer = chat(server, "abc", stream=stream, **parameters)
        return assembled(chunks(answer), 1) if stream else texts(answer)

    streamed = at_once([lambda number=number: ask(number, True) for number in range(12)])
    assert streamed == [ask(number, False) for number in range(12)]


def test_what_cannot_be_streamed_is_refused_before_the_stream_begins(server: str) -> None:
    error(completion(server, "ab", stream=True, echo=True, logprobs=1), 400)
    error(chat(server, "a" * 600, stream=True), 400)


@pytest.fixture
def slow(little: LocalModel) -> Iterator[tuple[str, Batcher]]:
    """A server that answers one choice at a time, and comments when nothing happened for 50 milliseconds."""
    batcher = Batcher(offered(little), max_batch=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream_module, "KEEP_ALIVE_SECONDS", 0.05)
        with running(make_app(batcher)) as url:
            yield url, batcher


def until(holds: Any) -> bool:
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.005)
    return False


def test_a_client_that_leaves_a_stream_frees_its_place(slow: tuple[str, Batcher]) -> None:
    url, batcher = slow
    body = {"messages": user("ab"), "stream": True, "max_tokens": 500, "n": 40, "temperature": 5, "seed": 1}
    begun = time.monotonic()
    with httpx2.stream("POST", url + CHAT, json=body, timeout=60) as answer:
        coming = answer.iter_bytes()
        assert b"assistant" in next(coming)
        assert until(lambda: batcher.running)
    assert until(lambda: batcher.is_idle)
    left = time.monotonic() - begun
    whole = time.monotonic()
    assert len(texts(chat(url, "ab", max_tokens=500, n=4, temperature=5, seed=1))) == 4
    # Forty answers would have taken ten times as long as these four.
    assert left < 5 * (time.monotonic() - whole)


def test_a_client_that_leaves_before_it_is_answered_frees_its_place(slow: tuple[str, Batcher]) -> None:
    url, batcher = slow
    body = {"messages": user("ab"), "max_tokens": 500, "n": 100, "temperature": 5}
    with pytest.raises(httpx2.ReadTimeout):
        httpx2.post(url + CHAT, json=body, timeout=0.3)
    assert until(lambda: batcher.is_idle)
    assert texts(chat(url, "ab", max_tokens=2))


def test_a_stream_that_waits_is_kept_alive(slow: tuple[str, Batcher]) -> None:
    url, _ = slow

    def ask(stream: bool) -> httpx2.Response:
        body = {"messages": user("ab"), "max_tokens": 400, "n": 4, "temperature": 5, "stream": stream}
        return httpx2.post(url + CHAT, json=body, timeout=60)

    _, waited = at_once([lambda: ask(False), lambda: (time.sleep(0.1), ask(True))[1]])
    assert ": waiting\n\n" in waited.text
    assert len(assembled(chunks(waited), 4)) == 4


def test_every_event_is_one_line_of_ascii() -> None:
    sign = stream_module.event({"text": "a\u2028b\r\nc"})
    assert sign.count(b"\n") == 2 and sign.isascii()
    assert json.loads(sign.removeprefix(b"data: ")) == {"text": "a\u2028b\r\nc"}
