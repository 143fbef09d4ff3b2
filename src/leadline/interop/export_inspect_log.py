"""The answers of a study as logs of Inspect, one a configuration: `inspect view` shows them.

    export_inspect_logs(open_study(Path("my-study")), Path("logs"))

Samples of an item are its epochs, failed calls are samples with an error, and the score is our reading.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leadline import __version__
from leadline.bench import Item
from leadline.bench.problem import did_you_mean
from leadline.errors import LeadlineError, UsageError
from leadline.interop.export_asked import choices_of, fields_of
from leadline.interop.export_place import new_folder
from leadline.study.members import RECORDED, UNNAMED, StudyMember, members
from leadline.study.store import Response, Store, open_store
from leadline.study.study import Study

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample
    from inspect_ai.model import ChatMessage

_STOPS: dict[str, Any] = {"stop": "stop", "length": "max_tokens", "content_filter": "content_filter"}
# As Inspect calls the scorer `leadline/reading` in what it writes itself.
SCORER = "reading"


@dataclass(frozen=True)
class ExportedLogs:
    """The folder, and its logs: file, configuration, samples, of which failed."""

    folder: Path
    logs: tuple[tuple[str, str, int, int], ...]


def export_inspect_logs(
    study: Study, out: Path, *, only: tuple[str, ...] = (), force: bool = False
) -> ExportedLogs:
    """Write a log for each configuration that has answers (of `only` these, where any are named) into `out`.

    The model of a log is MODEL/CONFIGURATION, so that logs are told apart. A log is held in memory while it
    is written: some 10 kB an answer. Raises UsageError for a configuration that is not there, where `out`
    holds something already, unless `force`, and where inspect-ai is not installed.
    """
    _check_installed()
    from inspect_ai.log import write_eval_log

    written = []
    with open_store(study.folder, write=False) as store:
        found = [one for one in members(study, store) if _has_any(store, one)]
        for name in only:
            if name not in (names := [one.name for one in found]):
                fix = did_you_mean(name, names, otherwise=f"those with answers: {', '.join(names) or 'none'}")
                raise UsageError(f"there is no configuration {name!r}", where=str(study.folder), fix=fix)
        chosen = [one for one in found if not only or one.name in only]
        if not chosen:
            raise LeadlineError("this study has no answers yet", where=str(study.folder))
        with new_folder(out, force) as folder:
            for member in chosen:
                log = _log(study, store, member)
                if not log.samples:
                    continue
                file = f"{_file_name(log, member)}.eval"
                write_eval_log(log, str(folder / file))
                failed = sum(one.error is not None for one in log.samples)
                written.append((file, f"{member.model} · {member.name}", len(log.samples), failed))
    return ExportedLogs(out, tuple(written))


def _has_any(store: Store, member: StudyMember) -> bool:
    return store.has_answers(member.id) or bool(store.failures(member.id))


def _log(study: Study, store: Store, member: StudyMember) -> EvalLog:
    from inspect_ai.log import (
        EvalConfig,
        EvalDataset,
        EvalLog,
        EvalPlan,
        EvalPlanStep,
        EvalSpec,
        EvalStats,
    )
    from inspect_ai.model import GenerateConfig

    places = {item.id: number for number, item in enumerate(study.population.everyone.items)}
    samples = sorted(_samples(study, store, member), key=lambda one: (one.epoch, places[str(one.id)]))
    (times,) = store.select(
        "responses", "SELECT MIN(created), MAX(created) FROM responses WHERE configuration = ?", (member.id,)
    )
    begun, ended = (_iso(one) for one in times)
    said = f"{study.config.name} {study.folder.resolve()} {member.id} {study.whole.content_hash}"
    identity = hashlib.sha256(said.encode()).hexdigest()[:22]
    ids = list(dict.fromkeys(str(one.id) for one in samples))
    technique = member.asked.technique if member.asked else None
    drawn = {} if technique is None else technique.settings()
    config = GenerateConfig(temperature=drawn.get("temperature"), max_tokens=drawn.get("max_tokens"))
    spec = EvalSpec(
        eval_id=identity,
        run_id=identity,
        created=begun,
        task=study.whole.name,
        task_id=identity,
        task_version=study.whole.version,
        task_attribs={},
        dataset=EvalDataset(name=study.whole.name, samples=len(ids), sample_ids=[*ids], shuffled=False),
        model=called(member),
        config=EvalConfig(epochs=max((one.epoch for one in samples), default=1)),
        packages={"leadline": __version__},
        metadata={
            "study": study.config.name,
            "configuration": member.name,
            "label": member.label,
            "content_hash": study.whole.content_hash,
            "correctness": study.config.correctness,
        },
    )
    solver = RECORDED if technique is None else technique.name
    return EvalLog(
        status="success",
        eval=spec,
        plan=EvalPlan(steps=[EvalPlanStep(solver=solver, params=dict(drawn))], config=config),
        results=_results(samples),
        stats=EvalStats(started_at=begun, completed_at=ended),
        samples=samples,
    )


def called(member: StudyMember) -> str:
    """What a log calls the model: MODEL/CONFIGURATION; of recorded answers without a model the latter."""
    return member.name if member.model == UNNAMED else f"{member.model}/{member.name}"


def _samples(study: Study, store: Store, member: StudyMember) -> Iterator[EvalSample]:
    items = {item.id: item for item in study.population.everyone.items}
    asked = {name: study.asked(item) for name, item in items.items()}
    limit = member.samples if member.kind != RECORDED else None

    def counts(item: str, wording: str, sample: int) -> bool:
        return asked.get(item) == wording and (limit is None or sample < limit)

    for response in store.responses(member.id):
        key = response.key
        if counts(key.item, key.asked, key.sample):
            yield _answered(study, member, items[key.item], response)
    said = {
        (item, wording, sample): (kind, message)
        for item, wording, sample, kind, message in store.select(
            "failures",
            "SELECT item, asked, sample, kind, message FROM failures WHERE configuration = ? ORDER BY rowid",
            (member.id,),
        )
    }
    for key in store.failures(member.id):
        if counts(key.item, key.asked, key.sample):
            kind, message = said[key.item, key.asked, key.sample]
            yield _failed(study, member, items[key.item], key.sample, kind, message)


def _answered(study: Study, member: StudyMember, item: Item, response: Response) -> EvalSample:
    from inspect_ai.log import EvalSample
    from inspect_ai.model import ModelOutput, ModelUsage

    from leadline.interop.inspect_scorer import scored

    stop = _STOPS.get(response.finish, "unknown")
    output = ModelOutput.from_content(called(member), response.text, stop_reason=stop)
    spent = (response.tokens_in, response.tokens_out)
    if any(spent):
        output.usage = ModelUsage(input_tokens=spent[0], output_tokens=spent[1], total_tokens=sum(spent))
    config = study.config
    score = scored(item, response.text, stop, config.correctness == "words", config.stability.sameness)
    shown = _shown(study, item)
    stages = [{"name": stage.name, "text": stage.text} for stage in response.stages]
    return EvalSample(
        **_about(item, response.key.sample),
        input=shown,
        messages=[*_messages(shown), output.message],
        output=output,
        scores={SCORER: score},
        metadata=_metadata(study, item) | ({"stages": stages} if stages else {}),
    )


def _failed(
    study: Study, member: StudyMember, item: Item, sample: int, kind: str, message: str
) -> EvalSample:
    from inspect_ai._util.error import EvalError
    from inspect_ai.log import EvalSample
    from inspect_ai.model import ModelOutput

    said = kind if message in ("", kind) else f"{kind}: {message}"
    shown = _shown(study, item)
    return EvalSample(
        **_about(item, sample),
        input=shown,
        messages=_messages(shown),
        output=ModelOutput(model=called(member)),
        error=EvalError(message=said, traceback=said, traceback_ansi=said),
        metadata=_metadata(study, item),
    )


def _about(item: Item, sample: int) -> dict[str, Any]:
    return {
        "id": item.id,
        "epoch": sample + 1,
        "target": list(item.valid_answers),
        "choices": choices_of(item),
    }


def _metadata(study: Study, item: Item) -> dict[str, Any]:
    said = {
        "excluded": study.population.excluded.get(item.id),
        "adjudication": study.population.decisions.outcomes.get(item.id),
    }
    known = {key: value for key, value in said.items() if value}
    return {"leadline": fields_of(item, with_id=False), **known}


def _shown(study: Study, item: Item) -> str | list[ChatMessage]:
    """The question as the study puts it; where nobody was asked, with its window before it."""
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser

    if not study.config.models:
        return f"{item.window}\n\n{item.question}" if item.window else item.question
    prompt = study.prompts.question(item.question, item.window, item.prompt)
    if not prompt.messages:
        return str(prompt.text)
    kinds: dict[str, Any] = {
        "system": ChatMessageSystem,
        "user": ChatMessageUser,
        "assistant": ChatMessageAssistant,
    }
    return [kinds[role](content=text) for role, text in prompt.messages]


def _messages(shown: str | list[ChatMessage]) -> list[ChatMessage]:
    from inspect_ai.model import ChatMessageUser

    return [ChatMessageUser(content=shown)] if isinstance(shown, str) else list(shown)


def _results(samples: list[EvalSample]) -> Any:
    """Accuracy over items, each the share of its answers that are right, as Inspect's mean over epochs."""
    from inspect_ai.log import EvalMetric, EvalResults, EvalScore

    right: dict[str, list[bool]] = {}
    for one in samples:
        if one.scores:
            right.setdefault(str(one.id), []).append(one.scores[SCORER].value == "C")
    shares = [sum(said) / len(said) for said in right.values()]
    metrics = {"accuracy": EvalMetric(name="accuracy", value=sum(shares) / len(shares))} if shares else {}
    score = EvalScore(name=SCORER, scorer=SCORER, reducer="mean", scored_samples=len(shares), metrics=metrics)
    done = sum(one.error is None for one in samples)
    return EvalResults(total_samples=len(samples), completed_samples=done, scores=[score])


def _file_name(log: EvalLog, member: StudyMember) -> str:
    """As Inspect names logs: time, task, what tells them apart."""
    time = log.eval.created[:19].replace(":", "-")
    plain = (re.sub(r"[^A-Za-z0-9.]+", "-", one).strip("-")[:60] for one in (log.eval.task, called(member)))
    return "_".join([time, *plain, log.eval.task_id[:8]])


def _iso(created: float | None) -> str:
    return datetime.fromtimestamp(created or 0, UTC).isoformat(timespec="seconds")


def _check_installed() -> None:
    try:
        import inspect_ai.log  # noqa: F401
    except ImportError as error:
        raise UsageError(
            f"logs of Inspect are written by inspect-ai ({error.name} is missing)",
            fix="pip install 'leadline[served]'",
        ) from error
