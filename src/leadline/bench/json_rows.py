"""Rows of JSON files: one object a line, or one list of objects, one at a time in memory."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from leadline.bench.json_text import DECODER, add_fault, an_object, read_object
from leadline.bench.problem import Problems
from leadline.bench.row import Row
from leadline.bench.text_lines import MAX_LINE_BYTES, text_lines
from leadline.ordinary_file import opened

# Keys under which files that are one object keep their list.
LISTS = ("data", "items", "rows", "examples")
_CHUNK = 1024 * 1024
_LIST_FIX = f"[{{...}}, {{...}}], or an object with a list as one of: {', '.join(LISTS)}"


def json_line_rows(path: Path, problems: Problems) -> Iterator[Row]:
    """One JSON object a line. Raises OSError."""
    with opened(path) as file:
        for line in text_lines(file, path, problems):
            where = f"{path}:{line.number}"
            if line.text.strip() and (values := read_object(line.text.rstrip("\r\n"), where, problems)):
                yield Row(where, values)


def json_list_rows(path: Path, problems: Problems) -> Iterator[Row]:
    """The objects of the list that the file is or holds, with the lines they begin on. Raises OSError."""
    with opened(path) as file:
        for where, entry in _Reader(file, path, problems).entries():
            if (values := an_object(entry, where, problems)) is not None:
                yield Row(where, values)


class _BrokenError(Exception):
    """The file cannot be read on; the problem is noted."""


class _Reader:
    """A JSON file, decoded and parsed piece by piece."""

    def __init__(self, file: BinaryIO, path: Path, problems: Problems) -> None:
        self._file, self._path, self._problems = file, path, problems
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._text, self._at, self._line, self._bytes = "", 0, 1, 0
        self._ended = False

    @property
    def _where(self) -> str:
        return f"{self._path}:{self._line}"

    def entries(self) -> Iterator[tuple[str, object]]:
        """Place and value of each entry of the list; a fault ends them."""
        try:
            sign = self._next_sign()
            if sign == "{":
                sign = self._find_list()
            elif sign != "[":
                what = "the file is empty" if not sign else "expected a list of JSON objects"
                self._refuse(what)
            self._at += 1
            if self._next_sign() == "]":
                return
            while True:
                self._next_sign()
                where = self._where
                yield where, self._value()
                if self._separator("]") == "]":
                    return
        except _BrokenError:
            self._problems.cut_short()

    def _find_list(self) -> str:
        """Goes to the list within an object."""
        self._at += 1
        sign = self._next_sign()
        while sign != "}":
            key = self._value()
            if not isinstance(key, str) or self._next_sign() != ":":
                self._refuse("broken JSON: expected a key and a colon")
            self._at += 1
            sign = self._next_sign()
            if key in LISTS and sign == "[":
                return sign
            self._value()
            sign = self._separator("}")
            if sign == ",":
                sign = self._next_sign()
        self._problems.add(f"{self._path}:1", "expected a list, found an object without one", fix=_LIST_FIX)
        raise _BrokenError

    def _separator(self, end: str) -> str:
        """Past a comma, or at the `end`."""
        sign = self._next_sign()
        if sign not in (",", end):
            self._refuse(
                f"broken JSON: expected ',' or '{end}'" if sign else "broken JSON: the file ends too soon"
            )
        self._at += sign == ","
        return sign

    def _value(self) -> object:
        """The value that begins here."""
        while True:
            try:
                value, end = DECODER.raw_decode(self._text, self._at)
                # A number that ends with what was read may go on.
                if end < len(self._text) or self._ended:
                    self._advance(end)
                    return value
            except RecursionError as error:
                add_fault(error, self._where, self._problems)
                raise _BrokenError from None
            except ValueError as error:
                if self._ended or len(self._text) - self._at > MAX_LINE_BYTES:
                    if isinstance(error, json.JSONDecodeError):
                        self._advance(min(error.pos, len(self._text)))
                    add_fault(error, self._where, self._problems)
                    raise _BrokenError from None
            self._read_on()

    def _next_sign(self) -> str:
        """The next sign that is not blank, "" at the end; stays before it."""
        while True:
            at = self._at
            while at < len(self._text) and self._text[at] in " \t\r\n":
                at += 1
            self._advance(at)
            if at < len(self._text):
                return self._text[at]
            if self._ended:
                return ""
            self._read_on()

    def _advance(self, end: int) -> None:
        self._line += self._text.count("\n", self._at, end)
        self._at = end

    def _read_on(self) -> None:
        # Twice as much each time, so that a long value is not parsed again and again.
        data = self._file.read(max(_CHUNK, len(self._text) - self._at))
        if not self._bytes and data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            self._problems.add(f"{self._path}:1", "the file is UTF-16", fix="save it as UTF-8")
            raise _BrokenError
        if not self._bytes:
            data = data.removeprefix(codecs.BOM_UTF8)
        try:
            text = self._decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            line = self._line + self._text.count("\n", self._at) + error.object.count(b"\n", 0, error.start)
            message = f"not UTF-8: byte 0x{error.object[error.start]:02x}"
            self._problems.add(f"{self._path}:{line}", message, fix="save the file as UTF-8")
            raise _BrokenError from None
        self._bytes += len(data)
        self._ended = not data
        self._text, self._at = self._text[self._at :] + text, 0

    def _refuse(self, message: str) -> None:
        self._problems.add(self._where, message, fix=_LIST_FIX)
        raise _BrokenError
