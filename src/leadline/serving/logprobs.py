"""Log-probabilities as the two APIs write them.

JSON has no −∞: what is less likely than any text has OpenAI's −9999. A token that is a part of a character
has no text: it is named by its bytes, as OpenAI names it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leadline.engine import TokenLogprob

_LEAST = -9999.0


def of_chat(found: Sequence[TokenLogprob]) -> dict[str, Any]:
    """`choices[].logprobs` of a chat: the tokens of the answer's text."""
    content = [
        {
            **_entry(name_of(one.piece, one.bytes), one.bytes, one.logprob),
            "top_logprobs": [_entry(name_of(text, raw), raw, logprob) for text, raw, logprob in one.top],
        }
        for one in with_text(found)
    ]
    return {"content": content, "refusal": None}


def of_completion(found: Sequence[TokenLogprob | None], pieces: Sequence[str], offset: int) -> dict[str, Any]:
    """`choices[].logprobs` of a completion. found: None for a first token, which nothing predicts; `pieces`:
    what of the text each token brings, `offset` where in the whole text they begin."""
    offsets = []
    for piece in pieces:
        offsets.append(offset)
        offset += len(piece)
    named = zip(found, pieces, strict=True)
    return {
        "tokens": [piece if one is None else name_of(piece, one.bytes) for one, piece in named],
        "token_logprobs": [None if one is None else max(_LEAST, one.logprob) for one in found],
        "top_logprobs": [None if one is None else _top(one) for one in found],
        "text_offset": offsets,
    }


def with_text(found: Sequence[TokenLogprob]) -> Sequence[TokenLogprob]:
    """Without the tokens at the end that bring no text: the text's end, a stop string that was cut off."""
    end = len(found)
    while end and not found[end - 1].piece:
        end -= 1
    return found[:end]


def name_of(piece: str, raw: bytes) -> str:
    """How a token is called: its text, or its bytes where they are no text by themselves.

    >>> name_of("", b"\\xe2\\x82")
    'bytes:\\\\xe2\\\\x82'
    """
    if piece and "\ufffd" not in piece:
        return piece
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return "bytes:" + "".join(f"\\x{byte:02x}" for byte in raw)


def _entry(name: str, raw: bytes, logprob: float) -> dict[str, Any]:
    return {"token": name, "logprob": max(_LEAST, logprob), "bytes": list(raw)}


def _top(one: TokenLogprob) -> dict[str, float]:
    """The alternatives and the token itself. Of two tokens of one name the likelier stands."""
    found: dict[str, float] = {}
    entries = [(name_of(one.piece, one.bytes), one.logprob)]
    entries += [(name_of(text, raw), logprob) for text, raw, logprob in one.top if raw != one.bytes]
    for name, logprob in sorted(entries, key=lambda entry: -entry[1]):
        found.setdefault(name, max(_LEAST, logprob))
    return found
