"""Reads the rows of a MediaWiki SQL dump as a stream: page, page_props, redirect and any other table.

Dumps are written by mysqldump: `CREATE TABLE` names the columns, which differ between MediaWiki versions, and
`INSERT INTO ... VALUES (...),(...);` holds the rows, all on one line or each on its own. A file that is cut
off or garbled ends in an error with its line: what was read until then is not the table.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from io import BufferedReader
from operator import itemgetter
from pathlib import Path

from leadline.build.link.sql_value import Value, value
from leadline.errors import LeadlineError, UsageError

# Rows are matched a block at a time by one regular expression, which is what makes pure Python fast enough.
_BLOCK = 1 << 20
# Rows of these tables are below 70 kB: one that is still not whole after so many bytes never will be.
_LONGEST = 1 << 24
_HEAD = 1 << 16  # longest text between INSERT and its first row

_STRING = rb"'[^'\\]*+(?:(?:\\.|'')[^'\\]*+)*+'"
# mysqldump writes binary columns of newer servers as _binary '...', or 0x... when asked to.
_NUMBER = rb"[-+]?+[0-9]++(?:\.[0-9]*+)?+(?:[eE][-+]?+[0-9]++)?+"
_LITERAL = rb"(?:" + _NUMBER + rb"|(?:_\w++ ?)?+" + _STRING + rb"|NULL|0x(?:[0-9a-fA-F]{2})++)"
_INSERT = re.compile(
    rb"(?:INSERT|REPLACE)\s+(?:IGNORE\s+)?INTO\s+`([^`]+)`\s*(?:\(([^()]*)\)\s*)?VALUES\s*(?=\()", re.I
)
_CREATE = re.compile(rb"CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?`([^`]+)`", re.I)
_COLUMN = re.compile(rb"^\s*`([^`]+)`\s", re.M)
_ENDS = re.compile(rb";[ \t\r]*(?:\n|\Z)")
_COMMENT = re.compile(rb"/\*.*?\*/[ \t]*;?|(?:--|#)[^\n]*(?:\n|\Z)", re.S)
_OTHER = re.compile(rb"(?:CREATE|DROP|ALTER|LOCK|UNLOCK|SET|USE|START|BEGIN|COMMIT|TRUNCATE)\b", re.I)
_MAY_BE_ROW = re.compile(rb"\s*+(?:\(|\Z)")
_SPACE = re.compile(rb"[\s;\xef\xbb\xbf]*")


def read_rows(
    path: Path, table: str, columns: Sequence[str], optional: Sequence[str] = ()
) -> Iterator[tuple[Value, ...]]:
    """The rows of a table, each with the values of `columns` in that order: bytes, int, float or None.

    Columns named in `optional` may be missing from the table and are None then. Rows stand in the order of
    the file; nothing is filtered. Raises LeadlineError where the file is cut off, garbled, or no dump of that
    table.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "page.sql"
    ...     _ = file.write_text("CREATE TABLE `page` (\\n `id` int,\\n `title` blob\\n);\\n"
    ...                         "INSERT INTO `page` VALUES (1,'It\\\\'s'),\\n (2,NULL);\\n")
    ...     list(read_rows(file, "page", ["title", "id"]))
    [(b"It's", 1), (None, 2)]
    """
    for row in read_literals(path, table, columns, optional):
        yield tuple(value(literal) for literal in row)


def read_literals(
    path: Path,
    table: str,
    columns: Sequence[str],
    optional: Sequence[str] = (),
    read: Callable[[int], None] | None = None,
) -> Iterator[tuple[bytes, ...]]:
    """The rows as `read_rows` gives them, but as they are written: `'It\\'s'`, `NULL`, `12`.

    For those who look at one column and let most rows go: `value` reads a literal. `read` is told how many
    bytes of the text (unpacked) were read since it was last told.
    """
    name = table.encode()
    text = _Text(path, read)
    tables: dict[bytes, tuple[bytes, ...]] = {}
    with text.open():
        while text.next_statement():
            if created := text.take_create():
                tables[created[0]] = created[1]
                continue
            into, listed = text.take_insert()
            known = listed or tables.get(into, ())
            tables.setdefault(into, known)
            if into != name:
                for _ in text.rows(_row_patterns(len(known) or None, [0])):
                    pass
                continue
            if not known:
                raise text.fault(f"rows of `{table}` without the CREATE TABLE that names its columns")
            places, pick = _places(text, table, known, columns, optional)
            for rows in text.rows(_row_patterns(len(known), places)):
                yield from map(pick, rows)
        text.check_end(name, tables)


def _row_patterns(columns: int | None, wanted: Sequence[int]) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Patterns of a row with its comma and of a statement's last row; a group for each wanted column.

    The first has one group more, for everything from the first place that is no such row: its matches follow
    each other without a gap, so nothing can be passed over. `columns` is None for a table nobody asks about.
    """
    if columns is None:
        row = rb"(" + _LITERAL + rb")(?:\s*+,\s*+" + _LITERAL + rb")*+"
    else:
        chosen = set(wanted)
        row = rb"\s*+,\s*+".join(
            rb"(" + _LITERAL + rb")" if number in chosen else _LITERAL for number in range(columns)
        )
    row = rb"\s*+\(\s*+" + row + rb"\s*+\)\s*+"
    return re.compile(row + rb",|(.++)", re.S), re.compile(row + rb";()", re.S)


def _places(
    text: _Text, table: str, known: Sequence[bytes], columns: Sequence[str], optional: Sequence[str]
) -> tuple[list[int], Callable[[tuple[bytes, ...]], tuple[bytes, ...]]]:
    """Which columns of the table to read, and how to put them into the order that was asked for."""
    names = [column.encode() for column in columns]
    lost = [n.decode() for n in names if n not in known and n.decode() not in optional]
    if lost:
        has = ", ".join(n.decode("utf-8", "replace") for n in known)
        raise text.fault(f"`{table}` has no column {lost[0]} (it has {has})")
    places = sorted({known.index(name) for name in names if name in known}) or [0]
    order = [places.index(known.index(name)) if name in known else None for name in names]
    if len(order) > 1 and None not in order:
        return places, itemgetter(*order)
    return places, lambda row: tuple(b"NULL" if at is None else row[at] for at in order)


class _Text:
    """The dump's text: a block of it in memory, and where in the file that is."""

    def __init__(self, path: Path, read: Callable[[int], None] | None) -> None:
        self._path, self._told = path, read
        self._buffer, self._at, self._ended = b"", 0, False
        self._byte, self._line = 0, 1  # of the buffer's start, in the unpacked text
        self._headed = self._completed = False
        self._source: gzip.GzipFile | BufferedReader

    def open(self) -> gzip.GzipFile | BufferedReader:
        """Open the file, packed or not. Raises UsageError where it cannot be."""
        try:
            with self._path.open("rb") as file:
                packed = file.read(2) == b"\x1f\x8b"
            source = gzip.GzipFile(self._path) if packed else self._path.open("rb")
        except OSError as error:
            raise UsageError(f"cannot be read: {error.strerror}", where=str(self._path)) from None
        self._source = source
        return source

    def fault(self, what: str) -> LeadlineError:
        """An error at the place where reading stands."""
        line = self._line + self._buffer.count(b"\n", 0, self._at)
        where = f"{self._path}:{line}"
        return LeadlineError(
            f"{what}, at byte {self._byte + self._at:,} of its text",
            where=where,
            fix="download the file again, or check it against the dump's checksums",
        )

    def next_statement(self) -> bool:
        """Go to the next CREATE TABLE or INSERT; False at the end of the file."""
        while True:
            self._at = self._matched(_SPACE).end()
            self._fill(_HEAD)
            if self._at == len(self._buffer):
                return False
            start = self._buffer[self._at : self._at + 32]
            if start.startswith((b"--", b"#", b"/*")):
                self._comment()
            elif _CREATE.match(self._buffer, self._at) or re.match(rb"(?:INSERT|REPLACE)\s", start, re.I):
                return True
            elif _OTHER.match(start):
                self._at = self._end_of_statement()
            else:
                raise self.fault(f"is garbled: {start[:24]!r} is no statement")

    def take_create(self) -> tuple[bytes, tuple[bytes, ...]] | None:
        """The table and its columns, where the statement is a CREATE TABLE."""
        head = _CREATE.match(self._buffer, self._at)
        if not head:
            return None
        end = self._end_of_statement()
        head = _CREATE.match(self._buffer, self._at)
        assert head
        columns = tuple(_COLUMN.findall(self._buffer[head.end() : end]))
        self._at = end
        return head[1], columns

    def take_insert(self) -> tuple[bytes, tuple[bytes, ...]]:
        """The table that rows follow for, and the columns if the statement lists them."""
        head = _INSERT.match(self._buffer, self._at)
        if not head:
            raise self.fault(
                "is cut off" if self._ended and self._short() else "is garbled: an INSERT without rows"
            )
        self._at = head.end()
        listed = re.findall(rb"`([^`]+)`", head[2] or b"")
        return head[1], tuple(listed)

    def rows(
        self, patterns: tuple[re.Pattern[bytes], re.Pattern[bytes]]
    ) -> Iterator[list[tuple[bytes, ...]]]:
        """Lists of rows up to the end of the statement."""
        row, last = patterns
        while True:
            found = row.findall(self._buffer, self._at)
            rest = len(found.pop()[-1]) if found and found[-1][-1] else 0
            self._at = len(self._buffer) - rest
            if found:
                yield found
            if ended := last.match(self._buffer, self._at):
                yield [ended.groups()]
                self._at = ended.end()
                return
            if self._ended:
                raise self.fault("is cut off: the rows do not end")
            if rest > _LONGEST or not _MAY_BE_ROW.match(self._buffer, self._at):
                raise self.fault("is garbled: no row of this table stands here")
            self._fill(max(2 * rest, _BLOCK))

    def check_end(self, name: bytes, tables: dict[bytes, tuple[bytes, ...]]) -> None:
        """A dump that says when it begins also says when it is complete."""
        if self._headed and not self._completed:
            raise self.fault("is cut off: the line '-- Dump completed' is missing")
        if name not in tables:
            held = ", ".join(f"`{one.decode('utf-8', 'replace')}`" for one in tables) or "no table at all"
            raise LeadlineError(
                f"is no dump of the table `{name.decode()}`: it holds {held}", where=str(self._path)
            )

    def _comment(self) -> None:
        while True:
            match = _COMMENT.match(self._buffer, self._at)
            if match and (match.end() < len(self._buffer) or self._ended):
                break
            if self._ended:
                raise self.fault("is cut off inside a comment")
            self._more()
        if match[0].startswith((b"-- MySQL dump", b"-- MariaDB dump")):
            self._headed = True
        elif match[0].startswith(b"-- Dump completed"):
            self._completed = True
        self._at = match.end()

    def _end_of_statement(self) -> int:
        while True:
            match = _ENDS.search(self._buffer, self._at)
            # At the end of what was read so far, a semicolon may be one of many in a comment on a column.
            if match and (match.end() < len(self._buffer) or self._ended):
                return match.end()
            if self._ended or len(self._buffer) - self._at > _LONGEST:
                raise self.fault("is cut off: a statement does not end")
            self._more()

    def _short(self) -> bool:
        return len(self._buffer) - self._at < _HEAD

    def _matched(self, pattern: re.Pattern[bytes]) -> re.Match[bytes]:
        """What `pattern`, which may match nothing, matches here; its places are those of the buffer now."""
        while True:
            match = pattern.match(self._buffer, self._at)
            assert match
            if match.end() < len(self._buffer) or self._ended:
                return match
            self._more()  # lets go of what was used, at the end of the file too: places change

    def _fill(self, size: int) -> None:
        while len(self._buffer) - self._at < size and self._more():
            pass

    def _more(self) -> bool:
        """Read another block; what was used is let go. False at the end of the file."""
        if self._ended:
            return False
        try:
            block = self._source.read(_BLOCK)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            self._at = len(self._buffer)
            raise self.fault(f"is cut off or damaged ({error})") from None
        except OSError as error:
            raise self.fault(f"cannot be read further: {error.strerror}") from None
        if self._at:
            self._line += self._buffer.count(b"\n", 0, self._at)
            self._byte += self._at
            self._buffer, self._at = self._buffer[self._at :], 0
        self._buffer += block
        self._ended = not block
        if self._told and block:
            self._told(len(block))
        return bool(block)
