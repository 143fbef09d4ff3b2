"""Benchmarks of any size, item after item: what is read is forgotten again."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from leadline.bench.header import Header
from leadline.bench.items_file import Placed
from leadline.bench.loading import NO_ITEMS_FIX, cannot_read, not_a_path
from leadline.bench.opened import AS_IT_SAYS, Opened, Reading, located, open_path
from leadline.bench.problem import FirstProblem
from leadline.errors import UsageError

__all__ = ["Placed", "Stream", "open_stream"]


class Stream:
    """A benchmark whose items are read while they are looked at; every loop reads the file anew.

    In memory are a few items, and of the others the ids, so that two items cannot have the same one.
    """

    def __init__(self, opened: Opened, header: Header, held: ExitStack, inside: str = "") -> None:
        """See `open_stream`. `held` is closed with the stream; places of items are named from `inside` on."""
        self._opened, self.header, self._inside = opened, header, inside
        self._close = weakref.finalize(self, held.close)

    @property
    def folder(self) -> Path | None:
        """The benchmark's folder, where windows and sources lie; None for a bare item file."""
        return self._opened.folder if self._opened.header_file else None

    @property
    def source(self) -> Path:
        """The item file."""
        return self._opened.items

    def __iter__(self) -> Iterator[Placed]:
        """Items in the order of the file. Raises UsageError at the first fault, and where there are none."""
        empty = True
        try:
            for placed in self._opened.read(FirstProblem()):
                empty = False
                yield replace(placed, where=placed.where.removeprefix(self._inside))
        except OSError as error:
            raise cannot_read(error, self.source) from error
        if empty:
            raise UsageError("the file holds no items", where=f"{self.source}:1", fix=NO_ITEMS_FIX)


def open_stream(ref: str | Path, reading: Reading = AS_IT_SAYS) -> Stream:
    """The benchmark at `ref` (a bundled name, a folder or an item file), to be read item by item.

    `reading` says how bare files and datasets are read; see `leadline.bench.loading.inspect_benchmark`.

    Raises UsageError for a faulty header and where there is no benchmark.

    >>> stream = open_stream("facts")
    >>> stream.header.name, next(iter(stream)).item.answer_type
    ('facts', 'text')
    """
    stack = ExitStack()
    path = located(ref, stack)
    try:
        opened = open_path(path, FirstProblem(), reading)
    except OSError as error:
        raise cannot_read(error, path) from error
    except ValueError as error:
        raise not_a_path(error) from error
    assert opened is not None and opened.header is not None  # else there was a problem, which was raised
    # Where the package is installed says nothing about a bundled benchmark.
    inside = "" if path == Path(ref) else f"{opened.folder.parent}{os.sep}"
    return Stream(opened, opened.header, stack, inside)
