"""How many workers with models fit on a machine or a cluster, and what each of them is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# Small models gain little from more threads, and every worker holds a model of its own.
CORES = 4


@dataclass(frozen=True)
class Seats:
    """`workers`, each with so many cores (and as many threads) and so many accelerators."""

    workers: int
    cores: int
    accelerators: int = 0


def seats(nodes: Sequence[Mapping[str, float]], asked: int | None) -> Seats:
    """The seats on nodes of these resources (`CPU`, `GPU`), for `asked` workers at most.

    One worker for each accelerator where there are any. Without any: `asked` workers (default: one for
    every `CORES` cores of a node, one at least) with as many cores each as fit; none's lie on two nodes.

    >>> seats([{"CPU": 16, "GPU": 4}, {"CPU": 16, "GPU": 4}], None)
    Seats(workers=8, cores=4, accelerators=1)
    >>> seats([{"CPU": 16}, {"CPU": 16}], 3)
    Seats(workers=3, cores=8, accelerators=0)
    """
    cards = [int(node.get("GPU", 0)) for node in nodes]
    cores = [int(node.get("CPU", 0)) for node in nodes]
    if sum(cards):
        each = min(core // card for core, card in zip(cores, cards, strict=True) if card)
        return Seats(min(sum(cards), asked or sum(cards)), each, 1)
    wanted = min(asked or sum(max(1, core // CORES) for core in cores if core), sum(cores)) or 1
    each = max(cores, default=1)
    while each > 1 and sum(core // each for core in cores) < wanted:
        each -= 1
    return Seats(wanted, max(1, each))
