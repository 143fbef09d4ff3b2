"""The lines of a UTF-8 file, one after the other, never more of it in memory; faults with line and byte."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from leadline.bench.problem import Problems

# The longest window in its longest spelling (six bytes a character: \uXXXX), and room for the rest.
MAX_LINE_BYTES = 16 * 1024 * 1024
# A longer line is passed over, to what follows it, but not for ever: a file of zeros is one line.
_PASSED_OVER = 1024 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Line:
    """A line: its number from 1, its text with its end, and where its bytes lie in the file."""

    number: int
    text: str
    start: int
    size: int


def text_lines(file: BinaryIO, path: Path, problems: Problems) -> Iterator[Line]:
    """The lines that are text, blank ones too. Only a line feed ends one: JSON strings may hold U+2028."""
    number = offset = 0
    while line := file.readline(MAX_LINE_BYTES + 1):
        number, start, offset = number + 1, offset, offset + len(line)
        if number == 1 and line.startswith((b"\xff\xfe", b"\xfe\xff")):
            problems.add(f"{path}:1", "the file is UTF-16", fix="save it as UTF-8")
            return
        if len(line) > MAX_LINE_BYTES:
            while not line.endswith(b"\n") and (line := file.readline(MAX_LINE_BYTES)):
                offset += len(line)
                if offset - start > _PASSED_OVER:
                    what = f"the line has more than {_PASSED_OVER:,} bytes, and the file is not read further"
                    problems.add(f"{path}:{number}", what, fix="is it a file of items?")
                    problems.cut_short()
                    return
            problems.add(
                f"{path}:{number}",
                f"the line has {offset - start:,} bytes; at most {MAX_LINE_BYTES:,} are read",
                fix="one item a line; long documents belong in shorter windows",
            )
            continue
        try:
            # A byte order mark is harmless at the very start, where Windows editors put it.
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            problems.add(
                f"{path}:{number}:{error.start + 1}",
                f"not UTF-8: byte 0x{line[error.start]:02x} at offset {start + error.start} of the file",
                fix="save the file as UTF-8",
            )
            continue
        yield Line(number, text, start, len(line))
