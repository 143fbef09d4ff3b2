"""JSON objects within a response: strict ones, and what models write instead of them.

Numbers stay the text that they were written in: 0.10 is not 0.1, and no digit is lost to a float. Where
strict JSON fails, single quotes, bare keys, Python's True, False and None, and commas before a closing
bracket are taken for what they mean. That is a handful of substitutions outside of strings: the libraries for
sloppy JSON turn numbers into floats, or mend what is torn.
"""

from __future__ import annotations

import json
import re

# So many braces are tried, or a page of them would take quadratic time.
_BRACES = 20
# A longer object is no answer.
_LONGEST = 20_000
_SLOPPY = re.compile(
    r"(?P<double>\"(?:[^\"\\]|\\.)*\")|(?P<single>'(?:[^'\\\n]|\\.)*')"
    r"|(?P<trailing>,(?=\s*[}\]]))|(?P<key>[A-Za-z_]\w*)(?=\s*:)|\b(?P<word>True|False|None)\b"
)
_WORDS = {"True": "true", "False": "false", "None": "null"}


class Repeated(tuple[object, ...]):
    """The different values that an object gives for one key."""

    __slots__ = ()


def json_objects(text: str) -> list[dict[str, object]]:
    """The JSON objects in `text` that are not within another one, empty ones left out.

    A key that is there twice with different values has them all, as `Repeated`.

    >>> json_objects("So: {'rate': 0.10, 'due': None,}")
    [{'rate': '0.10', 'due': None}]
    """
    found: list[dict[str, object]] = []
    at = text.find("{")
    for _ in range(_BRACES):
        if at < 0:
            break
        decoded, end = _decode(text, at)
        if isinstance(decoded, dict) and decoded:
            found.append(decoded)
        at = text.find("{", max(end, at + 1))
    return found


def _decode(text: str, at: int) -> tuple[object, int]:
    """What the object at `at` holds, and where it ends; (None, at) where there is none."""
    try:
        return _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        pass
    if not _KEYED.match(text, at):
        return None, at
    piece = _balanced(text, at)
    try:
        return _DECODER.decode(_SLOPPY.sub(_strict, piece)), at + len(piece)
    except (ValueError, RecursionError):
        return None, at


_KEYED = re.compile(r"\{\s*(?:\"|'|[A-Za-z_]\w*\s*:)")
_BRACE = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|[{}]")


def _balanced(text: str, at: int) -> str:
    """`text` from the brace at `at` to the one that closes it; "" where none does."""
    depth = 0
    for sign in _BRACE.finditer(text, at, at + _LONGEST):
        depth += {"{": 1, "}": -1}.get(sign.group(), 0)
        if depth == 0:
            return text[at : sign.end()]
    return ""


def _strict(match: re.Match[str]) -> str:
    if match["single"]:
        inside = match["single"][1:-1].replace("\\'", "'")
        return json.dumps(inside, ensure_ascii=False)
    if match["key"]:
        return json.dumps(match["key"], ensure_ascii=False)
    if match["trailing"]:
        return ""
    return _WORDS.get(match["word"] or "", match.group())


def _collected(pairs: list[tuple[str, object]]) -> dict[str, object]:
    collected: dict[str, object] = {}
    for key, value in pairs:
        before = collected.get(key, value)
        held = before if isinstance(before, Repeated) else Repeated((before,))
        is_same = len(held) == 1 and value == held[0]
        collected[key] = value if is_same else Repeated((*held, value))
    return collected


_DECODER = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str, object_pairs_hook=_collected)
