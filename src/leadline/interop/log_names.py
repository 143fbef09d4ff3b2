"""Under which names the answers of logs stand in a study, and which of them it holds already.

A configuration is named after its model; where logs of one model were made with different settings, what
differs is added. Logs of one run (a run that was taken up again, a log that was scored anew) are one
configuration and share their samples. Two runs of the same settings are told apart by a number, unless the
user gives them one name: then the second one's answers are further samples.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leadline.bench.problem import shortened
from leadline.errors import UsageError
from leadline.interop.logs import Log
from leadline.models.served.secrets import named_like_a_secret, redacted
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
            name = _free(_name(first, [*logs], before), first, [*there, *map(_as_known, found)])
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
    others: list[Mapping[str, str]] = [_settings(one) for one in logs if one.model == log.model]
    others += [one.settings for one in before if one.source == log.model]
    said = [
        f"{key}={value}"
        for key, value in _settings(log).items()
        if any(other.get(key) != value for other in others)
    ]
    name = f"{base} {', '.join(said)}" if said else base
    plain = "".join(mark if mark.isprintable() else "?" for mark in " ".join(name.split()))
    return plain if len(plain) <= _LONGEST else plain[: _LONGEST - 1] + "…"


def _free(name: str, log: Log, taken: Iterable[Known]) -> str:
    """The name, with a number where a run of other settings, or another run of the same task, has it."""
    others = list(taken)
    for number in range(1, len(others) + 2):
        tried = name if number == 1 else f"{name[: _LONGEST - 6]} #{number}"
        if not any(_clashes(log, one) for one in others if one.configuration == tried):
            return tried
    raise AssertionError("one more name than there are logs is free")


def _clashes(log: Log, one: Known) -> bool:
    if run_of(log) == one.run:
        return False
    return one.task == log.task or one.source != log.model or dict(one.settings) != _settings(log)


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
