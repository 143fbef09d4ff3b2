"""Head, torso and tail: percentile bins over entities, with buffers between them."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal
from itertools import groupby

HEAD, TORSO, TAIL, BUFFER = "head", "torso", "tail", "buffer"


def bins(
    views: Mapping[str, int],
    *,
    head: float = 10,
    torso: float = 40,
    tail: float = 10,
    buffer: float = 20,
) -> dict[str, str]:
    """The bin of each entity: the top `head` per cent by views, `buffer`, `torso`, `buffer`, `tail`.

    Borders lie between two of the ranked entities, at the nearest whole number of them (halves up). Equal
    views are never told apart: a group of equals that a border runs through is in the buffer whole, so a bin
    may hold fewer than its share, and none at all where its share is within one group. Depends on the set of
    (entity, views) alone.

    >>> bins({"a": 90, "b": 50, "c": 40, "d": 9, "e": 8, "f": 7, "g": 6, "h": 5, "i": 4, "j": 1})["a"]
    'head'
    """
    shares = ((HEAD, head), (BUFFER, buffer), (TORSO, torso), (BUFFER, buffer), (TAIL, tail))
    if abs(sum(share for _, share in shares) - 100) > 1e-9:
        raise ValueError("head, torso, tail and two buffers must make 100 per cent")
    number = len(views)
    spans: list[tuple[str, int, int]] = []
    done = Decimal(0)
    for name, share in shares:
        begin = _border(done, number)
        done += Decimal(str(share))
        spans.append((name, begin, _border(done, number)))
    ranked = sorted(views.items(), key=lambda one: (-one[1], one[0]))
    found: dict[str, str] = {}
    at = 0
    for _, group in groupby(ranked, key=lambda one: one[1]):
        equals = [entity for entity, _ in group]
        end = at + len(equals)
        name = next((name for name, low, high in spans if low <= at and end <= high), BUFFER)
        found.update(dict.fromkeys(equals, name))
        at = end
    return found


def _border(percent: Decimal, number: int) -> int:
    return int((percent * number / 100).quantize(Decimal(1), ROUND_HALF_UP))
