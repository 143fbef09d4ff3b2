"""Whatever a client sends, it gets an answer in the API's form, and the next client gets one too."""

from __future__ import annotations

import io
import json
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx2
import pytest

from leadline.serving import Batcher, make_app, offered, running
from leadline.serving.intake import Intake
from leadline.serving.journal import Journal
from tests.serving.asked import CHAT, COMPLETION, at_once, chat, completion, error, post, texts

if TYPE_CHECKING:
    from leadline.models.local import LocalModel


@pytest.fixture(scope="module")
def impatient(little: LocalModel) -> Iterator[str]:
    """A server that waits half a second for a body, and takes 10,000 bytes of it."""
    intake = Intake(limit=10_000, seconds=0.5)
    with running(make_app(Batcher(offered(little)), intake=intake)) as url:
        yield url


def raw(url: str, *parts: bytes, pause: float = 0.0) -> bytes:
    """What comes back when these bytes are sent, until the server closes or falls silent."""
    parsed = urlsplit(url)
    with socket.create_connection((parsed.hostname, parsed.port), timeout=5) as connection:
        for part in parts:
            connection.sendall(part)
            time.sleep(pause)
        found = b""
        try:
            while got := connection.recv(65_536):
                found += got
        except (TimeoutError, ConnectionResetError):
            pass
        return found


def head(length: int | None, host: str = "127.0.0.1", path: str = CHAT) -> bytes:
    size = f"content-length: {length}" if length is not None else "transfer-encoding: chunked"
    lines = (f"POST {path} HTTP/1.1", f"host: {host}", "content-type: application/json", size)
    return "\r\n".join([*lines, "connection: close", "", ""]).encode()


def works(url: str) -> None:
    assert len(texts(chat(url, "a", max_tokens=2, temperature=0))) == 1


def test_a_chat_has_the_form_of_openais(server: str) -> None:
    found = chat(server, "ab", max_tokens=3, temperature=0, n=2, seed=5)
    body = found.json()
    assert body["object"] == "chat.completion" and body["id"].startswith("chatcmpl-")
    assert body["model"] == "little" and body["system_fingerprint"].startswith("fp_")
    assert abs(body["created"] - time.time()) < 60
    choice = body["choices"][1]
    assert (
        choice["index"] == 1 and choice["logprobs"] is None and choice["finish_reason"] in ("stop", "length")
    )
    assert choice["message"]["role"] == "assistant" and choice["message"]["refusal"] is None
    usage = body["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert usage["prompt_tokens"] == 3  # a, b and the template's line break, once for both choices
    assert found.headers["x-leadline-seed"] == "5"


def test_a_completion_has_the_form_of_openais_and_16_tokens_at_most(server: str) -> None:
    body = completion(server, ["ab", "abc"], temperature=0).json()
    assert body["object"] == "text_completion" and body["id"].startswith("cmpl-")
    assert [each["index"] for each in body["choices"]] == [0, 1]
    assert body["usage"]["prompt_tokens"] == 5 and body["usage"]["completion_tokens"] <= 32
    assert all(len(each["text"]) <= 16 for each in body["choices"])


def test_text_and_its_token_ids_are_answered_alike(server: str) -> None:
    ids = post(server, "/tokenize", {"prompt": "the cab"}).json()["tokens"]
    assert post(server, "/detokenize", {"tokens": ids}).json() == {"prompt": "the cab"}
    assert len(ids) == 7
    asked: list[Any] = ["the cab", ids, ["the cab"], [ids]]
    found = [texts(completion(server, each, seed=3, max_tokens=8, temperature=0.9)) for each in asked]
    assert found[0] == found[1] == found[2] == found[3]


def test_no_tokens_are_written_where_none_are_wanted(server: str) -> None:
    body = completion(server, "ab", max_tokens=0, echo=True).json()
    assert body["choices"][0] == {"index": 0, "text": "ab", "logprobs": None, "finish_reason": "length"}
    assert body["usage"] == {"prompt_tokens": 2, "completion_tokens": 0, "total_tokens": 2}


def test_a_seed_draws_the_same_answers_again_and_each_choice_its_own(server: str) -> None:
    parameters: dict[str, Any] = {"n": 4, "temperature": 1.5, "max_tokens": 12}
    first, again, other = (texts(chat(server, "ab", seed=seed, **parameters)) for seed in (1, 1, 2))
    assert first == again != other
    assert len(set(first)) == 4


def test_without_a_seed_one_is_drawn_and_told_so_that_the_answer_can_be_had_again(server: str) -> None:
    parameters: dict[str, Any] = {"temperature": 1.5, "max_tokens": 12}
    one, two = chat(server, "ab", **parameters), chat(server, "ab", **parameters)
    assert texts(one) != texts(two)
    seed = int(one.headers["x-leadline-seed"])
    assert texts(chat(server, "ab", seed=seed, **parameters)) == texts(one)


def test_a_temperature_that_is_not_said_is_1(server: str) -> None:
    assert texts(chat(server, "ab", seed=3, max_tokens=12)) == texts(
        chat(server, "ab", seed=3, max_tokens=12, temperature=1.0)
    )


def test_models_are_listed_and_asked_for_by_name(server: str) -> None:
    (card,) = httpx2.get(f"{server}/v1/models").json()["data"]
    assert card["id"] == "little" and card["object"] == "model" and card["leadline"]["technique"] is None
    assert httpx2.get(f"{server}/v1/models/little").json() == card
    assert error(httpx2.get(f"{server}/v1/models/large"), 404)["code"] == "model_not_found"
    assert error(chat(server, "a", model="large"), 404)["code"] == "model_not_found"
    assert texts(chat(server, "a", model="little", max_tokens=1))


def test_addresses_and_methods_that_are_not_there_say_so(server: str) -> None:
    error(httpx2.get(f"{server}/v1/embeddings"), 404)
    error(httpx2.get(server + CHAT), 405)
    error(httpx2.get(f"{server}/v1/models/"), 404)
    assert httpx2.get(f"{server}/health").json() == {"status": "ok", "waiting": 0, "running": 0}


def test_a_prompt_that_does_not_fit_is_refused_as_clients_know_it(server: str) -> None:
    for found in (
        chat(server, "a" * 600),
        chat(server, "a", max_tokens=512),
        completion(server, "a" * 600, max_tokens=0, echo=True),
        completion(server, [[1] * 510], max_tokens=3),
    ):
        assert error(found, 400)["code"] == "context_length_exceeded"
    assert texts(completion(server, [[1] * 509], max_tokens=3, temperature=0))


def test_a_chat_may_fill_what_is_left_of_the_context(server: str) -> None:
    usage = chat(server, "a" * 500, temperature=2, seed=1).json()["usage"]
    assert usage["prompt_tokens"] == 501 and usage["completion_tokens"] <= 11


def test_a_prompt_of_a_megabyte_is_refused_within_seconds(server: str) -> None:
    begun = time.monotonic()
    assert error(chat(server, "word " * 200_000), 400)["code"] == "context_length_exceeded"
    assert time.monotonic() - begun < 20
    works(server)


@pytest.mark.parametrize(
    ("messages", "param"),
    [
        ([{"role": "tool", "content": "a"}], "messages.0.role"),
        (
            [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}],
            "messages.0.content",
        ),
        ([{"role": "user", "content": None}], "messages.0.content"),
        ([{"role": "assistant", "content": "a", "tool_calls": [{"id": "1"}]}], "messages.0.tool_calls"),
    ],
)
def test_messages_that_are_no_text_are_refused(server: str, messages: list[Any], param: str) -> None:
    assert error(post(server, CHAT, {"messages": messages}), 400)["param"] == param


@pytest.mark.parametrize("prompt", ["", [], [[]], [500], [[2**40]]])
def test_empty_prompts_and_unknown_tokens_are_refused(server: str, prompt: Any) -> None:
    assert error(completion(server, prompt), 400)["param"] == "prompt"


def test_more_answers_than_are_given_to_one_request_are_refused(server: str) -> None:
    assert error(completion(server, ["a"] * 129, n=2), 400)["param"] == "prompt"


def test_a_response_that_would_fill_the_memory_is_refused(server: str) -> None:
    large: dict[str, Any] = {"n": 128, "max_tokens": 500, "logprobs": True, "top_logprobs": 20}
    assert error(chat(server, "a", **large), 400)["param"] == "logprobs"
    prompts = ["a" * 400] * 128
    assert (
        error(completion(server, prompts, echo=True, logprobs=20, max_tokens=0), 400)["param"] == "logprobs"
    )


@pytest.mark.parametrize("temperature", [1e-320, 1e-9])
def test_a_temperature_is_0_or_can_be_divided_by(server: str, temperature: float) -> None:
    assert error(chat(server, "a", temperature=temperature), 400)["param"] == "temperature"
    coldest = texts(chat(server, "ab", temperature=1e-6, max_tokens=8, seed=1))
    assert coldest == texts(chat(server, "ab", temperature=0, max_tokens=8))


def test_only_json_is_read(server: str) -> None:
    found = httpx2.post(server + CHAT, data={"messages": "a"})
    assert "application/json" in error(found, 415)["message"]
    headers = {"content-type": "application/json; charset=utf-8"}
    body = json.dumps({"messages": [{"role": "user", "content": "ä"}], "max_tokens": 1}).encode()
    assert texts(httpx2.post(server + CHAT, content=body, headers=headers))
    error(httpx2.post(server + CHAT, content=b'{"messages":', headers=headers), 400)


def test_a_large_body_is_refused_whether_its_size_is_told_or_not(impatient: str) -> None:
    headers = {"content-type": "application/json"}
    large = json.dumps({"prompt": "a" * 20_000}).encode()
    error(httpx2.post(impatient + COMPLETION, content=large, headers=headers), 413)
    error(httpx2.post(impatient + COMPLETION, content=iter([large]), headers=headers), 413)
    works(impatient)


def test_half_a_body_and_silence_end_in_408(impatient: str) -> None:
    begun = time.monotonic()
    assert raw(impatient, head(500) + b'{"messages"').startswith(b"HTTP/1.1 408")
    assert raw(impatient, head(None) + b"5\r\nhello\r\n").startswith(b"HTTP/1.1 408")
    assert time.monotonic() - begun < 5
    works(impatient)


def test_clients_that_go_in_the_middle_of_a_body_are_no_fault(
    server: str, caplog: pytest.LogCaptureFixture
) -> None:
    parsed = urlsplit(server)
    for _ in range(20):
        with socket.create_connection((parsed.hostname, parsed.port)) as connection:
            connection.sendall(head(500) + b'{"mess')
    works(server)
    assert not caplog.records


def test_what_is_no_http_is_no_fault(server: str, caplog: pytest.LogCaptureFixture) -> None:
    assert raw(server, b"\x16\x03\x01\x00\xa5\x01\r\n\r\n").startswith(b"HTTP/1.1 400")
    raw(server, b"GET / HTTP/9\r\n\r\n")
    works(server)
    assert not caplog.records


def test_on_loopback_other_names_are_not_answered(server: str) -> None:
    answer = raw(server, head(2, host="rebound.example") + b"{}")
    assert answer.startswith(b"HTTP/1.1 403")
    for host in ("localhost", "127.0.0.1:80", "[::1]:80", "LOCALHOST."):
        assert raw(server, head(2, host=host).replace(b"POST", b"GET", 1) + b"{}").startswith(b"HTTP/1.1 405")
    no_host = head(2).replace(b"host: 127.0.0.1\r\n", b"")
    assert raw(server, no_host + b"{}").split()[1] in (b"400", b"403")


def test_no_foreign_page_is_given_leave_to_ask(server: str) -> None:
    asked = {"origin": "https://example.org", "access-control-request-method": "POST"}
    found = httpx2.options(server + CHAT, headers=asked)
    assert found.status_code == 405
    assert not any(name.startswith("access-control") for name in found.headers)


def test_a_token_is_asked_for_where_there_is_one(little: LocalModel) -> None:
    with running(make_app(Batcher(offered(little)), token="sesame-7", hosts=None)) as url:
        assert httpx2.get(f"{url}/health").status_code == 200
        body = {"messages": [{"role": "user", "content": "a"}], "max_tokens": 1}
        for wrong in ({}, {"authorization": "Bearer"}, {"authorization": "Bearer sesame-8"}):
            found = error(httpx2.post(url + CHAT, json=body, headers=wrong), 401)
            assert found["code"] == "invalid_api_key"
        error(httpx2.get(f"{url}/v1/models", headers={"authorization": "Basic sesame-7"}), 401)
        error(httpx2.get(f"{url}/v1/models", headers={"authorization": "Bearer sesame-"}), 401)
        assert texts(post(url, CHAT, body, authorization="Bearer sesame-7"))
        assert texts(post(url, CHAT, body, authorization="bearer sesame-7", host="anywhere.example"))


def test_requests_of_all_kinds_at_once_get_their_own_answers(server: str) -> None:
    asked = [f"{letter}{number}" for letter in "abc" for number in range(4)]
    alone = [texts(completion(server, each, temperature=0, max_tokens=6)) for each in asked]
    together = at_once(
        [lambda each=each: texts(completion(server, each, temperature=0, max_tokens=6)) for each in asked]
    )
    assert together == alone


def test_a_body_that_is_said_to_be_too_large_is_refused_before_it_is_sent(impatient: str) -> None:
    begun = time.monotonic()
    parsed = urlsplit(impatient)
    with socket.create_connection((parsed.hostname, parsed.port), timeout=5) as connection:
        connection.sendall(head(99_999_999_999))
        assert b" 413 " in connection.recv(65_536).partition(b"\r\n")[0]
        # Whoever sends it all the same can still read the answer, and the connection ends.
        with suppress(OSError):
            for _ in range(200):
                connection.sendall(b" " * 2**18)
    assert time.monotonic() - begun < 5
    works(impatient)


def test_a_conversation_is_tokenised_as_the_model_would_see_it(server: str) -> None:
    said = {"messages": [{"role": "user", "content": "ab"}]}
    found = post(server, "/tokenize", {**said, "return_token_strs": True}).json()
    assert found["count"] == len(found["tokens"]) == len(found["token_strs"])
    assert found["count"] == chat(server, "ab", max_tokens=1).json()["usage"]["prompt_tokens"]
    assert post(server, "/detokenize", {"tokens": found["tokens"]}).json()["prompt"].startswith("ab")


@pytest.mark.parametrize(
    ("path", "body", "status", "param"),
    [
        ("/tokenize", {"prompt": "a", "model": "nope"}, 404, "model"),
        ("/detokenize", {"tokens": [1], "model": "nope"}, 404, "model"),
        ("/tokenize", {"prompt": "a", "foo": 1}, 400, "foo"),
        ("/detokenize", {"tokens": [1], "foo": 1}, 400, "foo"),
        ("/tokenize", {}, 400, "prompt"),
        ("/tokenize", {"prompt": 5}, 400, "prompt"),
        ("/tokenize", {"prompt": "a", "messages": [{"role": "user", "content": "a"}]}, 400, "prompt"),
        ("/tokenize", {"messages": [{"role": "user", "content": "a", "foo": 1}]}, 400, "messages.0.foo"),
        ("/tokenize", {"messages": [{"role": "alien", "content": "a"}]}, 400, "messages.0.role"),
        ("/detokenize", {"tokens": [-1]}, 400, "tokens.0"),
        ("/detokenize", {}, 400, "tokens"),
    ],
)
def test_what_the_tokenizer_cannot_be_asked_is_refused_by_name(
    server: str, path: str, body: dict[str, Any], status: int, param: str
) -> None:
    assert error(post(server, path, body), status)["param"] == param


def test_the_log_names_the_parameter_at_fault(little: LocalModel) -> None:
    out = io.StringIO()
    with running(make_app(Batcher(offered(little)), journal=Journal(out))) as url:
        error(chat(url, "a", n=0), 400)
        error(chat(url, "a", tools=[{"type": "function"}]), 400)
        error(post(url, CHAT, {}), 400)
    notes = [line.partition(" s ")[2] for line in out.getvalue().splitlines()]
    assert notes == ["invalid_value (n)", "unsupported_parameter (tools)", "missing_parameter (messages)"]
