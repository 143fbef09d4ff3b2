"""An infini-gram index on this machine, read by the package infini-gram.

A folder of `tokenized.N`, `table.N`, `offset.N` and, if it was built so, `metadata.N` and `metaoff.N`, as
`python -m infini_gram.indexing` makes it. With `--token_dtype u8` and no tokenizer it is over bytes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from leadline.build.presence.infini_gram import Counted, Document, Query, Unasked
from leadline.build.presence.infini_gram_tokens import Tokens, document_name
from leadline.errors import LeadlineError, UsageError

_KINDS = {1: "u8", 2: "u16", 4: "u32"}
_CONTEXT = 64  # tokens shown around an occurrence, besides its own length on both sides


class FolderIndex:
    """See `Index`. Raises UsageError for a folder that is no index: the package itself ends the process."""

    def __init__(self, folder: Path, tokenizer: Path | None = None) -> None:
        width, shards = _width(folder)
        self.on: Literal["bytes", "tokens"] = "bytes" if width == 1 else "tokens"
        if width == 1 and tokenizer is not None:
            raise UsageError("is an index over bytes", where=str(folder), fix="take presence.tokenizer out")
        if width > 1 and tokenizer is None:
            raise UsageError(
                "holds token ids", where=str(folder), fix="name its tokenizer: presence.tokenizer"
            )
        try:
            from infini_gram.engine import InfiniGramEngine
        except ImportError as error:
            raise UsageError(
                f"the package infini-gram cannot be loaded: {error}",
                fix="pip install 'leadline[infini-gram]', or ask an API: presence.api",
            ) from None
        self._tokens = Tokens(tokenizer) if tokenizer is not None else None
        self.name = f"folder {_size(folder)}"
        self._shards = shards
        self._engine: Any = InfiniGramEngine(
            index_dir=str(folder),
            eos_token_id=0,  # matters to its language model alone
            vocab_size=2 ** (8 * width) - 1,
            version=4,
            token_dtype=_KINDS[width],
        )

    def queries(self, sentence: str) -> tuple[Query, ...]:
        if self._tokens is not None:
            return self._tokens.ways(sentence)
        return (tuple(sentence.encode()),)

    def count(self, query: Query) -> Counted:
        said = _answer(self._engine.count(_ids(query)))
        return Counted(said["count"], bool(said["approx"]))

    def documents(self, query: Query, most: int) -> Iterator[Document]:
        ids = _ids(query)
        for shard, rank in ranks(_answer(self._engine.find(ids))["segment_by_shard"], most):
            shown = _answer(self._engine.get_doc_by_rank(shard, rank, max_disp_len=2 * len(ids) + _CONTEXT))
            if not shown["blocked"]:
                name = document_name(shown["metadata"], f"{shard}:{shown['doc_ix']}")
                yield Document(name, self._text(shown["token_ids"]))

    def _text(self, ids: list[int]) -> str:
        if self._tokens is not None:
            return self._tokens.text(ids)
        return bytes(ids).decode("utf-8", "ignore")  # the ends may be cut within a character


def ranks(segments: object, most: int) -> Iterator[tuple[int, int]]:
    """Shard and rank of the first `most` occurrences, from a `segment_by_shard`.

    >>> list(ranks([(4, 6), (9, 9), (0, 5)], 3))
    [(0, 4), (0, 5), (2, 0)]
    """
    left = most
    for shard, segment in enumerate(segments if isinstance(segments, list) else ()):
        first, end = segment
        for rank in range(first, min(end, first + left)):
            yield shard, rank
        left -= max(0, min(left, end - first))


def _ids(query: Query) -> list[int]:
    if isinstance(query, str):
        raise AssertionError("a folder is asked for ids")
    if not query:
        raise Unasked("empty")
    return list(query)


def _answer(said: Any) -> Any:
    if "error" in said:
        raise LeadlineError(f"infini-gram: {said['error']}")
    return said


def _width(folder: Path) -> tuple[int, int]:
    """Bytes of a token, and how many shards there are, from the sizes of the files.

    A table has a pointer for each token, as many bytes long as the shard's size needs.
    """
    widths = set()
    shards = sorted(folder.glob("tokenized.*"))
    if not shards:
        raise UsageError("is no infini-gram index", where=str(folder), fix="it has no tokenized.0")
    for number in range(len(shards)):
        sizes = {}
        for kind in ("tokenized", "table", "offset"):
            file = folder / f"{kind}.{number}"
            if not file.is_file() or not (size := file.stat().st_size):
                raise UsageError(f"{file.name} is not there, or empty", where=str(folder))
            sizes[kind] = size
        pointer = math.ceil(math.log2(sizes["tokenized"]) / 8)
        count, rest = divmod(sizes["table"], pointer)
        width, odd = divmod(sizes["tokenized"], count or 1)
        if rest or odd or width not in _KINDS or sizes["offset"] % 8:
            raise UsageError(
                f"table.{number} does not fit tokenized.{number}", where=str(folder), fix="index it again"
            )
        widths.add(width)
    if len(widths) != 1:
        raise UsageError("its shards have tokens of different widths", where=str(folder))
    return widths.pop(), len(shards)


def _size(folder: Path) -> str:
    """What tells one index from another: the sizes of its shards."""
    sizes = [file.stat().st_size for file in sorted(folder.glob("tokenized.*"))]
    return " ".join(map(str, sizes))
