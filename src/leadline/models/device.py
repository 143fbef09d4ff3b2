"""Where a model of this machine computes."""

from __future__ import annotations

from typing import Any

from leadline.errors import UsageError


def device_for(torch: Any, wanted: str) -> str:
    """The device called `wanted`; for "auto" an accelerator where there is one.

    `torch` is the module, which the caller has imported. Raises UsageError where the device cannot be used.
    """
    if wanted != "auto":
        try:
            torch.empty(1, device=wanted)
        except (RuntimeError, AssertionError) as error:
            raise UsageError(
                f"device {wanted!r} cannot be used: {str(error).splitlines()[0]}", fix="auto, cpu or cuda"
            ) from error
        return wanted
    return "cuda" if torch.cuda.is_available() else "cpu"
