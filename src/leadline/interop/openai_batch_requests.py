"""The file that a batch was started with: what was asked under each `custom_id`, and with which settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leadline.bench.problem import FirstProblem, did_you_mean, shortened
from leadline.bench.text_lines import text_lines
from leadline.errors import UsageError
from leadline.ordinary_file import opened

# What is the question, and what is not about how it is answered.
_NO_SETTING = frozenset(
    {"model", "messages", "prompt", "input", "instructions", "user", "metadata", "n", "stream"}
)
_LONGEST_SETTING = 60


@dataclass(frozen=True)
class Requests:
    """The requests of an input file: questions by custom id, the model, and the settings of all of them."""

    path: Path
    questions: Mapping[str, str]
    model: str
    settings: Mapping[str, str]

    def question(self, custom_id: str, where: str) -> str:
        """What was asked. Raises UsageError where the file has no such request."""
        found = self.questions.get(custom_id)
        if found is None:
            raise UsageError(
                f"{self.path.name} has no request {shortened(custom_id)}",
                where=where,
                fix=did_you_mean(custom_id, self.questions, otherwise="--input: the file of this batch"),
            )
        return found


def requests_of(path: Path) -> Requests:
    """Read an input file. Raises UsageError, with the line, for what is none."""
    questions: dict[str, str] = {}
    models: dict[str, None] = {}
    common: dict[str, str] | None = None
    try:
        with opened(path) as file:
            for line in text_lines(file, path, FirstProblem()):
                if not line.text.strip():
                    continue
                where = f"{path}:{line.number}"
                custom_id, body = _request(line.text, where)
                if custom_id in questions:
                    raise UsageError(f"the custom_id {shortened(custom_id)} occurs twice", where=where)
                questions[custom_id] = _question(body)
                models[str(body.get("model") or "")] = None
                settings = _settings(body)
                common = (
                    settings
                    if common is None
                    else {name: value for name, value in common.items() if settings.get(name) == value}
                )
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from error
    if not questions:
        raise UsageError("holds no request", where=str(path), fix="--input: what the batch began with")
    return Requests(path, questions, next(iter(models)) if len(models) == 1 else "", common or {})


def _request(text: str, where: str) -> tuple[str, Mapping[str, Any]]:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError("broken JSON", where=where, fix="one JSON object a line") from error
    custom_id = fields.get("custom_id") if isinstance(fields, dict) else None
    body = fields.get("body") if isinstance(fields, dict) else None
    if not isinstance(custom_id, str) or not isinstance(body, Mapping):
        raise UsageError("is no request of a batch: custom_id and body belong in it", where=where)
    return custom_id, body


def _question(body: Mapping[str, Any]) -> str:
    """The last thing the user said, or the prompt."""
    asked = body.get("messages", body.get("input", body.get("prompt")))
    if isinstance(asked, list):
        turns = [one for one in asked if isinstance(one, Mapping) and one.get("role", "user") == "user"]
        return _text(turns[-1].get("content")) if turns else ""
    return _text(asked)


def _text(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(_text(part.get("text")) for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def _settings(body: Mapping[str, Any]) -> dict[str, str]:
    """Temperature first, for it is the most telling."""
    said = {}
    for name in sorted(body, key=lambda name: (name != "temperature", name)):
        if name not in _NO_SETTING:
            value = body[name]
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
            said[name] = text if len(text) <= _LONGEST_SETTING else text[: _LONGEST_SETTING - 1] + "…"
    return said
