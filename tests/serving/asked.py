"""Requests over real HTTP, and what came back."""

from __future__ import annotations

import json
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2

CHAT, COMPLETION = "/v1/chat/completions", "/v1/completions"


def post(url: str, path: str, body: Any, **headers: str) -> httpx2.Response:
    """`body` as JSON."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx2.post(url + path, json=body, headers=named, timeout=60)


def user(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def chat(url: str, text: str, **parameters: Any) -> httpx2.Response:
    return post(url, CHAT, {"messages": user(text), **parameters})


def completion(url: str, prompt: Any, **parameters: Any) -> httpx2.Response:
    return post(url, COMPLETION, {"prompt": prompt, **parameters})


def texts(answer: httpx2.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    choices = answer.json()["choices"]
    assert [each["index"] for each in choices] == list(range(len(choices)))
    return [each["message"]["content"] if "message" in each else each["text"] for each in choices]


def error(answer: httpx2.Response, status: int) -> dict[str, Any]:
    """The error object, with what OpenAI's clients need of it."""
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()["error"]
    assert set(found) == {"message", "type", "param", "code"}
    assert found["message"] and found["type"]
    return found


def chunks(answer: httpx2.Response) -> list[dict[str, Any]]:
    """The chunks of a stream that came to its end."""
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = [line for line in answer.text.split("\n\n") if line and not line.startswith(":")]
    assert all(line.startswith("data: ") for line in events)
    assert events[-1] == "data: [DONE]"
    return [json.loads(line.removeprefix("data: ")) for line in events[:-1]]


def at_once(calls: Iterable[Any]) -> list[Any]:
    """The results of functions that run at the same time, each on a thread of its own."""
    waiting = list(calls)
    with ThreadPoolExecutor(len(waiting)) as pool:
        return [each.result() for each in [pool.submit(call) for call in waiting]]
