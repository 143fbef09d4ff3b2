"""What a server says of its requests: one line each, and nothing of what was asked unless it was told to."""

from __future__ import annotations

import json
import logging
import sys
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import IO, Any

from leadline.redaction import RedactingFormatter


@dataclass
class Entry:
    """One request: `asked` and `said` are written only by a journal that tells texts. seed: what its draws
    are keyed with, the client's or one of the server's own; None where nothing was drawn."""

    path: str
    id: str = ""
    status: int = 200
    stream: bool = False
    choices: int = 0
    seed: int | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    note: str = ""
    asked: Any = None
    said: list[str] = field(default_factory=list)
    begun: float = field(default_factory=time.monotonic)


class Journal:
    """Writes entries to `out`; as JSON lines, as lines for people, or (`out` None) not at all."""

    def __init__(self, out: IO[str] | None = None, *, as_json: bool = False, texts: bool = False) -> None:
        self.out, self.as_json, self.texts = out, as_json, texts

    def write(self, entry: Entry) -> None:
        """One line. A log that cannot be written stops no server."""
        if self.out is None:
            return
        seconds = round(time.monotonic() - entry.begun, 3)
        if self.as_json:
            record = {
                "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
                "path": entry.path,
                "id": entry.id,
                "status": entry.status,
                "seconds": seconds,
                "stream": entry.stream,
                "choices": entry.choices,
                "seed": entry.seed,
                "prompt_tokens": entry.tokens_in,
                "completion_tokens": entry.tokens_out,
            }
            if entry.note:
                record["note"] = entry.note
            if self.texts:
                record |= {"asked": entry.asked, "said": entry.said}
            line = json.dumps(record)
        else:
            tokens = f" {entry.tokens_in}+{entry.tokens_out} tokens" if entry.tokens_in else ""
            note = f" {entry.note}" if entry.note else ""
            line = f"{entry.path} {entry.status} {seconds:.2f} s{tokens}{note}"
            if self.texts:
                line += f" {json.dumps(entry.asked)} -> {json.dumps(entry.said)}"
        try:
            print(line, file=self.out, flush=True)
        except OSError:
            self.out = None


def on_stderr(*, as_json: bool = False, texts: bool = False) -> Journal:
    """A journal on standard error."""
    return Journal(sys.stderr, as_json=as_json, texts=texts)


def log_faults() -> None:
    """Faults go to standard error whatever else does, with their tracebacks, and without secrets."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(RedactingFormatter("%(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
