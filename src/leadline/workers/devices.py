"""What this machine has to work with: cores and accelerators."""

from __future__ import annotations

import os
import shutil
import subprocess

_SECONDS = 20.0  # a driver that was not in use takes some to wake up


def cores() -> int:
    """Cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # not everywhere
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def devices_here() -> tuple[str, ...]:
    """One name for each NVIDIA device that this process may use, as CUDA_VISIBLE_DEVICES takes it.

    The driver is asked, not torch, which the process that hands out work has no other need of. None where
    there is no device, or CUDA_VISIBLE_DEVICES hides them.
    """
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return ()
    try:
        said = subprocess.run(
            [tool, "-L"], capture_output=True, text=True, timeout=_SECONDS, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return ()
    count = sum(line.startswith("GPU ") for line in said.splitlines())
    allowed = os.environ.get("CUDA_VISIBLE_DEVICES")
    if allowed is None:
        return tuple(str(number) for number in range(count))
    names = [name.strip() for name in allowed.split(",")]
    hidden = names.index("-1") if "-1" in names else len(names)  # as CUDA reads it: from there on, none
    return tuple(name for name in names[:hidden] if name)[:count]
