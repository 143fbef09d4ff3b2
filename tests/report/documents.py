"""A whole findings document on the fabricated study, with questions that try to break out of the page."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

import polars as pl

from leadline.lenses.registry import run_lenses
from leadline.report.document import BenchmarkEntry, ConfigurationEntry, FindingsDocument, ModelEntry
from leadline.report.items import ItemText
from tests.lenses.frames import STUDY_PROTOCOL, study_frame

LABELS = {
    "greedy": "Greedy",
    "recite": "RECITE",
    "genread": "GenRead",
    "dola": "DoLa",
    "tau-0.7": "τ = 0.7",
    "tau-1.2": "τ = 1.2",
    "tau-0.7-partition": "τ = 0.7, partition",
    "tau-1.2-partition": "τ = 1.2, partition",
}
HOSTILE = (
    "</script><script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\"> & \"quotes\" 'single'",
    "ما عاصمة مصر؟ \u202eevil\u202c",
    "What is 🐟‍🔥 in plain\u2028words\u2029 {{ 7*7 }} {% raw %}",
)
_SUBJECTS = ("the river Oder", "a barn owl", "Lake Ladoga", "the Treaty of Ghent", "the Code of Ur-Nammu")


def study_document(
    frame: pl.DataFrame, *, study: str = "Which techniques reach deeper?", lenses: bool = True
) -> FindingsDocument:
    """The findings on a fabricated frame (none without `lenses`), with plausible entries around them."""
    roles = {"greedy": "baseline"} | {part.configuration: "partition" for part in STUDY_PROTOCOL.partitions}
    models = sorted(frame["model"].unique().to_list())
    configurations = []
    for model in models:
        for name, label in LABELS.items():
            answers = frame.filter((pl.col("model") == model) & (pl.col("configuration") == name))
            configurations.append(
                ConfigurationEntry(
                    name=name,
                    model=model,
                    label=label,
                    technique=name.split("-")[0],
                    settings={"temperature": 0.7 if "0.7" in name else 0.0, "stop": ["\n", "</s>"]},
                    id=hashlib.sha256(f"{model}/{name}".encode()).hexdigest(),
                    samples=answers["sample"].max() + 1,
                    responses=answers.height,
                    role=roles.get(name, "method"),
                )
            )
    return FindingsDocument(
        study=study,
        leadline_version="0.1.0",
        created=datetime(2026, 3, 1, 12, 30, tzinfo=UTC),
        benchmark=BenchmarkEntry(
            name="facts",
            version="1.0",
            title="Short-answer facts",
            content_hash="sha256:" + "5d41402abc4b2a76" * 4,
            items_asked=frame["item"].n_unique(),
            items_total=560,
            licence="CC0-1.0",
            category_name="domain",
            task_name="relation",
        ),
        models=tuple(
            ModelEntry(name=model, description=f"A {model} fabricated model", digest="sha256:" + "0c" * 32)
            for model in models
        ),
        configurations=tuple(configurations),
        protocol=STUDY_PROTOCOL,
        prompt="Q: What is the capital of Chile?\nA: Santiago\n\nQ: {question}\nA:",
        correctness="After removing special characters and spaces, a valid answer is a part of the answer.",
        findings=tuple(run_lenses(frame, STUDY_PROTOCOL)) if lenses else (),
    )


def item_texts(frame: pl.DataFrame) -> dict[str, ItemText]:
    """Questions for the frame's items; the first four are hostile."""
    rows = frame.select("item", "category", "task").unique(subset="item").sort("item").iter_rows()
    found = {}
    for place, (item, category, task) in enumerate(rows):
        question = (
            HOSTILE[place]
            if place < len(HOSTILE)
            else f"What is the {task} of {_SUBJECTS[place % len(_SUBJECTS)]}, number {place}?"
        )
        answers = (f"Gold {place}", f"<b>gold</b> {place}", f"the {place}th gold")
        found[item] = ItemText(item, question, answers, category, task)
    return found


def small_frame(items: int = 24) -> pl.DataFrame:
    """One model, few items: for tests that only look at the form of things."""
    return study_frame(seed=3, items=items, models=("small",))
