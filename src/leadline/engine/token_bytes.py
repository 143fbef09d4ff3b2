"""The bytes that each token of a tokenizer stands for. Text on its own will not do: tokens cut characters."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_SPACE = "\u2581"  # how SentencePiece writes a space


@dataclass(frozen=True)
class TokenBytes:
    """spelt: bytes by token id. special: tokens that are never part of a text. fallback: tokens that are a
    single byte of a character that has no token of its own (SentencePiece's byte fallback)."""

    spelt: tuple[bytes, ...]
    special: frozenset[int]
    fallback: frozenset[int]

    def of(self, token: int) -> bytes:
        """Nothing for a number beyond the tokenizer's: output layers are often padded to a round size."""
        return self.spelt[token] if token < len(self.spelt) else b""


def token_bytes(tokenizer: Any) -> TokenBytes:
    """Read off the tokenizer's own table how its tokens are spelt.

    Two ways of spelling are known, that of byte-level tokenizers (a printable character for each byte) and
    that of SentencePiece; of any other tokenizer the text of each token alone is taken.
    """
    special = frozenset(getattr(tokenizer, "all_special_ids", ())) | frozenset(
        token for token, added in getattr(tokenizer, "added_tokens_decoder", {}).items() if added.special
    )
    kinds = _decoders(tokenizer)
    if not kinds & {"ByteLevel", "ByteFallback", "Metaspace"}:
        alone = [
            tokenizer.decode([token], clean_up_tokenization_spaces=False).encode("utf-8", "replace")
            for token in range(len(tokenizer))
        ]
        return TokenBytes(tuple(alone), special, frozenset())
    spelt: list[str | None] = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    if "ByteLevel" in kinds:
        return TokenBytes(tuple(_byte_level(token or "") for token in spelt), special, frozenset())
    found = []
    fallback = set()
    for at, token in enumerate(spelt):
        single = _BYTE.fullmatch(token or "") if "ByteFallback" in kinds else None
        if single is not None:
            fallback.add(at)
            found.append(bytes([int(single[1], 16)]))
        else:
            found.append((token or "").replace(_SPACE, " ").encode("utf-8", "replace"))
    return TokenBytes(tuple(found), special, frozenset(fallback))


def _decoders(tokenizer: Any) -> frozenset[str]:
    """Names of the steps by which a fast tokenizer turns tokens into text."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    decoder = json.loads(backend.to_str())["decoder"] if backend is not None else None
    steps = [decoder, *decoder.get("decoders", ())] if decoder else []
    return frozenset(step["type"] for step in steps)


def _byte_level(token: str) -> bytes:
    table = _byte_of()
    if all(character in table for character in token):
        return bytes(table[character] for character in token)
    return token.encode("utf-8", "replace")  # a token that was added as plain text


@cache
def _byte_of() -> dict[str, int]:
    """Printable bytes stand for themselves in Latin-1; the others are counted up from U+0100 (GPT-2)."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + at): byte for at, byte in enumerate(others)}
