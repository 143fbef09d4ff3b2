"""`shards.py`'s look at the shape of lines as machine code. Imported where numba is installed."""

from __future__ import annotations

from typing import Any

import numpy as np

from leadline.build.presence.machine_code import machine_code

_KEY = np.frombuffer(b'"text":', np.uint8)


@machine_code
def odd(data: Any, ends: Any) -> Any:
    """Numbers of the lines that do not begin with {" and end with }, and have a key `text` with a string."""
    found = np.empty(ends.size, np.int64)
    count = 0
    start = 0
    for number, end in enumerate(ends):
        good = end - start > 2 and data[start] == 0x7B and data[start + 1] == 0x22 and data[end - 1] == 0x7D
        if not good or not _has_key(data, start, end):
            found[count] = number
            count += 1
        start = end + 1
    return found[:count]


@machine_code
def _has_key(data: Any, start: Any, end: Any) -> Any:
    for at in range(start, end - 8):
        if data[at + 1] != 0x74 or data[at] != 0x22:
            continue
        same = True
        for place in range(2, 7):
            same = same and data[at + place] == _KEY[place]
        if same and (data[at + 7] == 0x22 or (data[at + 7] == 0x20 and data[at + 8] == 0x22)):
            return True
    return False


@machine_code
def lines_in(data: Any) -> Any:
    """How many line ends there are."""
    lines = 0
    for byte in data:
        lines += byte == 0x0A
    return lines
