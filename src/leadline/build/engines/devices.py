"""What this machine has to work with: cores and accelerators."""

from __future__ import annotations

import os


def cores() -> int:
    """Cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # not everywhere
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def devices_here() -> tuple[str, ...]:
    """One name for each CUDA device that this process may use, as CUDA_VISIBLE_DEVICES takes it.

    None where there is no device, or no torch.
    """
    try:
        import torch
    except ImportError:
        return ()
    count = torch.cuda.device_count()
    allowed = [name for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name.strip()]
    return tuple(allowed[:count]) if allowed else tuple(str(number) for number in range(count))
