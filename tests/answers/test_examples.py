"""The examples in the docstrings of both rooms are true."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import leadline.answers
import leadline.bench

MODULES = [
    f"{package.__name__}.{module.name}"
    for package in (leadline.answers, leadline.bench)
    for module in pkgutil.iter_modules(package.__path__)
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples() -> None:
    assert sum(doctest.testmod(importlib.import_module(name)).attempted for name in MODULES) >= 4
