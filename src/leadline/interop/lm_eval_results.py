"""What lm-evaluation-harness says of a run beside its samples: `results_*.json`, written by the same run.

The file names the model, the settings, how each task was set up, and which group it belongs to. Samples can
be imported without it, where they were copied alone; then much of that is not known.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from leadline.errors import UsageError
from leadline.ordinary_file import content

# More is no results file: those of 500 tasks, with all their settings, have about 2 MB.
# The harness has some hundred.
_MOST_GROUPS = 2_000
_MAX_BYTES = 64_000_000
_LOCAL_PATH = re.compile(r"^(?:[A-Za-z]:)?[\\/.~]")


@dataclass(frozen=True)
class Results:
    """The results file of one run. `said` is its whole content, {} where there is no such file.

    >>> said = {"model_name": "/models/tiny", "group_subtasks": {"all": ["one"]}, "lm_eval_version": "0.4.13"}
    >>> results = Results(None, said)
    >>> results.model, results.category("one"), results.version
    ('tiny', 'all', '0.4.13')
    """

    path: Path | None
    said: Mapping[str, Any]

    @property
    def version(self) -> str:
        """That of the harness, as far as it says so."""
        return str(self.said.get("lm_eval_version") or "")

    @property
    def config(self) -> Mapping[str, Any]:
        """How the run was called."""
        return _mapping(self.said.get("config"))

    @property
    def model(self) -> str:
        """The model's name, "" where it is not known. Of a local path the last part: it is nobody's business
        where a model lay."""
        name = str(self.said.get("model_name") or "")
        # Called with an object, the harness has no name for it and draws letters and digits.
        if self.said.get("model_source") == "CUSTOM" and not self.config.get("model_args"):
            name = str(self.config.get("model") or name)
        if _LOCAL_PATH.match(name):
            name = re.split(r"[\\/]", name.rstrip("\\/"))[-1]
        return name.strip()

    def settings(self, task: str) -> Mapping[str, Any]:
        """How a task was set up (its YAML, with functions as source text)."""
        return _mapping(_mapping(self.said.get("configs")).get(task))

    def shots(self, task: str) -> int:
        """How many solved examples stood before each question."""
        said = _mapping(self.said.get("n-shot")).get(task, self.settings(task).get("num_fewshot"))
        return said if isinstance(said, int) else 0

    def documents(self, task: str) -> tuple[int | None, int | None]:
        """How many documents the task has, and how many of them were asked; None where it is not said."""
        said = _mapping(_mapping(self.said.get("n-samples")).get(task))
        whole, asked = said.get("original"), said.get("effective")
        return (whole if isinstance(whole, int) else None), (asked if isinstance(asked, int) else None)

    def scores(self, task: str) -> dict[str, float]:
        """What the harness computed, by "metric,filter"; without standard errors."""
        said = _mapping(_mapping(self.said.get("results")).get(task))
        return {
            name: value
            for name, value in said.items()
            if "," in name and "_stderr," not in name and isinstance(value, int | float)
        }

    def category(self, task: str) -> str:
        """The innermost group that the task belongs to, "" for none."""
        return self._groups.get(task, "")

    @cached_property
    def _groups(self) -> dict[str, str]:
        """Tasks to their groups; a group that holds fewer tasks lies deeper."""
        said = _mapping(self.said.get("group_subtasks"))
        groups = list(islice((group for group in said if _names(said[group])), _MOST_GROUPS))
        members = {group: _tasks(group, said) for group in groups}
        found: dict[str, str] = {}
        for group in sorted(members, key=lambda one: (-len(members[one]), one)):
            found.update(dict.fromkeys(members[group] - {group}, group))
        return found


def results_of(path: Path) -> Results:
    """Read a results file. Raises UsageError where it is none."""
    fix = "lm-evaluation-harness writes it beside the samples; without it, import the samples alone"
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise UsageError("is too large for a results file", where=str(path), fix=fix)
        said = json.loads(content(path))
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from error
    except (ValueError, RecursionError) as error:
        raise UsageError("is no sound JSON", where=str(path), fix=fix) from error
    if not isinstance(said, dict) or not isinstance(said.get("results", {}), dict):
        raise UsageError("is no results file of lm-evaluation-harness", where=str(path), fix=fix)
    return Results(path, said)


def _tasks(group: str, groups: Mapping[str, Any]) -> set[str]:
    """All tasks below a group, through the groups in it; each is looked at once, whatever leads to it."""
    seen, tasks, waiting = {group}, set(), [group]
    while waiting:
        for name in _names(groups.get(waiting.pop())):
            if name not in seen:
                seen.add(name)
                if _names(groups.get(name)):
                    waiting.append(name)
                else:
                    tasks.add(name)
    return tasks


def _names(said: object) -> list[str]:
    return [name for name in said if isinstance(name, str)] if isinstance(said, list) else []


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
