"""Six questions, three that the small model knows and three that it does not, and the forms in which three
tools ask them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from leadline.bench import Item, load_benchmark

_KNOWN = (
    "geography-capital-france",
    "geography-capital-japan",
    "geography-capital-hungary",
)
_UNKNOWN = (
    "geography-state-capital-kentucky",
    "geography-capital-burkina-faso",
    "science-discovered-by-uranus",
)
MAX_TOKENS = 10


def questions() -> list[Item]:
    """Out of the bundled facts. Ids with a slash must come through every tool as they are."""
    facts = {item.id: item for item in load_benchmark("facts").items}
    return [facts[name].model_copy(update={"id": name.replace("-", "/", 1)}) for name in _KNOWN + _UNKNOWN]


def fields(item: Item, *left_out: str) -> dict[str, Any]:
    """An item as a benchmark's file has it."""
    return item.model_dump(mode="json", exclude_defaults=True, exclude=set(left_out))


def write_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_study(folder: Path, items: list[Item], model: str | dict[str, Any]) -> Path:
    """A study of one model: once greedily, twice at a temperature."""
    folder.mkdir(parents=True)
    write_lines(folder / "items.jsonl", [fields(item) for item in items])
    config = {
        "name": folder.name,
        "benchmark": "items.jsonl",
        "models": [model],
        "prompt": "chat",
        "max_tokens": MAX_TOKENS,
        "sampling": {"temperatures": [0.7], "vote": 2},
        "beyond_sampling": None,
    }
    (folder / "study.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    return folder


_INSPECT_TASK = """
import json
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes


@task
def facts():
    lines = Path(__file__).with_name("facts.jsonl").read_text("utf-8").splitlines()
    return Task(dataset=[Sample(**json.loads(line)) for line in lines], scorer=includes())
"""


def write_inspect_task(folder: Path, items: list[Item]) -> Path:
    """A file for `inspect eval`, with its data beside it."""
    folder.mkdir(parents=True)
    rows = [
        {
            "id": item.id,
            "input": f"{item.question} Answer with a name only.",
            "target": list(item.valid_answers),
            "metadata": {"leadline": fields(item, "id")},
        }
        for item in items
    ]
    write_lines(folder / "facts.jsonl", rows)
    (folder / "facts.py").write_text(_INSPECT_TASK, encoding="utf-8")
    return folder / "facts.py"


def write_lm_eval_tasks(folder: Path, items: list[Item]) -> Path:
    """A folder for `--include_path`. `facts` takes back the seed that the harness sends with every request to
    an API; `pinned`, with the first three questions, does not."""
    folder.mkdir(parents=True)
    rows = [
        {"question": item.question, "names": list(item.valid_answers), "leadline": json.dumps(fields(item))}
        for item in items
    ]
    for name, some, own in (("facts", rows, {"seed": None}), ("pinned", rows[:3], {})):
        data = write_lines(folder / f"{name}.jsonl", some)
        task = {
            "task": name,
            "dataset_path": "json",
            "dataset_kwargs": {"data_files": {"test": str(data)}, "cache_dir": str(folder / "cache")},
            "test_split": "test",
            "output_type": "generate_until",
            "doc_to_text": "{{question}} Answer with a name only.",
            "doc_to_target": "names",
            "repeats": 3,
            "generation_kwargs": {
                "until": ["\n"],
                "max_gen_toks": MAX_TOKENS,
                "do_sample": True,
                "temperature": 0.7,
                **own,
            },
            "metric_list": [{"metric": "exact_match", "ignore_case": True, "ignore_punctuation": True}],
        }
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(task), encoding="utf-8")
    return folder
