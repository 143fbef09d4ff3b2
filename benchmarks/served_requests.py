"""How fast a provider is asked: many requests in flight against one at a time, and against the openai package
alone, on a server in a process of its own that answers after 50 ms.

    python benchmarks/served_requests.py [--connections 32] [--requests 1280]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.models.served.asks import requests, served
from tests.models.served.fault_server import serving


def measure(*, repeats: int, quick: bool, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """Requests a second, best of alternating runs; `times_serial` is against one connection."""
    say("requests to a server that answers after 50 ms")
    return [compared(connections=32, number=128 if quick else 1280, repeats=repeats)]


def compared(connections: int, number: int, repeats: int) -> dict[str, Any]:
    """One row of figures."""
    serial, ours, bare = [], [], []
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder) / "log.jsonl", delay=0.05) as server:
        for _ in range(repeats):
            serial.append(_ours(server.url, 40, 1))
            ours.append(_ours(server.url, number, connections))
            bare.append(asyncio.run(_bare(server.url, number, connections)))
    return {
        "connections": connections,
        "requests": number,
        "serial_per_second": max(serial),
        "per_second": max(ours),
        "openai_package_per_second": max(bare),
        "times_serial": max(ours) / max(serial),
    }


def _ours(url: str, number: int, connections: int) -> float:
    model = served(url, connections=connections)
    list(model.generate(requests(connections)))
    started = time.perf_counter()
    list(model.generate(requests(number)))
    took = time.perf_counter() - started
    model.close()
    return number / took


async def _bare(url: str, number: int, connections: int) -> float:
    from openai import AsyncOpenAI

    async with AsyncOpenAI(api_key="none", base_url=url, max_retries=0) as client:
        free = asyncio.Semaphore(connections)

        async def ask(at: int) -> None:
            async with free:
                message: Any = {"role": "user", "content": f"question {at}"}
                await client.chat.completions.create(
                    model="m", messages=[message], temperature=0.7, max_tokens=32, seed=at, stop=["\n"]
                )

        await asyncio.gather(*(ask(at) for at in range(connections)))
        started = time.perf_counter()
        await asyncio.gather(*(ask(at) for at in range(number)))
        return number / (time.perf_counter() - started)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="How fast a provider is asked.")
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--requests", type=int, default=1280)
    parser.add_argument("--repeats", type=int, default=2)
    given = parser.parse_args()
    print(json.dumps(compared(given.connections, given.requests, given.repeats), indent=1))
