"""One row of a table, wherever it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """What its cells hold, by column; `where` is "file:line", of columnar files "file:row", from 1."""

    where: str
    values: Mapping[str, object]
