"""Output of OpenAI's batch API, and of services that write the same files, as logs.

Output and error files of one batch, and the batches that a large one was cut into, are one run: give them
together. A file that answers the same requests once more is another run. There are no right answers in
such files: a benchmark has to be named. Questions and settings come from the file of requests, if it is
given.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from leadline.bench.problem import FirstProblem, shortened
from leadline.bench.text_lines import text_lines
from leadline.errors import UsageError
from leadline.interop.logs import LoggedAnswer, LoggedItem
from leadline.interop.openai_batch_ids import IdPattern, id_pattern
from leadline.interop.openai_batch_requests import Requests, requests_of
from leadline.interop.openai_batch_rows import BatchRow, batch_row
from leadline.ordinary_file import opened

_SUFFIXES = (".jsonl", ".ndjson", ".json")


@dataclass
class _Look:
    """What a first look at a file found: its answered requests, models, and lowest sample."""

    path: Path
    sha256: str
    answered: dict[str, int] = field(default_factory=dict)  # custom id → line
    failed: dict[str, int] = field(default_factory=dict)
    models: Counter[str] = field(default_factory=Counter)
    fingerprints: Counter[str] = field(default_factory=Counter)
    created: float = 0
    lowest: int | None = None
    choices: int = 1


@dataclass(frozen=True)
class OpenAIBatch:
    """One model's answers in one file: a `Log`. Make them with `openai_batch_logs`.

    `first` is the number of the first sample where ids say one; `of_failures` says that this log has the
    failed calls of the file, which name no model.
    """

    path: Path
    task: str
    model: str
    run: str
    look: _Look
    pattern: IdPattern
    first: int
    requests: Requests | None
    of_failures: bool

    @cached_property
    def sha256(self) -> str:
        """That of the file, and of what else decides what is read in it."""
        said = f"{self.look.sha256} {self.model if len(self.look.models) > 1 else ''} {self.pattern.text}"
        return hashlib.sha256(said.encode()).hexdigest()

    @property
    def created(self) -> str:
        """When the first answer was given, "" where the file does not say it."""
        if not self.look.created:
            return ""
        return datetime.fromtimestamp(self.look.created, UTC).isoformat()

    @property
    def settings(self) -> Mapping[str, str]:
        """Those that all requests of the input file have in common."""
        return self.requests.settings if self.requests else {}

    @property
    def about(self) -> Mapping[str, Any]:
        """What is noted of the batch in the study."""
        return {
            "tool": "openai batch",
            "status": "success",
            "model": self.model,
            "fingerprints": dict(sorted(self.look.fingerprints.items())),
            "answered": len(self.look.answered),
            "failed": len(self.look.failed),
            "ids": self.pattern.text or "custom_id, or a part of it: --id-pattern",
            **self.settings,
        }

    def items(self) -> Iterator[LoggedItem]:
        """What was asked, each once; without an input file the question is not known, and empty."""
        seen: set[str] = set()
        for line, row in _rows(self.path):
            where = f"{self.path}:{line}"
            item, _ = _read(self.pattern, row, where)
            if item not in seen and self._is_mine(row):
                seen.add(item)
                question = self.requests.question(row.custom_id, where) if self.requests else ""
                yield LoggedItem(item, question, (), task=self.task, where=where)

    def answers(self) -> Iterator[LoggedAnswer]:
        """Every choice of every answered request, and every request that failed and was not answered."""
        for line, row in _rows(self.path):
            if not self._is_mine(row):
                continue
            where = f"{self.path}:{line}"
            item, numbered = _read(self.pattern, row, where)
            start = 0 if numbered is None else (numbered - self.first) * self.look.choices
            if row.failure:
                if row.custom_id not in self.look.answered:
                    yield LoggedAnswer(item, start, None, row.failure, row.message, where=where)
                continue
            for at, said in enumerate(row.said):
                share, rest = divmod(row.tokens_out, len(row.said))
                yield LoggedAnswer(
                    item=item,
                    sample=start + at,
                    text=said.text,
                    finish=said.finish,
                    where=where,
                    tokens_in=0 if at else row.tokens_in,
                    tokens_out=share if at else share + rest,
                )

    def notes(self) -> Sequence[str]:
        """What is worth saying of the batch."""
        said = []
        if len(self.look.fingerprints) > 1:
            said.append(
                f"the service answered as {len(self.look.fingerprints)} systems (system_fingerprint): "
                "answers of one item may differ for that"
            )
        return said

    def _is_mine(self, row: BatchRow) -> bool:
        return row.model == self.model or (not row.model and self.of_failures)


def openai_batch_logs(
    paths: Sequence[Path],
    *,
    requests: Path | None = None,
    pattern: str = "",
    model: str = "",
    task: str = "",
    skipped: list[Path] | None = None,
) -> list[OpenAIBatch]:
    """The logs that lie in `paths`, files or folders of JSON lines; one for each model of each file.

    `requests` is the batch's input file, `pattern` says how custom ids are made (see `id_pattern`), `model`
    who was asked where no line says it. Files of folders that are called otherwise are added to `skipped`.
    Raises UsageError, with the line, for what is no output of a batch and for requests answered twice in a
    file.
    """
    ids = id_pattern(pattern)
    asked = requests_of(requests) if requests else None
    files = [
        file for path in paths for file in _files(path, skipped) if not requests or not _same(file, requests)
    ]
    if not files:
        raise UsageError("there is nothing but the input file", where=str(paths[0]))
    looks = [_look(file, ids) for file in dict.fromkeys(files)]
    looks.sort(key=lambda look: (look.created or float("inf"), look.path))
    known = Counter[str]()
    for look in looks:
        known.update(look.models)
    if not known:
        said = model or (asked.model if asked else "")
        if not said:
            raise UsageError(
                "no line says which model was asked", where=str(looks[0].path), fix="--model NAME"
            )
        known[said] = 1
    lowest = min((look.lowest for look in looks if look.lowest is not None), default=0)
    logs: list[OpenAIBatch] = []
    for look, run in zip(looks, _runs(looks), strict=True):
        main = (look.models or known).most_common(1)[0][0]
        for name in look.models or [main]:
            log = OpenAIBatch(
                look.path, task or "batch", name, run, look, ids, min(lowest, 1), asked, name == main
            )
            logs.append(log)
    return logs


def _runs(looks: Sequence[_Look]) -> list[str]:
    """The run of each file: the first one that has no answer to any of its requests."""
    runs: list[tuple[str, set[str]]] = []
    found = []
    for look in looks:
        run = next((one for one in runs if one[1].isdisjoint(look.answered)), None)
        if run is None:
            run = (look.sha256, set())
            runs.append(run)
        run[1].update(look.answered)
        found.append(run[0])
    return found


def _look(path: Path, ids: IdPattern) -> _Look:
    try:
        next(_rows(path), None)  # what is no such file at all may be too large to go through
        with opened(path) as file:
            look = _Look(path, hashlib.file_digest(file, "sha256").hexdigest())
        for line, row in _rows(path):
            where = f"{path}:{line}"
            _, sample = _read(ids, row, where)
            if sample is not None:
                look.lowest = sample if look.lowest is None else min(look.lowest, sample)
            seen = look.failed if row.failure else look.answered
            if row.custom_id in look.answered and not row.failure:
                raise UsageError(
                    f"{shortened(row.custom_id)} is answered here and in line {seen[row.custom_id]}",
                    where=where,
                    fix="a request has an id of its own; n answers to it are n choices",
                )
            seen[row.custom_id] = line
            look.choices = max(look.choices, len(row.said))
            if row.model:
                look.models[row.model] += 1
            if row.fingerprint:
                look.fingerprints[row.fingerprint] += 1
            if row.created and not row.failure:
                look.created = min(look.created or row.created, row.created)
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from error
    if not look.answered and not look.failed:
        raise UsageError("holds no answered request", where=str(path), fix="a batch's output or error file")
    return look


def _rows(path: Path) -> Iterator[tuple[int, BatchRow]]:
    with opened(path) as file:
        for line in text_lines(file, path, FirstProblem()):
            if not line.text.strip():
                continue
            where = f"{path}:{line.number}"
            try:
                fields = json.loads(line.text)
            except (ValueError, RecursionError) as error:
                fix = "one JSON object a line; a download that broke off is to be repeated"
                raise UsageError("broken JSON", where=where, fix=fix) from error
            row = batch_row(fields) if isinstance(fields, dict) else None
            if row is None:
                fix = "custom_id, response and error belong in a line"
                if isinstance(fields, dict) and {"custom_id", "body"} <= fields.keys():
                    fix = "this is the batch's input: --input FILE, and its output as PATH"
                raise UsageError("is no line of a batch's output", where=where, fix=fix)
            yield line.number, row


def _read(ids: IdPattern, row: BatchRow, where: str) -> tuple[str, int | None]:
    found = ids.read(row.custom_id)
    if found is None:
        raise UsageError(
            f"the custom_id {shortened(row.custom_id)} is not made as --id-pattern says: {ids.text}",
            where=where,
        )
    return found


def _files(path: Path, skipped: list[Path] | None) -> list[Path]:
    if path.is_dir():
        within = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
        files = [file for file in within if file.suffix in _SUFFIXES]
        if skipped is not None:
            skipped += [file for file in within if file not in files]
        if not files:
            raise UsageError("there are no JSON lines in this folder", where=str(path))
        return files
    if not path.is_file():
        raise UsageError("is no file" if path.exists() else "there is no such file", where=str(path))
    return [path]


def _same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()
