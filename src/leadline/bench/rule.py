"""What a rule for benchmarks is: a name, a weight, and one function over the items."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from leadline.bench.benchmark import Benchmark
from leadline.bench.item import Item


@dataclass(frozen=True)
class Breach:
    """One case of a broken rule; `item` is None where it concerns the benchmark as a whole.

    `where` is "file:line", if that is another line than the item's.
    """

    item: Item | None
    message: str
    fix: str = ""
    where: str = ""


@dataclass(frozen=True)
class Rule:
    """`check` yields the breaches of a rule, in the order of the items. A warning fails no validation."""

    name: str
    check: Callable[[Benchmark], Iterator[Breach]]
    severity: Literal["error", "warning"] = "error"
