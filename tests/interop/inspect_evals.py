"""Logs that Inspect really writes: its `eval`, its mock model, our questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import GenerateConfig, Model, ModelOutput, ModelUsage, get_model
from inspect_ai.model._model_output import StopReason
from inspect_ai.scorer import includes
from inspect_ai.solver import generate

RIVERS = (
    Sample(id="eu/vienna", input="Which river flows through Vienna?", target=["Danube", "Donau"]),
    Sample(id="eu/paris", input="Which river flows through Paris?", target="Seine"),
    Sample(id=3, input="Which river flows through London?", target="Thames"),
    Sample(id="de_epoch_2", input="Which river flows through Dresden?", target="Elbe"),
)

Said = str | tuple[str, StopReason] | Exception


def model(answers: Mapping[str, Sequence[Said]], name: str = "small", **args: Any) -> Model:
    """A model that gives each question its answers, one after the other and again from the first; a question
    is known by a word of it. An exception is raised instead of an answer."""
    asked: Counter[str] = Counter()

    def answer(messages: Any, *_: Any) -> ModelOutput:
        text = messages[-1].text
        (word,) = (word for word in answers if word in text)
        said = answers[word][asked[word] % len(answers[word])]
        asked[word] += 1
        if isinstance(said, Exception):
            raise said
        content, reason = said if isinstance(said, tuple) else (said, "stop")
        output = ModelOutput.from_content(f"mockllm/{name}", content, stop_reason=reason)
        output.usage = ModelUsage(input_tokens=7, output_tokens=3, total_tokens=10)
        return output

    return get_model(f"mockllm/{name}", custom_outputs=answer, memoize=False, **args)


def evaluated(folder: Path, asked: Model, samples: Sequence[Sample] = RIVERS, **said: Any) -> EvalLog:
    """The log of one evaluation, one sample after the other; `said` are arguments of Task, then of eval."""
    known = ("solver", "scorer", "name", "epochs", "message_limit", "token_limit", "time_limit", "config")
    task = {name: said.pop(name) for name in known if name in said}
    (log,) = eval(
        Task(
            dataset=MemoryDataset([sample.model_copy(deep=True) for sample in samples], name="rivers"),
            **{"solver": generate(), "scorer": includes(), "name": "rivers", **task},
        ),
        model=asked,
        **{
            "log_dir": str(folder),
            "display": "none",
            "max_samples": 1,
            "log_realtime": False,
            **said,
        },
    )
    return log


SURE = {"Vienna": ["Danube"], "Paris": ["The Seine."], "London": ["Rhine"], "Dresden": ["Elbe"]}
UNSURE = {
    "Vienna": ["Danube", "Donau", "Rhine"],
    "Paris": ["The Seine.", "The Seine.", "Seine"],
    "London": ["Thames", "Rhine"],
    "Dresden": ["Oder"],
}
WARM = GenerateConfig(temperature=0.7)
