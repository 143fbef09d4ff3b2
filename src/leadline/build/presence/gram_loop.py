"""`grams.py`'s look-up as machine code. Imported where numba is installed."""

from __future__ import annotations

from typing import Any

import numpy as np

from leadline.build.presence.machine_code import machine_code

_ONE, _SIX_BITS = np.uint64(1), np.uint64(63)


@machine_code
def hits(text: Any, hashing: Any, shift: Any, known: Any, shift_narrow: Any, known_narrow: Any) -> Any:
    """Which grams of a text the filters of two tables let through: that of grams of two words, that of one.

    For each table the numbers of the grams, in the text's pairs of words, and their keys. `hashing`: what
    the two words are multiplied with, and where a key names bits of a filter.
    """
    mix, mix_second, one, two, three = hashing[0], hashing[1], hashing[2], hashing[3], hashing[4]
    words = text[: text.size // 8 * 8].view(np.uint64)
    size = (words.size + 1) // 2
    wide, narrow = np.empty(size, np.int64), np.empty(size, np.int64)
    wides = narrows = 0
    for pair in range(words.size // 2):
        first = words[2 * pair] * mix
        if _known(first, shift_narrow, known_narrow, one, two, three):
            narrow[narrows] = pair
            narrows += 1
        if _known(first ^ words[2 * pair + 1] * mix_second, shift, known, one, two, three):
            wide[wides] = pair
            wides += 1
    if words.size % 2 and _known(words[words.size - 1] * mix, shift_narrow, known_narrow, one, two, three):
        narrow[narrows] = words.size // 2
        narrows += 1
    wide, narrow = wide[:wides], narrow[:narrows]
    return wide, words[2 * wide] * mix ^ words[2 * wide + 1] * mix_second, narrow, words[2 * narrow] * mix


@machine_code
def _known(key: Any, shift: Any, known: Any, one: Any, two: Any, three: Any) -> Any:
    bits = known[key >> shift]
    return (
        bits >> (key >> one & _SIX_BITS)
        & bits >> (key >> two & _SIX_BITS)
        & bits >> (key >> three & _SIX_BITS)
        & _ONE
    ) != 0


@machine_code
def compare(
    text: Any,
    pairs: Any,
    keys: Any,
    first_shift: Any,
    first: Any,
    key: Any,
    literal: Any,
    offset: Any,
    joined: Any,
    begins: Any,
) -> Any:
    """Places and literals of the occurrences that hits of one table turn out to be."""
    places = np.empty(64, np.int64)
    which = np.empty(64, np.int64)
    found = 0
    for pair, mixed in zip(pairs, keys):  # noqa: B905  # numba knows no `strict`
        slot = mixed >> first_shift
        for entry in range(first[slot], first[slot + _ONE]):
            if key[entry] != mixed:
                continue
            number = literal[entry]
            start = 16 * pair - offset[entry]
            begin, end = begins[number], begins[number + 1]
            if start < 0 or start + end - begin > text.size:
                continue
            same = True
            for byte in range(end - begin):
                if text[start + byte] != joined[begin + byte]:
                    same = False
                    break
            if not same:
                continue
            if found == places.size:
                places = np.concatenate((places, places))
                which = np.concatenate((which, which))
            places[found] = start
            which[found] = number
            found += 1
    return places[:found], which[:found]


@machine_code
def lines_of(text: Any, places: Any) -> Any:
    """How many line ends come before each of some places, which ascend."""
    lines = np.empty(places.size, np.int64)
    line = last = 0
    for number, place in enumerate(places):
        for byte in text[last:place]:
            line += byte == 0x0A
        lines[number] = line
        last = place
    return lines
