"""Samples of lm-evaluation-harness (`--log_samples`) as a log: those of one task in one run.

Items are named TASK/HASH by the hash of the document, which is the same in every run of the task; a number of
the document would not be (see `lm_eval_rows`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from leadline.bench.problem import did_you_mean, shortened
from leadline.errors import UsageError
from leadline.interop.lm_eval_choices import Rule, chosen, options_of
from leadline.interop.lm_eval_questions import golds_of, question_of, right_options
from leadline.interop.lm_eval_results import Results
from leadline.interop.lm_eval_rows import Rows, SampleRow
from leadline.interop.lm_eval_settings import judges_first, of_run, of_task
from leadline.interop.log_benchmark import OURS, worded
from leadline.interop.logs import LoggedAnswer, LoggedItem
from leadline.ordinary_file import opened

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
        """That of the file, of whose it is, and of what else decides what is read in it.

        Samples do not name their model: two that answered alike have the same file.
        """
        with opened(self.path) as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        rule = self.choice if self.choice != "acc" and self._is_choice else ""
        said = json.dumps([digest, self.task, self.model, self.created, of_run(self.results), rule])
        return hashlib.sha256(said.encode()).hexdigest()

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
            "ids": f"the field {self.id_field}" if self.id_field else "TASK/HASH, or a field: --id FIELD",
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
            texts = self._chosen(row, options, where) if options else [str(text) for text in row.answers[0]]
            letters = () if _ours(row).get("answer") else options
            for sample, text in enumerate(texts):
                yield LoggedAnswer(
                    item=self._id(row),
                    sample=sample,
                    text=text,
                    failure="bad_response" if text is None else "",
                    message="a log-likelihood is no number" if text is None else "",
                    where=where,
                    scores=scores.get(row.key, {}) if sample == 0 else {},
                    choices=letters,
                )

    def notes(self) -> Sequence[str]:
        """What is worth saying of these samples."""
        said = []
        whole, asked = self.results.documents(self.task)
        have = len(self.rows.documents)
        if self._is_broken_off:
            of = f" of {asked:,}" if asked is not None else ""
            said.append(
                f"the file breaks off: what is whole counts, {have:,}{of} {_documents(asked or have)}"
            )
        if whole is not None and asked is not None and asked < whole:
            said.append(f"{asked:,} of the task's {whole:,} documents were asked")
        if self.rows.twins:
            many = f"{self.rows.twins:,} {_documents(self.rows.twins)}"
            said.append(f"with the content of another document, and items of their own: {many}")
        return said

    def check_asks(self) -> None:
        """Raise UsageError for a task that asks nothing: the likelihoods of given texts were measured."""
        if self._first.is_likelihood:
            self._options(self._first, f"{self.path}:{self._first.line}")
        elif all(len(request) < 2 for request in self._first.requests):
            raise UsageError(
                f"{self.task} measures how likely whole texts are, and nothing is answered there",
                where=str(self.path),
                fix="name the tasks to import: --task NAME",
            )

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
        judged = chosen(row, options, "acc", where)[0] or 0
        golds = tuple(letter_of(at) for at in right_options(row, self._task_settings, options, judged, where))
        if len(golds) > 1:  # any of them is right
            form = {"answer": golds[0], "aliases": golds[1:], "answer_type": "enum"}
            letters = [letter_of(at) for at in range(len(options))]
            groups = {"task": self.task, "category": item.metadata["category"]}
            own = {**form, "vocabulary": letters, "question": worded(item), **groups}
            return replace(item, golds=golds, metadata={**item.metadata, OURS: own})
        return replace(item, golds=golds)

    def _chosen(self, row: SampleRow, options: Sequence[str], where: str) -> list[str | None]:
        """The letters of the options chosen; of items of ours their texts, as their vocabulary has them."""
        names = options if _ours(row).get("answer") else [letter_of(at) for at in range(len(options))]
        places = chosen(row, options, self.choice, where)
        return [None if place is None else names[place] for place in places]

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


def _documents(number: int) -> str:
    return "document" if number == 1 else "documents"


def letter_of(place: int) -> str:
    """The letter of an option: A for the first."""
    return _LETTERS[place]


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
