"""The public Probity artefact as a study: its items as a benchmark, its recorded answers beside it.

Answers are taken as published: where the artefact has a normalised value, that value as text; where it has
none (a failed call, an answer that could not be parsed or read), a failed call. With `read_again`, answers
that were parsed but not normalised, and what is kept of those that were not parsed, are read by our readers
instead. Everything else is as for any study: `leadline report` prints the tables of the paper, numbers
compared as floating-point numbers like there, and beside them the same under `rounding` sameness and rarefied
to a common number of answers.
"""

from __future__ import annotations

import shutil
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from pydantic import ValidationError

from leadline.bench import Benchmark, Item
from leadline.bench.answer_form import Term
from leadline.bench.complaint import complaint
from leadline.bench.item import Evidence
from leadline.bench.task import TaskDeclaration
from leadline.bench.writing import write_benchmark
from leadline.errors import UsageError
from leadline.interop.release_layout import (
    ReleaseAnswer,
    ReleaseItem,
    ReleaseTask,
    answers,
    kind_of,
    lineup,
    release_tasks,
    text_of,
)
from leadline.interop.taking_back import take_back
from leadline.study.config_file import STUDY_FILE
from leadline.study.recording import RecordedAnswer, recorder
from leadline.study.study import open_study

# How the configurations of the paper are served, and which of them share a base model or a maker's line.
# Source: Probity, section 3 (models) and table 9.
SERVING = {
    "gemma3-1b": ("local", "gemma3-1b"),
    "gemma3-1b-qat": ("local", "gemma3-1b"),
    "deepseek-v4f": ("direct", "deepseek-v4"),
    "deepseek-v4p": ("direct", "deepseek-v4"),
    "haiku-4.5-direct": ("direct", "haiku"),
    "gemma4-31b-or": ("routed", "gemma4"),
    "mistral-large-or": ("routed", "mistral"),
    "minimax-m2.5-or": ("routed", "minimax"),
    "llama3.3-70b-or": ("routed", "llama"),
    "gemini3-flash-or": ("routed", "gemini"),
    "gpt-oss-120b-or": ("routed", "gpt-oss"),
    "gpt5-mini-or": ("routed", "gpt5"),
}
# Those on the near side of the largest gap between two aggregate wobbles.
FRONTIER = tuple(label for label, (serving, _) in SERVING.items() if serving != "local")
# A task of words with more distinct ones than this is free text.
_MOST_WORDS = 200
# What the sample of the artefact says of an answer that could not be parsed, beside real errors of calls.
_NOT_PARSED = "no answer parsed"


@dataclass(frozen=True)
class ImportedRelease:
    """What was imported; counts are of answers. `reread` were normalised otherwise in the artefact."""

    tasks: int
    items: int
    configurations: tuple[str, ...]
    stored: int
    known: int
    failed: int
    missing: tuple[str, ...]  # configuration and task without any answer: no file, or an empty one
    notes: tuple[str, ...]  # what was odd and taken nevertheless


def import_release(
    root: Path,
    study: Path,
    *,
    arm: str = "",
    labels: Sequence[str] | None = None,
    read_again: bool = False,
    done: Callable[[str], None] = lambda _: None,
) -> ImportedRelease:
    """Make the study's folder with its benchmark, and store the artefact's answers in it.

    `arm` is a prefix of the files of answers ("t01" for those at temperature 0.1), `labels` are the
    configurations (default: those of the artefact's index, else all that have files); `done` is told each
    one's name. All or nothing: at a fault, or an interruption, no answer is stored. Raises UsageError for a
    folder of another layout, and with file and line for what belongs to no item.
    """
    prefix = f"{arm}_" if arm else ""
    tasks = release_tasks(root)
    chosen = list(labels or lineup(root, tasks, prefix))
    if not chosen:
        raise UsageError(f"no files of answers: runs_{prefix}*.jsonl", where=str(root))
    benchmark = _benchmark(tasks, chosen, prefix)
    is_new = not (study / STUDY_FILE).exists()
    was_there = study.exists()
    if is_new and (study / "benchmark").exists():
        raise UsageError(
            "is in the way: a new study keeps its benchmark there", where=str(study / "benchmark")
        )
    if is_new:
        _make_study(study, benchmark, chosen)
    missing: list[str] = []
    moved: Counter[str] = Counter()
    try:
        with recorder(open_study(study), {"source": "probity release", "arm": arm}) as recording:
            for label in chosen:
                serving, family = SERVING.get(label, ("", ""))
                about = {"source": "probity release", "arm": arm, "serving": serving, "family": family}
                known = {key: value for key, value in about.items() if value}
                target = recording.target(label, label, known)
                for task in tasks:
                    there = False
                    for answer in answers(task, label, prefix):
                        there = True
                        text, failure = _text(answer, read_again)
                        given = RecordedAnswer(answer.item, answer.run, text, failure, answer.where)
                        recording.add(target, given)
                        moved[task.name] += answer.elsewhere
                    if not there:
                        missing.append(f"{label}, {task.name}")
                done(label)
            made = recording.finish()
    except BaseException:
        if is_new:  # what nobody has asked for is not left behind
            shutil.rmtree(study / "benchmark", ignore_errors=True)
            take_back(study, was_there)
        raise
    items = sum(len(task.items) for task in tasks)
    notes = tuple(
        f"{task}: {number:,} answers name an item that is not on the line that they name; the name counts"
        for task, number in sorted(moved.items())
        if number
    )
    return ImportedRelease(
        len(tasks), items, tuple(chosen), made.stored, made.known, made.failed, tuple(missing), notes
    )


def _text(answer: ReleaseAnswer, read_again: bool) -> tuple[str | None, str]:
    """What is stored of an answer: its text, or the kind of its failure."""
    if answer.value is not None:
        return answer.value, ""
    if answer.error and answer.error != _NOT_PARSED:
        return None, "error"
    if answer.said == "" or (read_again and answer.said is not None):
        return answer.said, ""
    return None, "unparsed"


def _benchmark(tasks: Sequence[ReleaseTask], labels: Sequence[str], prefix: str) -> Benchmark:
    items: list[Item] = []
    declared = []
    for task in tasks:
        kind = kind_of(task)
        words = _words(task, labels, prefix) if kind == "word" else ()
        answer_type = {"word": "enum" if words else "text"}.get(kind, kind)
        declared.append(
            TaskDeclaration.model_validate(
                {
                    "name": task.name,
                    "category": task.category or None,
                    "answer_type": answer_type,
                    "vocabulary": words,
                    # The artefact keeps its questions in code; the field's name is what there is as data.
                    "question": f"{task.field.replace('_', ' ')}?",
                }
            )
        )
        items += [_checked(item, task, answer_type, words) for item in task.items]
    return Benchmark(
        name="probity",
        version="release",
        title="Probity",
        description="Items of the public Probity artefact. Questions are named after the field that is asked "
        "for: their wording is not part of the release's data.",
        items=tuple(items),
        tasks=tuple(declared),
    )


def _checked(item: ReleaseItem, task: ReleaseTask, answer_type: str, words: Sequence[Term]) -> Item:
    try:
        return _item(item, task, answer_type, words)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        what, fix = complaint(first)
        field = ".".join(str(part) for part in first["loc"]) or "the item"
        raise UsageError(f"{field} {what}", where=item.where, fix=fix) from None


def _item(item: ReleaseItem, task: ReleaseTask, answer_type: str, words: Sequence[Term]) -> Item:
    return Item.model_validate(
        {
            "id": item.name,
            "question": f"{task.field.replace('_', ' ')}?",
            "answer": text_of(item.answer),
            "answer_type": answer_type,
            "vocabulary": words,
            "category": task.category,
            "task": task.name,
            "window": item.window,
            "evidence": [Evidence(quote=item.quote)] if item.quote.strip() else [],
            "source": item.url,
        }
    )


def _words(task: ReleaseTask, labels: Sequence[str], prefix: str) -> tuple[Term, ...]:
    """All that is ever answered to a task of words, gold answers included; () where that is free text.

    The artefact compares words without a vocabulary: any other word is an answer of its own, and counts.
    """
    found = Counter(_plain(text_of(item.answer)) for item in task.items)
    for label in labels:
        found.update(_plain(one.value) for one in answers(task, label, prefix) if one.value is not None)
    words = sorted(word for word in found if word)
    if len(words) > _MOST_WORDS or any(len(word) > 200 for word in words):
        return ()
    return tuple(Term(value=word) for word in words)


def _plain(word: str) -> str:
    """Words that the artefact takes for one: without case, accents and outer spaces."""
    bare = unicodedata.normalize("NFKD", word.strip()).encode("ascii", "ignore").decode()
    return bare.casefold().strip()


def _make_study(folder: Path, benchmark: Benchmark, labels: Sequence[str]) -> None:
    """Write study.yaml and the benchmark."""
    write_benchmark(benchmark, folder / "benchmark")
    frontier = [label for label in labels if label in FRONTIER]
    document = {
        "name": "probity",
        "benchmark": "benchmark",
        "stability": {
            "sameness": "exact",
            "rarefy": 5,
            "top": [3, 4, 5],
            **({"subsets": {"frontier": frontier}} if len(frontier) >= 2 else {}),
        },
    }
    text = (
        "# Recorded answers of the public Probity artefact; `leadline report` makes its tables.\n"
        "# sameness: exact is what was published; the report shows the other rules beside it.\n"
        "# After `leadline audit benchmark --out audit.json`, add `audit: audit.json` to compare flagged\n"
        "# items with the others, and `exclude` for what the reported population leaves out.\n"
    )
    (folder / STUDY_FILE).write_text(
        text + yaml.safe_dump(document, sort_keys=False, allow_unicode=True), encoding="utf-8"
    )
