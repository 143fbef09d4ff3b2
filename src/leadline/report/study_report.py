"""A study's findings and its report: from the stored responses to the four files of a reader."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from leadline import __version__
from leadline.errors import LeadlineError
from leadline.lenses.registry import run_lenses
from leadline.models.model import ModelIdentity
from leadline.report.document import BenchmarkEntry, ConfigurationEntry, FindingsDocument, ModelEntry
from leadline.report.items import ItemText
from leadline.report.write import ReportPaths, write_report
from leadline.study.readings import readings
from leadline.study.store import open_store
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
    """The written report, and how much of what the study asks for it rests on."""

    document: FindingsDocument
    paths: ReportPaths
    missing: int


def report_study(study: Study, out: Path | None = None) -> StudyReport:
    """Read the study's responses, run all lenses, write the report into `out` (default: its report/).

    Raises LeadlineError when the study has no answers yet or the folder cannot be written.
    """
    with open_store(study.folder, write=False) as store:
        frame = readings(study, store)
        identities = store.models()
    if frame.height == 0:
        raise LeadlineError(
            "no stored answer belongs to this study as study.yaml describes it",
            where=str(study.folder),
            fix=f"leadline run {study.folder}",
        )
    configurations = _configurations(study, frame, identities)
    missing, lacking = _missing(study, configurations, frame)
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
            items_answered=frame.filter(pl.col("configuration") == study.protocol.baseline)[
                "item"
            ].n_unique(),
            licence=study.whole.licence,
            category_name=study.whole.category_name,
            task_name=study.whole.task_name,
            population=study.population.sentence,
            audit=study.population.audit,
        ),
        models=tuple(
            ModelEntry(name=label, description=f"{one.description} · {one.dtype}", digest=one.digest)
            for label, one in sorted(identities.items())
            if label in {entry.label for entry in study.config.models}
        ),
        configurations=tuple(configurations),
        protocol=study.protocol,
        prompt=study.prompts.file("question/question").text,
        correctness=CORRECTNESS[study.config.correctness],
        findings=tuple(run_lenses(frame, study.protocol)),
        incomplete=tuple(lacking),
    )
    items = {
        item.id: ItemText(item.id, item.question, item.valid_answers, item.category, item.task)
        for item in study.benchmark.items
    }
    paths = write_report(document, frame, items, out or study.folder / REPORT)
    return StudyReport(document, paths, missing)


def _configurations(
    study: Study, frame: pl.DataFrame, identities: dict[str, ModelIdentity]
) -> list[ConfigurationEntry]:
    counted = frame.group_by("model", "configuration").len().iter_rows()
    counts = Counter({(model, name): number for model, name, number in counted})
    found = []
    for entry in study.config.models:
        if entry.label not in identities:
            continue
        for configuration in study.configurations:
            settings: dict[str, Any] = {**configuration.technique.settings(), "style": study.prompts.style}
            found.append(
                ConfigurationEntry(
                    name=configuration.name,
                    model=entry.label,
                    label=configuration.label,
                    technique=configuration.technique.name,
                    settings=settings,
                    id=study.configuration_id(configuration, identities[entry.label]),
                    samples=configuration.samples,
                    responses=counts[entry.label, configuration.name],
                    role=configuration.role,
                )
            )
    return found


def _missing(
    study: Study, configurations: list[ConfigurationEntry], frame: pl.DataFrame
) -> tuple[int, list[str]]:
    """How many answers the study asks for and lacks, and a sentence for each configuration that lacks some.

    Failures-only configurations ask only for the items that the baseline failed on.
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
    for each in configurations:
        items = failures.get(each.model, 0) if each.name in limited else len(study.benchmark.items)
        wanted = each.samples * items
        if each.responses < wanted:
            missing += wanted - each.responses
            lacking.append(f"{each.model}, {each.label}: {each.responses:,} of {wanted:,} answers are there")
    asked = {each.model for each in configurations}
    for entry in study.config.models:
        if entry.label not in asked:
            missing += len(study.benchmark.items)
            lacking.append(f"{entry.label} has not been asked anything yet")
    return missing, lacking
