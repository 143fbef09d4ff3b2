"""Dumps of a wiki's tables as mysqldump writes them, for tests."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Sequence
from pathlib import Path

from leadline.build.link.sql_value import Value

COLUMNS = {
    "page": ("page_id", "page_namespace", "page_title", "page_is_redirect", "page_random"),
    "page_props": ("pp_page", "pp_propname", "pp_value", "pp_sortkey"),
    "redirect": ("rd_from", "rd_namespace", "rd_title", "rd_interwiki", "rd_fragment"),
}
_ESCAPES = {0: rb"\0", 10: rb"\n", 13: rb"\r", 26: rb"\Z", 34: rb"\"", 39: rb"\'", 92: rb"\\"}


def literal(value: Value) -> bytes:
    """A value as mysqldump writes it."""
    if value is None:
        return b"NULL"
    if isinstance(value, bytes):
        return b"'" + b"".join(_ESCAPES.get(byte, bytes([byte])) for byte in value) + b"'"
    return repr(value).encode()


def dump(
    table: str, rows: Iterable[Sequence[Value]], columns: Sequence[str] = (), between: bytes = b","
) -> bytes:
    """A whole dump of one table; `between` stands between two rows."""
    named = columns or COLUMNS[table]
    create = ",\n".join(f"  `{name}` varbinary(255) NOT NULL DEFAULT ''" for name in named)
    text = (
        f"-- MySQL dump 10.19\n\nDROP TABLE IF EXISTS `{table}`;\nCREATE TABLE `{table}` (\n{create},\n"
        f"  PRIMARY KEY (`{named[0]}`)\n) ENGINE=InnoDB;\n/*!40000 ALTER TABLE `{table}` DISABLE KEYS */;\n"
    ).encode()
    written = [b"(" + b",".join(map(literal, row)) + b")" for row in rows]
    if written:
        text += f"INSERT INTO `{table}` VALUES ".encode() + between.join(written) + b";\n"
    return text + b"\n-- Dump completed on 2024-05-01 12:03:12\n"


def write_dump(
    folder: Path, table: str, rows: Iterable[Sequence[Value]], columns: Sequence[str] = ()
) -> Path:
    """The dump as a packed file, named as Wikimedia names it."""
    path = folder / f"xxwiki-20240501-{table}.sql.gz"
    path.write_bytes(gzip.compress(dump(table, rows, columns)))
    return path
