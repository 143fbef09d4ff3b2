"""A benchmark as a task of Inspect: a folder that `inspect eval` runs, with or without Leadline.

export_inspect_task(load_benchmark("facts"), Prompts("chat"), Path("facts-inspect"))
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from leadline.bench import Benchmark
from leadline.interop.export_asked import STOP, as_line, asked_of, choices_of, fields_of, task_name
from leadline.interop.export_place import new_folder
from leadline.techniques.prompts_library import Prompts


@dataclass(frozen=True)
class ExportedTask:
    """The folder of a task, its name, and how many items it has."""

    folder: Path
    name: str
    items: int


def export_inspect_task(
    benchmark: Benchmark,
    prompts: Prompts,
    out: Path,
    *,
    name: str | None = None,
    max_tokens: int = 16,
    force: bool = False,
) -> ExportedTask:
    """Write task.py, data.jsonl, about.json and scoring.py into the folder `out`.

    A line of data.jsonl holds what is sent (`messages`) apart from what is right (`target`) and how answers
    are read (`leadline`, the item's own fields). `max_tokens` is the longest answer. Raises UsageError where
    `out` holds something already, unless `force`.
    """
    named = task_name(benchmark, name)
    about = {
        "task": named,
        "benchmark": benchmark.name,
        "version": benchmark.version,
        "content_hash": benchmark.content_hash,
        "licence": benchmark.licence,
        "style": prompts.style,
        "max_tokens": max_tokens,
        "stop": list(STOP),
    }
    with new_folder(out, force) as folder:
        # Inspect looks for the name in the text of the file, before it is run.
        text = task_file("inspect_task.py").replace('"leadline_benchmark"', json.dumps(named))
        (folder / "task.py").write_text(text, "utf-8")
        (folder / "scoring.py").write_text(task_file("scoring.py"), "utf-8")
        (folder / "about.json").write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n", "utf-8")
        with (folder / "data.jsonl").open("w", encoding="utf-8", newline="\n") as file:
            for one in asked_of(benchmark, prompts):
                choices = choices_of(one.item)
                row = {
                    "id": one.item.id,
                    "messages": [{"role": role, "content": text} for role, text in one.messages],
                    **({"choices": choices} if choices else {}),
                    "target": list(one.item.valid_answers),
                    "leadline": fields_of(one.item, with_id=False),
                }
                file.write(as_line(row))
    return ExportedTask(out, named, len(benchmark.items))


def task_file(name: str) -> str:
    """One of the files that exported tasks are made of."""
    return files("leadline.interop").joinpath("task_files", name).read_text(encoding="utf-8")
