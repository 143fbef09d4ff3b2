"""A served model: its identity, what it sends, and what it makes of what comes back."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from leadline.engine import Failure, Generation, Prompt, Request, Sampling
from leadline.engine.intervention import Intervention
from leadline.errors import UsageError
from leadline.models.served import MemoryLedger, ServedModel, ServedSettings
from leadline.models.served.worst_case import seed_of
from tests.models.served.asks import requests, served
from tests.models.served.fault_server import serving


@contextmanager
def answering(answer: dict[str, Any], status: int = 200) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server that says one thing; its base URL, and the bodies (with "path" and "key") that it got."""
    got: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        said: ClassVar[bytes] = json.dumps(answer).encode()

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            got.append({**body, "path": self.path, "key": self.headers["authorization"]})
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(self.said)))
            self.end_headers()
            self.wfile.write(self.said)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", got
    finally:
        server.shutdown()
        server.server_close()


def completion(text: str | None, **choice: Any) -> dict[str, Any]:
    """A chat completion without usage."""
    message = {"role": "assistant", "content": text, **choice.pop("message", {})}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message, **choice}],
    }


def ask(url: str, request: Request | None = None, **settings: Any) -> Generation | Failure:
    """What one request gives."""
    model = served(url, **settings)
    try:
        ((_, outcome),) = model.generate([request or requests(1)[0]])
        return outcome
    finally:
        model.close()


def test_what_is_sent_is_what_the_request_says_and_its_seed() -> None:
    messages = (("system", "Be brief."), ("user", "2+2?"), ("assistant", "4"), ("user", "3+3?"))
    request = Request(
        Prompt(messages=messages), Sampling(0.7, 24, ("\n", "Q:"), top_p=0.9), (7, "q", 3, "answer")
    )
    with answering(completion("6")) as (url, got):
        assert isinstance(ask(url, request, options={"frequency_penalty": 0.5}), Generation)
    (body,) = got
    assert body["path"] == "/v1/chat/completions" and body["model"] == "m"
    assert [(each["role"], each["content"]) for each in body["messages"]] == list(messages)
    assert (body["temperature"], body["max_tokens"], body["top_p"]) == (0.7, 24, 0.9)
    assert body["stop"] == ["\n", "Q:"] and body["frequency_penalty"] == 0.5
    assert body["seed"] == seed_of((7, "q", 3, "answer")) < 2**31


def test_every_sample_of_an_item_has_a_seed_of_its_own() -> None:
    assert len({seed_of(request.key) for request in requests(1000)}) == 1000


def test_a_text_is_one_message_of_the_users_and_raw_where_the_provider_takes_it_raw() -> None:
    request = Request(Prompt(text="Q: 2+2?\nA:"), Sampling(), (0, "q", 0))
    with answering(completion("4")) as (url, got):
        ask(url, request)
    assert got[0]["messages"] == [{"role": "user", "content": "Q: 2+2?\nA:"}]
    raw = {"id": "1", "object": "text_completion", "created": 1, "model": "m"}
    raw["choices"] = [{"index": 0, "text": " 4", "finish_reason": "stop", "logprobs": None}]
    with answering(raw) as (url, got):
        answer = ask(url, request, ref="inspect:openai-api-completions/local/m")
        assert got[0]["path"] == "/v1/completions" and got[0]["prompt"] == "Q: 2+2?\nA:"
        assert isinstance(answer, Generation) and answer.text == " 4"
        with pytest.raises(UsageError, match="raw text cannot be sent a conversation"):
            ask(url, requests(1)[0], ref="inspect:openai-api-completions/local/m")


def test_the_text_of_an_answer_is_kept_to_the_space() -> None:
    with answering(completion("  a\n\tb  ")) as (url, _):
        answer = ask(url)
    assert isinstance(answer, Generation) and answer.text == "  a\n\tb  "


def test_an_answer_without_content_is_an_empty_answer() -> None:
    with answering(completion(None)) as (url, _):
        answer = ask(url)
    assert isinstance(answer, Generation) and (answer.text, answer.finish) == ("", "stop")


def test_reasoning_is_not_the_answer() -> None:
    with answering(completion("42", message={"reasoning_content": "6 times 7"})) as (url, _):
        answer = ask(url)
    assert isinstance(answer, Generation) and answer.text == "42"


def test_tokens_that_nobody_told_count_at_their_worst() -> None:
    ledger = MemoryLedger()
    with answering(completion("42")) as (url, _):
        model = served(url, ledger)
        list(model.generate(requests(1)))
        model.close()
    assert ledger.calls[0].tokens_out == 32 and ledger.calls[0].tokens_in > 32


def test_a_prompt_that_a_filter_stopped_is_a_filtered_answer_and_its_message_is_not_the_models() -> None:
    error = {
        "error": {"message": "filtered by policy", "code": "content_filter", "type": "invalid_request_error"}
    }
    with answering(error, 400) as (url, _):
        answer = ask(url)
    assert isinstance(answer, Generation) and (answer.text, answer.finish) == ("", "content_filter")


def test_a_prompt_that_is_too_long_is_a_failure_and_not_an_answer_that_says_so() -> None:
    message = "This model's maximum context length is 10 tokens."
    error = {
        "error": {"message": message, "code": "context_length_exceeded", "type": "invalid_request_error"}
    }
    with answering(error, 400) as (url, _):
        failure = ask(url)
    assert isinstance(failure, Failure) and failure.kind == "too_long" and message in failure.message


def test_an_error_in_a_response_that_calls_itself_good_is_a_failure() -> None:
    with answering({"error": {"message": "upstream failed", "code": 502}}) as (url, _):
        failure = ask(url, retries=0)
    assert isinstance(failure, Failure) and failure.kind in ("server_error", "bad_response")


def test_messages_of_failures_hold_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "opensesame-1234")
    with answering({"error": {"message": "key opensesame-1234\x1b[31m is\nnot good"}}, 400) as (url, got):
        failure = ask(url)
    assert got[0]["key"] == "Bearer opensesame-1234"
    assert isinstance(failure, Failure) and failure.message == "HTTP 400: key *** [31m is not good"


def test_servers_on_this_machine_need_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCAL_API_KEY", raising=False)
    with answering(completion("42")) as (url, _):
        assert isinstance(ask(url), Generation)


def test_a_missing_key_is_told_with_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCAL_API_KEY", raising=False)
    settings = ServedSettings(ref="inspect:openai-api/local/m", base_url="https://example.org/v1")
    with pytest.raises(
        UsageError, match=r"there is no key: LOCAL_API_KEY is not set \(export LOCAL_API_KEY="
    ):
        ServedModel(settings, MemoryLedger())


def test_a_missing_package_is_told_with_its_name() -> None:
    with pytest.raises(UsageError, match=r"\(pip install --upgrade mistralai\)") as told:
        ServedModel(ServedSettings(ref="inspect:mistral/x"), MemoryLedger())
    assert "\n" not in str(told.value)


def test_an_option_that_inspect_ai_does_not_know_is_told() -> None:
    with pytest.raises(UsageError, match="reasoning_efort"):
        served("http://127.0.0.1:1/v1", options={"reasoning_efort": "low"})


def identity(**settings: Any) -> Any:
    """The identity of a model that nothing is asked of."""
    model = served("http://127.0.0.1:1/v1", **settings)
    model.close()
    return model.identity


def test_the_identity_is_what_decides_answers_on_our_side_and_no_secret() -> None:
    first = identity()
    assert (first.kind, first.dtype, first.device) == ("served", "served", "127.0.0.1:1")
    assert first.digest.startswith("served:") and first.name == "m"
    assert identity(connections=3, retries=0, timeout=5.0, name="m").digest == first.digest
    assert identity(options={"top_k": 4}).digest != first.digest
    assert identity(ref="inspect:openai-api/local/n").digest != first.digest
    assert identity(base_url="http://127.0.0.1:2/v1").digest != first.digest


def test_nothing_can_be_changed_inside_it() -> None:
    model = served("http://127.0.0.1:1/v1")
    assert model.inside is None
    with pytest.raises(UsageError, match="nothing can be changed inside"):
        list(model.generate(requests(1), Intervention()))
    model.close()


def test_a_seed_that_is_sent_is_no_note(tmp_path: Path) -> None:
    with serving(tmp_path / "log.jsonl") as server:
        model = served(server.url)
        list(model.generate(requests(2)))
        model.close()
    assert model.notes == ()


def test_a_provider_that_takes_no_seed_is_noted() -> None:
    content = {"type": "output_text", "text": "42", "annotations": []}
    message = {"type": "message", "id": "1", "role": "assistant", "status": "completed", "content": [content]}
    answer = {"id": "1", "object": "response", "created_at": 1, "model": "m", "status": "completed"}
    settings = {"output": [message], "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    # OpenAI's newer interface has no seed.
    with answering(answer | settings) as (url, got):
        model = served(url, ref="inspect:openai/m", args={"responses_api": True})
        ((_, outcome),) = model.generate(requests(1))
        model.close()
    assert isinstance(outcome, Generation) and outcome.text == "42"
    assert got[0]["path"] == "/v1/responses" and "seed" not in got[0]
    assert model.notes == ("openai takes no seed: its samples cannot be drawn again",)


def test_the_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(completion("through the proxy")) as (url, got):
        monkeypatch.setenv("http_proxy", url.removesuffix("/v1"))
        monkeypatch.setenv("LOCAL_API_KEY", "opensesame-1234")
        monkeypatch.delenv("no_proxy", raising=False)
        answer = ask("http://models.invalid/v1")
    assert isinstance(answer, Generation) and answer.text == "through the proxy"
    assert got[0]["path"] == "http://models.invalid/v1/chat/completions"


def test_cached_answers_keep_samples_apart_and_cost_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))
    with serving(tmp_path / "log.jsonl") as server:
        first, second = MemoryLedger(), MemoryLedger()
        texts = []
        for ledger in (first, second):
            model = served(server.url, ledger, cache=True)
            texts.append(
                {at: each.text for at, each in model.generate(requests(10)) if isinstance(each, Generation)}
            )
            model.close()
        assert len(server.lines("got")) == 10 == len(set(texts[0].values()))
    assert texts[0] == texts[1]
    assert second.used == {"requests": 0, "tokens": 0, "money": 0.0}
    assert [call.outcome for call in second.calls] == ["answer"] * 10
