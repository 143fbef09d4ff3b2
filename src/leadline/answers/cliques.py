"""Sets of vertices of a graph of which every two are joined: the heaviest, and a graph parted into such."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence


def heaviest_first(maximal: Iterable[Iterable[int]], weights: Sequence[int]) -> list[tuple[int, ...]]:
    """The graph parted into cliques: the heaviest, then the heaviest of the rest, ...; vertices ascend.

    `maximal` holds all its maximal cliques (others do no harm); weights are positive. Of several heaviest,
    the one with the lowest vertex that not all of them have. What remains of a clique is looked at again only
    when its turn comes, so this takes time in proportion to the sizes of all.

    >>> heaviest_first([[0, 1], [1, 2]], [1, 1, 5])
    [(1, 2), (0,)]
    """
    heap = [(-sum(weights[at] for at in members), tuple(sorted(members))) for members in maximal]
    heapq.heapify(heap)
    taken = [False] * len(weights)
    found = []
    while heap:
        _, members = heapq.heappop(heap)
        left = tuple(at for at in members if not taken[at])
        if len(left) < len(members):
            if left:
                heapq.heappush(heap, (-sum(weights[at] for at in left), left))
            continue
        found.append(members)
        for at in members:
            taken[at] = True
    return found


def largest_clique(joined: Sequence[int], weights: Sequence[int], among: int) -> int:
    """The heaviest clique within the vertices of `among`; sets of vertices are bits of an int.

    `joined[i]` holds the neighbours of vertex i; weights are positive. Of several heaviest, the one with the
    lowest vertex that not all of them have. Bron and Kerbosch's search with Tomita's pivot: a heaviest clique
    holds the pivot or one of its non-neighbours, else the pivot could be added to it.

    >>> bin(largest_clique([0b010, 0b101, 0b010], [1, 1, 5], 0b111))
    '0b110'
    """
    best, best_weight = 0, 0

    def total(vertices: int) -> int:
        return sum(weights[at] for at in _members(vertices))

    def extend(chosen: int, weight: int, candidates: int) -> None:
        nonlocal best, best_weight
        if not candidates:
            differ = chosen ^ best
            is_earlier = bool(chosen & (differ & -differ))
            if weight > best_weight or (weight == best_weight and is_earlier):
                best, best_weight = chosen, weight
            return
        if weight + total(candidates) < best_weight:
            return
        pivot = max(_members(candidates), key=lambda at: (joined[at] & candidates).bit_count())
        for at in _members(candidates & ~joined[pivot]):
            extend(chosen | 1 << at, weight + weights[at], candidates & joined[at])
            candidates &= ~(1 << at)

    extend(0, 0, among)
    return best


def _members(vertices: int) -> list[int]:
    found = []
    while vertices:
        low = vertices & -vertices
        found.append(low.bit_length() - 1)
        vertices ^= low
    return found
