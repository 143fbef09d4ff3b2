"""Under which conditions a server answers, in one short word: clients record it as `system_fingerprint`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cache
from importlib import metadata
from pathlib import Path

import leadline
from leadline.bench import Item
from leadline.models.model import ModelIdentity
from leadline.techniques.artefacts import hash_of_items
from leadline.techniques.prompts_library import Prompts
from leadline.techniques.technique import Technique

# The rooms whose sources decide what is answered, and the libraries that compute it.
_ROOMS = ("engine", "models", "serving", "techniques")
_LIBRARIES = ("torch", "transformers", "tokenizers")


def fingerprint(
    model: ModelIdentity, technique: Technique | None, prompts: Prompts, fitted_on: Sequence[Item]
) -> str:
    """A hash of the weights, the technique with its settings and prompts, what it is fitted on, and the code.

    Two servers of one fingerprint answer a request with a seed alike, up to rounding between machines.
    """
    about = {
        "weights": model.fit_digest,
        "technique": technique.name if technique else None,
        "settings": technique.settings() if technique else {},
        "prompts": prompts.texts(technique.prompt_names) if technique else {},
        "fitted on": hash_of_items(fitted_on) if fitted_on else None,
        "code": code(),
    }
    return f"fp_{hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:16]}"


@cache
def code() -> str:
    """A digest of this program's sources and of the versions of what it computes with."""
    found = hashlib.sha256()
    root = Path(leadline.__file__).parent
    for file in sorted(path for room in _ROOMS for path in (root / room).rglob("*.py")):
        found.update(f"{file.relative_to(root).as_posix()}\n".encode() + file.read_bytes())
    for library in _LIBRARIES:
        found.update(f"{library} {metadata.version(library)}\n".encode())
    return found.hexdigest()
