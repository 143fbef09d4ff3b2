"""Requests and models for the tests of served models."""

from __future__ import annotations

from typing import Any

from leadline.engine import Prompt, Request, Sampling
from leadline.models.served import MemoryLedger, ServedModel, ServedSettings
from leadline.models.served.backoff import Backoff
from leadline.models.served.worst_case import seed_of


def requests(number: int, samples: int = 5, temperature: float = 0.7, max_tokens: int = 32) -> list[Request]:
    """`number` requests: `samples` for each question."""
    return [
        Request(
            Prompt(messages=(("user", f"question {at // samples}"),)),
            Sampling(temperature, max_tokens, ("\n",)),
            (0, f"q{at // samples}", at % samples, "answer"),
        )
        for at in range(number)
    ]


def right_answer(request: Request) -> str:
    """What the fault server says to `request` when it says something whole."""
    assert request.prompt.messages is not None
    prompt, seed = request.prompt.messages[-1][1], seed_of(request.key)
    return f"answer to {prompt} with {seed} at {request.sampling.temperature}"


def served(url: str, ledger: MemoryLedger | None = None, **settings: Any) -> ServedModel:
    """A model at `url` that does not wait long between attempts."""
    chosen = {"ref": "inspect:openai-api/local/m", "base_url": url, "timeout": 20.0, **settings}
    return ServedModel(
        ServedSettings(**chosen),
        MemoryLedger() if ledger is None else ledger,
        backoff=Backoff(first=0.02, longest=0.2),
    )
