"""Verdicts in little memory: of a hundred thousand items they are all that is kept."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from pydantic import BaseModel

from leadline.audit.document import ItemVerdict


def lean(verdict: ItemVerdict) -> ItemVerdict:
    """The same verdict, at less than half of its size.

    Each pydantic object carries a set of the names of the fields that were given to it: two kilobytes, the
    same for all objects of a kind. They share one here. Texts that many verdicts have are kept once.
    """
    for model in _parts(verdict):
        if model.model_fields_set == _names(type(model)):
            object.__setattr__(model, "__pydantic_fields_set__", _names(type(model)))
    for name in ("task", "category", "source", "derivation"):
        verdict.__dict__[name] = _once(getattr(verdict, name))
    for name in ("reasons", "remarks"):
        verdict.__dict__[name] = tuple(map(_once, getattr(verdict, name)))
    return verdict


def _parts(verdict: ItemVerdict) -> Iterator[BaseModel]:
    yield verdict
    for span in verdict.spans:
        yield span
        yield from (place for place in (span.in_window, span.in_source) if place is not None)


@cache
def _names(kind: type[BaseModel]) -> set[str]:
    return set(kind.model_fields)


_texts: dict[str, str] = {}
_MOST_TEXTS = 20_000  # then most of what follows is said once only


def _once(text: str) -> str:
    if len(_texts) >= _MOST_TEXTS:
        _texts.clear()
    return _texts.setdefault(text, text)
