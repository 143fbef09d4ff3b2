"""What `leadline review serve` was asked to offer, opened and checked, and which jobs come of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from leadline.bench.benchmark import Benchmark
from leadline.review.drafts import Drafts
from leadline.review.job import Job
from leadline.review.passages import Documents
from leadline.study.study import Study


@dataclass(frozen=True)
class Wanted:
    """What was named, and where what people write goes. What several jobs are about is opened once.

    folder: the review folder, which need not be there yet. benchmark: the one that new items are written on.
    study: whose doubts are decided on; where a benchmark is named too, it is about that one. documents: those
    beside either of the two, else those beside the questions. audit: whose flags are decided on where there
    is no study (a study is opened with it).
    """

    folder: Path
    benchmark: Benchmark | None = None
    study: Study | None = None
    documents: Documents | None = None
    flags: Path | None = None
    pack: Path | None = None
    questions: Path | None = None
    hide_quotes: bool = False
    audit: Path | None = None

    @property
    def about(self) -> Benchmark | None:
        """The benchmark as annotated, whichever way it was named; None where there is none, so that no key is
        in the process."""
        return self.study.whole if self.study is not None else self.benchmark


# Gives the job that what is wanted asks for, None where it does not ask for it. Raises LeadlineError.
Offer = Callable[[Wanted, Drafts], Job | None]
