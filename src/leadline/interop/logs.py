"""Logs of other tools: what an importer hands over, and what is told of an import.

An importer (`inspect_log`, ...) turns a file into a `Log`: items, answers, and what is known of the run.
Everything that follows is the same for all tools (`log_import`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol


@dataclass(frozen=True)
class LoggedItem:
    """One question as a log has it. `golds` are texts that are right, `choices` the options of a question
    that has some (golds are then their letters, A first, or their texts).

    `task` groups items in reports; "" where the log's own task is meant. `metadata` is what the tool keeps of
    it; the fields of an item of ours under "leadline" count before everything else but the id.
    """

    id: str
    question: str
    golds: tuple[str, ...]
    choices: tuple[str, ...] = ()
    task: str = ""
    window: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    where: str = ""


@dataclass(frozen=True, slots=True)
class LoggedAnswer:
    """One answer. `text` is None for a call that failed; `failure` is then its kind, `message` what was said.

    `item` is the id that the log has for it, `sample` counts from 0, `finish` is "stop", "length",
    "content_filter", "cancelled" or "" (unknown). `scores` are what the tool's scorers gave: 1 is right, 0 is
    wrong; what is no number is left out. `choices` are the options in the order in which `text` has their
    letters, A first; () where it has none.
    """

    item: str
    sample: int
    text: str | None
    failure: str = ""
    message: str = ""
    finish: str = ""
    where: str = ""
    scores: Mapping[str, float] = field(default_factory=dict)
    tokens_in: int = 0
    tokens_out: int = 0
    choices: tuple[str, ...] = ()


class Log(Protocol):
    """One log of one model's answers to one task. Reading is lazy: `items` and `answers` go through the file.

    `task` tells equal ids of two tasks apart. `run` is the same in logs that hold the same answers (a run
    that was taken up again, a log that was scored anew or converted); "" where the tool says nothing of that.
    `created` (ISO 8601, or "") orders such logs. `settings` are what may tell two configurations of one model
    apart, the most telling first: {"temperature": "0.7", "solver": "chain_of_thought"}. `about` is noted in
    the study: JSON values, with "tool" and "status".
    """

    @property
    def path(self) -> Path: ...
    @property
    def sha256(self) -> str: ...
    @property
    def task(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def run(self) -> str: ...
    @property
    def created(self) -> str: ...
    @property
    def settings(self) -> Mapping[str, str]: ...
    @property
    def about(self) -> Mapping[str, Any]: ...

    def items(self) -> Iterator[LoggedItem]:
        """Each item once, in the order of the log."""

    def answers(self) -> Iterator[LoggedAnswer]:
        """Every answer and every failed call, in any order."""

    def notes(self) -> Sequence[str]:
        """What is worth saying of the log, one line each; asked after `answers` was read to its end."""


@dataclass(frozen=True)
class ImportedLog:
    """One log as it was taken: under which model and configuration, and how many answers it held."""

    path: Path
    task: str
    model: str
    configuration: str
    status: str
    answers: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ScoreComparison:
    """A scorer's verdicts beside ours, over answers that both judged; `differ` of them are judged otherwise.

    `theirs` and `ours` are the numbers of answers that each holds right.
    """

    configuration: str
    scorer: str
    answers: int
    theirs: int
    ours: int
    differ: int
    example: str = ""


@dataclass(frozen=True)
class LogImport:
    """What became of logs; counts are of answers. `known` were there before, or stand in two of the logs.

    `again` names the logs that had been imported before. `made` says that the study is new, `made_benchmark`
    that its benchmark was made of the logs' items, `dry` that nothing was kept. `grown` items were added to a
    benchmark that had been made of logs; `skipped` files of folders were no logs.
    """

    study: Path
    logs: tuple[ImportedLog, ...]
    stored: int
    known: int
    failed: int
    empty: int
    items: int
    configurations: tuple[tuple[str, str], ...]  # model and name
    scores: tuple[ScoreComparison, ...] = ()
    notes: tuple[str, ...] = ()
    made: bool = False
    made_benchmark: bool = False
    dry: bool = False
    again: tuple[str, ...] = ()
    grown: int = 0
    skipped: int = 0
