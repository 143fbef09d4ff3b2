"""Whether an item on the disk is still the one that a page shows: somebody may edit a benchmark while it is
served, and what is answered then is about an item that is not there any more."""

from __future__ import annotations

from leadline.bench import load_benchmark
from leadline.bench.adjudications import label_hash
from leadline.bench.benchmark import Benchmark
from leadline.errors import LeadlineError

# Whoever is told this may not have read the item yet: not what was changed of it.
_CHANGED = (
    "This item was changed on the disk since it was shown here, or is not there any more: nothing can be "
    "kept of it. What you wrote is a draft still. Whoever serves these pages has to start them anew."
)
_UNREADABLE = (
    "The benchmark was changed on the disk and cannot be read at present: nothing can be kept of this item. "
    "What you wrote is a draft still."
)


def not_as_shown(benchmark: Benchmark, item: str, label: str) -> str:
    """Why an answer about an item cannot be kept, "" where it is as it was read. `label` is its `label_hash`.

    Reads the benchmark again: as long as that takes. One that was made in code lies nowhere, and stays.
    """
    if benchmark.origin is None:
        return ""
    try:
        found = load_benchmark(benchmark.origin).by_id.get(item)
    except (LeadlineError, OSError):
        return _UNREADABLE
    return "" if found is not None and label_hash(found) == label else _CHANGED
