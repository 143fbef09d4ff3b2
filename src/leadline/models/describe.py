"""What a model is, read from its files alone: no library that runs models is loaded for it."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict

from leadline.models import cache, weights
from leadline.models.files import ModelFiles


class ModelCard(BaseModel):
    """A model in figures. None stands for what its files do not say."""

    model_config = ConfigDict(frozen=True)

    name: str
    kind: str
    description: str
    architecture: str | None
    parameters: int
    layers: int | None
    heads: int | None
    key_value_heads: int | None
    hidden_size: int | None
    vocabulary: int | None
    context_length: int | None
    dtype: str
    licence: str | None
    chat_template: bool
    own_code: bool  # loading it would need trust_remote_code
    revision: str | None
    digest: str
    source: str
    folder: Path
    size: int  # bytes of all its files


def describe(files: ModelFiles) -> ModelCard:
    """The card of a resolved model; `parameters` counts stored tensors, so tied embeddings count once."""
    config = json.loads((files.folder / "config.json").read_text("utf-8"))
    # Models that also see or hear keep the language model's figures one level down.
    text = config.get("text_config") if isinstance(config.get("text_config"), dict) else config
    tensors = weights.all_tensors(files.folder)
    by_dtype: Counter[str] = Counter()
    for tensor in tensors:
        by_dtype[tensor.dtype] += tensor.size
    heads = _number(text, "num_attention_heads", "n_head")
    return ModelCard(
        name=files.name,
        kind=files.kind,
        description=files.description,
        architecture=_architecture(config),
        parameters=sum(by_dtype.values()),
        layers=_number(text, "num_hidden_layers", "n_layer"),
        heads=heads,
        key_value_heads=_number(text, "num_key_value_heads") or heads,
        hidden_size=_number(text, "hidden_size", "n_embd"),
        vocabulary=_number(text, "vocab_size"),
        context_length=_number(text, "max_position_embeddings", "n_positions"),
        dtype=", ".join(name for name, _ in by_dtype.most_common()),
        licence=_licence(files),
        chat_template=_has_chat_template(files.folder),
        own_code="auto_map" in config,
        revision=files.revision,
        digest=files.digest,
        source=files.source,
        folder=files.folder,
        size=sum(path.stat().st_size for path in files.folder.iterdir() if path.is_file()),
    )


def _architecture(config: dict[str, Any]) -> str | None:
    said = config.get("architectures")
    named = said if isinstance(said, list) else []
    return next((name for name in (*named, config.get("model_type")) if isinstance(name, str)), None)


def _number(config: dict[str, Any], *names: str) -> int | None:
    return next((value for name in names if isinstance(value := config.get(name), int)), None)


def _has_chat_template(folder: Path) -> bool:
    if (folder / "chat_template.jinja").is_file() or (folder / "chat_template.json").is_file():
        return True
    try:
        return bool(json.loads((folder / "tokenizer_config.json").read_text("utf-8")).get("chat_template"))
    except (OSError, ValueError, AttributeError, RecursionError):
        return False


def _licence(files: ModelFiles) -> str | None:
    """As the cache's manifest has it, or else the model card's front matter."""
    for name, read in ((cache.MANIFEST, _licence_of_manifest), ("README.md", _licence_of_model_card)):
        path = files.folder / name
        if path.is_file():
            return read(path.read_text("utf-8", errors="replace"))
    return None


def _licence_of_manifest(text: str) -> str | None:
    try:
        return cache.Manifest.model_validate_json(text).about.licence
    except ValueError:  # of a folder that somebody else filled
        return None


def _licence_of_model_card(text: str) -> str | None:
    front = re.match(r"---\s*\n(.*?)\n---\s*(\n|$)", text, re.DOTALL)
    if not front:
        return None
    try:
        licence = yaml.safe_load(front[1]).get("license")
    except (yaml.YAMLError, AttributeError, ValueError, RecursionError):
        return None
    return licence if isinstance(licence, str) else None
