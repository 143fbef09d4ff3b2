"""Weights laid out for the processor's matrix kernels, once, instead of anew in every product.

On a CPU a linear layer spends much of a small product on re-arranging its weights, at every call. oneDNN
takes weights that were arranged beforehand: on two cores that is 2–4 times faster for 8–48 rows and about 1.3
times for 256 (`docs/performance.md`), and a row's result has the same bits whatever the number of rows. It
costs a second copy of the weights. These are the operators that torch's own compiler uses for frozen models.
In bfloat16 the same is done where the processor multiplies in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import torch
from torch import Tensor, nn


def _memory_allows(size: int) -> bool:
    """Whether a second copy of the weights leaves at least as much memory free as it takes."""
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return False
    return free > 2 * size


def _is_packable(module: nn.Module) -> bool:
    """A plain linear layer on the CPU; subclasses (quantised, adapted) compute something else."""
    return (
        type(module) is nn.Linear
        and module.weight.device.type == "cpu"
        and (
            module.weight.dtype == torch.float32 or (module.weight.dtype == torch.bfloat16 and has_bfloat16())
        )
    )


@cache
def has_bfloat16() -> bool:
    """Whether this processor multiplies in bfloat16; another widens each number first, and gains nothing."""
    get = getattr(torch.cpu, "get_capabilities", None)
    found = get() if get is not None else {}
    return bool(found.get("avx512_bf16") or found.get("amx_bf16"))


class PackedLinears:
    """The packed weights of a model's linear layers. Empty where there is nothing to gain or no room."""

    def __init__(self, model: nn.Module) -> None:
        self._forwards: list[tuple[nn.Linear, object]] = []
        layers = [module for module in model.modules() if _is_packable(module)]
        size = sum(layer.weight.numel() * layer.weight.element_size() for layer in layers)
        if not torch.backends.mkldnn.is_available() or not hasattr(torch.ops.mkldnn, "_linear_pointwise"):
            return
        if not _memory_allows(size):
            return
        for layer in layers:
            assert isinstance(layer, nn.Linear)
            self._forwards.append((layer, _packed_forward(layer)))

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Within this context the layers compute with their packed weights. Hooks on them still run."""
        for layer, forward in self._forwards:
            layer.forward = forward
        try:
            yield
        finally:
            for layer, _ in self._forwards:
                del layer.forward


def _packed_forward(layer: nn.Linear) -> object:
    # The second argument is the expected number of rows; it does not bind.
    packed = torch.ops.mkldnn._reorder_linear_weight(layer.weight.detach(), 64)

    def forward(input: Tensor) -> Tensor:
        return torch.ops.mkldnn._linear_pointwise(input, packed, layer.bias, "none", [], "")

    return forward
