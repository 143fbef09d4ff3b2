"""From a benchmark to its audit and the texts that people need to see beside it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from leadline.audit import audit
from leadline.audit.document import AuditDocument, ItemVerdict
from leadline.bench.problem import did_you_mean
from leadline.bench.stream import open_stream
from leadline.documents.sources import Sources
from leadline.errors import UsageError
from leadline.report.audit_texts import ItemTexts, collect_texts


@dataclass(frozen=True)
class Selection:
    """Which items a reader asks about; nothing named means all of them."""

    tasks: tuple[str, ...] = ()
    items: tuple[str, ...] = ()

    def takes(self, task: str, item: str) -> bool:
        """Whether an item is asked about."""
        return (not self.tasks or task in self.tasks) and (not self.items or item in self.items)


def audit_benchmark(
    benchmark: str,
    selection: Selection,
    *,
    workers: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> AuditDocument:
    """Audit the whole benchmark, and keep the verdicts on what was selected.

    The whole is audited, for the self-test is made from it and documents are found among all. Raises
    UsageError for a benchmark that cannot be read, and for a task or an item that it does not have.
    """
    if selection.tasks or selection.items:
        _check(benchmark, selection)
    stream = open_stream(benchmark)
    sources = Sources.of(stream.folder) if stream.folder is not None else None
    document = audit(stream, sources, workers=workers, progress=progress)
    kept = tuple(verdict for verdict in document.items if selection.takes(verdict.task, verdict.item))
    return document.model_copy(update={"items": kept})


def texts_of(benchmark: str, verdicts: Collection[ItemVerdict]) -> dict[str, ItemTexts]:
    """Question, label, window and quotes of these items, read again from the benchmark."""
    wanted = {verdict.item for verdict in verdicts}
    return collect_texts((placed.item for placed in open_stream(benchmark)), wanted) if wanted else {}


def _check(benchmark: str, selection: Selection) -> None:
    """Before the work, not after it: that what is asked for exists."""
    tasks: set[str] = set()
    items: set[str] = set()
    both = False
    for placed in open_stream(benchmark):
        tasks.add(placed.item.task)
        items.add(placed.item.id)
        both = both or selection.takes(placed.item.task, placed.item.id)
    for noun, named, known in (("task", selection.tasks, tasks), ("item", selection.items, items)):
        for name in named:
            if name not in known:
                fix = did_you_mean(
                    name, known - {""}, otherwise=f"leadline bench show {benchmark} lists them"
                )
                raise UsageError(f"{benchmark} has no {noun} {name!r}", fix=fix)
    if not both:
        raise UsageError(f"{benchmark} has no such item in such a task", fix="leave --task or --item away")
