"""What is true of every file of the package."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "leadline"
FILES = sorted(SOURCE.rglob("*.py"))
NAMELESS = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "base"}
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def name(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def test_the_package_was_found() -> None:
    assert len(FILES) > 50


@pytest.mark.parametrize("path", FILES, ids=name)
def test_no_file_is_too_long_to_be_read_at_once(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


def test_modules_are_named_by_what_they_hold() -> None:
    parts = {part for path in FILES for part in path.relative_to(SOURCE).with_suffix("").parts}
    assert not parts & NAMELESS


def public(tree: ast.Module) -> Iterator[tuple[str, Definition]]:
    """Functions and classes of a module that others may use, and the public methods of such a class."""
    for node in tree.body:
        if isinstance(node, Definition) and not node.name.startswith("_"):
            yield node.name, node
            if isinstance(node, ast.ClassDef):
                for method in node.body:
                    if isinstance(method, Definition) and not method.name.startswith("_"):
                        yield f"{node.name}.{method.name}", method


@cache
def documented_names() -> frozenset[str]:
    """Methods that some class documents: who implements an interface need not repeat what it says."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in FILES]
    named = (pair for tree in trees for pair in public(tree))
    return frozenset(title.split(".")[1] for title, node in named if "." in title and ast.get_docstring(node))


@pytest.mark.parametrize("path", FILES, ids=name)
def test_what_others_may_use_says_what_it_does(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inherited = documented_names()
    silent = [
        title
        for title, node in public(tree)
        if not ast.get_docstring(node) and title.partition(".")[2] not in inherited
    ]
    assert not silent
    assert ast.get_docstring(tree), "the module says nothing of itself"
