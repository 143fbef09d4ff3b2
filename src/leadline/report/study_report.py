"""A study's findings and its report: from the stored responses to the four files of a reader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from leadline import __version__
from leadline.errors import LeadlineError
from leadline.lenses.registry import run_lenses
from leadline.models.model import ModelIdentity
from leadline.report.document import (
    BenchmarkEntry,
    ConfigurationEntry,
    FindingsDocument,
    ModelEntry,
    ServedModelEntry,
)
from leadline.report.evidence_items import evidence_of
from leadline.report.items import ItemText
from leadline.report.write import ReportPaths, write_report
from leadline.study.before import before
from leadline.study.changes import accepted_changes
from leadline.study.members import RECORDED, StudyMember, members, protocol
from leadline.study.readings import check_answered, readings
from leadline.study.served_facts import asked_again, remarks, served_facts
from leadline.study.stability_names import check_audited
from leadline.study.store import Store, open_store
from leadline.study.study import Study

REPORT = "report"
CORRECTNESS = {
    "maple": "maple: an answer is right when a valid answer, without special characters, spaces and case, "
    "is contained in it",
    "words": "words: an answer is right when a valid answer stands in it at word boundaries, not negated and "
    "not as one of several candidates",
}


@dataclass(frozen=True)
class StudyReport:
    """The written report, and how much of what the study asks for it rests on.

    `missing` answers were not asked for yet, `failed` ones have only a call that failed. `before` are the
    readings from before the items were changed, where the study names such.
    """

    document: FindingsDocument
    paths: ReportPaths
    missing: int
    before: pl.DataFrame | None = None
    failed: int = 0


def report_study(study: Study, out: Path | None = None, store: Store | None = None) -> StudyReport:
    """Read the study's responses, run all lenses, write the report into `out` (default: its report/).

    `store` is the study's, open, for whoever reads more of the same moment than the report.
    Raises LeadlineError when the study has no answers yet or the folder cannot be written.
    """
    check_answered(study)
    check_audited(study)
    with open_store(study.folder, write=False) if store is None else nullcontext(store) as opened:
        found = members(study, opened)
        parts = protocol(study, found)
        everyone = readings(study, opened)
        identities = opened.models()
        changes = accepted_changes(opened.history())
        facts, again = served_facts(study, opened, found), asked_again(opened, found)
        has_any = bool(opened.select("responses", "SELECT 1 FROM responses LIMIT 1"))
    frame = everyone.filter(pl.col("excluded") == "")
    if frame.height == 0:
        raise LeadlineError(
            "no stored answer belongs to this study as study.yaml describes it"
            if has_any
            else "this study has no answers yet",
            where=str(study.folder),
            fix=f"leadline run {study.folder}"
            if study.config.models
            else f"leadline import table FILE --study {study.folder}",
        )
    configurations = _configurations(study, found, frame)
    earlier = before(study, identities, found) if study.config.before else None
    if earlier is not None:
        parts = replace(parts, before=earlier.told)
    missing, lacking = _missing(study, found, configurations, frame)
    answered = frame if not parts.baseline else frame.filter(pl.col("configuration") == parts.baseline)
    document = FindingsDocument(
        study=study.config.name,
        leadline_version=__version__,
        created=datetime.now(UTC).replace(microsecond=0),
        benchmark=BenchmarkEntry(
            name=study.whole.name,
            version=study.whole.version,
            title=study.whole.title,
            content_hash=study.whole.content_hash,
            items_asked=len(study.benchmark.items),
            items_total=len(study.whole.items),
            items_answered=answered["item"].n_unique(),
            licence=study.whole.licence,
            category_name=study.whole.category_name,
            task_name=study.whole.task_name,
            population=study.population.sentence,
            audit=study.population.audit,
            adjudications=study.population.adjudications,
        ),
        models=tuple(_models(found, identities)),
        configurations=tuple(configurations),
        protocol=parts,
        prompt=study.prompts.file("question/question").text if study.config.models else "",
        correctness=CORRECTNESS[study.config.correctness],
        findings=tuple(run_lenses(everyone, parts, earlier.readings if earlier else None)),
        incomplete=tuple(lacking),
        changes=tuple(changes),
        served=tuple(ServedModelEntry(**one) for one in facts),
        remarks=tuple(remarks(facts, again, found)),
    )
    items = {
        item.id: ItemText(item.id, item.question, item.valid_answers, item.category, item.task)
        for item in study.benchmark.items
    }
    doubted = {row.keys["item"] for each in document.findings for row in each.rows if "item" in row.keys}
    evidence = evidence_of(study, doubted)
    paths = write_report(document, frame, items, out or study.folder / REPORT, evidence)
    failed = frame.filter(pl.col("state") == "error").height
    return StudyReport(document, paths, missing, earlier.readings if earlier else None, failed)


def _models(found: Sequence[StudyMember], identities: dict[str, ModelIdentity]) -> list[ModelEntry]:
    """The models that have members, in order of name; of recorded answers nothing more is known."""
    recorded = {one.model: one.kind == RECORDED for one in reversed(found)}  # what was asked is listed first
    entries = []
    for label, is_recorded in sorted(recorded.items()):
        if is_recorded:
            entries.append(ModelEntry(name=label, description="recorded answers"))
        else:
            one = identities[label]
            description = one.description if one.kind == "served" else f"{one.description} · {one.dtype}"
            entries.append(ModelEntry(name=label, description=description, digest=one.digest))
    return entries


def _configurations(
    study: Study, found: Sequence[StudyMember], frame: pl.DataFrame
) -> list[ConfigurationEntry]:
    counted = frame.group_by("model", "configuration").len().iter_rows()
    counts = Counter({(model, name): number for model, name, number in counted})
    entries = []
    for one in found:
        settings: dict[str, Any] = {}
        if one.asked:
            settings = {**one.asked.technique.settings(), "style": study.prompts.style}
        else:
            settings = {key: one.about[key] for key in ("serving", "family") if one.about.get(key)}
        entries.append(
            ConfigurationEntry(
                name=one.name,
                model=one.model,
                label=one.label,
                technique=one.asked.technique.name if one.asked else RECORDED,
                settings=settings,
                id=one.id,
                samples=one.samples,
                responses=counts[one.model, one.name],
                role=one.role,
            )
        )
    return entries


def _missing(
    study: Study,
    found: Sequence[StudyMember],
    configurations: Sequence[ConfigurationEntry],
    frame: pl.DataFrame,
) -> tuple[int, list[str]]:
    """How many answers the study asks for and lacks, and a sentence for each configuration that lacks some.

    Failures-only configurations ask only for the items that the baseline failed on; of recorded ones nothing
    is asked.
    """
    failures = dict(
        frame.filter(
            (pl.col("configuration") == study.protocol.baseline)
            & (pl.col("sample") == 0)
            & (pl.col("state") != "error")
            & ~pl.col("correct")
        )
        .group_by("model")
        .len()
        .iter_rows()
    )
    limited = {each.name for each in study.configurations if each.failures_only}
    missing, lacking = 0, []
    for member, each in zip(found, configurations, strict=True):
        if member.asked is None:
            continue
        items = failures.get(each.model, 0) if each.name in limited else len(study.benchmark.items)
        wanted = each.samples * items
        if each.responses < wanted:
            missing += wanted - each.responses
            lacking.append(f"{each.model}, {each.label}: {each.responses:,} of {wanted:,} answers are there")
    asked = {one.model for one in found if one.asked}
    for entry in study.config.models:
        if entry.label not in asked:
            missing += len(study.benchmark.items)
            lacking.append(f"{entry.label} has not been asked anything yet")
    return missing, lacking
