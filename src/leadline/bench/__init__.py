"""What is asked: items, benchmarks, and their files."""

from leadline.bench.benchmark import (
    Benchmark,
    bundled_names,
    content_hash,
    inspect_benchmark,
    load_benchmark,
    write_benchmark,
)
from leadline.bench.item import Evidence, Item
from leadline.bench.problem import Problem

__all__ = [
    "Benchmark",
    "Evidence",
    "Item",
    "Problem",
    "bundled_names",
    "content_hash",
    "inspect_benchmark",
    "load_benchmark",
    "write_benchmark",
]
