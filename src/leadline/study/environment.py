"""Versions and machine: what may change floating-point results."""

from __future__ import annotations

import os
import platform
from functools import cache
from importlib import metadata
from typing import Any

from leadline import __version__

LIBRARIES = ("torch", "transformers", "tokenizers", "safetensors", "numpy", "scipy", "statsmodels", "polars")
# Those that what a model answers may hang on.
DECIDING = ("torch", "transformers", "tokenizers")


def installed(library: str) -> str:
    """The version of a library, "" where it is not installed."""
    try:
        return metadata.version(library)
    except metadata.PackageNotFoundError:
        return ""


@cache
def environment() -> dict[str, Any]:
    """Leadline, Python, libraries, platform; the same throughout a process."""
    versions = {library: version for library in LIBRARIES if (version := installed(library))}
    return {
        "leadline": __version__,
        "python": platform.python_version(),
        "libraries": versions,
        "platform": platform.platform(),
        "processor": platform.machine(),
        "cpus": os.cpu_count(),
    }
