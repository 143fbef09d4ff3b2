"""A sheet as it comes back from its reader: through spreadsheets, and only whole.

Spreadsheets change separators, encodings, quotes, line ends, the order of rows and the number of columns, all
of which is undone here by tokens and column names. What is lacking, doubled, foreign or changed is refused:
agreement over some of the rows is not the agreement over the sample.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from leadline.bench.problem import shortened
from leadline.documents.encoding import decode
from leadline.errors import UsageError
from leadline.ordinary_file import content
from leadline.report.audit_csv import spreadsheet_safe
from leadline.review.pack import Pack, PackRow
from leadline.review.sheet import COLUMNS, SHEET, Answer

_NEEDED = ("token", "question", "answer")
_READERS = ("answer", "quote", "note")
_MOST_BYTES = 64 * 2**20
_UNSEEN = " \t\r\n\u00a0\u200b\u200c\u200d\u2060\ufeff"
# What a spreadsheet puts in the place of what it took for a formula, or could not fit into a column.
_BROKEN = re.compile(r"#(?:NAME\?|VALUE!|REF!|DIV/0!|NUM!|NULL!|N/A|WERT!|BEZUG!|ZAHL!|NOM\?)|#{3,}")
_GUARDED = re.compile(r"'[=+\-@＝＋－＠\d]")
_NAMED = 5


@dataclass(frozen=True)
class FilledSheet:
    """A sheet in which every row of the pack is answered: answers by token, the file's sha256, and `notes`
    on what was undone in it."""

    answers: Mapping[str, Answer]
    sha256: str
    notes: tuple[str, ...] = ()


def read_sheet(pack: Pack, path: Path) -> FilledSheet:
    """The filled sheet of `pack` at `path`.

    Raises UsageError, in one line with what to do, for a file that is no such sheet, one of another pack, one
    with rows that are unknown, doubled, missing or show another question, and one that is not filled in all
    of its rows: blanks alone are no answer.
    """
    found = read_begun_sheet(pack, path)
    _refuse_unfilled(pack, found.answers, path)
    return found


def read_begun_sheet(pack: Pack, path: Path) -> FilledSheet:
    """The same of a sheet that is still being filled in: a row that is not answered has a blank answer."""
    try:
        data = content(path, _MOST_BYTES)
    except OSError as error:
        fix = "--sheet FILE names the sheet that was filled in"
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path), fix=fix) from None
    text, notes = _text(data, path)
    names, rows = _table(text, path)
    extra = [name for name in names if name and name not in COLUMNS]
    if extra:
        notes.append(f"columns that are not read: {', '.join(map(shortened, extra))}")
    known = [(line, cells) for line, cells in rows if cells["token"] in pack.by_token]
    _refuse_others(pack, rows, known, path)
    answers = {}
    for line, cells in known:
        row = pack.by_token[cells["token"]]
        _refuse_changed(row, cells, f"{path}:{line}")
        answers[row.token] = Answer(*(_unguarded(cells.get(name, "")) for name in _READERS))
    return FilledSheet(answers, hashlib.sha256(data).hexdigest(), tuple(notes))


def rows_named(rows: Iterable[int]) -> str:
    """Such as "row 3" or "rows 3, 7, 9 and 4 more"."""
    listed = sorted(rows)
    named = ", ".join(map(str, listed[:_NAMED]))
    more = f" and {len(listed) - _NAMED:,} more" if len(listed) > _NAMED else ""
    return f"row{'' if len(listed) == 1 else 's'} {named}{more}"


def _text(data: bytes, path: Path) -> tuple[str, list[str]]:
    if len(data) > _MOST_BYTES:
        raise UsageError(f"is too large for a sheet: {len(data):,} bytes", where=str(path))
    if data.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        fix = "save it as CSV (UTF-8) and give that file with --sheet"
        raise UsageError("is a spreadsheet's own file, not CSV", where=str(path), fix=fix)
    decoded = decode(data)
    notes = list(decoded.notes)
    if decoded.encoding != "utf-8" and not notes:
        notes.append(f"read as {decoded.encoding}")
    return decoded.text, notes


def _table(text: str, path: Path) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    """Column names, and rows (line, cells by column) that are not blank."""
    first, _, rest = text.partition("\n")
    skipped = 0
    if re.fullmatch(r'"?sep=.?"?\s*', first, re.IGNORECASE):  # tells Excel which separator follows
        first, text, skipped = rest.partition("\n")[0], rest, 1
    head = first.split("\r")[0]
    delimiter = max((",", ";", "\t"), key=head.count)
    names: list[str] = []
    rows = []
    for line, cells in _lines(text, delimiter, skipped, path):
        while cells and not cells[-1].strip(_UNSEEN):
            cells.pop()
        if not cells:
            continue
        if not names:
            names = [cell.strip(_UNSEEN).casefold() for cell in cells]
            _check_names(names, f"{path}:{line}")
            continue
        if len(cells) > len(names):
            what = f"the row has {len(cells)} cells, the first row names {len(names)} columns"
            fix = f"a cell that holds {shortened(delimiter)} or a line break stands in double quotes"
            raise UsageError(what, where=f"{path}:{line}", fix=fix)
        filled = [*cells, *[""] * (len(names) - len(cells))]
        found = {name: cell for name, cell in zip(names, filled, strict=True) if name}
        rows.append((line, found | {"token": found["token"].strip(_UNSEEN)}))
    if not names:
        raise UsageError("is empty", where=str(path), fix=f"fill in the pack's {SHEET}")
    return names, rows


def _lines(text: str, delimiter: str, skipped: int, path: Path) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1 + skipped
    try:
        for cells in reader:
            yield line, cells
            line = reader.line_num + 1 + skipped
    except csv.Error as error:
        what = str(error).replace("unexpected end of data", "a double quote is not closed")
        raise UsageError(f"broken CSV: {what}", where=f"{path}:{line}", fix='in quotes, " is ""') from None


def _check_names(names: Sequence[str], where: str) -> None:
    lacking = [name for name in _NEEDED if name not in names]
    if lacking:
        what = f"the sheet has no column {', '.join(map(repr, lacking))}"
        raise UsageError(what, where=where, fix=f"keep the first row of {SHEET} as it is")
    twice = [name for name, number in Counter(names).items() if name and number > 1]
    if twice:
        raise UsageError(f"two columns are called {twice[0]!r}", where=where, fix="keep one of them")


def _refuse_others(
    pack: Pack,
    rows: Sequence[tuple[int, dict[str, str]]],
    known: Sequence[tuple[int, dict[str, str]]],
    path: Path,
) -> None:
    if rows and not known:
        fix = f"fill in {SHEET} of this pack, or name the pack that the sheet is of"
        raise UsageError(
            "is the sheet of another pack: none of its tokens is known", where=str(path), fix=fix
        )
    if len(known) < len(rows):
        line, cells = next(one for one in rows if one[1]["token"] not in pack.by_token)
        token = shortened(cells["token"]) if cells["token"] else "without a token"
        number = len(rows) - len(known)
        verb = "row is" if number == 1 else "rows are"
        what = f"{number:,} {verb} not of this pack, the first is {token}"
        raise UsageError(what, where=f"{path}:{line}", fix="remove them, or restore their tokens")
    counted = Counter(cells["token"] for _, cells in known)
    twice = [pack.by_token[token].number for token, number in counted.items() if number > 1]
    if twice:
        what = f"the sheet has {rows_named(twice)} more than once"
        raise UsageError(what, where=str(path), fix="keep one reading of each row")
    missing = [row.number for row in pack.rows if row.token not in counted]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        what = f"{len(missing):,} of {len(pack.rows):,} rows {verb} missing: {rows_named(missing)}"
        raise UsageError(what, where=str(path), fix=f"restore them from the pack's {SHEET}")


def _refuse_changed(row: PackRow, cells: Mapping[str, str], where: str) -> None:
    if _folded(cells["question"]) != _folded(spreadsheet_safe(row.view.question)):
        what = f"row {row.number} shows another question than the pack asks: {shortened(cells['question'])}"
        fix = "restore the row's question and token, and save the sheet as CSV in UTF-8"
        raise UsageError(what, where=where, fix=fix)
    if broken := _BROKEN.fullmatch(cells["answer"].strip(_UNSEEN)):
        what = f"row {row.number}: {broken[0]} is a spreadsheet's error, the answer itself is lost"
        raise UsageError(what, where=where, fix="format the column as Text and write the answer again")


def _refuse_unfilled(pack: Pack, answers: Mapping[str, Answer], path: Path) -> None:
    blank = [row.number for row in pack.rows if not answers[row.token].answer]
    if blank:
        filled = len(pack.rows) - len(blank)
        what = f"{filled:,} of {len(pack.rows):,} rows are answered"
        if filled:
            what += f", {rows_named(blank)} {'is' if len(blank) == 1 else 'are'} blank"
        fix = "answer every row; write ? where the text cannot settle the question"
        raise UsageError(what, where=str(path), fix=fix)


def _folded(cell: str) -> str:
    """A question without what spreadsheets do to it: blanks, line ends, the guard against formulas."""
    return " ".join(unicodedata.normalize("NFC", cell).split()).lstrip("'")


def _unguarded(cell: str) -> str:
    """A reader's cell without the blanks around it and the apostrophe that keeps it from being a formula."""
    cell = cell.strip(_UNSEEN)
    return cell[1:].strip(_UNSEEN) if _GUARDED.match(cell) else cell
