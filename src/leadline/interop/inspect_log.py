"""Logs of Inspect (`.eval` and `.json`): every epoch's raw answer, as items and answers of ours.

    log_import.import_logs(inspect_logs([Path("logs")]), Path("my-study"))

An answer is what the model said (`output.completion`, without its reasoning), whatever the task's scorers
made of it. A sample that ended in an error is a failed call, and not an empty answer.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leadline.bench.item import ITEM_KEYS
from leadline.errors import UsageError
from leadline.interop.inspect_damage import check_begins, check_numbers, looks_like_one, readable
from leadline.interop.inspect_fields import answer_of, item_of, other_content
from leadline.interop.inspect_samples import Key, archived, keys, streamed
from leadline.interop.log_ids import told
from leadline.interop.logs import LoggedAnswer, LoggedItem
from leadline.ordinary_file import opened

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample

_ENDINGS = (".eval", ".json")
# Settings that are no part of what the model is asked.
_NOT_TOLD = re.compile(r"connections|timeout|retries|cache|batch|logprobs")
_LONGEST_SETTING = 60
# Our scorer, as logs call it, and the arguments of it that are rules of a study and not of an item.
_OUR_SCORER = ("reading", "leadline/reading")
_PLAIN = {"answer_type": "text"}
_RULES = {"correctness": "correctness: {}", "sameness": "stability: {{sameness: {}}}"}


@dataclass(frozen=True)
class InspectLog:
    """One log; see `logs.Log` for its parts. `header` is the log without its samples."""

    path: Path
    sha256: str
    header: EvalLog
    task_name: str = ""
    _counts: Counter[str] = field(default_factory=Counter)
    _more_than_text: set[str] = field(default_factory=set)

    @property
    def task(self) -> str:
        """The task's name, without the package it came from; or what the user calls it."""
        return self.task_name or self.header.eval.task.rsplit("/", 1)[-1]

    @property
    def model(self) -> str:
        return self.header.eval.model

    @property
    def run(self) -> str:
        """Of a log that continues another one, or that scores it anew, the same."""
        spec = self.header.eval
        return spec.task_id or spec.eval_id

    @property
    def created(self) -> str:
        """When the run began; of runs of one second the file's own time decides."""
        return f"{self.header.eval.created} {self.path.stat().st_mtime_ns:020}"

    @cached_property
    def settings(self) -> Mapping[str, str]:
        """Arguments of the model, how texts were drawn, the solver, arguments of the task."""
        spec, plan = self.header.eval, self.header.plan
        drawn = {
            **spec.model_generate_config.model_dump(mode="json", exclude_none=True),
            **plan.config.model_dump(mode="json", exclude_none=True),
        }
        temperature = {name: drawn.pop(name) for name in ("temperature",) if name in drawn}
        solver = spec.solver or "+".join(step.solver for step in plan.steps)
        said: dict[str, object] = {
            **spec.model_args,
            **temperature,
            "solver": solver,
            **{f"solver.{name}": value for name, value in (spec.solver_args_passed or {}).items()},
            **drawn,
            **spec.task_args_passed,
        }
        return {
            name: _short(value)
            for name, value in said.items()
            if value not in (None, "") and not _NOT_TOLD.search(name)
        }

    @cached_property
    def about(self) -> Mapping[str, Any]:
        """The run as Inspect describes it, in short, and its scores."""
        spec = self.header.eval
        results = self.header.results
        return {
            "tool": "inspect",
            "version": spec.packages.get("inspect_ai", ""),
            "status": self.header.status,
            "task": spec.task,
            "task_version": str(spec.task_version),
            "task_id": spec.task_id,
            "eval_id": spec.eval_id,
            "run_id": spec.run_id,
            "created": spec.created,
            "epochs": spec.config.epochs or 1,
            "metrics": {
                f"{score.name}/{metric.name}" + (f" ({score.reducer})" if score.reducer else ""): metric.value
                for score in (results.scores if results else ())
                for metric in score.metrics.values()
            },
        }

    def items(self) -> Iterator[LoggedItem]:
        """Each item once, as its first sample has it, in the order of the data set."""
        found: dict[str, LoggedItem] = {}
        for sample in self._samples(once=True):
            if str(sample.id) not in found:
                found[str(sample.id)] = item_of(sample, self._where(sample), self._form(sample))
        places = {str(name): at for at, name in enumerate(self.header.eval.dataset.sample_ids or ())}
        yield from sorted(found.values(), key=lambda item: places.get(item.id, len(places)))

    def answers(self) -> Iterator[LoggedAnswer]:
        """Every sample of every epoch, in the order of the log."""
        self._counts.clear()
        self._more_than_text.clear()
        shuffles = any(
            step.solver.rsplit("/", 1)[-1] == "multiple_choice" and bool(step.params.get("shuffle"))
            for step in self.header.plan.steps
        )
        for sample in self._samples():
            answer = answer_of(sample, self._where(sample), shuffles=shuffles)
            self._counts["samples"] += 1
            if other_content(sample):
                self._more_than_text.add(answer.item)
            self._counts["error"] += answer.failure == "error"
            self._counts["unscored output"] += answer.failure == "error" and bool(sample.output.completion)
            if sample.limit is not None:
                self._counts[f"limit {sample.limit.type}"] += 1
            yield answer

    def notes(self) -> Sequence[str]:
        """An unfinished run, samples that a limit ended, errors after an output, what is not taken."""
        counts, found = self._counts, []
        spec = self.header.eval
        asked = len(spec.dataset.sample_ids or ()) * (spec.config.epochs or 1)
        if self.header.status != "success" or counts["samples"] < asked:
            of = f" of {asked:,}" if asked else ""
            found.append(f"status {self.header.status}: it holds {counts['samples']:,}{of} samples")
        for name, number in sorted(counts.items()):
            if name.startswith("limit "):
                found.append(f"samples that the {name.removeprefix('limit ')} limit ended: {number:,}")
        if number := counts["unscored output"]:
            found.append(
                f"{number:,} samples with an error hold an output as well, which may not be the answer: they "
                "count as failed calls"
            )
        if number := len(self._more_than_text):
            found.append(
                f"more than text was shown with {number:,} {'question' if number == 1 else 'questions'} "
                "(images, recordings, files): the items have their text alone"
            )
        said = [
            form.format(arguments[name])
            for arguments in self._scorers
            for name, form in _RULES.items()
            if name in arguments
        ]
        if said:
            found.append(f"its scorer judged by rules that a study has in study.yaml: {', '.join(said)}")
        return found

    @cached_property
    def _scorers(self) -> Sequence[Mapping[str, Any]]:
        """The arguments of our scorer, where it judged the log by one set of them."""
        scorers = self.header.eval.scorers or ()
        given = [one.options or {} for one in scorers if one.name in _OUR_SCORER]
        return given[:1] if all(one == given[0] for one in given) else ()

    def _form(self, sample: EvalSample) -> Mapping[str, Any] | None:
        """How the scorer read answers to a sample that says nothing of it."""
        for arguments in self._scorers:
            form = {name: value for name, value in arguments.items() if name not in _RULES}
            if form.keys() <= set(ITEM_KEYS) and form and not (sample.choices and form == _PLAIN):
                return form
        return None

    def _samples(self, *, once: bool = False) -> Iterator[EvalSample]:
        with readable(self.path):
            if self.path.suffix == ".json":
                yield from streamed(self.path)
                return
            wanted: Sequence[Key] = self._keys
            if once:
                first: dict[str, Key] = {}
                for key in wanted:
                    first.setdefault(str(key[0]), key)
                wanted = list(first.values())
            yield from archived(self.path, wanted)

    @cached_property
    def _keys(self) -> Sequence[Key]:
        return keys(self.path)

    def _where(self, sample: EvalSample) -> str:
        return f"{self.path}, sample {told(sample.id)}, epoch {sample.epoch}"


def inspect_logs(
    paths: Sequence[Path], *, task: str | None = None, skipped: list[Path] | None = None
) -> list[InspectLog]:
    """The logs at `paths`, of which some may be folders of logs, in the order of the names.

    Files in folders that are no logs are left alone, and added to `skipped`. `task` is the task of all of
    them, whatever the logs call it. Raises UsageError for what is no log, and where inspect-ai is not
    installed.
    """
    _check_installed()
    found: dict[Path, InspectLog] = {}
    for path in paths:
        if not path.exists():
            raise UsageError("there is no such file or folder", where=str(path))
        if not path.is_dir():
            found.setdefault(path.resolve(), _opened(path))
            continue
        within = sorted(one for one in path.rglob("*") if one.is_file() and not one.name.startswith("."))
        logs = []
        for one in within:
            if one.suffix == ".eval" or (one.suffix == ".json" and looks_like_one(one)):
                logs.append((one, _opened(one)))
            elif skipped is not None:
                skipped.append(one)
        if not logs:
            raise UsageError("there is no log of Inspect in this folder", where=str(path))
        for one, log in logs:
            found.setdefault(one.resolve(), log)
    return [replace(log, task_name=task or "") for log in found.values()]


def _opened(path: Path) -> InspectLog:
    from inspect_ai.log import read_eval_log

    if path.suffix not in _ENDINGS:
        raise UsageError(
            "is no log of Inspect by its name", where=str(path), fix="logs end in .eval or .json"
        )
    with readable(path):
        check_begins(path)
        check_numbers(path)
        header = read_eval_log(path, header_only=True)
        with opened(path) as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    return InspectLog(path, digest, header)


def _check_installed() -> None:
    try:
        import inspect_ai.log  # noqa: F401
    except ImportError as error:
        raise UsageError(
            f"logs of Inspect are read by inspect-ai ({error.name} is missing)",
            fix="pip install 'leadline[served]'",
        ) from error


def _short(value: object) -> str:
    text = value if isinstance(value, str) else repr(value) if isinstance(value, bool) else str(value)
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST_SETTING else text[: _LONGEST_SETTING - 1] + "…"
