"""What a task of lm-evaluation-harness makes of a document: its settings name a field, a template, or a list.

Functions of Python, which settings may name as well, are not run: their results stand in the samples only.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any


def filled(template: object, doc: Mapping[str, Any]) -> str:
    """A template filled with the document, in a sandbox; "" for what is no template, or cannot be filled.

    >>> filled("Q: {{ question }}", {"question": "Why?"})
    'Q: Why?'
    >>> filled("Q: {{ missing }}", {})
    ''
    """
    if not isinstance(template, str) or ("{{" not in template and "{%" not in template):
        return ""
    from leadline.techniques.template_sandbox import fill

    try:
        return fill(template, dict(doc))
    except Exception:  # a template runs whatever filters and operators it names, on values of any type
        return ""


def listed(said: object, doc: Mapping[str, Any]) -> tuple[str, ...]:
    """The options of a document, as `doc_to_choice` says: () where a function makes them.

    >>> listed("{{ [first, second] }}", {"first": "cup", "second": "box"})
    ('cup', 'box')
    >>> listed({"0": "no", "1": "yes"}, {})
    ('no', 'yes')
    """
    if isinstance(said, str):
        said = doc[said] if said in doc else _literal(filled(said, doc))
    if isinstance(said, Mapping):
        said = list(said.values())
    if isinstance(said, list | tuple) and all(isinstance(one, str) for one in said):
        return tuple(said)
    return ()


def _literal(text: str) -> object:
    """A list as Python writes it, which is how the harness hands one on."""
    try:
        return ast.literal_eval(text) if text else None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
