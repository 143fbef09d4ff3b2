"""A benchmark as a task of Inspect: inspect eval task.py --model openai/gpt-4o-mini --epochs 5

Exported by Leadline. Needs inspect_ai alone. Where Leadline is installed too, answers are read by its scorer
`leadline/reading`, else by the plain rules of scoring.py. What is sent to the model is `messages` in
data.jsonl; the right answers stand in the sample's target and metadata, which no model sees.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
)
from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import TaskState, generate

HERE = Path(__file__).parent
ABOUT: dict[str, Any] = json.loads((HERE / "about.json").read_text(encoding="utf-8"))
ROLES = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}


@task(name="leadline_benchmark")
def benchmark(max_tokens: int = ABOUT["max_tokens"]) -> Task:
    """All items, asked as Leadline asks them: one line, of at most `max_tokens`."""
    with (HERE / "data.jsonl").open(encoding="utf-8") as lines:
        samples = [_sample(json.loads(line)) for line in lines]
    return Task(
        dataset=MemoryDataset(samples, name=ABOUT["benchmark"]),
        solver=generate(),
        scorer=_scorer(),
        config=GenerateConfig(max_tokens=max_tokens, stop_seqs=ABOUT["stop"] or None),
        version=ABOUT["version"],
        metadata={"content_hash": ABOUT["content_hash"], "style": ABOUT["style"]},
    )


def _sample(row: dict[str, Any]) -> Sample:
    asked: list[ChatMessage] = [ROLES[one["role"]](content=one["content"]) for one in row["messages"]]
    return Sample(
        id=row["id"],
        input=asked,
        target=row["target"],
        choices=row.get("choices"),
        metadata={"leadline": row["leadline"]},
    )


def _scorer() -> Scorer:
    try:
        from leadline.interop.inspect_extension import reading
    except ImportError:
        return plain_rules()
    return reading()


@scorer(metrics=[accuracy(), stderr()])
def plain_rules() -> Scorer:
    """What scoring.py holds right."""
    place = importlib.util.spec_from_file_location("scoring", HERE / "scoring.py")
    assert place is not None and place.loader is not None
    scoring = importlib.util.module_from_spec(place)
    place.loader.exec_module(scoring)

    async def score(state: TaskState, target: Target) -> Score:
        text = state.output.completion
        golds = list(target)
        item = {"answer": golds[0], "aliases": golds[1:], **state.metadata["leadline"]}
        right = scoring.plainly_right(item, text)
        return Score(value=CORRECT if right else INCORRECT, answer=text)

    return score
