"""Seals: a number beside every row of a study's database, by which damage within the row shows.

SQLite notices damage to the structure of its file, and not a byte that turned over within a text. A seal is a
CRC-32 of all that its row holds (31 bits of an answer, which are stored in four bytes). It guards against
disks and copies, not against people: whoever changes a row can make its seal as well.

Of an answer, the stages before its last text have a CRC of their own, in the upper half of the seal: they are
long and seldom read.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Sequence
from itertools import repeat
from typing import Any
from zlib import crc32

import numpy as np

from leadline.study.tables import COLUMNS

ANSWERS = "responses"
_NO_PARTS = "[]"
_FACTOR = 0x9E3779B97F4A7C15  # odd, so that no two numbers become one
_MASK = 2**64 - 1
_FLOAT = struct.Struct("<d")
_BITS = struct.Struct("<Q")


class DamagedRow(sqlite3.DatabaseError):
    """A row is not what was stored."""


def row_seal(table: str, values: Sequence[Any]) -> int:
    """The seal of a row of any table but that of answers.

    >>> row_seal("models", ("m", "{}")) == row_seal("models", ("m", "[]"))
    False
    """
    parts = [table.encode()]
    for value in values:
        if isinstance(value, float) and not value.is_integer():
            parts.append(b"f" + _FLOAT.pack(value))
        elif isinstance(value, int | float):  # a column of real numbers gives back 3 as 3.0
            parts.append(b"i%d" % int(value))
        elif value is None:
            parts.append(b"n")
        else:
            parts.append(b"s" + (value if isinstance(value, bytes) else str(value).encode()))
    return crc32(b"\0".join(parts))


def answer_seal(row: Sequence[Any]) -> int:
    """The seal of an answer, of its columns in order: both halves."""
    configuration, item, asked, sample, text, finish, tokens_in, tokens_out, stages, probes, run, created = (
        row
    )
    words = crc32("\0".join((item, asked, text, finish)).encode(), crc32(configuration.encode()))
    if probes != _NO_PARTS:
        words = crc32(probes.encode(), words)
    mixed = 0
    for number in (sample, tokens_in, tokens_out, run):
        mixed = ((mixed ^ (int(number) & _MASK)) * _FACTOR) & _MASK
    bits: int = _BITS.unpack(_FLOAT.pack(created))[0]
    mixed = ((mixed ^ bits) * _FACTOR) & _MASK
    return (stages_seal(stages) << 31) | ((words ^ (mixed >> 32)) & 0x7FFFFFFF)


def stages_seal(stages: str) -> int:
    """The upper half of an answer's seal."""
    return 0 if stages == _NO_PARTS else crc32(stages.encode())


def check_answers(configuration: str, columns: Sequence[Sequence[Any]]) -> None:
    """Raise DamagedRow unless the lower halves fit: for many answers of one configuration at once.

    `columns`: item, asked, sample, text, finish, tokens_in, tokens_out, probes (None: none), run, created,
    seal.
    """
    items, wordings, samples, texts, finishes, tokens_in, tokens_out, probes, runs, created, seals = columns
    try:
        joined = map("\0".join, zip(items, wordings, texts, finishes, strict=True))
        begun = crc32(configuration.encode())
        words = np.fromiter(map(crc32, map(str.encode, joined), repeat(begun)), np.uint64, len(items))
        if any(probes):
            for at, probe in enumerate(probes):
                if probe is not None:
                    words[at] = crc32(probe.encode(), int(words[at]))
        mixed = np.zeros(len(items), np.uint64)
        factor = np.uint64(_FACTOR)
        for numbers in (samples, tokens_in, tokens_out, runs):
            mixed = (mixed ^ np.array(numbers, np.int64).view(np.uint64)) * factor
        mixed = (mixed ^ np.array(created, np.float64).view(np.uint64)) * factor
        found = (words ^ (mixed >> np.uint64(32))) & np.uint64(0x7FFFFFFF)
        told = np.array(seals, np.int64).view(np.uint64) & np.uint64(0x7FFFFFFF)
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise DamagedRow(f"a row is damaged ({error})") from error
    if (wrong := np.flatnonzero(found != told)).size:
        at = int(wrong[0])
        more = f", and {wrong.size - 1:,} more" if wrong.size > 1 else ""
        raise DamagedRow(f"an answer is damaged (item {items[at]}, sample {samples[at]}{more})")


def fits(table: str, values: Sequence[Any], seal: Any) -> bool:
    """Whether a whole row is what its seal says; never raises."""
    try:
        return bool(seal == (answer_seal(values) if table == ANSWERS else row_seal(table, values)))
    except (TypeError, ValueError, AttributeError, OverflowError, struct.error):
        return False


def register(connection: sqlite3.Connection) -> None:
    """Make `seal_of('table', every column in order)` a function of this connection's SQL."""

    def seal_of(table: str, *values: Any) -> int:
        return answer_seal(values) if table == ANSWERS else row_seal(table, values)

    connection.create_function("seal_of", -1, seal_of, deterministic=True)


def insert(table: str, how: str = "INSERT") -> str:
    """The statement that stores a row with its seal; its values are all other columns in order."""
    names = COLUMNS[table]
    places = ", ".join(f"?{at + 1}" for at in range(len(names)))
    return f"{how} INTO {table} ({', '.join(names)}, seal) VALUES ({places}, seal_of('{table}', {places}))"


def reseal(table: str, which: str = "1") -> str:
    """The statement that seals rows anew after a change; `which` is a condition."""
    return f"UPDATE {table} SET seal = seal_of('{table}', {', '.join(COLUMNS[table])}) WHERE {which}"


def check_rows(connection: sqlite3.Connection) -> None:
    """Raise DamagedRow for a row that is not what was stored, in any table but that of answers; and for
    answers of a configuration that nothing is known of."""
    for table, names in COLUMNS.items():
        if table == ANSWERS:
            continue
        for *values, seal in connection.execute(f"SELECT {', '.join(names)}, seal FROM {table}"):
            if not fits(table, values, seal):
                raise DamagedRow(f"a row of {table} is damaged")
    next_one = "SELECT MIN(configuration) FROM responses WHERE configuration > ?"
    answered: list[str] = []
    while (
        found := connection.execute(next_one, (answered[-1] if answered else "",)).fetchone()[0]
    ) is not None:
        answered.append(found)
    # In this order: what another process adds meanwhile is known before it is answered.
    known = dict(connection.execute("SELECT id, description FROM configurations").fetchall())
    if not known.keys() >= set(answered):
        raise DamagedRow("there are answers of a configuration that is not known")
    # An empty page of another table in the place of one of these leaves no row with a seal to look at.
    needed = {"runs": answered, "models": [one for one in answered if '"digest"' in known[one]]}
    for table, by in needed.items():
        if by and not connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone():
            raise DamagedRow(f"there are answers, and no {table}")
