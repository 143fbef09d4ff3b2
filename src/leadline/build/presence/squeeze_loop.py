"""`squeeze.py`'s work on characters beyond plain ASCII, one after the other, as machine code.

One pass that the compiler makes wide tells where anything but plain ASCII stands; only these places, some ten
in a kilobyte, are then looked at. Imported where numba is installed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from leadline.build.presence.machine_code import machine_code

# As in squeeze.py: what a code point is.
_SPACE, _IRREGULAR, _DOTS = 1, 2, 3
_CHUNK = 1 << 13  # bytes that are looked at in one go: the fastest cache holds them
_AHEAD = 16  # an escape goes over the end of a chunk by less


@machine_code
def resolve(
    block: Any, json: Any, raw: Any, keep: Any, kinds: Any, in_mark: Any, hex_: Any, escapes: Any
) -> Any:
    """Fill `raw` with what the characters of a block come to, and `keep` with which of its bytes stay.

    Both have padding behind. Returns the places of the line ends, the numbers of the irregular lines, and
    from where to where there may be footnote marks (of bytes that `in_mark` allows). `escapes` are those of
    one letter: what they come to, 1 for white space, and 0 for what `_escape` is to look at.
    """
    size = block.size
    raw[size:] = 0
    special = np.zeros(_CHUNK, np.bool_)
    eights = special.view(np.uint64)
    places = np.empty(_CHUNK + 8, np.int64)
    ends, irregular, marks = np.empty(64, np.int64), np.empty(64, np.int64), np.empty((64, 2), np.int64)
    line = found = marked = 0
    after = 0  # where the escape ends that was resolved last
    filled = 0
    for begin in range(0, size, _CHUNK):
        end = min(begin + _CHUNK, size)
        ahead = min(end + _AHEAD, size)
        _copy(block[filled:ahead], raw[filled:ahead], keep[filled:ahead])
        filled = ahead
        _look(raw[begin:end], special)
        special[end - begin :] = False
        count = 0
        for eight in range((end - begin + 7) // 8):
            if eights[eight]:
                for at in range(8 * eight, 8 * eight + 8):  # without a branch that could be guessed wrong
                    places[count] = begin + at
                    count += special[at]
        for at in places[:count]:
            if at < after:
                continue
            byte = raw[at]
            if byte == 0x5C and json:
                meaning = escapes[raw[at + 1]]
                if meaning:
                    keep[at] = False
                    keep[at + 1] = meaning != _SPACE
                    raw[at + 1] = meaning
                    after = at + 2
                    continue
            if byte == 0x0A:
                if line == ends.size:
                    ends = np.concatenate((ends, ends))
                ends[line] = at
                line += 1
                continue
            kind = 0
            last = at
            if byte == 0x5C:
                if not json:
                    continue
                after, kind = _escape(raw, keep, at, size, kinds, hex_)
                last = at if keep[at] else at + 1
            elif byte != 0x5D:
                kind = _fold(raw, keep, at, kinds)
            if raw[last] == 0x5D and keep[last]:
                opens = _begin_of_mark(raw, keep, last, in_mark)
                if opens >= 0:
                    if marked == len(marks):
                        marks = np.concatenate((marks, marks))
                    marks[marked, 0] = opens
                    marks[marked, 1] = last + 1
                    marked += 1
            if kind == _IRREGULAR and (found == 0 or irregular[found - 1] != line):
                if found == irregular.size:
                    irregular = np.concatenate((irregular, irregular))
                irregular[found] = line
                found += 1
    return ends[:line], irregular[:found], marks[:marked]


@machine_code
def _copy(block: Any, raw: Any, keep: Any) -> None:
    for at in range(block.size):
        byte = block[at]
        raw[at] = byte
        keep[at] = byte != 0x20


@machine_code
def _look(raw: Any, special: Any) -> None:
    """Tell characters beyond ASCII, line ends, backslashes and closing brackets."""
    for at in range(raw.size):
        byte = raw[at]
        special[at] = (byte >= 0xC2) | (byte == 0x0A) | (byte == 0x5C) | (byte == 0x5D)


@machine_code
def _fold(raw: Any, keep: Any, at: Any, kinds: Any) -> Any:
    """A character that stands as UTF-8; its kind."""
    first = raw[at]
    second, third = raw[at + 1] & 0x3F, raw[at + 2] & 0x3F
    if first < 0xE0:
        width, code = 2, (first & 0x1F) << 6 | second
    elif first < 0xF0:
        width, code = 3, (first & 0x0F) << 12 | second << 6 | third
    else:
        width = 4
        code = min((first & 7) << 18 | second << 12 | third << 6 | (raw[at + 3] & 0x3F), 0x2FFFF)
    kind = np.int64(kinds[code])
    if kind == _DOTS:
        raw[at : at + 3] = 0x2E
    elif kind not in (0, _IRREGULAR):
        for place in range(at, at + width):
            keep[place] = raw[place] == 0x0A  # where this was no UTF-8, no line end may go
        if kind != _SPACE:
            raw[at] = kind
            keep[at] = True
    return kind


@machine_code
def _escape(raw: Any, keep: Any, at: Any, size: Any, kinds: Any, hex_: Any) -> Any:
    """An escape of JSON; where it ends, and the kind of its character."""
    keep[at] = False
    what = raw[at + 1]
    if what == 0x0A or what >= 0xC2:  # no escape: what follows is looked at by itself
        return at + 1, 0
    if what != 0x75:
        keep[at + 1] = True
        return at + 2, 0
    code = _unit(raw, at, size, hex_)
    if code < 0:
        return at + 2, 0
    width = 6
    if code >> 10 == 0xD800 >> 10:
        low = _unit(raw, at + 6, size, hex_)
        if low >> 10 == 0xDC00 >> 10:
            code = 0x10000 + ((code & 0x3FF) << 10 | low & 0x3FF)
            width = 12
    for place in range(at, at + width):
        keep[place] = False
    kind = np.int64(kinds[min(code, 0x2FFFF)])
    if kind == _DOTS:
        for place in range(at, at + 3):
            raw[place] = 0x2E
            keep[place] = True
    elif kind != _SPACE:
        _write(raw, keep, at, kind if kind > _DOTS else code)
    return at + width, kind


@machine_code
def _unit(raw: Any, at: Any, size: Any, hex_: Any) -> Any:
    """The number of an escape of the form \\u00e9; -1 of anything else."""
    if at + 6 > size or raw[at] != 0x5C or raw[at + 1] != 0x75:
        return -1
    one, two, three, four = hex_[raw[at + 2]], hex_[raw[at + 3]], hex_[raw[at + 4]], hex_[raw[at + 5]]
    if one | two | three | four > 15:
        return -1
    return np.int64(one << 12 | two << 8 | three << 4 | four)


@machine_code
def _write(raw: Any, keep: Any, at: Any, code: Any) -> None:
    """A character as UTF-8 in the place of its escape."""
    keep[at] = True
    if code < 0x80:
        raw[at] = code
        return
    keep[at + 1] = True
    if code < 0x800:
        raw[at] = 0xC0 | code >> 6
        raw[at + 1] = 0x80 | code & 0x3F
        return
    keep[at + 2] = True
    if code < 0x10000:
        raw[at] = 0xE0 | code >> 12
    else:
        raw[at] = 0xF0 | code >> 18
        raw[at + 1] = 0x80 | code >> 12 & 0x3F
        at += 1
        keep[at + 2] = True
    raw[at + 1] = 0x80 | code >> 6 & 0x3F
    raw[at + 2] = 0x80 | code & 0x3F


@machine_code
def _begin_of_mark(raw: Any, keep: Any, last: Any, in_mark: Any) -> Any:
    """Where the bracket opens that closes at `last`; -1 where what is between can be no mark.

    Never looks back over another bracket, so that all calls together look at each byte once.
    """
    for place in range(last - 1, -1, -1):
        if keep[place]:
            if raw[place] == 0x5B:
                return place
            if not in_mark[raw[place]]:
                return -1
    return -1
