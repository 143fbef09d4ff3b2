"""Answers out of logs of other tools into a study: all of them, or none.

    import_logs([inspect_log(path) for path in paths], Path("my-study"))

The benchmark is the study's, or the one that is named, or is made of the logs' own items; one that was made
of logs grows by what later logs ask. A log that was imported before, by its content, is left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from leadline.bench import Benchmark
from leadline.bench.problem import did_you_mean, shortened
from leadline.errors import UsageError
from leadline.interop.filling import check_baseline, filling
from leadline.interop.log_benchmark import logged_benchmark, worded
from leadline.interop.log_growth import Growth, asks_the_same, growing, is_of_logs, known_as
from leadline.interop.log_ids import told
from leadline.interop.log_names import LOGS, Named, earlier, mixed_settings, named, noted, run_of
from leadline.interop.log_options import OtherOrder, other_order
from leadline.interop.log_repeats import Repeats
from leadline.interop.log_scores import Scores
from leadline.interop.logs import ImportedLog, Log, LoggedAnswer, LogImport
from leadline.redaction import redacted
from leadline.study.recording import Recorded, RecordedAnswer, Recorder, Target, recorder
from leadline.study.study import Study

_SAY_EVERY = 1_000


def import_logs(
    logs: Sequence[Log],
    study: Path,
    *,
    benchmark: str | None = None,
    baseline: str | None = None,
    configuration: str | None = None,
    model: str | None = None,
    dry: bool = False,
    holds_items: bool = True,
    skipped: int = 0,
    progress: Callable[[int], None] = lambda answers: None,
) -> LogImport:
    """Store the answers of `logs` in the study at `study`, which is made where there is none.

    `configuration` and `model` name what the logs are of, else see `log_names`. `baseline` is written into a
    study that is made. With `dry` everything is checked and nothing stays; `progress` is told how many
    answers were read. `holds_items` is False for logs without questions and right answers, of which no
    benchmark can be made; `skipped` is told as it is. Raises UsageError with the place at the first fault;
    then nothing is stored.
    """
    logs = sorted(logs, key=lambda log: log.created)
    made_of: list[str] = []

    def make() -> Benchmark:
        if not holds_items:
            raise UsageError(
                "there is no study yet, and such files hold neither questions nor right answers for one",
                where=str(study),
                fix="name what was asked: --benchmark with a bundled name, a folder, or a file of items",
            )
        found = logged_benchmark(logs)
        made_of.extend(found.notes)
        return found.benchmark

    with filling(study, benchmark=benchmark, baseline=baseline, dry=dry, make=make) as into:
        before = [] if into.made else earlier(into.study)
        known = {one.sha256 for one in before}
        new = list({log.sha256: log for log in logs if log.sha256 not in known}.values())
        placed = named(new, before, model=model, configuration=configuration)
        with growing(into, new, dry=dry) as growth:
            taken = _Taken(growth, Scores(growth.into.study), progress=progress)
            done = taken.record(placed, dry) if placed else Recorded()
        if into.made and baseline:
            check_baseline(baseline, list(dict.fromkeys(one.configuration for one in placed)))
    return LogImport(
        study=into.folder,
        logs=tuple(taken.logs),
        stored=done.stored,
        known=done.known + taken.doubled,
        failed=done.failed,
        empty=taken.empty,
        items=len(taken.items),
        configurations=tuple(sorted({(one.model, one.configuration) for one in placed})),
        scores=tuple(taken.scores.compared()),
        notes=(*made_of, *growth.notes, *mixed_settings(placed), *taken.notes()),
        made=into.made,
        made_benchmark=into.made_benchmark,
        dry=dry,
        again=tuple(log.path.name for log in logs if log.sha256 in known),
        grown=len(growth.items),
        skipped=skipped,
    )


@dataclass
class _Taken:
    """Takes logs one after the other, and counts."""

    growth: Growth
    scores: Scores
    progress: Callable[[int], None]
    logs: list[ImportedLog] = field(default_factory=list)
    items: set[str] = field(default_factory=set)
    answers: int = 0
    doubled: int = 0
    empty: int = 0
    reworded: dict[str, str] = field(default_factory=dict)  # item → place
    _repeats: dict[str, Repeats] = field(default_factory=dict)
    # The answers of one run, for the run's older logs: item and sample.
    _seen: set[tuple[str, int]] = field(default_factory=set)
    _run: str = ""
    _orders: dict[tuple[str, tuple[str, ...]], OtherOrder | None] = field(default_factory=dict)
    reordered: dict[str, set[str]] = field(default_factory=dict)  # configuration → items
    renamed: dict[str, str] = field(default_factory=dict)  # what a log calls an item → its id

    @property
    def study(self) -> Study:
        return self.growth.into.study

    def record(self, placed: Sequence[Named], dry: bool) -> Recorded:
        several = len({run_of(one.log) for one in placed}) < len(placed)
        with recorder(self.study, {LOGS: []}, keep=not dry) as recording:
            offset = 0
            for one in placed:
                # Configurations of one model are no independent witnesses, whatever arguments it was given.
                about = {"family": one.log.model.partition("?")[0]}
                target = recording.target(one.model, one.configuration, about)
                if target.first is None:
                    target.first = 0
                if run_of(one.log) != self._run:
                    self._run = run_of(one.log)
                    self._seen.clear()
                    offset = self._next(recording, target, one) if one.offset is None else one.offset
                self._check_items(one.log)
                self._take(recording, target, one, offset, several)
                recording.about[LOGS].append(noted(one, offset))
            recording.about["scores"] = self.scores.about()
            if self.growth.items:
                recording.about["added"] = self.growth.about
            self.progress(self.answers)
            return recording.finish()

    def _take(self, recording: Recorder, target: Target, one: Named, offset: int, several: bool) -> None:
        number = 0
        repeats = self._repeats.setdefault(one.configuration, Repeats())
        for answer in one.log.answers():
            number += 1
            self.answers += 1
            if self.answers % _SAY_EVERY == 0:
                self.progress(self.answers)
            item = self._id(one.log, answer.item, answer.where)
            key = (item, answer.sample)
            if several and key in self._seen:
                self.doubled += 1
                continue
            if several and answer.text is not None:
                self._seen.add(key)
            self.items.add(item)
            self.empty += answer.text == ""
            repeats.add(item, answer)
            said = self._in_our_letters(one.configuration, item, answer)
            logged = answer.text if said.text != answer.text else None
            recording.add(target, _recorded(said, item, offset + (target.first or 0), logged))
            self.scores.add(one.configuration, item, said)
        about = one.log.about
        self.logs.append(
            ImportedLog(
                one.log.path,
                one.log.task,
                one.model,
                one.configuration,
                str(about.get("status", "")),
                number,
                tuple(one.log.notes()),
            )
        )

    def _next(self, recording: Recorder, target: Target, one: Named) -> int:
        """The first sample that is free for all items of the log's task."""
        free = recording.next_samples(target)
        task = [self._id(one.log, item.id, item.where) for item in one.log.items()]
        first = target.first or 0
        return max((free.get(item, first) for item in task), default=first) - first

    def _in_our_letters(self, configuration: str, item: str, answer: LoggedAnswer) -> LoggedAnswer:
        """The answer with the letters of the benchmark's options, where the log has them in another order."""
        if answer.text is None or not answer.choices:
            return answer
        ours = self.study.whole.by_id[item]
        key = (item, answer.choices)
        if key not in self._orders:
            self._orders[key] = other_order(ours, answer.choices, answer.where)
        order = self._orders[key]
        if order is None:
            return answer
        self.reordered.setdefault(configuration, set()).add(item)
        return replace(answer, text=order.in_our_letters(answer.text, ours))

    def _id(self, log: Log, name: str, where: str) -> str:
        """The id in the study's benchmark of what the log calls `name`."""
        whole = self.study.whole
        known = known_as(whole, log.task, name)
        if known is not None:
            if known not in (name, f"{log.task}/{name}"):
                self.renamed[name] = known
            return known
        otherwise = f"ids are such as {shortened(next(iter(whole.by_id)))}; leadline bench show lists them"
        near = did_you_mean(name, whole.by_id, otherwise=otherwise)
        if log.about.get("ids"):  # what the importer takes them from, and how to say otherwise
            near += f"; those of the log are {log.about['ids']}"
        raise UsageError(
            f"{whole.name} has no item {shortened(name)}", where=where or str(log.path), fix=near
        )

    def _check_items(self, log: Log) -> None:
        """Where the study's benchmark was made of logs, this log must ask the same; else count what it words
        in another way."""
        if self.growth.into.made_benchmark:
            return
        for item in log.items():
            name = self._id(log, item.id, item.where)
            if not item.question:  # logs that keep no questions
                continue
            ours = self.study.whole.by_id[name]
            if asks_the_same(ours, item, log.task):
                continue
            if is_of_logs(self.study):
                raise UsageError(
                    f"item {shortened(item.id)} asks {shortened(worded(item))} here and "
                    f"{shortened(ours.question)} in the study",
                    where=item.where or None,
                    fix="a log of another version of the task: import it into a study of its own",
                )
            self.reworded.setdefault(name, item.where)

    def notes(self) -> list[str]:
        """What is worth saying of all logs together."""
        found = []
        if self.reworded:
            example, where = next(iter(self.reworded.items()))
            found.append(
                f"{len(self.reworded):,} of {len(self.items):,} items are worded otherwise in the logs than "
                f"in {self.study.whole.name}, such as {shortened(example)} ({where}): a prompt around the "
                "question, or another version of the benchmark"
            )
        if self.renamed:
            name, ours = next(iter(self.renamed.items()))
            found.append(
                "ids that no benchmark can hold (too long, blank, of several lines) have a digest instead: "
                f"{len(self.renamed):,}, such as {ours} for {told(name)}"
            )
        for name, items in sorted(self.reordered.items()):
            found.append(
                f"{name}: of {len(items):,} {'item' if len(items) == 1 else 'items'} the options stood in "
                "another order than in the benchmark; letters are taken to the benchmark's by the options' "
                "texts, and what was said is kept beside"
            )
        for name, repeats in sorted(self._repeats.items()):
            if repeats.all_same:
                found.append(
                    f"{name}: all answers to each item are the same text; greedy decoding, a fixed seed or a "
                    "cache may have given them, and then repeats say nothing of steadiness"
                )
        return found


def _recorded(answer: LoggedAnswer, item: str, first: int, logged: str | None) -> RecordedAnswer:
    return RecordedAnswer(
        item=item,
        sample=first + answer.sample,
        text=answer.text,
        failure=answer.failure,
        where=answer.where,
        message=redacted(answer.message),
        finish=answer.finish,
        tokens_in=answer.tokens_in,
        tokens_out=answer.tokens_out,
        logged=logged,
    )
