"""Joins the parts of the verifier into one file, verify.py, that needs nothing but Python."""

from __future__ import annotations

import ast
import re
from importlib import resources

from leadline import __version__

# In this order each part finds what it uses above itself.
PARTS = (
    "faults", "files", "intervals", "alike", "ranks", "resampling", "drawn", "expected", "loading",
    "earlier", "decisions", "populated", "described", "datasheet", "texts", "plain_values",
    "rereading", "pack_sentences", "pack_weights", "pack_scores", "packs", "votes", "cells",
    "lens_accuracy", "lens_transitions", "lens_rank_shift", "lens_beyond",
    "lens_budget", "lens_wobble", "dealt_categories", "lens_worst", "lens_reliability", "lens_observability",
    "lens_labels", "top_sets", "transfer_figures", "lens_families", "lens_transfer", "asked_again",
    "lens_steadiness", "dealt_groups", "lens_contrast", "lens_exclusion", "lens_adjudication",
    "small_changes", "lens_equivalence", "registered", "lens_repair", "tables", "claimed",
    "claims_of_models", "claims", "claim_numbers", "methods", "program",
)  # fmt: skip
_PACKAGE = "leadline.bundle.verifier"
_HEAD = '''#!/usr/bin/env python3
"""Recomputes every figure of this bundle's findings.json from its answers.

    python verify.py [FOLDER] [--json]

One file, Python 3.9 or newer, standard library only. It shares no code with the program that made the
findings: the two agree because both follow the definitions. Made by Leadline {version}; Apache License 2.0.
"""
'''


def verifier() -> str:
    """The text of verify.py: the parts one below the other, imports of each other taken out."""
    folder = resources.files(_PACKAGE)
    outside: set[str] = set()
    bodies = []
    for part in PARTS:
        source = folder.joinpath(f"{part}.py").read_text(encoding="utf-8")
        body, imports = _taken_apart(_told_apart(source, part))
        outside |= imports
        bodies.append(body)
    head = _HEAD.format(version=__version__) + "\nfrom __future__ import annotations\n\n"
    return head + "\n".join(sorted(outside, key=_order)) + "\n" + "".join(f"\n\n{body}\n" for body in bodies)


def _told_apart(source: str, part: str) -> str:
    """A part whose private names bear its own, for in one file they would meet those of other parts."""
    private = {name for node in ast.parse(source).body for name in defined(node) if name.startswith("_")}
    if not private:
        return source
    # Not by tokens: what stands within an f-string is none before Python 3.12.
    words = re.compile(rf"(?<![\w.])({'|'.join(sorted(private, key=len, reverse=True))})\b")
    return words.sub(rf"_{part}\1", source)


def defined(node: ast.stmt) -> list[str]:
    """The names that a statement at the top of a file gives a meaning to; imports aside."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else []
    if isinstance(node, ast.AnnAssign):
        targets = [node.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _taken_apart(source: str) -> tuple[str, set[str]]:
    """A part without its docstring and the imports at its head, and those of the imports that lead
    outside."""
    lines = source.splitlines()
    imports: set[str] = set()
    removed: set[int] = set()
    for node in ast.parse(source).body:
        is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not is_docstring and not isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        removed |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        if isinstance(node, ast.ImportFrom) and node.module != "__future__":
            if not (node.module or "").startswith("leadline"):
                imports |= {f"from {node.module} import {_written(name)}" for name in node.names}
        elif isinstance(node, ast.Import):
            imports |= {f"import {_written(name)}" for name in node.names}
    docstring = ast.get_docstring(ast.parse(source)) or ""
    kept = [line for number, line in enumerate(lines, 1) if number not in removed]
    comment = "\n".join(f"# {line}".rstrip() for line in docstring.splitlines())
    return comment + "\n\n" + "\n".join(kept).strip("\n"), imports


def _written(name: ast.alias) -> str:
    return f"{name.name} as {name.asname}" if name.asname else name.name


def _order(line: str) -> tuple[bool, str]:
    return line.startswith("from"), line
