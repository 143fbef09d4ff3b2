"""What `leadline review serve` was asked to offer, read and checked, and which jobs come of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from leadline.bench.benchmark import Benchmark
from leadline.review.drafts import Drafts
from leadline.review.job import Job


@dataclass(frozen=True)
class Wanted:
    """What was named, and where what people write goes.

    folder: the review folder; it is there. benchmark: None where a pack is answered alone.
    """

    folder: Path
    benchmark: Benchmark | None = None
    study: Path | None = None
    flags: Path | None = None
    pack: Path | None = None
    questions: Path | None = None
    hide_quotes: bool = False


# Gives the job that what is wanted asks for, None where it does not ask for it. Raises LeadlineError.
Offer = Callable[[Wanted, Drafts], Job | None]
