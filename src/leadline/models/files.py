"""What a resolved model is: a folder that `transformers` loads as it stands, and where it came from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Kind = Literal["embedded", "hub", "folder", "gguf"]


@dataclass(frozen=True)
class ModelFiles:
    """A model that lies on this machine, whole.

    `folder` has `config.json`, safetensors weights and the tokenizer's files. `digest` ("sha256:...") is
    taken over the tensors themselves (see `weights.tensor_digest`), so that it is the same however the
    weights are cut into files. `revision` is what pins the origin: a hub commit, a package version, the
    sha256 of a GGUF file; None for a plain folder. `source` says in words where the files came from.
    """

    name: str
    kind: Kind
    folder: Path
    digest: str
    description: str
    revision: str | None
    source: str
