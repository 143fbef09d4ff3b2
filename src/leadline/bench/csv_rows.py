"""Rows of CSV and TSV files, as spreadsheets write them; ragged ones are faults with their line."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from leadline.bench.problem import Problems, shortened
from leadline.bench.row import Row
from leadline.bench.text_lines import MAX_LINE_BYTES, text_lines
from leadline.ordinary_file import opened

_DELIMITERS = (",", ";", "\t")


def csv_rows(path: Path, problems: Problems, delimiter: str | None = None) -> Iterator[Row]:
    """The rows of `path` under the names in its first row; empty cells are left out, blank rows skipped.

    Without a `delimiter` it is the one of comma, semicolon and tab that the first line has most of. Raises
    OSError.
    """
    csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE_BYTES))
    with opened(path) as file:
        lines = _sound_lines(file, path, problems)
        first = next(lines, None)
        if first is None:
            return
        used = delimiter or max(_DELIMITERS, key=first.count)
        reader = csv.reader(chain([first], lines), delimiter=used, strict=True)
        names: list[str] = []
        line = 1
        try:
            for cells in reader:
                line, begun = reader.line_num + 1, line
                if not any(cells):
                    continue
                if not names:
                    names = [cell.strip() for cell in cells]
                    if not _are_names(names, f"{path}:{begun}", problems):
                        return
                    continue
                if len(cells) != len(names):
                    message = f"the row has {len(cells)} cells, the first row has {len(names)}"
                    fix = f"a cell that holds {shortened(used)} or a line break stands in double quotes"
                    problems.add(f"{path}:{begun}", message, fix=fix)
                    continue
                values = {name: cell or None for name, cell in zip(names, cells, strict=True) if name}
                yield Row(f"{path}:{begun}", values)
        except csv.Error as error:
            what = str(error).replace("unexpected end of data", "a double quote is not closed")
            problems.add(f"{path}:{line}", f"broken CSV: {what}", fix='inside of quotes, " is written ""')
            problems.cut_short()


def _sound_lines(file: BinaryIO, path: Path, problems: Problems) -> Iterator[str]:
    """Lines up to the first that is no text: what follows would be taken for cells of another row."""
    for number, line in enumerate(text_lines(file, path, problems), start=1):
        if line.number != number:
            break
        yield line.text
    else:
        return
    problems.cut_short()


def _are_names(names: list[str], where: str, problems: Problems) -> bool:
    twice = sorted(name for name, number in Counter(names).items() if name and number > 1)
    for name in twice:
        problems.add(where, f"two columns are called {shortened(name)}", fix="give each a name of its own")
    if twice:
        problems.cut_short()
    return not twice
