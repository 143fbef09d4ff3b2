"""Loops over bytes as machine code, by numba where it is installed; without it the same comes out, later.

Numba keeps what it has compiled until the file changes in which a loop stands: no loop may use a constant, or
another loop, of another file.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, TypeVar

Loop = TypeVar("Loop", bound=Callable[..., Any])


def machine_code(loop: Loop) -> Loop:
    """A function compiled at its first call, which takes a second or two, or read from numba's cache.

    It may use numbers, arrays and other such functions alone. Its parameters are not checked.
    """
    numba = import_module("numba")
    try:
        compiled: Loop = numba.njit(cache=True)(loop)
    except RuntimeError:  # neither the package's folder nor the user's can be written to
        compiled = numba.njit(loop)
    return compiled


@cache
def loops(name: str) -> ModuleType | None:
    """The module of this package that holds such loops; None where numba is missing."""
    if find_spec("numba") is None:
        return None
    return import_module(f"leadline.build.presence.{name}")
