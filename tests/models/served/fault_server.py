"""A real HTTP server that speaks chat completions and fails as servers do, by a seeded plan.

    python -m tests.models.served.fault_server LOG.jsonl '{"seed": 1, "faults": {"500": 0.1}, "delay": 0.01}'

prints its base URL. What it deals depends on what is asked and how often that was asked before, never on the
order of arrival. Each request is logged when it is there ("got"), each whole answer once it is sent ("sent").
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Dealt in answers that are whole, and count as answers.
WHOLE = ("good", "empty", "length", "content_filter", "slow")
ERRORS = {
    "400": "This request is not valid",
    "401": "Incorrect API key",
    "404": "The model does not exist",
    "429": "Rate limit reached",
    "500": "Internal error",
    "503": "Overloaded",
    "long": "This model's maximum context length is 9 tokens",
    "quota": "You exceeded your current quota",
}
CODES = {"long": "context_length_exceeded", "quota": "insufficient_quota"}
STATUS = {"quota": 429, "long": 400}


@dataclass
class Server:
    """The plan (see `serving`), and what was asked so far."""

    log: Any
    seed: int = 0
    faults: dict[str, float] = field(default_factory=dict)
    delay: float = 0.0
    retry_after: str = "1"
    hang: float = 60.0
    asked: Counter[str] = field(default_factory=Counter)
    open_now: int = 0

    def deal(self, key: str) -> str:
        """What happens to the next request for `key`."""
        digest = hashlib.sha256(f"{self.seed} {key} {self.asked[key]}".encode()).digest()
        self.asked[key] += 1
        drawn = int.from_bytes(digest[:6], "big") / 2**48
        for fault, share in self.faults.items():
            if drawn < share:
                return fault
            drawn -= share
        return "good"

    def write(self, **line: Any) -> None:
        """A line of the log, on disk before anything follows."""
        self.log.write(json.dumps(line) + "\n")
        self.log.flush()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, with as many requests as the client sends."""
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while head := (await reader.readuntil(b"\r\n\r\n")).decode():
                lines = head.split("\r\n")
                headers = {
                    name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])
                }
                raw = await reader.readexactly(int(headers.get("content-length", 0)))
                self.open_now += 1
                try:
                    if not await self.answer(json.loads(raw), headers, writer):
                        break
                finally:
                    self.open_now -= 1
        writer.close()

    async def answer(
        self, body: dict[str, Any], headers: dict[str, str], writer: asyncio.StreamWriter
    ) -> bool:
        """Answer, or fail; False where the connection is to be dropped."""
        prompt = body["messages"][-1]["content"]
        key = f"{prompt} with {body.get('seed')} at {body.get('temperature')}"
        dealt = self.deal(key)
        self.write(
            what="got",
            key=key,
            dealt=dealt,
            open=self.open_now,
            authorization=headers.get("authorization"),
        )
        await asyncio.sleep(self.delay * (5 if dealt == "slow" else 1))
        if dealt in ERRORS:
            error = json.dumps(
                {"error": {"message": ERRORS[dealt], "type": "error", "code": CODES.get(dealt)}}
            )
            extra = {"Retry-After": self.retry_after} if dealt == "429" else {}
            return await self.send(writer, STATUS.get(dealt) or int(dealt), error, extra)
        whole = self.completion(body["model"], prompt, key, dealt)
        if dealt == "hang":
            await asyncio.sleep(self.hang)
            return False
        if dealt == "drop":
            writer.transport.abort()
            return False
        if dealt == "drop_inside":
            writer.write(_head(200, len(whole), {}) + whole.encode()[: len(whole) // 2])
            await writer.drain()
            writer.transport.abort()
            return False
        if dealt == "malformed":
            return await self.send(writer, 200, whole[: len(whole) // 2])
        if dealt == "html":
            return await self.send(writer, 200, "<html>Bad gateway</html>", {"Content-Type": "text/html"})
        if dealt == "no_choices":
            return await self.send(writer, 200, json.dumps({**json.loads(whole), "choices": None}))
        going_on = await self.send(writer, 200, whole)
        self.write(what="sent", key=key, dealt=dealt, usage=json.loads(whole)["usage"])
        return going_on

    def completion(self, model: str, prompt: str, key: str, dealt: str) -> str:
        """A whole answer, which says what it answers."""
        text = "" if dealt == "empty" else f"answer to {key}"
        finish = dealt if dealt in ("length", "content_filter") else "stop"
        tokens_in, tokens_out = len(prompt.split()), len(text.split())
        return json.dumps(
            {
                "id": "1",
                "object": "chat.completion",
                "created": 1,
                "model": f"{model}-2026",
                "system_fingerprint": "fp_1",
                "choices": [
                    {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}}
                ],
                "usage": {
                    "prompt_tokens": tokens_in,
                    "completion_tokens": tokens_out,
                    "total_tokens": tokens_in + tokens_out,
                },
            }
        )

    async def send(
        self, writer: asyncio.StreamWriter, status: int, text: str, extra: dict[str, str] | None = None
    ) -> bool:
        """A whole response."""
        writer.write(_head(status, len(text.encode()), extra or {}) + text.encode())
        await writer.drain()
        return True


def _head(status: int, length: int, extra: dict[str, str]) -> bytes:
    headers = {"Content-Type": "application/json", "Content-Length": str(length), **extra}
    lines = [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


@dataclass(frozen=True)
class Running:
    """A server in a process of its own."""

    url: str
    log: Path

    def lines(self, what: str) -> list[dict[str, Any]]:
        """Its log's lines of one kind: "got" or "sent"."""
        return [line for line in map(json.loads, self.log.read_text().splitlines()) if line["what"] == what]


@contextmanager
def serving(log: Path, **plan: Any) -> Iterator[Running]:
    """A server that deals by `plan`: seed, faults {name: share}, delay, retry_after, hang."""
    command = [sys.executable, "-m", "tests.models.served.fault_server", str(log), json.dumps(plan)]
    root = Path(__file__).parents[3]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as process:
        try:
            assert process.stdout is not None
            yield Running(process.stdout.readline().strip(), log)
        finally:
            process.terminate()


async def _main(log: str, plan: str) -> None:
    with Path(log).open("a") as file:
        server = Server(file, **json.loads(plan))
        listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, backlog=1000)
        port = listening.sockets[0].getsockname()[1]
        print(f"http://127.0.0.1:{port}/v1", flush=True)
        await listening.serve_forever()


if __name__ == "__main__":
    asyncio.run(_main(*sys.argv[1:]))
