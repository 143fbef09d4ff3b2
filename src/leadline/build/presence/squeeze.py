"""Corpus text made comparable in bulk: a megabyte of raw JSON lines in half a millisecond.

What stands in a text in its normalised form stands in its *squeezed* form too: UTF-8 without white space,
JSON escapes resolved, signs folded. A squeezed block is what sentences are looked for in; where one is found,
the line is parsed and compared as it is. So the squeezed form may find too much but never too little.

Two things cannot be done in bulk. Lines with characters that NFC may change (combining marks and their like)
are named as *irregular*, to be normalised one by one. And footnote marks are cut out by `without_marks`.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import chain
from string import ascii_letters, digits
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from leadline.build.presence.machine_code import loops
from leadline.build.presence.normal_form import FOLDED, MARK_TEXT, MARK_WORDS, normalised

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.intp]

# What a code point is; anything else is the ASCII sign that takes its place.
_PLAIN, _SPACE, _IRREGULAR, _DOTS = 0, 1, 2, 3
_PADDING = 16
# Where characters lie that NFC may change: a test looks at all of Unicode.
_LOOKED_AT = tuple(
    range(first, last)
    for first, last in (
        (0x80, 0xD800),
        (0xE000, 0x12000),
        (0x16000, 0x17000),
        (0x1BC00, 0x1BD00),
        (0x1D100, 0x1D300),
        (0x1E000, 0x1EA00),
        (0x2F800, 0x2FA20),
    )
)
_MARK = re.compile(rb"\[(?:" + MARK_TEXT.replace(" ?", "").replace(r"\ ", "").encode() + rb")\]", re.I)


class Squeezed(NamedTuple):
    """`text`: the squeezed bytes, `ends`: where the raw block's line ends are, `irregular`: numbers of lines
    (from 0) with characters that NFC may change."""

    text: Bytes
    ends: Places
    irregular: Places


def squeezed_text(text: str) -> bytes:
    """The squeezed form of one text, computed the slow way: what `squeeze` comes to for regular ones.

    >>> squeezed_text("Bielefeld’s  church")
    b"Bielefeld'schurch"
    """
    return "".join(normalised(text).split()).encode("utf-8", "surrogatepass")


def squeeze(block: bytes, *, json: bool, marks: bool = True) -> Squeezed:
    """The squeezed form of a block of whole lines; line ends stay.

    `json`: escapes are those of JSON. `marks`: footnote marks stay; else as `without_marks` leaves it.

    Bytes that are not UTF-8 come out as anything.
    """
    import polars as pl

    size = len(block)
    raw = np.empty(size + _PADDING, np.uint8)
    keep = np.empty(size + _PADDING, np.bool_)
    loop = loops("squeeze_loop")
    if loop is not None:
        ends, irregular, may_be_marks = loop.resolve(
            np.frombuffer(block, np.uint8), json, raw, keep, _kinds(), _in_marks(), _hex(), _escapes()
        )
        for begin, end in may_be_marks.tolist() if not marks else ():
            if _MARK.fullmatch(raw[begin:end][keep[begin:end]].tobytes()):
                keep[begin:end] = False
    else:
        raw[:size] = np.frombuffer(block, np.uint8)
        raw[size:] = 0
        ends, irregular = _resolved(raw, keep, size, json)
    # polars' filter is ten times as fast as numpy's where many short runs stay.
    text = pl.Series(raw[:size]).filter(pl.Series(keep[:size])).to_numpy()
    if loop is None and not marks:
        text = without_marks(text)
    return Squeezed(text, ends, irregular)


def _resolved(raw: Bytes, keep: npt.NDArray[np.bool_], size: int, json: bool) -> tuple[Places, Places]:
    """What `squeeze_loop.resolve` does, by operations on arrays: line ends and irregular lines."""
    body = raw[:size]
    np.not_equal(body, 32, out=keep[:size])
    special = body >= 0xC2
    special |= body == 0x0A
    if json:
        special |= body == 0x5C
    at = np.flatnonzero(special)
    what = body[at]
    irregular = [_fold_raw(raw, keep, at[what >= 0xC2])]
    if json:
        escapes = at[what == 0x5C]
        if escapes.size:
            irregular.append(_resolve(raw, keep, escapes))
    ends = at[what == 0x0A]
    keep[ends] = True  # also where one stands within what only begins like UTF-8
    return ends, np.unique(np.searchsorted(ends, np.concatenate(irregular)))


def without_marks(text: Bytes) -> Bytes:
    """A squeezed text without footnote marks."""
    plain = text.tobytes()
    pieces, last = [], 0
    at = plain.find(b"[")
    while at >= 0:
        if mark := _MARK.match(plain, at):
            pieces.append(plain[last:at])
            last = mark.end()
        at = plain.find(b"[", at + 1)
    if not last:
        return text
    pieces.append(plain[last:])
    return np.frombuffer(b"".join(pieces), np.uint8)


def is_irregular(character: str) -> bool:
    """Whether NFC may change it, or join it to its neighbours."""
    return bool(_kinds()[min(ord(character), 0x2FFFF)] == _IRREGULAR)


def _fold_raw(raw: Bytes, keep: npt.NDArray[np.bool_], at: Places) -> Places:
    """Spaces and signs beyond ASCII that stand as UTF-8: `at` are the first bytes of characters."""
    first = raw[at].astype(np.int32)
    second = raw[at + 1] & np.int32(0x3F)
    third = raw[at + 2] & np.int32(0x3F)
    code = np.where(first < 0xE0, (first & 0x1F) << 6 | second, (first & 0x0F) << 12 | second << 6 | third)
    four = np.flatnonzero(first >= 0xF0)
    if four.size:
        code[four] = np.minimum(
            (first[four] & 7) << 18 | second[four] << 12 | third[four] << 6 | raw[at[four] + 3] & 0x3F,
            0x2FFFF,
        )
    kind = _kinds()[code]
    found = np.flatnonzero(kind)
    if not found.size:
        return found
    at, kind, short = at[found], kind[found], first[found] < 0xE0
    fold = kind >= _DOTS
    space = at[kind == _SPACE]
    keep[space] = keep[space + 1] = False
    keep[at[(kind == _SPACE) & ~short] + 2] = False
    dots = at[kind == _DOTS]
    raw[dots] = raw[dots + 1] = raw[dots + 2] = ord(".")
    sign = fold & (kind != _DOTS)
    raw[at[sign]] = kind[sign]
    keep[at[sign] + 1] = False
    keep[at[sign & ~short] + 2] = False
    found_irregular: Places = at[kind == _IRREGULAR]
    return found_irregular


def _resolve(raw: Bytes, keep: npt.NDArray[np.bool_], at: Places) -> Places:
    """JSON escapes: `at` are the places of all backslashes."""
    if (at[1:] == at[:-1] + 1).any():  # of a run of backslashes, each second one is escaped itself
        starts = np.flatnonzero(np.concatenate(([True], at[1:] != at[:-1] + 1)))
        order = np.arange(at.size) - np.repeat(starts, np.diff(np.append(starts, at.size)))
        at = at[order % 2 == 0]
    keep[at] = False
    what = raw[at + 1]
    keep[at + 1] = ~_white()[what]
    raw[at[what == ord("b")] + 1] = 8
    at = at[what == ord("u")]
    if not at.size:
        return at
    return _unicode(raw, keep, at)


def _unicode(raw: Bytes, keep: npt.NDArray[np.bool_], at: Places) -> Places:
    """Escapes of the form \\u00e9: `at` are the places of their backslashes."""
    digits = _hex()[raw[at[:, None] + np.arange(2, 6)]]
    good = (digits < 16).all(axis=1)
    at, digits = at[good], digits[good]
    code = digits[:, 0] << 12 | digits[:, 1] << 8 | digits[:, 2] << 4 | digits[:, 3]
    at, code, width = _joined(at, code)
    kind = _kinds()[np.minimum(code, 0x2FFFF)]
    # What takes the place of the escape: the sign, or the character's UTF-8.
    written = np.where(kind > _DOTS, kind, code)
    keep[at[:, None] + np.arange(6)] = False
    wide = at[width == 12]
    if wide.size:
        keep[wide[:, None] + np.arange(6, 12)] = False
    shown = (kind != _SPACE) & (kind != _DOTS)
    _write(raw, keep, at[shown], written[shown])
    dots = at[kind == _DOTS]
    for place in range(3):
        raw[dots + place] = ord(".")
        keep[dots + place] = True
    found_irregular: Places = at[kind == _IRREGULAR]
    return found_irregular


def _joined(
    at: Places, code: npt.NDArray[np.int32]
) -> tuple[Places, npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Surrogate pairs as one character: places, code points, and how many bytes their escapes take."""
    width = np.full(at.size, 6, np.int32)
    high = np.flatnonzero((code[:-1] >> 10 == 0xD800 >> 10) & (code[1:] >> 10 == 0xDC00 >> 10))
    high = high[at[high + 1] == at[high] + 6]
    if not high.size:
        return at, code, width
    code = code.copy()
    code[high] = 0x10000 + ((code[high] & 0x3FF) << 10 | code[high + 1] & 0x3FF)
    width[high] = 12
    alone = np.ones(at.size, np.bool_)
    alone[high + 1] = False
    return at[alone], code[alone], width[alone]


def _write(raw: Bytes, keep: npt.NDArray[np.bool_], at: Places, code: npt.NDArray[np.int32]) -> None:
    length = 1 + (code >= 0x80).astype(np.int32) + (code >= 0x800) + (code >= 0x10000)
    lead = np.array([0, 0, 0xC0, 0xE0, 0xF0], np.int32)[length]
    for place in range(int(length.max(initial=0))):
        chosen = np.flatnonzero(place < length)
        here, left = at[chosen] + place, 6 * (length[chosen] - 1 - place)
        bits = code[chosen] >> left
        raw[here] = (lead[chosen] | bits) if place == 0 else (0x80 | bits & 0x3F)
        keep[here] = True


@cache
def _in_marks() -> npt.NDArray[np.bool_]:
    table = np.zeros(256, np.bool_)
    signs = "".join(MARK_WORDS).translate(FOLDED) + ascii_letters + digits
    table[list(signs.encode())] = True
    return table


@cache
def _escapes() -> npt.NDArray[np.uint8]:
    table = np.zeros(256, np.uint8)
    for byte in range(0x20, 0x80):
        table[byte] = _SPACE if _white()[byte] else byte
    table[ord("b")] = 8
    table[list(b"u]")] = 0
    return table


@cache
def _white() -> npt.NDArray[np.bool_]:
    table = np.zeros(256, np.bool_)
    table[list(b"ntrf")] = True
    return table


@cache
def _hex() -> npt.NDArray[np.int32]:
    table = np.full(256, 255, np.int32)
    for value, digit in enumerate("0123456789abcdef"):
        table[ord(digit)] = table[ord(digit.upper())] = value
    return table


@cache
def _kinds() -> npt.NDArray[np.uint8]:
    """What each code point up to 2FFFF is; none beyond it is a space, a folded sign or changed by NFC."""
    table = np.zeros(0x30000, np.uint8)
    seconds = set(range(0x1161, 0x1176)) | set(range(0x11A8, 0x11C3))  # jamo that join a syllable
    for code in chain(*_LOOKED_AT):
        character = chr(code)
        if unicodedata.normalize("NFC", character) != character or unicodedata.combining(character):
            table[code] = _IRREGULAR
        parts = unicodedata.decomposition(character)
        if parts and not parts.startswith("<") and " " in parts:
            seconds.add(int(parts.split()[1], 16))
    for code in seconds:
        if code >= 0x80:
            table[code] = _IRREGULAR
    for code in range(0x80, 0x3001):
        if chr(code).isspace():
            table[code] = _SPACE
    for code in (0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x1C, 0x1D, 0x1E, 0x1F, 0x20):
        table[code] = _SPACE  # as escapes: raw ones are white space between a line's tokens
    for code, signs in FOLDED.items():
        table[code] = _DOTS if len(signs) == 3 else ord(signs)
    return table
