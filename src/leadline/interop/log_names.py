"""Under which names the answers of logs stand in a study, and which of them it holds already.

A configuration is named after its model; where logs of one model on one task were made with different
settings, what differs is added. Settings of different tasks are not compared: one model that was asked
several tasks, each in its own way, is one configuration. Logs of one run (a run that was taken up again, a
log that was scored anew) are one configuration and share their samples. Two runs of the same settings are
told apart by a number, unless the user gives them one name: then the second one's answers are further
samples.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leadline.bench.problem import shortened
from leadline.errors import UsageError
from leadline.interop.logs import Log
from leadline.redaction import named_like_a_secret, redacted
from leadline.study.members import RECORDED, UNNAMED
from leadline.study.store import DATABASE, open_store
from leadline.study.study import Study

# The key of the logs of a run in what is noted of it.
LOGS = "logs"
_LONGEST = 100


@dataclass(frozen=True)
class Known:
    """What the study noted of a log that was imported: under which names, and from which sample on."""

    sha256: str
    run: str
    task: str
    source: str  # the model, as the tool calls it
    settings: Mapping[str, str]
    model: str
    configuration: str
    offset: int


@dataclass(frozen=True)
class Named:
    """A log, the names of its answers, and the number of its first sample, None where that is the first one
    that is free."""

    log: Log
    model: str
    configuration: str
    offset: int | None


def run_of(log: Log) -> str:
    """What is the same for logs that hold the same answers: the tool's run, or the file's content."""
    return f"{log.run}\n{log.model}" if log.run else log.sha256


def noted(named: Named, offset: int) -> dict[str, Any]:
    """What the study notes of a log; `earlier` reads it."""
    log = named.log
    return {
        "file": log.path.name,
        "sha256": log.sha256,
        "run": run_of(log),
        "task": log.task,
        "source": log.model,
        "settings": _settings(log),
        "model": named.model,
        "configuration": named.configuration,
        "offset": offset,
        "about": dict(log.about),
    }


def earlier(study: Study) -> list[Known]:
    """The logs that were imported into the study, in order."""
    if not (study.folder / DATABASE).exists():
        return []
    with open_store(study.folder, write=False) as store:
        runs = [note.about.get(RECORDED, {}) for note in store.history() if note.finished]
    return [
        Known(
            sha256=one["sha256"],
            run=one["run"],
            task=one["task"],
            source=one["source"],
            settings=one["settings"],
            model=one["model"],
            configuration=one["configuration"],
            offset=one["offset"],
        )
        for about in runs
        for one in about.get(LOGS, ())
    ]


def named(
    logs: Sequence[Log],
    before: Sequence[Known],
    *,
    model: str | None = None,
    configuration: str | None = None,
) -> list[Named]:
    """The logs with the names of their configurations; logs of one run lie together, the newest first.

    `model` and `configuration` are the names that the user gave. Raises UsageError where one configuration is
    named for logs of several models.
    """
    for role, name in (("model", model), ("configuration", configuration)):
        if name is not None and (not name.strip() or len(name) > _LONGEST or not name.isprintable()):
            raise UsageError(
                f"--{role}: {shortened(name)} is no name",
                fix=f"a name has up to {_LONGEST} characters that can be printed",
            )
    sources = list(dict.fromkeys(log.model for log in logs))
    if configuration is not None and len(sources) > 1:
        raise UsageError(
            f"--configuration names one, and these logs are of {len(sources)} models: {', '.join(sources)}",
            fix="import the logs of each model by themselves, or leave it out",
        )
    runs: dict[str, list[Log]] = {}
    for log in sorted(logs, key=lambda log: log.created):
        runs.setdefault(run_of(log), []).append(log)
    label = model or UNNAMED
    there = [one for one in before if one.model == label]
    found: list[Named] = []
    for run, of_run in runs.items():
        first = of_run[0]
        again = next((one for one in there if one.run == run), None)
        if configuration is not None:
            name = configuration
        elif again is not None:
            name = again.configuration
        else:
            name = _free(_name(first, logs, before), first, [*there, *map(_as_known, found)])
        mine = [one for one in there if one.configuration == name]
        same = next((one.offset for one in mine if one.run == run), None)
        is_first = not any(
            one.configuration == name and one.task == first.task for one in [*mine, *map(_as_known, found)]
        )
        offset = same if same is not None else 0 if is_first else None
        found += [Named(log, label, name, offset) for log in reversed(of_run)]
    return found


def _name(log: Log, logs: Sequence[Log], before: Sequence[Known]) -> str:
    """The model's name, and the settings by which this log differs from others of that model."""
    sources = {one.model for one in logs} | {one.source for one in before}
    short = log.model.rsplit("/", 1)[-1] or log.model
    base = (
        log.model if any(one != log.model and one.rsplit("/", 1)[-1] == short for one in sources) else short
    )
    told = _telling(log.model, logs, before)
    mine = _settings(log)
    for one in before if told else ():  # the same model on another task, asked in the same way
        is_other_task = one.source == log.model and one.task != log.task
        if is_other_task and all(one.settings.get(key) == mine.get(key) for key in told):
            return one.configuration
    said = [f"{key}={value}" for key, value in mine.items() if key in told]
    name = f"{base} {', '.join(said)}" if said else base
    plain = "".join(mark if mark.isprintable() else "?" for mark in " ".join(name.split()))
    return plain if len(plain) <= _LONGEST else plain[: _LONGEST - 1] + "…"


def _telling(model: str, logs: Sequence[Log], before: Sequence[Known]) -> set[str]:
    """The settings of which some task of the model has two values."""
    of_task: dict[str, list[Mapping[str, str]]] = {}
    for log in logs:
        if log.model == model:
            of_task.setdefault(log.task, []).append(_settings(log))
    for one in before:
        if one.source == model:
            of_task.setdefault(one.task, []).append(one.settings)
    return {
        key
        for several in of_task.values()
        for key in {key for one in several for key in one}
        if len({one.get(key) for one in several}) > 1
    }


def mixed_settings(placed: Sequence[Named]) -> list[str]:
    """What is worth saying of configurations whose tasks were asked at different temperatures."""
    found = []
    for name in dict.fromkeys(one.configuration for one in placed):
        of_task = {
            one.log.task: str(one.log.settings["temperature"])
            for one in placed
            if one.configuration == name and "temperature" in one.log.settings
        }
        if len(set(of_task.values())) > 1:
            said = ", ".join(f"{value} ({task})" for task, value in of_task.items())
            found.append(
                f"{name}: its tasks were asked at different temperatures: {said[:200]}; --configuration NAME "
                "keeps logs apart"
            )
    return found


def _free(name: str, log: Log, taken: Iterable[Known]) -> str:
    """The name, with a number where another model, or another run of the same task, has it."""
    others = list(taken)
    for number in range(1, len(others) + 2):
        tried = name if number == 1 else f"{name[: _LONGEST - 6]} #{number}"
        if not any(_clashes(log, one) for one in others if one.configuration == tried):
            return tried
    raise AssertionError("one more name than there are logs is free")


def _clashes(log: Log, one: Known) -> bool:
    if run_of(log) == one.run:
        return False
    return one.task == log.task or one.source != log.model


def _settings(log: Log) -> dict[str, str]:
    """What is told of a log's settings: no keys and passwords."""
    return {name: redacted(value) for name, value in log.settings.items() if not named_like_a_secret(name)}


def _as_known(one: Named) -> Known:
    log = one.log
    return Known(
        log.sha256,
        run_of(log),
        log.task,
        log.model,
        _settings(log),
        one.model,
        one.configuration,
        one.offset or 0,
    )
