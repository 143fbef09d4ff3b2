"""A configuration: model + technique + settings + prompts, and the hash that names it for good."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Literal

from leadline.models.model import ModelIdentity
from leadline.techniques import Technique
from leadline.techniques.prompts_library import Prompts

# again: a method asked several times; it shows how steady the method is and is no method by itself.
Role = Literal["baseline", "method", "partition", "again"]


@dataclass(frozen=True)
class Configuration:
    """One way of answering within a study.

    `samples` answers are drawn per item, for all items or, if `failures_only`, for those that the baseline
    answered wrongly. `vote` and `beyond_vote`: see `lenses.protocol.Method`.
    """

    name: str
    label: str
    role: Role
    technique: Technique
    samples: int
    vote: int
    beyond_vote: int | None = None
    failures_only: bool = False


def described(
    configuration: Configuration, model: ModelIdentity, prompts: Prompts, benchmark: str
) -> dict[str, Any]:
    """Everything that reaches the model and decides its answers. Names, roles and counts do not; the content
    of the whole benchmark, by its hash, where the technique is fitted on it."""
    technique = configuration.technique
    fitted = {"fitted_on": benchmark} if technique.is_fitted else {}
    return fitted | {
        "model": {"digest": model.digest, "dtype": model.dtype, "kind": model.kind},
        "technique": technique.name,
        "settings": technique.settings(),
        "style": prompts.style,
        "prompts": prompts.texts(technique.prompt_names),
    }


def configuration_id(description: dict[str, Any]) -> str:
    """The first 16 hex digits of the sha256 of a description's canonical JSON."""
    text = json.dumps(description, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
