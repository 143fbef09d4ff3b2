"""A stability study without a baseline: twelve recorded configurations, an audit, eight categories.

Ten configurations are steady, two are far from it, as in the published study; flagged items wobble more.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from leadline.lenses.frame import readings_frame
from leadline.lenses.protocol import Member, Protocol
from leadline.lenses.registry import run_lenses
from leadline.report.document import BenchmarkEntry, ConfigurationEntry, FindingsDocument, ModelEntry

# How unsure each configuration is of an item that is open to doubt: the published order of wobble.
CONFIGURATIONS = {
    "gemma4-31b": 0.05,
    "haiku-4.5": 0.05,
    "llama3.3-70b": 0.07,
    "gemini3-flash": 0.08,
    "mistral-large": 0.10,
    "gpt5-mini": 0.16,
    "deepseek-v4p": 0.16,
    "gpt-oss-120b": 0.17,
    "deepseek-v4f": 0.19,
    "minimax-m2.5": 0.24,
    "gemma3-1b-qat": 1.1,
    "gemma3-1b": 1.35,
}
CATEGORIES = {"cap table": 2, "convertibles": 6, "exit waterfall": 1, "founder equity": 5, "priced equity": 8,
              "regulatory": 5, "rights": 5, "risk flags": 5}  # fmt: skip
_SAMPLES = 10


@cache
def stability_frame() -> pl.DataFrame:
    """Five items per task, ten samples each; a quarter of the items is open to doubt."""
    rng = np.random.default_rng(11)
    rows: list[dict[str, Any]] = []
    for category, tasks in CATEGORIES.items():
        for task in range(tasks):
            hard = float(rng.choice([0.0, 0.05, 0.3]))
            for number in range(5):
                item = f"{category}/{task}/{number}"
                doubt = float(rng.beta(0.6, 2.5)) if rng.random() < 0.3 else 0.0
                always_wrong = bool(rng.random() < hard)
                flagged = bool(rng.random() < (0.4 if category in ("cap table", "exit waterfall") else 0.06))
                audit = str(rng.choice(["evidence absent", "computational"])) if flagged else "clean"
                about = {
                    "item": item,
                    "category": category,
                    "task": f"{category}/{task}",
                    "answer_type": "number" if number < 2 else "text",
                    "audit": audit,
                    "excluded": audit if flagged else "",
                    "stated": "stated" if not flagged else "not stated",
                }
                for name, unsure in CONFIGURATIONS.items():
                    small = unsure > 1
                    astray = min(0.9, (doubt + 0.25 * flagged) * unsure + (0.05 if small else 0.001))
                    if always_wrong:
                        astray = 1 - astray / 4
                    for sample in range(_SAMPLES):
                        wrong = bool(rng.random() < astray)
                        value = f"{1 + int(rng.random() < 0.03)}" if wrong else "0"
                        rows.append(
                            {
                                **about,
                                "model": name,
                                "configuration": "recorded",
                                "sample": sample,
                                "state": "ok",
                                "text": value,
                                "value": value,
                                "correct": not wrong,
                                "correct_strict": not wrong,
                                "leads": True,
                            }
                        )
    return readings_frame(rows)


@cache
def stability_document() -> FindingsDocument:
    """The findings on that frame, of all lenses."""
    frame = stability_frame()
    protocol = Protocol(
        baseline="",
        methods=(),
        members=tuple(
            Member(name, "recorded", label=name, serving="local" if "1b" in name else "routed")
            for name in CONFIGURATIONS
        ),
        bootstrap_draws=400,
    )
    return FindingsDocument(
        study="How steady are twelve configurations?",
        leadline_version="0.1.0",
        created=datetime(2026, 3, 1, 12, 30, tzinfo=UTC),
        benchmark=BenchmarkEntry(
            name="clauses",
            version="1.0",
            title="Questions on clauses",
            content_hash="sha256:" + "5d41402abc4b2a76" * 4,
            items_asked=frame.filter(pl.col("excluded") == "")["item"].n_unique(),
            items_total=frame["item"].n_unique(),
            population="flagged items left out",
        ),
        models=tuple(ModelEntry(name=name, description="recorded answers") for name in CONFIGURATIONS),
        configurations=tuple(
            ConfigurationEntry(
                name="recorded",
                model=name,
                label=name,
                technique="recorded",
                id=name,
                samples=_SAMPLES,
                responses=frame.filter(pl.col("model") == name).height,
                role="method",
            )
            for name in CONFIGURATIONS
        ),
        protocol=protocol,
        prompt="",
        correctness="As recorded.",
        findings=tuple(run_lenses(frame, protocol)),
    )
