"""Twelve questions about rivers, asked five times each: accuracy and wobble, by Leadline's readers.

inspect eval examples/inspect/rivers.py --model leadline/smollm2
"""

import json
from pathlib import Path

from inspect_ai import Epochs, Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser, GenerateConfig

from leadline.interop.inspect_extension import reading

QUESTIONS = Path(__file__).parents[1] / "quickstart" / "rivers.jsonl"
# A small model keeps to the form of answers that it has seen.
SHOWN = {
    "Which sea does the Rhine flow into?": "North Sea",
    "Which city lies where the Moselle meets the Rhine?": "Koblenz",
    "On which river does Warsaw lie?": "Vistula",
}


@task
def rivers() -> Task:
    """How an answer is read stands beside each question, under the key "leadline"."""
    items = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    return Task(
        dataset=[
            Sample(
                id=item["id"],
                input=asked(item["question"]),
                target=[item["answer"], *item.get("aliases", [])],
                metadata={"leadline": item},
            )
            for item in items
        ],
        scorer=reading(),
        epochs=Epochs(5, ["leadline/vote", "leadline/wobble"]),
        config=GenerateConfig(temperature=0.3, max_tokens=12),
    )


def asked(question: str) -> list[ChatMessage]:
    """The question after a few others and their answers."""
    messages: list[ChatMessage] = []
    for other, answer in SHOWN.items():
        messages += [ChatMessageUser(content=other), ChatMessageAssistant(content=answer)]
    return [*messages, ChatMessageUser(content=question)]
