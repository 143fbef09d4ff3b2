"""Sheets come back from spreadsheets: what these change is undone, and what is lacking is refused."""

from __future__ import annotations

import csv
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.errors import UsageError
from leadline.review.filled_sheet import read_sheet
from leadline.review.pack import Pack, draw_pack
from leadline.review.sheet import COLUMNS, Answer, reader_slug, sheet_of, sheet_text
from tests.review.packs import a_pack, as_csv, benchmark, by_label, filled, rows_of

Rows = list[list[str]]


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Pack:
    return a_pack(tmp_path_factory.mktemp("packs") / "pack", per_stratum=6)


@pytest.fixture
def answers(pack: Pack) -> dict[str, Answer]:
    said = by_label(pack, benchmark())
    first, second, third = list(said)[:3]
    said[first] = Answer("=1+1", "“naïve”, it says", "two\nlines; and; more")
    said[second] = Answer("-5", "@quote", "'tis so")
    said[third] = Answer("Quibble «é» 日本")
    return said


@pytest.fixture
def rows(pack: Pack, answers: dict[str, Answer], tmp_path: Path) -> Rows:
    return rows_of(filled(pack, tmp_path, answers))


def test_a_sheet_is_read_as_it_was_written(pack: Pack, answers: dict[str, Answer], tmp_path: Path) -> None:
    found = read_sheet(pack, filled(pack, tmp_path, answers))
    assert found.answers == answers and found.notes == ()


def test_cells_that_a_spreadsheet_would_take_for_formulas_are_guarded(
    pack: Pack, answers: dict[str, Answer]
) -> None:
    text = sheet_text(pack, answers)
    assert "'=1+1" in text and "'-5" in text and "'@quote" in text
    assert not re.search(r'(^|,)"?[=+@-]', text.replace("\ufeff", ""), flags=re.MULTILINE)


def semicolons(rows: Rows) -> bytes:
    return as_csv(rows, delimiter=";").encode("utf-8-sig")


def tabs_in_utf_16(rows: Rows) -> bytes:
    return as_csv(rows, delimiter="\t").encode("utf-16")


def all_quoted_with_unix_line_ends(rows: Rows) -> bytes:
    return as_csv(rows, quoting=csv.QUOTE_ALL, lineterminator="\n").encode()


def classic_line_ends(rows: Rows) -> bytes:
    kept = [[cell.replace("\n", " ") if at == 8 else cell for at, cell in enumerate(row)] for row in rows]
    return as_csv(kept, lineterminator="\r").encode()


def columns_and_rows_left_empty(rows: Rows) -> bytes:
    wider = [[*row, "", "", ""] for row in rows]
    return as_csv([*wider[:4], [""] * 12, *wider[4:], ["", ""], []]).encode()


def sorted_by_answer_with_columns_moved(rows: Rows) -> bytes:
    order = [6, 7, 8, 1, 0, 4, 2, 3, 5]
    head, *rest = ([row[at] for at in order] for row in rows)
    return as_csv([[name.upper() for name in head], *sorted(rest)]).encode()


def a_hint_for_the_separator(rows: Rows) -> bytes:
    return b"sep=;\r\n" + as_csv(rows, delimiter=";").encode()


def blanks_around_cells(rows: Rows) -> bytes:
    return as_csv([[f" {cell}\u00a0" for cell in row] for row in rows]).encode()


@pytest.mark.parametrize(
    "saved",
    [
        semicolons,
        tabs_in_utf_16,
        all_quoted_with_unix_line_ends,
        classic_line_ends,
        columns_and_rows_left_empty,
        sorted_by_answer_with_columns_moved,
        a_hint_for_the_separator,
        blanks_around_cells,
    ],
)
def test_what_a_spreadsheet_does_to_a_sheet_changes_no_answer(
    pack: Pack, answers: dict[str, Answer], rows: Rows, tmp_path: Path, saved: Callable[[Rows], bytes]
) -> None:
    sheet = tmp_path / "saved.csv"
    sheet.write_bytes(saved(rows))
    found = read_sheet(pack, sheet).answers
    assert {token: said.answer for token, said in found.items()} == {
        token: said.answer for token, said in answers.items()
    }
    assert [said.quote for said in found.values()].count("“naïve”, it says") == 1


def test_a_sheet_in_latin_1_is_read_and_said(pack: Pack, rows: Rows, tmp_path: Path) -> None:
    rows[3][6] = "Quibble «é»"
    rows[1][7] = "naïve"
    sheet = tmp_path / "saved.csv"
    sheet.write_bytes(as_csv(rows, delimiter=";").encode("latin-1"))
    found = read_sheet(pack, sheet)
    assert found.answers[rows[3][1]].answer == "Quibble «é»"
    assert any("no encoding is declared" in note for note in found.notes)


def test_columns_of_the_readers_own_are_named_and_not_read(pack: Pack, rows: Rows, tmp_path: Path) -> None:
    sheet = tmp_path / "saved.csv"
    sheet.write_text(as_csv([[*row, "sure" if not at else "yes"] for at, row in enumerate(rows)]), "utf-8")
    assert read_sheet(pack, sheet).notes == ("columns that are not read: 'sure'",)


def unfilled(rows: Rows) -> Rows:
    return [rows[0], *([*row[:6], "", "", ""] for row in rows[1:])]


def blanks_for_answers(rows: Rows) -> Rows:
    return [rows[0], *([*row[:6], " \u00a0\u200b", "", ""] for row in rows[1:])]


def partly_filled(rows: Rows) -> Rows:
    return [[*row[:6], "" if row[0] in ("2", "5") else row[6], *row[7:]] for row in rows]


def doubled(rows: Rows) -> Rows:
    return [*rows, rows[4]]


def a_row_lost(rows: Rows) -> Rows:
    return [*rows[:7], *rows[8:]]


def a_foreign_row(rows: Rows) -> Rows:
    return [*rows, [*rows[1][:1], "bcdfghjkmnpqrstv", *rows[1][2:]]]


def another_question(rows: Rows) -> Rows:
    return [*rows[:3], [*rows[3][:4], "What does clause 99 say?", *rows[3][5:]], *rows[4:]]


def a_question_whose_letters_were_lost(rows: Rows) -> Rows:
    return [*rows[:3], [*rows[3][:4], rows[3][4].replace("say", "s?y"), *rows[3][5:]], *rows[4:]]


def an_error_for_an_answer(rows: Rows) -> Rows:
    return [*rows[:3], [*rows[3][:6], "#NAME?", *rows[3][7:]], *rows[4:]]


def no_head(rows: Rows) -> Rows:
    return rows[1:]


def two_columns_of_one_name(rows: Rows) -> Rows:
    return [[*rows[0], "answer"], *rows[1:]]


def a_cell_torn_in_two(rows: Rows) -> Rows:
    return [*rows[:3], [*rows[3], "more"], *rows[4:]]


@pytest.mark.parametrize(
    ("done", "told"),
    [
        (unfilled, "0 of 28 rows are answered (answer every row"),
        (blanks_for_answers, "0 of 28 rows are answered (answer every row"),
        (partly_filled, "26 of 28 rows are answered, rows 2, 5 are blank"),
        (doubled, "the sheet has row 4 more than once"),
        (a_row_lost, "1 of 28 rows is missing: row 7"),
        (a_foreign_row, "1 row is not of this pack, the first is 'bcdfghjkmnpqrstv'"),
        (another_question, "saved.csv:4: row 3 shows another question"),
        (a_question_whose_letters_were_lost, "save the sheet as CSV in UTF-8"),
        (an_error_for_an_answer, "row 3: #NAME? is a spreadsheet's error"),
        (no_head, "the sheet has no column 'token', 'question', 'answer'"),
        (two_columns_of_one_name, "two columns are called 'answer'"),
        (a_cell_torn_in_two, "the row has 10 cells, the first row names 9"),
        (lambda rows: [], "is empty"),
    ],
)
def test_a_sheet_that_is_not_whole_is_refused_with_what_to_do(
    pack: Pack, rows: Rows, tmp_path: Path, done: Callable[[Rows], Rows], told: str
) -> None:
    for row in rows[1:]:  # so that no cell has a line break, and lines are rows
        row[8] = ""
    sheet = tmp_path / "saved.csv"
    sheet.write_text(as_csv(done(rows)), "utf-8")
    with pytest.raises(UsageError) as refused:
        read_sheet(pack, sheet)
    assert told in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"PK\x03\x04 and so on", "is a spreadsheet's own file, not CSV"),
        (b'row,token,question,answer\n1,"open', "a double quote is not closed"),
        (b"\x00\xff\x00", "no column"),
        (None, "cannot be read"),
    ],
)
def test_what_is_no_sheet_is_refused(pack: Pack, tmp_path: Path, data: bytes | None, told: str) -> None:
    sheet = tmp_path / "sheet.csv"
    if data is not None:
        sheet.write_bytes(data)
    with pytest.raises(UsageError, match=re.escape(told)):
        read_sheet(pack, sheet)


def test_the_sheet_of_another_pack_is_refused_as_such(pack: Pack, tmp_path: Path) -> None:
    other = draw_pack(benchmark(), per_stratum=6, seed=1)
    with pytest.raises(UsageError, match="is the sheet of another pack"):
        read_sheet(pack, filled(other, tmp_path, by_label(other, benchmark())))


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30).map(
            lambda text: f"a{text}z"
        ),
        min_size=3,
        max_size=3,
    ),
    delimiter=st.sampled_from(",;\t"),
    seed=st.integers(0, 1000),
)
def test_whatever_is_answered_comes_back(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], delimiter: str, seed: int
) -> None:
    pack = draw_pack(benchmark(), per_stratum=1)
    said = dict.fromkeys((row.token for row in pack.rows), Answer("yes"))
    said[pack.rows[0].token] = Answer(*texts)
    folder = tmp_path_factory.mktemp("sheets")
    rows = rows_of(filled(pack, folder, said))
    head, *rest = rows
    random.Random(seed).shuffle(rest)
    (folder / "again.csv").write_text(as_csv([head, *rest], delimiter=delimiter), "utf-8", newline="")
    found = read_sheet(pack, folder / "again.csv").answers[pack.rows[0].token]
    # Control characters are shown as U+FFFD, for a terminal or an editor would obey them.
    control = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
    assert found == Answer(*(control.sub("\ufffd", text.replace("\r\n", "\n")) for text in texts))


def test_names_of_readers_are_names_of_files_that_stay_in_the_pack(tmp_path: Path) -> None:
    assert reader_slug("Ann Lee") == reader_slug(" ann  LEE ") == "ann-lee"
    names = [
        "../../etc/passwd",
        "Ann-Lee",
        "ann_lee",
        "Ann.Lee",
        "Ann-Lee!",
        "Ånn Lee",
        "日本",
        "",
        "a" * 400,
        "Ann/Lee",
    ]
    slugs = [reader_slug(name) for name in names]
    assert len({*slugs, "ann-lee"}) == len(names) + 1
    for name in names:
        assert sheet_of(tmp_path, name).resolve().parent == tmp_path / "sheets"
        assert re.fullmatch(r"[a-z0-9_-]{1,60}\.csv", sheet_of(tmp_path, name).name)
    assert COLUMNS[-3:] == ("answer", "quote", "note")
