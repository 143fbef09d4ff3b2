"""Samples of lm-evaluation-harness (`--log_samples`) as logs: one for each task of each run.

A path is a folder of results, the folder of a model in it, or a file `samples_TASK_TIME.jsonl`; the results
file of the same run is looked for beside the samples (see `lm_eval_results`). Items are named
TASK/HASH by the hash of the document, which is the same in every run of the task, whatever was asked of it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from leadline.bench.problem import did_you_mean, shortened
from leadline.errors import UsageError
from leadline.interop.lm_eval_choices import Rule, chosen, options_of
from leadline.interop.lm_eval_questions import golds_of, question_of, right_options
from leadline.interop.lm_eval_results import Results, results_of
from leadline.interop.lm_eval_rows import Rows, SampleRow, look_at
from leadline.interop.lm_eval_settings import judges_first, of_run, of_task, telling
from leadline.interop.log_benchmark import OURS, worded
from leadline.interop.logs import LoggedAnswer, LoggedItem

_NAME = re.compile(r"^samples_(?P<task>.+)_(?P<time>\d{4}-\d{2}-\d{2}T[\d.-]+)\.jsonl$")
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class LmEvalSamples:
    """The samples of one task of one run: a `Log`. Make them with `lm_eval_logs`."""

    path: Path
    task: str
    model: str
    created: str
    results: Results
    rows: Rows
    choice: Rule = "acc"
    id_field: str = ""
    apart: Mapping[str, str] = field(default_factory=dict)
    run: str = ""

    @cached_property
    def sha256(self) -> str:
        """That of the file, and of what else decides what is read in it."""
        with self.path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if self.choice == "acc" or not self._is_choice:
            return digest
        return hashlib.sha256(f"{digest} {self.choice}".encode()).hexdigest()

    @property
    def settings(self) -> Mapping[str, str]:
        """What may tell two configurations of one model apart, the most telling first."""
        rule = {"choice": self.choice} if self._is_choice and self.choice != "acc" else {}
        return {**rule, **self.apart, **of_run(self.results)}

    @property
    def about(self) -> Mapping[str, Any]:
        """What is noted of the run in the study."""
        whole, asked = self.results.documents(self.task)
        source = self.results.said.get("model_source")
        return {
            "tool": "lm-evaluation-harness",
            "version": self.results.version,
            "status": "broken off" if self._is_broken_off else "success",
            "task": self.task,
            "task_version": _plain(self.results.said.get("versions"), self.task),
            "model_source": source if isinstance(source, str) else "",
            "documents": whole,
            "asked": asked if asked is not None else len(self.rows.documents),
            "epochs": self.rows.repeats,
            "filters": list(self.rows.filters),
            "scores": self.results.scores(self.task),
            **self.of_task,
            **self.settings,
        }

    def items(self) -> Iterator[LoggedItem]:
        """The documents that were asked, each once."""
        for row in self.rows.first():
            yield self._item(row, f"{self.path}:{row.line}")

    def answers(self) -> Iterator[LoggedAnswer]:
        """All repeats of each document; of a choice the letter of the option, which is A for the first."""
        scores = self._scores()
        for row in self.rows.first():
            where = f"{self.path}:{row.line}"
            options = self._options(row, where)
            texts = (
                [letter_of(at) for at in chosen(row, options, self.choice, where)]
                if options
                else [str(text) for text in row.answers[0]]
            )
            for sample, text in enumerate(texts):
                yield LoggedAnswer(
                    item=self._id(row),
                    sample=sample,
                    text=text,
                    where=where,
                    scores=scores.get(row.key, {}) if sample == 0 else {},
                )

    def notes(self) -> Sequence[str]:
        """What is worth saying of these samples."""
        said = []
        whole, asked = self.results.documents(self.task)
        have = len(self.rows.documents)
        if self._is_broken_off:
            of = f" of {asked:,}" if asked is not None else ""
            said.append(f"the file breaks off: {have:,}{of} documents are whole, and count")
        if whole is not None and asked is not None and asked < whole:
            said.append(f"{asked:,} of the task's {whole:,} documents were asked")
        if self.rows.twins:
            said.append(
                f"{self.rows.twins:,} documents have the content of another, and are items of their own"
            )
        return said

    @cached_property
    def _first(self) -> SampleRow:
        return next(self.rows.first())

    @property
    def _is_choice(self) -> bool:
        return self._first.is_likelihood

    @property
    def _is_broken_off(self) -> bool:
        _, asked = self.results.documents(self.task)
        return self.rows.broken_off or (asked is not None and len(self.rows.documents) < asked)

    @property
    def _task_settings(self) -> Mapping[str, Any]:
        return self.results.settings(self.task)

    @property
    def of_task(self) -> Mapping[str, str]:
        """How this task was asked in this run."""
        return of_task(self.results, self.task, self._first)

    def _item(self, row: SampleRow, where: str) -> LoggedItem:
        ours = _ours(row)
        options = self._options(row, where)
        question = str(ours.get("question") or "")
        item = LoggedItem(
            id=self._id(row),
            question=question or question_of(row, self._task_settings, self.results.shots(self.task)),
            golds=(),
            choices=options,
            task=self.task,
            metadata={"category": self.results.category(self.task)},
            where=where,
        )
        if ours.get("answer"):
            given = {key: value for key, value in ours.items() if key != "id"}
            return replace(item, golds=(str(ours["answer"]),), metadata={**item.metadata, OURS: given})
        if not options:
            return replace(item, golds=golds_of(row, self._task_settings))
        judged = chosen(row, options, "acc", where)[0]
        golds = tuple(letter_of(at) for at in right_options(row, self._task_settings, options, judged, where))
        if len(golds) > 1:  # any of them is right
            form = {"answer": golds[0], "aliases": golds[1:], "answer_type": "enum"}
            letters = [letter_of(at) for at in range(len(options))]
            groups = {"task": self.task, "category": item.metadata["category"]}
            own = {**form, "vocabulary": letters, "question": worded(item), **groups}
            return replace(item, golds=golds, metadata={**item.metadata, OURS: own})
        return replace(item, golds=golds)

    def _options(self, row: SampleRow, where: str) -> tuple[str, ...]:
        if not row.is_likelihood:
            return ()
        options = options_of(row, self._task_settings, where)
        if len(options) > len(_LETTERS):
            raise UsageError(f"{len(options)} options: more than there are letters", where=where)
        return options

    def _id(self, row: SampleRow) -> str:
        if self.id_field:
            said = row.doc.get(self.id_field)
            if not isinstance(said, str | int) or isinstance(said, bool) or said == "":
                raise UsageError(
                    f"the document has no id in its field {shortened(self.id_field)}",
                    where=f"{self.path}:{row.line}",
                    fix=did_you_mean(
                        self.id_field, row.doc, otherwise=f"its fields: {', '.join(map(str, row.doc))[:200]}"
                    ),
                )
            return str(said)
        if (ours := _ours(row).get("id")) and isinstance(ours, str):
            return ours
        return f"{self.task}/{row.key}"

    def _scores(self) -> dict[str, dict[str, float]]:
        """Document to what the harness' metrics gave its first answer, by "metric,filter"."""
        found: dict[str, dict[str, float]] = {}
        for row in self.rows.all():
            if self.rows.repeats > 1 and not judges_first(self._task_settings, row.filter):
                continue
            for name, value in row.metrics.items():
                # Of several rules of choosing one is imported.
                if 0 <= value <= 1 and (not row.is_likelihood or name == self.choice):
                    found.setdefault(row.key, {})[f"{name},{row.filter}" if row.filter else name] = value
        return found


def lm_eval_logs(
    paths: Sequence[Path],
    *,
    tasks: Sequence[str] = (),
    model: str = "",
    choice: Rule = "acc",
    id_field: str = "",
) -> list[LmEvalSamples]:
    """The logs that lie in `paths`, in the order of their names; of `tasks` only, where some are named.

    `model` is used where no results file names one. `choice` is how the answer to a multiple choice is found,
    `id_field` the field of documents that holds the items' ids. Raises UsageError for a path that holds no
    samples, and for tasks that measure the likelihood of texts and ask nothing.
    """
    files = sorted({file for path in paths for file in _files(path)})
    logs = [_log(file, model, choice, id_field, tasks) for file in files]
    found = _told_apart([log for log in logs if log is not None])
    names = {_named(file)[0] for file in files}
    for task in tasks:
        if task not in names:
            raise UsageError(
                f"--task: there are no samples of {shortened(task)}",
                fix=did_you_mean(task, names, otherwise=f"tasks: {', '.join(sorted(names))[:200]}"),
            )
    return found


def _told_apart(logs: Sequence[LmEvalSamples]) -> list[LmEvalSamples]:
    """The logs with the settings that tell the runs of a model apart."""
    runs = {log.path: f"{log.path.parent}\n{log.created or log.path.name}" for log in logs}
    apart = telling((log.model, runs[log.path], log.task, log.of_task) for log in logs)
    return [replace(log, apart=apart[log.model, runs[log.path]]) for log in logs]


def letter_of(place: int) -> str:
    """The letter of an option: A for the first."""
    return _LETTERS[place]


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        files = [file for file in path.rglob("samples_*.jsonl") if _NAME.match(file.name)]
        if not files:
            raise UsageError(
                "there are no samples in this folder: samples_TASK_TIME.jsonl",
                where=str(path),
                fix="lm_eval ... --output_path FOLDER --log_samples writes them",
            )
        return files
    if not path.is_file():
        raise UsageError("there is no such file", where=str(path))
    if _NAME.match(path.name) is None and path.suffix not in (".jsonl", ".json"):
        fix = "name samples_TASK_TIME.jsonl, or the folder that holds it"
        raise UsageError("is no file of samples", where=str(path), fix=fix)
    if path.name.startswith("results_") and path.suffix == ".json":
        time = path.stem.removeprefix("results_")
        if files := sorted(path.parent.glob(f"samples_*_{time}.jsonl")):
            return files
        raise UsageError("there are no samples beside it", where=str(path), fix="lm_eval ... --log_samples")
    return [path]


def _named(file: Path) -> tuple[str, str]:
    """Task and time, as the file's name has them."""
    match = _NAME.match(file.name)
    return (match["task"], match["time"]) if match else (file.stem, "")


def _log(file: Path, model: str, choice: Rule, id_field: str, tasks: Sequence[str]) -> LmEvalSamples | None:
    task, time = _named(file)
    if tasks and task not in tasks:
        return None
    beside = sorted(file.parent.glob(f"*_{time}.json")) if time else []
    results = results_of(beside[0]) if beside else Results(None, {})
    name = results.model or model
    if not name:
        raise UsageError(
            "no results_*.json beside it says which model this is", where=str(file), fix="--model NAME"
        )
    try:
        rows = look_at(file)
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(file)) from error
    log = LmEvalSamples(file, task, name, _iso(time), results, rows, choice, id_field, run="")
    _check_asks(log)
    return log


def _check_asks(log: LmEvalSamples) -> None:
    first = log._first
    if first.is_likelihood:
        log._options(first, f"{log.path}:{first.line}")
    elif all(len(request) < 2 for request in first.requests):
        raise UsageError(
            f"{log.task} measures how likely whole texts are, and nothing is answered there",
            where=str(log.path),
            fix="name the tasks to import: --task NAME",
        )


def _iso(time: str) -> str:
    """2024-05-01T12-00-00.5 as ISO 8601."""
    day, _, clock = time.partition("T")
    return f"{day}T{clock.replace('-', ':')}" if clock else ""


def _ours(row: SampleRow) -> Mapping[str, Any]:
    """The item of ours that a document was made of, if it was (`leadline export lm-eval-task`)."""
    said = row.doc.get("leadline")
    if isinstance(said, str):
        try:
            said = json.loads(said)
        except (ValueError, RecursionError):
            return {}
    if not isinstance(said, Mapping):
        return {}
    return {key: value for key, value in said.items() if value is not None}


def _plain(mapping: object, key: str) -> object:
    value = mapping.get(key) if isinstance(mapping, Mapping) else None
    return value if isinstance(value, str | int | float) else None
