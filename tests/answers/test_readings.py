"""What people and models write, and how it is read: the table in readings.yaml, row by row."""

from __future__ import annotations

from pathlib import Path

import pytest

from leadline.answers.table import Checked, check_table
from leadline.errors import UsageError

TABLE = Path(__file__).with_name("readings.yaml")
ROWS = list(check_table(TABLE))

# What any reader of numbers, dates and labels stumbles over: none of these may fall out of the table.
NAMED = (
    "42!", "(42).", "-5", "$29.00", "20%", "112%", "72, in total, so", "1.234,56", "10.0 million", "2 1/2",
    "2 602",
    "4,2", "(5.2)", "123456 / 123457", "June 5, 2020", "5/6/2020", "2.40%", "2.40% / 2.4",
    "one hundred and eighty",
    "0.909 / 0.9090909090909091", "0.909 / 0.9094", "0.909 / 0.9096", "Not applicable", "", "I don't know.",
    '```json\n{"answer": 0.51}\n```',
)  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.where.rpartition(':')[2]}: {row.text[:40]!r}")
def test_a_text_is_read_as_a_person_would(row: Checked) -> None:
    assert not row.faults


def test_the_table_is_long_and_holds_what_readers_stumble_over() -> None:
    assert len(ROWS) >= 500
    assert set(NAMED) <= {row.text for row in ROWS}


def test_a_row_that_is_read_otherwise_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "readings:\n"
        "  - type: number\n"
        '    gold: "42"\n'
        "    rows:\n"
        '      - {text: "41", value: "42"}\n'
        '      - {text: "42", value: "42", printed: "42.0", correct: false, strict: true, note: percent}\n'
        '      - {text: "42", state: refused}\n'
        '      - {text: "1 or 2", reason: several}\n'
        '      - {text: "42", value: "42"}\n'
        "sameness:\n"
        '  - {first: "0.909", second: "0.9096", rounding: true}\n'
        '  - {first: "0.909", second: "none", rounding: true}\n',
        encoding="utf-8",
    )
    found = {row.where.rpartition(":")[2]: list(row.faults) for row in check_table(path)}
    assert found == {
        "5": ["is ok, read as '41', not '42'"],
        "6": ["is printed as '42', not '42.0'", "has no note 'percent': []", "correct is true, not false"],
        "7": ["is ok, read as '42', not refused"],
        "8": ["is unreadable for another reason: 'a range or an alternative', not 'several'"],
        "9": [],
        "11": ["rounding: different, not the same"],
        "12": ["'none' is unreadable (no number)"],
    }


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("readings: 5\n", ":1", "readings"),
        ("readings:\n  - rows:\n      - {text: a, valu: b}\n", ":3", "valu"),
        ("readings:\n  - rows: [{text: '1', value: '1'\n", ":3", "broken YAML"),
        ("readings:\n  - rows: [{text: a, state: odd}]\n", ":2", "state"),
        ("", ":1", "empty"),
    ],
)
def test_a_faulty_table_is_one_line_with_its_place(tmp_path: Path, text: str, place: str, said: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as raised:
        list(check_table(path))
    assert f"mine.yaml{place}" in str(raised.value) and said in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", ["absent.yaml", "."])
def test_no_table_at_the_path_is_one_line(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError):
        list(check_table(tmp_path / name))
