"""What a study has stored and found, for comparison."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

Identity = tuple[str, str, str, int]  # configuration, item, wording, sample
Stored = dict[Identity, dict[str, Any]]


def rows(folder: Path) -> Stored:
    """All responses by what they are unique on."""
    path = folder / "responses.sqlite"
    if not path.exists():
        return {}
    with sqlite3.connect(path) as database:
        database.row_factory = sqlite3.Row
        try:
            found = [dict(row) for row in database.execute("SELECT * FROM responses")]
        except sqlite3.OperationalError as error:  # killed before the tables were made
            assert "no such table" in str(error)
            return {}
        finally:
            database.commit()
    database.close()
    return {(row["configuration"], row["item"], row["asked"], row["sample"]): row for row in found}


def texts(folder: Path) -> dict[Identity, tuple[object, ...]]:
    """What was answered, without when and in which run."""
    kept = ("text", "finish", "tokens_in", "tokens_out", "stages")
    return {identity: tuple(row[name] for name in kept) for identity, row in rows(folder).items()}


def drawn_per_run(folder: Path) -> dict[int, int]:
    """Run → number of the stored answers that it drew."""
    counts: dict[int, int] = {}
    for row in rows(folder).values():
        counts[row["run"]] = counts.get(row["run"], 0) + 1
    return counts


def runs(folder: Path) -> int:
    """How many runs have begun."""
    with sqlite3.connect(folder / "responses.sqlite") as database:
        number = database.execute("SELECT count(*) FROM runs").fetchone()[0]
    database.close()
    return int(number)


def findings(folder: Path, out: str = "report") -> dict[str, Any]:
    """findings.json without the time at which it was made."""
    document: dict[str, Any] = json.loads((folder / out / "findings.json").read_text("utf-8"))
    assert document.pop("created")
    return document


def table(document: dict[str, Any], lens: str, name: str) -> list[dict[str, Any]]:
    """The rows of one table."""
    (found,) = (one for one in document["findings"] if (one["lens"], one["table"]) == (lens, name))
    rows: list[dict[str, Any]] = found["rows"]
    return rows
