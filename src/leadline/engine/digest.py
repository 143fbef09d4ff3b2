"""A name for a model's weights, for models that were not loaded from files of ours."""

from __future__ import annotations

import hashlib
from typing import Any

import torch


def weights_digest(model: Any) -> str:
    """sha256 over names, dtypes, shapes and bytes of all parameters and buffers, in order of name."""
    found = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        found.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        found.update(tensor.detach().cpu().contiguous().view(-1).view(dtype=torch.uint8).numpy().data)
    return found.hexdigest()
