"""A sentence as the tokens of an index, and documents back as text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from leadline.errors import UsageError

_LONGEST_NAME = 300


class Tokens:
    """The tokenizer of an index, from its tokenizer.json (or the folder that holds one)."""

    def __init__(self, file: Path) -> None:
        try:
            from tokenizers import Tokenizer
        except ImportError as error:
            raise UsageError(f"a tokenizer needs: {error}", fix="pip install 'leadline[local]'") from None
        path = file / "tokenizer.json" if file.is_dir() else file
        try:
            self._tokenizer: Any = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises Exception itself
            line = str(error).splitlines()[0][:200]
            raise UsageError(f"is no tokenizer.json: {line}", where=str(path)) from None
        self.size = int(self._tokenizer.get_vocab_size())

    def ways(self, sentence: str) -> tuple[tuple[int, ...], ...]:
        """What a sentence may be as tokens of a document: first in it, after a space, or after a line.

        A way that ends with another one occurs only where that one does, and is left out. How the last token
        is cut where the sentence ends is taken to be the same everywhere; most tokenizers have it so after a
        full stop.
        """
        newline = self._ids("\n")
        found: dict[tuple[int, ...], None] = {}
        for before, skipped in (("", 0), (" ", 0), ("\n", len(newline))):
            ids = self._ids(before + sentence)
            if skipped and ids[:skipped] != newline:
                continue
            ids = ids[skipped:]
            if ids and (not found or self._same(ids, next(iter(found)))):
                found[ids] = None
        return tuple(
            one
            for one in found
            if not any(len(other) < len(one) and one[-len(other) :] == other for other in found)
        )

    def text(self, ids: Sequence[int]) -> str:
        """What tokens say."""
        said: str = self._tokenizer.decode(list(ids), skip_special_tokens=False)
        return said

    def _same(self, one: tuple[int, ...], other: tuple[int, ...]) -> bool:
        """Whether two ways say the same: a line's end may be one token with what follows it."""
        return self.text(one).strip() == self.text(other).strip()

    def _ids(self, text: str) -> tuple[int, ...]:
        return tuple(self._tokenizer.encode(text, add_special_tokens=False).ids)


def document_name(metadata: object, otherwise: str) -> str:
    """What a document is called: its id, else the corpus file and line, as its index's metadata have them.

    >>> document_name('{"path": "a.jsonl.gz", "linenum": 4, "metadata": {"id": "x7"}}', "0:9")
    'x7'
    >>> document_name('{"path": "a.jsonl.gz", "linenum": 4}', "0:9"), document_name("", "0:9")
    ('a.jsonl.gz:5', '0:9')
    """
    try:
        said = json.loads(metadata) if isinstance(metadata, str) else metadata
    except ValueError:
        return otherwise
    if not isinstance(said, dict):
        return otherwise
    inner = said.get("metadata")
    name = (inner.get("id") if isinstance(inner, dict) else None) or said.get("id")
    path, line = said.get("path"), said.get("linenum")
    if not name and isinstance(path, str) and isinstance(line, int):
        name = f"{path}:{line + 1}"
    return _printable(str(name)) if name else otherwise


def _printable(text: str) -> str:
    return "".join(character for character in text if character.isprintable())[:_LONGEST_NAME]
