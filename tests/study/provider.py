"""A provider on a port of this machine: real HTTP, answers by a rule that the test gives."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.study import small


@dataclass(frozen=True)
class Reply:
    """What the provider says to one request; with another `status` than 200, `text` is an error's message."""

    text: str
    finish: str = "stop"
    status: int = 200
    model: str = "house-1"
    fingerprint: str | None = "fp-1"
    usage: tuple[Any, Any] | None = (10, 3)
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Provider:
    """Where it listens, and every request that it got, in order."""

    url: str
    rule: Callable[[dict[str, Any], int], Reply]
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)


def question_of(body: dict[str, Any]) -> str:
    """The last message of the user."""
    return str(body["messages"][-1]["content"])


def say(text: str, **more: Any) -> Callable[[dict[str, Any], int], Reply]:
    """A rule that always says the same."""
    return lambda body, number: Reply(text, **more)


@contextmanager
def provider(rule: Callable[[dict[str, Any], int], Reply]) -> Iterator[Provider]:
    """Listen until the block ends. `rule` gets a request's body and how many came before it."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with here.lock:
                number = len(here.requests)
                here.requests.append(body)
                here.headers.append({name.lower(): value for name, value in self.headers.items()})
            reply = here.rule(body, number)
            said = _completion(reply, number) if reply.status == 200 else {"error": {"message": reply.text}}
            data = json.dumps(said).encode()
            self.send_response(reply.status)
            for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    here = Provider(f"http://127.0.0.1:{server.server_address[1]}/v1", rule)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield here
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _completion(reply: Reply, number: int) -> dict[str, Any]:
    found: dict[str, Any] = {
        "id": f"chat-{number}",
        "object": "chat.completion",
        "created": 1,
        "model": reply.model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": reply.text},
                "finish_reason": reply.finish,
            }
        ],
    }
    if reply.fingerprint:
        found["system_fingerprint"] = reply.fingerprint
    if reply.usage:
        into, out = reply.usage
        total = sum(each or 0 for each in reply.usage)
        found["usage"] = {"prompt_tokens": into, "completion_tokens": out, "total_tokens": total}
    return found


def served_study(
    folder: Path, url: str, number: int = 6, entry: dict[str, Any] | None = None, **changes: Any
) -> Path:
    """A study of a model behind `url`; `entry` are further keys of the model."""
    model = {
        "ref": "inspect:openai-api/local/house",
        "base_url": url,
        "connections": 4,
        "retries": 2,
        "timeout": 10,
        **(entry or {}),
    }
    settings: dict[str, Any] = {
        "prompt": "chat",
        "techniques": [],
        "sampling": {"temperatures": [0.7], "vote": 2},
        "beyond_sampling": None,
        **changes,
    }
    return small.small_study(folder, "-", number, **{**settings, "models": [model]})
