"""Finds samples of lm-evaluation-harness, and what the same run says beside them.

A path is a folder of results, the folder of a model in it, a results file, or `samples_TASK_TIME.jsonl`. Each
task of each run is a log.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from leadline.bench.problem import did_you_mean, shortened
from leadline.errors import UsageError
from leadline.interop.lm_eval_choices import Rule
from leadline.interop.lm_eval_results import Results, results_of
from leadline.interop.lm_eval_rows import look_at
from leadline.interop.lm_eval_samples import LmEvalSamples
from leadline.interop.lm_eval_settings import telling

_TIME = r"(?P<time>\d{4}-\d{2}-\d{2}T[\d.-]+)"
_SAMPLES = re.compile(rf"^samples_(?P<task>.+)_{_TIME}\.jsonl$")
_RESULTS = re.compile(rf"^.+_{_TIME}\.json$")


def lm_eval_logs(
    paths: Sequence[Path],
    *,
    tasks: Sequence[str] = (),
    model: str = "",
    choice: Rule = "acc",
    id_field: str = "",
    skipped: list[Path] | None = None,
) -> list[LmEvalSamples]:
    """The logs that lie in `paths`, in the order of their names; of `tasks` only, where some are named.

    `model` is used where no results file names one. `choice` is how the answer to a multiple choice is found,
    `id_field` the field of documents that holds the items' ids. Files of folders that are neither samples nor
    results are added to `skipped`. Raises UsageError for a path that holds no
    samples, and for tasks that measure the likelihood of texts and ask nothing.
    """
    files = sorted({file for path in paths for file in _files(path, skipped)})
    # One file whose name says no task is named by the only task that is asked for.
    only = tasks[0] if len(tasks) == len(files) == 1 and not _SAMPLES.match(files[0].name) else ""
    names = {file: only or _named(file)[0] for file in files}
    for task in tasks:
        if task not in names.values():
            known = sorted(set(names.values()))
            raise UsageError(
                f"--task: there are no samples of {shortened(task)}",
                fix=did_you_mean(task, known, otherwise=f"tasks: {', '.join(known)[:200]}"),
            )
    found: list[LmEvalSamples] = []
    read: dict[Path, Results] = {}
    for file, task in names.items():
        if tasks and task not in tasks:
            continue
        time = _named(file)[1]
        results = Results(None, {})
        if beside := _beside(file, time):
            results = read[beside] = read.get(beside) or results_of(beside)
        name = results.model or model
        if not name:
            what = "no results_*.json beside it says which model this is"
            raise UsageError(what, where=str(file), fix="--model NAME")
        try:
            rows = look_at(file)
        except OSError as error:
            raise UsageError(f"cannot be read: {error.strerror}", where=str(file)) from error
        log = LmEvalSamples(file, task, name, _iso(time), results, rows, choice, id_field)
        log.check_asks()
        found.append(log)
    return _told_apart(found)


def _told_apart(logs: Sequence[LmEvalSamples]) -> list[LmEvalSamples]:
    """The logs with the settings that tell the runs of a model apart."""
    runs = {log.path: f"{log.path.parent}\n{log.created or log.path.name}" for log in logs}
    apart = telling((log.model, runs[log.path], log.task, log.of_task) for log in logs)
    return [replace(log, apart=apart[log.model, runs[log.path]]) for log in logs]


def _files(path: Path, skipped: list[Path] | None) -> list[Path]:
    """The samples that a path is, holds, or is the results of."""
    if path.is_dir():
        within = [file for file in path.rglob("*") if file.is_file() and not file.name.startswith(".")]
        files = [file for file in within if _SAMPLES.match(file.name)]
        if skipped is not None:
            skipped += [file for file in within if file not in files and not _RESULTS.match(file.name)]
        if not files:
            raise UsageError(
                "there are no samples in this folder: samples_TASK_TIME.jsonl",
                where=str(path),
                fix="lm_eval ... --output_path FOLDER --log_samples writes them",
            )
        return files
    if not path.is_file():
        raise UsageError("is no file" if path.exists() else "there is no such file", where=str(path))
    if match := _RESULTS.match(path.name):
        if files := sorted(path.parent.glob(f"samples_*_{match['time']}.jsonl")):
            return files
        raise UsageError("there are no samples beside it", where=str(path), fix="lm_eval ... --log_samples")
    if path.suffix not in (".jsonl", ".json"):
        fix = "name samples_TASK_TIME.jsonl, or the folder that holds it"
        raise UsageError("is no file of samples", where=str(path), fix=fix)
    return [path]


def _named(file: Path) -> tuple[str, str]:
    """Task and time, as the file's name has them."""
    match = _SAMPLES.match(file.name)
    return (match["task"], match["time"]) if match else (file.stem, "")


def _beside(file: Path, time: str) -> Path | None:
    """The results file of the same run: results_TIME.json, or called as the output was, if that is a file."""
    found = sorted(file.parent.glob(f"*_{time}.json")) if time else []
    return found[0] if found else None


def _iso(time: str) -> str:
    """2024-05-01T12-00-00.5 as ISO 8601."""
    day, _, clock = time.partition("T")
    return f"{day}T{clock.replace('-', ':')}" if clock else ""
