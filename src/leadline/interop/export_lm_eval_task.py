"""A benchmark as a task of lm-evaluation-harness: a folder for `--include_path`.

    export_lm_eval_task(load_benchmark("facts"), Prompts("few-shot"), Path("facts-lm-eval"))

Answers are generated, whatever their type, and the item goes along as JSON text: so `leadline import lm-eval`
finds each item again, and reads the answer by its type.
"""

from __future__ import annotations

from pathlib import Path

import yaml

from leadline.bench import Benchmark
from leadline.errors import UsageError
from leadline.interop.export_asked import STOP, as_line, asked_of, task_name
from leadline.interop.export_inspect_task import ExportedTask, task_file
from leadline.interop.export_place import new_folder
from leadline.techniques.prompts_library import Prompts


def export_lm_eval_task(
    benchmark: Benchmark,
    prompts: Prompts,
    out: Path,
    *,
    name: str | None = None,
    max_tokens: int = 16,
    repeats: int = 1,
    temperature: float = 0.0,
    force: bool = False,
) -> ExportedTask:
    """Write NAME.yaml, NAME.py, data.jsonl and scoring.py into the folder `out`.

    The field `prompt` is sent, as it is or, with `--apply_chat_template`, as a message of the user. Each item
    is answered `repeats` times at `temperature`. Raises UsageError where `out` holds something already,
    unless `force`, for prompts of several messages, and for repeats without a temperature.
    """
    if repeats > 1 and not temperature:
        raise UsageError(
            "repeats at temperature 0 are one answer over and over", fix="--temperature 0.7, or one repeat"
        )
    named = task_name(benchmark, name)
    with new_folder(out, force) as folder:
        with (folder / "data.jsonl").open("w", encoding="utf-8", newline="\n") as file:
            for one in asked_of(benchmark, prompts):
                if len(one.messages) > 1 or one.messages[0][0] != "user":
                    raise UsageError(
                        "its prompt has several messages, and the harness' tasks have one text",
                        where=f"{benchmark.name}: item {one.item.id}",
                        fix="--style few-shot, or export an Inspect task",
                    )
                row = {
                    "id": one.item.id,
                    "prompt": one.messages[0][1],
                    "answer": one.item.answer,
                    "leadline": as_line(one.fields).rstrip("\n"),
                }
                file.write(as_line(row))
        (folder / f"{named}.yaml").write_text(
            _yaml(benchmark, named, max_tokens, repeats, temperature), "utf-8"
        )
        (folder / f"{named}_functions.py").write_text(task_file("lm_eval_task.py"), "utf-8")
        (folder / "scoring.py").write_text(task_file("scoring.py"), "utf-8")
    return ExportedTask(out, named, len(benchmark.items))


def _yaml(benchmark: Benchmark, name: str, max_tokens: int, repeats: int, temperature: float) -> str:
    drawn = {"do_sample": True, "temperature": temperature} if temperature else {"do_sample": False}
    settings = {
        "task": name,
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_text": "prompt",
        "doc_to_target": "answer",
        "num_fewshot": 0,
        "repeats": repeats,
        "generation_kwargs": {"until": list(STOP), "max_gen_toks": max_tokens, **drawn},
        "metric_list": [{"metric": "correct", "aggregation": "mean", "higher_is_better": True}],
        "metadata": {"version": benchmark.version, "content_hash": benchmark.content_hash},
    }
    # Functions are a tag of the harness' own, which no writer of YAML knows.
    functions = (
        f"custom_dataset: !function {name}_functions.documents\n"
        f"process_results: !function {name}_functions.process_results\n"
    )
    return yaml.safe_dump(settings, sort_keys=False, allow_unicode=True, width=100) + functions
