"""Asks a classifier's study what it lacks, and counts what its answers say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from leadline.build.classify.labels import Classifier
from leadline.build.classify.study_files import VOTES, Prompting, item_id
from leadline.build.progress import Progress
from leadline.build.records import Fact, Verdict
from leadline.errors import LeadlineError, UsageError
from leadline.models.model import ModelIdentity
from leadline.study.changes import FLAG
from leadline.study.expand import BASELINE
from leadline.study.members import members
from leadline.study.readings import readings
from leadline.study.run import run_study
from leadline.study.store import open_store
from leadline.study.study import Study, open_study


def ask(folder: Path, progress: Progress) -> None:
    """Ask everything that the study in `folder` lacks; call it again where it was interrupted.

    A call that failed for good (a triplet longer than the model's context, what a provider refuses) is an
    answer without a label. Raises LeadlineError for answers that are still to come: a budget that is used up,
    a server that is away; UsageError for a model or a program other than the one that gave the answers there.
    """
    study = open_study(folder)
    try:
        with _Told(progress) as told:
            outcome = run_study(study, told)
    except UsageError as error:
        if not (error.fix or "").startswith(FLAG):
            raise
        fix = f"leadline run {folder} {FLAG} goes on and keeps a record; or delete the folder to ask all anew"
        raise UsageError(error.what, where=str(folder), fix=fix) from None
    if outcome.stopped:
        left = f"; {outcome.left.words}" if outcome.left else ""
        fix = outcome.fix.replace("study.yaml", "the plan")
        raise LeadlineError(f"{outcome.stopped}{left}", where=str(folder), fix=fix)
    if outcome.failed and not outcome.drawn + outcome.kept:
        raise LeadlineError(
            f"none of {outcome.failed:,} calls was answered",
            where=str(folder),
            fix="the lines above say why; a triplet and its prompt must fit into the model's context",
        )
    served = any(entry.dtype == "served" for entry in study.config.models)
    passing = outcome.failed - outcome.lasting
    if served and passing:
        raise LeadlineError(
            f"{passing:,} calls failed in passing, and their answers are missing",
            where=str(folder),
            fix="run it again to ask these again",
        )


def verdicts(
    folder: Path, facts: Sequence[Fact], classifier: Classifier, prompting: Prompting
) -> dict[str, Verdict]:
    """What the answers in `folder` say of each fact, by its id.

    An answer that is not one of the labels is no vote. The label is that of more than half of the answers
    asked for; labels stand in the classifier's order, so that the same answers give the same bytes.
    """
    study = open_study(folder)
    counted, asked = _counted(study)
    found = {}
    for fact in facts:
        votes = counted.get(item_id(fact, prompting.of(fact)), Counter())
        found[fact.id] = verdict(votes, asked, classifier)
    return found


def verdict(votes: Mapping[str, int], asked: int, classifier: Classifier) -> Verdict:
    """The verdict of so many votes, of `asked` answers."""
    said = {label: votes[label] for label in classifier.labels if votes.get(label)}
    label = next((one for one, number in said.items() if 2 * number > asked), None)
    return Verdict(label=label, votes=said, asked=asked)


def identity(folder: Path) -> ModelIdentity | None:
    """Which model gave the answers; None before it was asked."""
    study = open_study(folder)
    with open_store(folder, write=False) as store:
        return store.models().get(study.config.models[0].label)


def _counted(study: Study) -> tuple[dict[str, Counter[str]], int]:
    """Votes by item, and how many answers each was asked for: the drawn ones, else the greedy one."""
    name = VOTES if any(one.name == VOTES for one in study.configurations) else BASELINE
    with open_store(study.folder, write=False) as store:
        chosen = [one for one in members(study, store) if one.name == name]
        frame = readings(study, store, chosen)
    votes: dict[str, Counter[str]] = {}
    for item, state, value in frame.select("item", "state", "value").iter_rows():
        if state == "ok" and value is not None:
            votes.setdefault(item, Counter())[value] += 1
    return votes, chosen[0].samples


class _Told:
    """A study's progress as a build tells it."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._done = self._total = 0
        self._spent = ""

    def note(self, line: str) -> None:
        self._progress.note(line)

    def begin(self, label: str, total: int, done: int) -> None:
        self._progress.begin(label, total, "answers")
        self._progress.advance(done)
        self._done, self._total = done, total

    def advance(self, answers: int, tokens: int) -> None:
        self._done += answers
        self._progress.advance(answers)

    def spent(self, words: str) -> None:
        self._spent = f"; so far {words}"

    def end(self) -> None:
        self._progress.end(f"{self._done:,} of {self._total:,} answers{self._spent}")

    def beside(self) -> Self:
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
