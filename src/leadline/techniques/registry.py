"""Finds the techniques: a new one is one new file here with a `Technique` subclass that has a name."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache

import leadline.techniques
from leadline.bench.problem import did_you_mean
from leadline.errors import UsageError
from leadline.techniques.technique import Technique


@cache
def techniques() -> Mapping[str, type[Technique]]:
    """All techniques of this package by name, sorted."""
    found: dict[str, type[Technique]] = {}
    for module in pkgutil.iter_modules(leadline.techniques.__path__):
        if module.name.startswith("_") or module.ispkg:
            continue
        members = vars(importlib.import_module(f"leadline.techniques.{module.name}")).values()
        for member in members:
            if isinstance(member, type) and issubclass(member, Technique) and hasattr(member, "name"):
                found[member.name] = member
    return dict(sorted(found.items()))


def technique_named(name: str) -> type[Technique]:
    """The technique called `name`, or the stack of several joined by "+". "_" is as good as "-".

    Raises UsageError with the nearest name where there is none, and for a stack without a meaning.
    """
    from leadline.techniques.stack import stacked

    known = techniques()
    kinds = []
    for part in name.split("+"):
        spelled = part.strip().replace("_", "-")
        if spelled not in known:
            hint = did_you_mean(spelled, known, otherwise=f"known techniques: {', '.join(known)}")
            raise UsageError(f"there is no technique {part.strip()!r}", fix=hint)
        kinds.append(known[spelled])
    return kinds[0] if len(kinds) == 1 else stacked(tuple(kinds))
