"""What a literal of an SQL dump stands for."""

from __future__ import annotations

import re

Value = bytes | int | float | None

_ESCAPE = re.compile(rb"\\(.)|''", re.S)
_ESCAPED = {b"0": b"\0", b"b": b"\b", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"Z": b"\x1a"}
# Before a wildcard the backslash stays: MySQL's own rule.
_ESCAPED |= {b"%": b"\\%", b"_": b"\\_"}


def value(literal: bytes) -> Value:
    """What a literal stands for: a string's bytes, a number, or None for NULL.

    >>> value(b"'a\\\\n''b'"), value(b"NULL"), value(b"-3"), value(b"0.5"), value(b"0x4142")
    (b"a\\n'b", None, -3, 0.5, b'AB')
    """
    if literal.endswith(b"'"):
        inner = literal[literal.index(b"'") + 1 : -1]
        return _ESCAPE.sub(_unescape, inner) if b"\\" in inner or b"'" in inner else inner
    if literal == b"NULL":
        return None
    if literal[:2] == b"0x":
        return bytes.fromhex(literal[2:].decode())
    try:
        return int(literal)
    except ValueError:
        return float(literal)


def _unescape(match: re.Match[bytes]) -> bytes:
    after = match[1]
    return b"'" if after is None else _ESCAPED.get(after, after)
