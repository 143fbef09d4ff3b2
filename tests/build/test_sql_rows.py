"""SQL dumps are read completely, or the reader says where they end."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.build.link.sql_rows import read_rows
from leadline.build.link.sql_value import Value, value
from leadline.errors import LeadlineError, UsageError
from tests.build.sql_dumps import COLUMNS, dump, literal

DUMPS = Path(__file__).parents[3] / "shared" / "data" / "build" / "sqldumps"
needs_dumps = pytest.mark.skipif(not DUMPS.exists(), reason=f"needs the real SQL dumps in {DUMPS}")
NASTY = b"a),(1,'x');\nINSERT INTO `page` VALUES (2,0,\\'\"\0\r\x1a\xff\xc3"


def _file(folder: Path, text: bytes) -> Path:
    path = folder / "t.sql"
    path.write_bytes(text)
    return path


@needs_dumps
@pytest.mark.parametrize(
    ("name", "table", "ids"),
    [
        ("rmwiki-20240301-page", "page", [1, 799, 811, 3824, 4108, 6857, 14564]),
        ("rmwiki-20240301-page_props", "page_props", [1, 799, 799, 3824, 3824, 14564]),
        ("rmwiki-20240301-redirect", "redirect", [811, 4108, 6857]),
        ("loginwiki-20240501-page", "page", [1]),
        ("loginwiki-20240501-page_props", "page_props", []),
        ("wikidatawiki-20240401-page", "page", [1, 200, 623646, 5411171, 19441465]),
    ],
)
def test_real_dumps_are_read_completely_however_rows_are_put_on_lines(
    name: str, table: str, ids: list[int]
) -> None:
    rows = list(read_rows(DUMPS / f"{name}.sql.gz", table, COLUMNS[table]))
    assert [row[0] for row in rows] == ids
    assert all(len(row) == len(COLUMNS[table]) for row in rows)


@needs_dumps
def test_rows_after_the_first_insert_are_read_too() -> None:
    rows = read_rows(DUMPS / "multiple-inserts.sql", "page_props", ["pp_page", "pp_value"])
    assert list(rows) == [(1, b"Q1"), (2, b"Q2"), (3, b"Q3"), (4, b"Q4")]


@needs_dumps
def test_rows_with_empty_lines_between_them_are_all_there() -> None:
    path = DUMPS / "wikidatawiki-20240401-page_props.sql.gz"
    rows = list(read_rows(path, "page_props", ["pp_value", "pp_sortkey"]))
    assert len(rows) == 16
    assert rows[0] == (b"1", 1)
    assert rows[-1] == (b"Q5296", None)


_values = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.binary(max_size=30),
    st.lists(st.sampled_from([b"'", b"\\", b"),(", b"\n", b";", b"''", b"NULL", b"\xc3\xa9"])).map(b"".join),
)


@given(
    st.lists(st.tuples(_values, _values, _values), max_size=20),
    st.sampled_from([b",", b",\n", b",\r\n\r\n  "]),
)
@settings(max_examples=300, deadline=None)
def test_what_is_escaped_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[Value, ...]], between: bytes
) -> None:
    path = _file(tmp_path_factory.getbasetemp(), dump("t", rows, ("a", "b", "c"), between))
    assert list(read_rows(path, "t", ["c", "a", "b"])) == [(row[2], row[0], row[1]) for row in rows]


def test_rows_are_the_same_wherever_a_block_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[tuple[Value, ...]] = [(n, NASTY * (n % 3), n / 7) for n in range(40)]
    text = dump("t", rows[:20], ("a", "b", "c")) + dump("t", rows[20:], ("a", "b", "c"), b",\n")
    path = tmp_path / "t.sql.gz"
    path.write_bytes(gzip.compress(text))
    for block in (1, 2, 3, 7, 64, 1000):
        monkeypatch.setattr("leadline.build.link.sql_rows._BLOCK", block)
        monkeypatch.setattr("leadline.build.link.sql_rows._HEAD", 200)
        assert list(read_rows(path, "t", ["a", "b", "c"])) == rows, block


@pytest.mark.parametrize(
    "tail", [b"", b"\n", b"\n\n", b"\n-- Dump completed\n", b"\n/*!40000 ALTER TABLE `t` ENABLE KEYS */;\n"]
)
def test_a_dump_of_any_size_ends_where_its_last_statement_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tail: bytes
) -> None:
    monkeypatch.setattr("leadline.build.link.sql_rows._BLOCK", 64)
    monkeypatch.setattr("leadline.build.link.sql_rows._HEAD", 48)
    create = b"CREATE TABLE `t` (\n  `a` int COMMENT 'one; two'\n);\n"
    for size in range(300):  # the end of the file lies on every place of a block, and of a head
        text = create + b"INSERT INTO `t` VALUES (1),(" + b"7" * (size + 1) + b");" + tail
        assert list(read_rows(_file(tmp_path, text), "t", ["a"])) == [(1,), (int(b"7" * (size + 1)),)], size


@pytest.mark.parametrize("away", [-70_000, -65_536, -40, -1, 0, 1, 40, 65_536])
@pytest.mark.parametrize("blocks", [0, 1, 2])
def test_a_dump_whose_last_insert_ends_near_a_border_of_blocks_is_whole(
    tmp_path: Path, blocks: int, away: int
) -> None:
    size = max(blocks * (1 << 20) + away, 113_000 + away)
    start = b"CREATE TABLE `t` (\n `a` x,\n `b` x\n);\nINSERT INTO `t` VALUES (0,'"
    rows = b",".join(b"(%d,'%s')" % (n, b"title" * 20) for n in range(1, (size - len(start)) // 120))
    last = size - len(start) - len(rows) - len(b"'),;\n")
    text = start + b"x" * last + b"')," + rows + b";\n"
    assert len(text) == size
    read = list(read_rows(_file(tmp_path, text), "t", ["b", "a"]))
    assert len(read) == 1 + rows.count(b"(")
    assert read[0] == (b"x" * last, 0)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (rb"'It\'s'", b"It's"),
        (rb"'It''s'", b"It's"),
        (rb"'a\\'", b"a\\"),
        (rb"'\0\n\r\t\b\Z\"\x'", b'\0\n\r\t\b\x1a"x'),
        (rb"'100\%\_'", rb"100\%\_"),
        (rb"_binary 'ab\0'", b"ab\0"),
        (b"0x5A75", b"Zu"),
        (b"''", b""),
        (b"NULL", None),
        (b"'NULL'", b"NULL"),
        (b"-10", -10),
        (b"1e-05", 1e-05),
    ],
)
def test_a_literal_means_what_mysql_means(tmp_path: Path, written: bytes, meant: Value) -> None:
    assert value(written) == meant
    text = (
        b"CREATE TABLE `t` (\n `a` x,\n `b` x\n);\nINSERT INTO `t` VALUES (1," + written + b"), ( 2 , 3 );\n"
    )
    assert list(read_rows(_file(tmp_path, text), "t", ["b"])) == [(meant,), (3,)]


def test_columns_are_found_by_name_whatever_the_version_of_mediawiki(tmp_path: Path) -> None:
    old = dump(
        "page",
        [(7, 0, b"A", b"sysop", 3)],
        ("page_id", "page_namespace", "page_title", "page_restrictions", "x"),
    )
    assert list(read_rows(_file(tmp_path, old), "page", ["page_title", "page_id"])) == [(b"A", 7)]
    short = dump("redirect", [(7, 0, b"B")], ("rd_from", "rd_namespace", "rd_title"))
    rows = read_rows(_file(tmp_path, short), "redirect", ["rd_title", "rd_fragment"], ["rd_fragment"])
    assert list(rows) == [(b"B", None)]


def test_an_insert_may_list_its_columns_and_stand_among_other_tables(tmp_path: Path) -> None:
    other = dump("other", [(1, NASTY), (2, b"b")], ("x", "y"))
    text = other + b"INSERT IGNORE INTO `t` (`b`, `a`) VALUES\n(1,2),\n(3,4);\n" + other
    assert list(read_rows(_file(tmp_path, text), "t", ["a"])) == [(2,), (4,)]


_WHOLE = dump("t", [(n, b"title %d" % n) for n in range(50)], ("a", "b"), b",\n")


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9, 0.97])
def test_a_dump_that_is_cut_off_is_never_taken_for_the_whole(tmp_path: Path, share: float) -> None:
    cut = _WHOLE[: int(len(_WHOLE) * share)]
    with pytest.raises(LeadlineError, match=r"t\.sql:\d+: is (cut off|no dump)"):
        list(read_rows(_file(tmp_path, cut), "t", ["a"]))


def test_no_cut_at_all_goes_unnoticed(tmp_path: Path) -> None:
    whole = _WHOLE.rstrip(b"\n")
    for end in range(len(whole) - len(b" on 2024-05-01 12:03:12")):
        with pytest.raises(LeadlineError):
            list(read_rows(_file(tmp_path, whole[:end]), "t", ["a"]))


def test_a_packed_dump_that_is_cut_off_says_so(tmp_path: Path) -> None:
    packed = gzip.compress(dump("t", [(n, b"%x" % (n * 7919)) for n in range(20_000)], ("a", "b")))
    path = tmp_path / "t.sql.gz"
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(LeadlineError, match=r"t\.sql\.gz:\d+: is cut off or damaged .* at byte [\d,]+"):
        list(read_rows(path, "t", ["a"]))
    path.write_bytes(packed[:1000] + b"\0" * 100 + packed[1100:])
    with pytest.raises(LeadlineError, match=r"is cut off or damaged|is garbled"):
        list(read_rows(path, "t", ["a"]))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"(7,'title 7')", b"(7,'title 7'"),
        (b"(7,'title 7')", b"(7,'title 7',1)"),
        (b"(7,'title 7')", b"(7,title)"),
        (b"(7,'title 7')", b"(7,1.2.3)"),
        (b"(7,'title 7')", b"(7,0x5)"),
        (b"(7,'title 7')", b"(7,)"),
        (b"(7,'title 7'),", b"(7,'title 7')"),
        (b"(7,'title 7'),", b"(7,'title 7'),\0\0\0\0"),
        (b"title 7'", b"title 7"),
        (b"INSERT INTO", b"INSERT OUT OF"),
        (b"INSERT INTO `t` VALUES", b""),
    ],
)
def test_a_garbled_row_is_an_error_with_its_line(tmp_path: Path, before: bytes, after: bytes) -> None:
    assert _WHOLE.count(before) == 1
    with pytest.raises(LeadlineError, match=r"t\.sql:\d+: is (garbled|cut off)") as error:
        list(read_rows(_file(tmp_path, _WHOLE.replace(before, after)), "t", ["a"]))
    assert "\n" not in str(error.value)
    line = int(str(error.value).split(":")[1])
    assert abs(line - _WHOLE[: _WHOLE.index(before)].count(b"\n") - 1) <= 1


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (b"", "no table at all"),
        (b"<!DOCTYPE html>\n<html>", "is garbled"),
        (dump("page", [(1, 0, b"A", 0, 0.5)]), "it holds `page`"),
        (b"INSERT INTO `t` VALUES (1,2);\n", "without the CREATE TABLE"),
        (dump("t", [(1,)], ("b",)), r"no column a \(it has b\)"),
    ],
)
def test_what_is_no_dump_of_the_table_is_said_in_one_line(
    tmp_path: Path, text: bytes, complaint: str
) -> None:
    with pytest.raises(LeadlineError, match=complaint) as error:
        list(read_rows(_file(tmp_path, text), "t", ["a"]))
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_is_a_mistake_of_the_plan(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        list(read_rows(tmp_path / "none.sql.gz", "page", ["page_id"]))


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    import tracemalloc

    path = tmp_path / "t.sql.gz"
    rows = b",".join(b"(%d,'%s')" % (n, b"title" * 60) for n in range(50_000))
    text = b"CREATE TABLE `t` (\n `a` x,\n `b` x\n);\nINSERT INTO `t` VALUES " + rows + b";\n"
    path.write_bytes(gzip.compress(text, 1))
    tracemalloc.start()
    assert sum(1 for _ in read_rows(path, "t", ["a", "b"])) == 50_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(text) > 15_000_000
    assert peak < 8_000_000


def test_literals_are_written_as_mysqldump_writes_them() -> None:
    assert literal(b'It\'s "\\"\n\0') == rb"'It\'s \"\\\"\n\0'"
