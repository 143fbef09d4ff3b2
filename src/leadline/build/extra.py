"""Libraries of the extra 'build', imported when they are needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from leadline.errors import UsageError


def needed(name: str) -> Any:
    """The module of that name. Raises UsageError, one line that says what to install, where it is missing.

    >>> needed("zstandard").__name__
    'zstandard'
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name.partition(".")[0]:
            raise
        raise UsageError(
            f"building needs the extra 'build' ({error.name} is missing)", fix="pip install 'leadline[build]'"
        ) from None
