"""Which items of a study should a person look at, and why: raised from its answers and from its audit.

Three doubts. *label*: all configurations, or all but one, agree against the label (lens `label_errors`).
*audit*: the label's quote is missing from where it should stand. *unstable*: in every configuration that was
asked repeatedly the readings differ, so that the question may be what is unclear. All of them are about the
items that were drawn, whatever was left out afterwards, and about the labels as annotated: what was decided
before raises no doubt and hides none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import polars as pl

from leadline.audit.applies import check_applies
from leadline.audit.document import ItemVerdict, load_audit
from leadline.bench import Benchmark, Item
from leadline.bench.adjudications import Adjudication, Standing, label_hash, standing
from leadline.errors import UsageError
from leadline.lenses.contradicted import LEAST, Contradicted, contradicted
from leadline.lenses.label_errors import caveats
from leadline.lenses.panel import make_panel
from leadline.lenses.registry import compared
from leadline.lenses.whole import Whole
from leadline.report.numbers import plural
from leadline.review.flags import Flag, FlagList, flag_list
from leadline.study.members import members, protocol
from leadline.study.readings import check_answered, readings
from leadline.study.store import DATABASE, open_store
from leadline.study.study import Study


def flags_of(study: Study, decisions: Iterable[Adjudication] = (), *, with_decided: bool = False) -> FlagList:
    """The flags on a study's drawn items, from its stored answers and the audit that it names.

    Items that `decisions` have settled are left out and counted, or marked if `with_decided`. Before any
    model answered, the audit's alone. Raises LeadlineError where the study has neither answers nor an audit,
    UsageError for an audit that cannot be read.
    """
    drawn = {item.id for item in study.population.everyone.items}
    verdicts, told = _audit(study), standing(study.whole, decisions)
    by_audit = list(_by_audit(verdicts, drawn))
    if _names_audit(study) and not (study.folder / DATABASE).exists():
        notes = [_NOT_ANSWERED, *_notes(study, verdicts, told, by_audit)]
        return _listed(study.whole, by_audit, told, with_decided, notes, study=study.config.name)
    whole = _whole(study)
    about = contradicted(whole)
    found = [*_against_labels(about), *by_audit, *_unstable(whole)]
    notes = list(caveats(whole, about) if about else [_ONE])
    if len(whole.repeated) < LEAST:
        notes.append("Fewer than two configurations were asked repeatedly: what is unstable is not told.")
    notes += _notes(study, verdicts, told, found)
    return _listed(
        study.whole,
        found,
        told,
        with_decided,
        notes,
        study=study.config.name,
        configurations=whole.labels,
    )


def flags_of_audit(
    benchmark: Benchmark, audit: Path, decisions: Iterable[Adjudication] = (), *, with_decided: bool = False
) -> FlagList:
    """The flags of an audit of `benchmark`, for which no study is needed; `decisions` as for `flags_of`.

    Raises UsageError for an audit that cannot be read, failed its self-test, or is of something else.
    """
    document = load_audit(audit)
    if not document.self_test.passed:
        raise UsageError("the audit failed its self-test and has no verdicts", where=str(audit))
    check_applies(document, benchmark, str(audit))
    found, told = list(_by_audit(document.flagged, set(benchmark.by_id))), standing(benchmark, decisions)
    return _listed(benchmark, found, told, with_decided, [_NOT_ANSWERED, *_stale(told, found)])


def _listed(
    benchmark: Benchmark,
    found: Iterable[Flag],
    told: Standing,
    with_decided: bool,
    notes: Iterable[str],
    *,
    study: str = "",
    configurations: tuple[str, ...] = (),
) -> FlagList:
    """The list of what was found, each flag with what the benchmark and the decisions say of its item."""
    items = benchmark.by_id
    settled = {name: decision.outcome for name, decision in told.applied.items()}
    flags = [
        flag.model_copy(
            update={
                "task": items[flag.item].task,
                "category": items[flag.item].category,
                "label": items[flag.item].answer if flag.kind == "label" else "",
                "value": _worded(flag.value, items[flag.item]),
                "label_hash": label_hash(items[flag.item]),
                "adjudication": settled.get(flag.item, ""),
            }
        )
        for flag in found
        if flag.item in items
    ]
    decided = {flag.item for flag in flags if flag.adjudication}
    return flag_list(
        benchmark,
        [flag for flag in flags if with_decided or flag.item not in decided],
        study=study,
        configurations=configurations,
        decided=0 if with_decided else len(decided),
        notes=notes,
    )


def _whole(study: Study) -> Whole:
    """What the lenses look at, judged by the labels as annotated."""
    check_answered(study)
    with open_store(study.folder, write=False) as store:
        found = members(study, store)
        parts = protocol(study, found)
        frame = readings(study, store)
    if "correct_labelled" in frame.columns:
        frame = frame.with_columns(pl.coalesce("correct_labelled", "correct").alias("correct"))
    frame = compared(frame, parts.stability.sameness)
    # No population: what was left out of it is doubted as well.
    return Whole(frame, frame, parts)


def _audit(study: Study) -> tuple[ItemVerdict, ...]:
    """The verdicts that the study's items are grouped or left out by; opening the study has checked them."""
    place = _names_audit(study)
    return load_audit(study.folder / Path(place).expanduser()).flagged if place else ()


def _names_audit(study: Study) -> str:
    return study.config.audit or study.config.exclude.audit or ""


_NOT_ANSWERED = "No model has answered yet: what contradicts a label, or is unstable, is not told."
_ONE = "Fewer than two configurations have answers: no agreement against a label can be told."
# Filled in once all flags are there: see `flags_of`.
_UNKNOWN = "sha256:" + 64 * "0"


def _against_labels(about: Contradicted | None) -> Iterator[Flag]:
    if about is None:
        return
    found = about.found
    tops, of = found.floor
    for at in range(len(found.items)):
        dissenter, dissent = about.dissenter(at)
        yield Flag(
            item=str(found.panel.items[found.items[at]]),
            kind="label",
            label_hash=_UNKNOWN,
            value=about.value(at),
            runs=(int(found.support[at]), int(found.readings[at])),
            floor=(int(tops[at]), int(of[at])),
            weakest=about.labels[found.weakest[at]],
            unanimous=bool(found.unanimous[at]),
            firm=bool(found.firm[at]),
            dissenter=dissenter,
            dissent=dissent,
        )


def _worded(value: str, item: Item) -> str:
    """A truth value in the words of the label beside it."""
    if item.answer_type == "boolean" and item.answer.strip().casefold() in ("yes", "no"):
        return {"true": "yes", "false": "no"}.get(value, value)
    return value


def _by_audit(verdicts: Iterable[ItemVerdict], drawn: set[str]) -> Iterator[Flag]:
    for verdict in verdicts:
        if verdict.item in drawn:
            yield Flag(
                item=verdict.item,
                kind="audit",
                label_hash=_UNKNOWN,
                failure=str(verdict.failure or "flagged"),
                reason="; ".join(verdict.reasons),
            )


def _unstable(study: Whole) -> Iterator[Flag]:
    """The items whose readings differ in every repeated configuration, the most dispersed first."""
    if len(study.repeated) < LEAST:
        return
    panel = make_panel(study.everyone, [study.members[number] for number in study.repeated])
    everywhere = np.flatnonzero(panel.unstable.all(axis=0))
    spread = panel.dispersion[:, everywhere]
    least, largest = spread.min(axis=0, initial=math.inf), spread.max(axis=0, initial=0.0)
    for at in np.lexsort((panel.items[everywhere], -least)):
        yield Flag(
            item=str(panel.items[everywhere[at]]),
            kind="unstable",
            label_hash=_UNKNOWN,
            configurations=len(panel.members),
            least=float(least[at]),
            largest=float(largest[at]),
        )


def _notes(
    study: Study, verdicts: tuple[ItemVerdict, ...], told: Standing, found: Iterable[Flag]
) -> list[str]:
    notes = []
    if not _names_audit(study):
        notes.append("No audit is named: what an audit would flag is not listed.")
    drawn = study.population.everyone.by_id
    if outside := sum(verdict.item not in drawn for verdict in verdicts):
        notes.append(f"The audit flags {plural(outside, 'more item')} that this study did not draw.")
    return [*notes, *_stale(told, found)]


def _stale(told: Standing, found: Iterable[Flag]) -> list[str]:
    stale = sorted({flag.item for flag in found} & set(told.stale))
    if not stale:
        return []
    return [
        f"Decisions on {plural(len(stale), 'listed item')} are about another wording or label, and do not "
        f"count: {', '.join(stale)}."
    ]
