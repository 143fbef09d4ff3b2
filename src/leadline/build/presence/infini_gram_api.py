"""An infini-gram index behind an HTTP API, such as https://api.infini-gram.io/.

    POST / {"index": "v4_olmo-2-1124-13b-instruct_llama", "query_type": "count", "query_ids": [3014, 310]}

Three kinds of query are used: `count`, and where something is there `find` and `get_doc_by_rank`. A text that
has AND or OR in it (capital letters, spaces around) is read as a logical formula: such a sentence is asked
for by token ids, for which the index's tokenizer is needed, or not at all.

Source: https://infini-gram.readthedocs.io/en/latest/api.html.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from leadline import __version__
from leadline.build.presence.infini_gram import Counted, Document, Query, Unasked
from leadline.build.presence.infini_gram_folder import ranks
from leadline.build.presence.infini_gram_tokens import Tokens, document_name
from leadline.documents.courtesy import Pace
from leadline.documents.fetch_settings import FetchSettings
from leadline.documents.request import (
    PASSING_STATUS,
    Failed,
    Passing,
    asked,
    passing,
    patiently,
    status_line,
)
from leadline.errors import LeadlineError, UsageError

if TYPE_CHECKING:
    import httpx2

# What the public API takes.
_MOST_CHARACTERS = 1000
_MOST_TOKENS = 500
_MOST_SHOWN = 10_000
_CONTEXT = 64
_FORMULA = re.compile(r" (?:AND|OR) ")
_LARGEST = 1 << 24  # bytes of an answer
_RATE = 5.0  # requests a second


@contextmanager
def api_index(url: str, index: str, tokenizer: Path | None, user_agent: str | None) -> Iterator[ApiIndex]:
    """The index of that name, while the block lasts."""
    import httpx2

    agent = user_agent or os.environ.get("LEADLINE_USER_AGENT") or f"leadline/{__version__}"
    settings = FetchSettings(agent, rate=_RATE)
    try:
        target = httpx2.URL(url)
    except (httpx2.InvalidURL, ValueError) as error:
        raise UsageError(f"presence.api is no address: {error}", where=url[:200]) from None
    if target.scheme not in ("http", "https") or not target.host:
        raise UsageError("presence.api is no address", where=url[:200], fix="https://api.infini-gram.io/")
    tokens = Tokens(tokenizer) if tokenizer is not None else None
    headers = {"user-agent": agent, "accept": "application/json"}
    with httpx2.Client(timeout=settings.timeout, follow_redirects=False, headers=headers) as client:
        yield ApiIndex(target, index, tokens, client, settings)


@dataclass
class ApiIndex:
    """See `Index`."""

    target: httpx2.URL
    index: str
    tokens: Tokens | None
    client: httpx2.Client
    settings: FetchSettings
    on: Literal["bytes", "tokens"] = "tokens"

    def __post_init__(self) -> None:
        self._pace = Pace(1 / self.settings.rate)
        by = "ids" if self.tokens is not None else "text"
        self.name = f"{self.target} {self.index} by {by}"

    def queries(self, sentence: str) -> tuple[Query, ...]:
        if self.tokens is not None:
            ways = self.tokens.ways(sentence)
            if any(len(way) > _MOST_TOKENS for way in ways):
                raise Unasked(f"longer than {_MOST_TOKENS} tokens")
            return ways
        if _FORMULA.search(sentence):
            raise Unasked("has AND or OR in it, which the API reads as a formula: name presence.tokenizer")
        if len(sentence) > _MOST_CHARACTERS:
            raise Unasked(f"longer than {_MOST_CHARACTERS} characters")
        return (sentence,)

    def count(self, query: Query) -> Counted:
        said = self._ask("count", query)
        if not isinstance(said.get("count"), int):
            raise LeadlineError("answers without a count", where=str(self.target))
        return Counted(said["count"], bool(said.get("approx")))

    def documents(self, query: Query, most: int) -> Iterator[Document]:
        place = self._ask("find", query)
        ids = place.get("token_ids")
        shown = min(_MOST_SHOWN, 2 * (len(ids) if isinstance(ids, list) else _MOST_TOKENS) + _CONTEXT)
        for shard, rank in ranks(place.get("segment_by_shard"), most):
            said = self._ask("get_doc_by_rank", query, s=shard, rank=rank, max_disp_len=shown)
            if not said.get("blocked"):
                yield Document(
                    document_name(said.get("metadata"), f"{shard}:{said.get('doc_ix')}"), self._text(said)
                )

    def _text(self, said: dict[str, Any]) -> str:
        ids, spans = said.get("token_ids"), said.get("spans")
        if self.tokens is not None and isinstance(ids, list):
            return self.tokens.text([one for one in ids if isinstance(one, int)])
        return "".join(str(span[0]) for span in spans if span) if isinstance(spans, list) else ""

    def _ask(self, kind: str, query: Query, **more: int) -> dict[str, Any]:
        what: dict[str, object] = {"query": query} if isinstance(query, str) else {"query_ids": list(query)}
        sent = {"index": self.index, "query_type": kind, **what, **more}
        try:
            return patiently(lambda: self._once(sent), self._pace, self.settings)
        except Passing as failure:
            raise LeadlineError(
                failure.reason, where=str(self.target), fix="run it again later: what was answered is kept"
            ) from None
        except Failed as failure:
            raise LeadlineError(failure.reason, where=str(self.target)) from None

    def _once(self, sent: dict[str, object]) -> dict[str, Any]:
        with asked(self.client, self._pace, self.target, {}, json=sent) as answer:
            body = bytearray()
            for piece in answer.iter_bytes():
                body += piece
                if len(body) > _LARGEST:
                    raise Failed("answers more than a document would be", answer.status_code)
        try:
            said = json.loads(bytes(body))
        except ValueError:
            said = None
        fault = _line(said.get("error")) if isinstance(said, dict) else ""
        if answer.status_code in PASSING_STATUS:
            raise passing(answer)
        if "Invalid index" in fault:
            raise UsageError(f"presence.infini_gram: the API has no index {self.index!r}")
        if fault or answer.status_code != 200:
            raise Failed(f"the API answers {status_line(answer.status_code)}{': ' if fault else ''}{fault}")
        if not isinstance(said, dict):
            raise Failed("the API answers no JSON object: is this the address of an infini-gram API?")
        return said


def _line(said: object) -> str:
    """A text of the server's, on one line and without what a terminal would obey."""
    words = " ".join(str(said or "").split())
    return "".join(character for character in words if character.isprintable())[:300]
