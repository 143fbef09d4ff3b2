"""Broken files that begin as real ones: bytes flipped, cut and spliced; parts of JSON replaced by any other.

A reader turns random bytes away at its first line. A real file with one thing wrong goes as deep as that.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

# Pieces that have broken readers of files.
PIECES: tuple[bytes, ...] = (
    b"\x00", b"\xff", b"\x80", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\r\n", b"\r", b"\n", b"\n\n",
    b"\t", b'"', b'""', b"'", b",", b";", b":", b"{", b"}", b"[", b"]", b"[" * 10_000, b'{"a":' * 3_000,
    b"\\", b"\\u", b"\\ud800", b"\\udc00\\ud800", b"\\u0000", b"\xed\xa0\x80", b"\xc0\xaf",
    b"\xf4\x90\x80\x80", b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-0", b"1e-999", b"9" * 5_000,
    b"0x10", b"010", b"1_000", b"null", b"true", b"\xe2\x80\xa8", b"\xc2\x85", b"\x1b[2J",
    b"\x1b]0;title\x07", b"\xe2\x80\xae", b"../../etc/passwd", b"&a", b"*a", b"!!python/name:os.system",
    b"<<: *a", b"%", b"{{", b"}}", b"{% for i in range(9) %}", b"<script>", b"<!--", b"]]>", b"&#x110000;",
    b"&#0;", b"PK\x03\x04", b"\x1f\x8b", b" " * 10_000, b"\x1a", b"|", b"- ", b"---\n", b"...\n", b"? ",
    b"#", b"\xf0\x9f\x98\x80", b"e\xcc\x81" * 50, b"=cmd()", b"",
)  # fmt: skip

# JSON that `json.dumps` does not write, by the placeholder that it is put in for.
_RAW: dict[str, str] = {
    "\ue000a": "9" * 5_000,
    "\ue000b": "1" + "0" * 400,
    "\ue000c": "1e999",
    "\ue000d": "-1e999",
    "\ue000e": "[" * 10_000 + "]" * 10_000,
    "\ue000f": '{"a":' * 5_000 + "1" + "}" * 5_000,
    "\ue000g": '{"a": 1, "a": 2}',
    "\ue000h": "NaN",
    "\ue000i": "-Infinity",
    "\ue000j": '"\\ud800"',
    "\ue000k": '"\\udc00 \\ud800"',
    "\ue000l": '"\\u0000"',
    "\ue000m": "1E400",
    "\ue000n": "18446744073709551616",
    "\ue000o": "-9223372036854775809",
    "\ue000p": "0.1e-400",
    "\ue000q": "",
    "\ue000r": "1.0",
    "\ue000s": "[" + ", ".join(["1"] * 1_000) + "]",
    "\ue000t": '["a"' + ', "a"' * 1_000 + "]",
    "\ue000u": '"' + "x" * 100_000 + '"',
    "\ue000v": '"' + "9" * 5_000 + '"',
    "\ue000w": '"' + "é" * 1_000 + '"',
}
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2**31, 2**53 + 1, 2**63, 2**64, 0.5, -0.0, 1e308, "", " ", "\n", "a",
    "A b", "\x00", "a\nb", "\x1b[2J", "\u202e", "\u2028", "=1+1", "../x", "/etc/passwd", "a/../b", ".",
    "..", "C:\\x", "~", "-", "--help", "http://[", "https://a:b@c", "file:///etc/passwd",
    "\ufeff", "😀", "1", "-1", "1e999", "nan", "٣", "{{ 1 }}",
    "{% for i in range(9**9) %}{% endfor %}", "2024-02-30", "0000-00-00", "<b>", [], {}, [[]], [None], [{}],
    {"": ""}, {"a": {"a": {"a": []}}}, [1, "a", None, {}], [["a"], ["a"]], {"\n": 1},
    {"id": 1}, *_RAW,
)  # fmt: skip


def written(value: Any, *, indent: int | None = None) -> bytes:
    """JSON of a value from `changed`, with the parts that json.dumps does not write."""
    text = json.dumps(value, indent=indent)
    for name, raw in _RAW.items():
        text = text.replace(json.dumps(name), raw)
    return text.encode()


@st.composite
def broken(draw: st.DrawFn, originals: Sequence[bytes]) -> bytes:
    """One of the files, with one to four changes: bytes flipped, cut, doubled, moved, put in, spliced."""
    data = draw(st.sampled_from(originals))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        length = draw(st.sampled_from((1, 1, 2, 4, 16, 64, 1024)))
        kind = draw(
            st.sampled_from(("piece", "piece", "piece", "flip", "cut", "remove", "double", "move", "splice"))
        )
        if kind == "piece":
            over = draw(st.sampled_from((0, 0, 1, length)))
            data = data[:at] + draw(st.sampled_from(PIECES)) + data[at + over :]
        elif kind == "flip" and data:
            data = data[:at] + bytes((data[at] ^ draw(st.integers(1, 255)),)) + data[at + 1 :]
        elif kind == "cut":
            data = data[:at]
        elif kind == "remove":
            data = data[:at] + data[at + length :]
        elif kind == "double":
            data = data[: at + length] + data[at:]
        elif kind == "move":
            to = draw(st.integers(0, max(0, len(data) - 1)))
            part, rest = data[at : at + length], data[:at] + data[at + length :]
            data = rest[:to] + part + rest[to:]
        elif kind == "splice":
            other = draw(st.sampled_from(originals))
            data = data[:at] + other[draw(st.integers(0, max(0, len(other) - 1))) :]
    return data


@st.composite
def changed(draw: st.DrawFn, originals: Sequence[Any]) -> Any:
    """One of the values (of JSON), with one to three of its parts replaced, left out, doubled or renamed.

    `written` makes bytes of it; a part may stand for JSON that no value of Python's is written as.
    """
    value = json.loads(json.dumps(draw(st.sampled_from(originals))))
    for _ in range(draw(st.integers(1, 3))):
        value = _change(draw, value)
    return value


def _change(draw: st.DrawFn, value: Any) -> Any:
    place = draw(st.sampled_from(places(value)))
    if not place:
        return copy.deepcopy(draw(st.sampled_from((value, value, value, *VALUES))))
    *way, last = place
    parent = _part(value, way)
    kind = draw(
        st.sampled_from(("replace", "replace", "replace", "remove", "rename", "wrap", "double", "other"))
    )
    if kind == "replace":
        parent[last] = copy.deepcopy(draw(st.sampled_from(VALUES)))
    elif kind == "other":
        parent[last] = _copied(_part(value, draw(st.sampled_from(places(value)))), parent[last])
    elif kind == "remove":
        del parent[last]
    elif kind == "wrap":
        parent[last] = draw(st.sampled_from(([parent[last]], {"a": parent[last]}, str(parent[last]))))
    elif kind == "rename" and isinstance(parent, dict):
        parent[draw(st.sampled_from(("", "a", "id", "\n", "\ud800", str(last).upper(), f"{last} ")))] = (
            parent.pop(last)
        )
    elif kind == "double" and not isinstance(parent, dict):
        parent.append(_copied(parent[last], parent[last]))
    return value


def _part(value: Any, place: Sequence[str | int]) -> Any:
    for step in place:
        value = value[step]
    return value


def _copied(part: Any, otherwise: Any) -> Any:
    """A copy of a part, if it is small: a value that is put into itself again and again fills any memory."""
    text = json.dumps(part)
    return json.loads(text) if len(text) < 5_000 else otherwise


def places(value: Any, within: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Where the parts of a value are, the value itself first."""
    found = [within]
    if isinstance(value, dict):
        for key, part in value.items():
            found += places(part, (*within, key))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            found += places(part, (*within, number))
    return found
