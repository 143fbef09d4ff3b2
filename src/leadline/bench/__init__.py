"""What is asked: items, benchmarks, and their files."""

from leadline.bench.benchmark import Benchmark, content_hash
from leadline.bench.item import Evidence, Item
from leadline.bench.loading import inspect_benchmark, load_benchmark
from leadline.bench.opened import bundled_names, is_bundled
from leadline.bench.problem import Problem
from leadline.bench.stream import open_stream
from leadline.bench.task import TaskDeclaration
from leadline.bench.writing import write_benchmark

__all__ = [
    "Benchmark",
    "Evidence",
    "Item",
    "Problem",
    "TaskDeclaration",
    "bundled_names",
    "content_hash",
    "inspect_benchmark",
    "is_bundled",
    "load_benchmark",
    "open_stream",
    "write_benchmark",
]
