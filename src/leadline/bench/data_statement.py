"""The data statement of a benchmark: how its items were made, what they cover, what they are not for."""

from __future__ import annotations

from pathlib import Path

from leadline.bench.header import Header, is_plain_name, line_in_header
from leadline.bench.problem import Problems, shortened
from leadline.ordinary_file import opened

README_NAME = "README.md"
_MAX_BYTES = 1024 * 1024
_SUFFIXES = (".md", ".txt", ".rst", ".html")


def statement_file(header: Header, folder: Path) -> Path | None:
    """The file that holds the data statement: the one that is named, or README.md where nothing is said."""
    named = header.data_statement or README_NAME
    if not is_plain_name(named) or "\n" in named:
        return None
    path = folder / named
    must_be = _is_file_name(header.data_statement)
    return path if must_be or path.is_file() else None


def _is_file_name(text: str) -> bool:
    """One word that ends as files of text do."""
    return text.lower().endswith(_SUFFIXES) and not any(map(str.isspace, text)) and "://" not in text


def data_statement(header: Header, header_file: Path, problems: Problems) -> str:
    """The text of the data statement; a file that is named and cannot be read is a problem."""
    named = header.data_statement
    if _is_file_name(named) and not is_plain_name(named):
        fix = "the name of a file in the folder, such as README.md, or the text itself"
        where = line_in_header(header_file, "data_statement")
        problems.add(where, f"'data_statement': {shortened(named)} is not in this folder", fix=fix)
        return ""
    if (path := statement_file(header, header_file.parent)) is None:
        return named
    where = line_in_header(header_file, "data_statement")
    try:
        with opened(path) as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        problems.add(where, f"'data_statement': {path.name} cannot be read: {error.strerror}")
        return ""
    if len(data) > _MAX_BYTES:
        problems.add(where, f"'data_statement': {path.name} is larger than {_MAX_BYTES:,} bytes")
        return ""
    try:
        return data.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        byte = f"byte 0x{data[error.start]:02x} at offset {error.start}"
        problems.add(where, f"'data_statement': {path.name} is not UTF-8: {byte}", fix="save it as UTF-8")
        return ""
