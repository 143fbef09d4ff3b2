"""Runs of lm-evaluation-harness in this process, saved as its command line saves them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lm_eval
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager


def evaluated(lm: Any, tasks: Path, out: Path, *names: str, **options: Any) -> dict[str, list[Any]]:
    """Ask `lm` the named tasks of a folder, log the samples in `out`, and return them by task."""
    tracker = EvaluationTracker(output_path=str(out))
    manager = TaskManager(include_path=str(tasks), include_defaults=False)
    found = lm_eval.simple_evaluate(
        model=lm,
        tasks=list(names),
        task_manager=manager,
        bootstrap_iters=0,
        evaluation_tracker=tracker,
        **options,
    )
    samples: dict[str, list[Any]] = found.pop("samples")
    tracker.save_results_aggregated(results=found, samples=samples)
    for task, rows in samples.items():
        tracker.save_results_samples(task_name=task, samples=rows)
    return samples
