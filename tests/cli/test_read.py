"""`leadline read`: how texts are read, for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.study.conftest import Leadline


def test_a_text_is_shown_with_its_value_its_digits_and_why(leadline: Leadline) -> None:
    ended = leadline("read", "--type", "number", "about $1.25M (rounded)")
    assert ended.code == 0 and ended.err == ""
    head, row = ended.out.splitlines()
    assert head.split("\t") == ["text", "state", "value", "printed", "notes"]
    assert row.split("\t") == ["about $1.25M (rounded)", "ok", "1250000", "1.25E+6", "in $; about"]


def test_against_a_gold_answer_the_rules_stand_side_by_side(leadline: Leadline) -> None:
    ended = leadline("read", "0.9091", "0.9096", "I don't know", "--gold", "0.909", "--json")
    first, second, third = json.loads(ended.out)
    assert first["gold"] == {
        "value": "0.909",
        "correct": True,
        "strict": True,
        "same": {"exact": False, "declared": False, "rounding": True},
    }
    assert (second["gold"]["correct"], second["gold"]["same"]["rounding"]) == (False, False)
    assert (third["state"], third["value"], third["gold"]["same"]) == ("refused", None, None)
    told = leadline("read", "0.9091", "--gold", "0.909").out
    assert "correct" in told and "rounding" in told and "exact" not in told


def test_settings_of_an_item_are_options(leadline: Leadline) -> None:
    def value(*arguments: str) -> object:
        return json.loads(leadline("read", "--json", *arguments).out)[0]["value"]

    assert value("1.234", "--locale", "de-DE") == "1234"
    assert value("12 weeks", "--unit", "day") == "84"
    assert value("5/6/2020", "--type", "date", "--date-order", "dmy") == "2020-06-05"
    assert value("It isn't true", "--type", "boolean") == "false"
    vocabulary = ("--type", "enum", "--vocabulary", "capped,non-participating=plain|straight")
    assert value("a straight preferred", *vocabulary) == "non-participating"
    fields = ("--type", "parts", "--field", "rate:number:percent", "--field", "due:date")
    assert value('{"rate": "8%", "due": "June 5, 2020"}', *fields) == '{"rate": "8", "due": "2020-06-05"}'
    assert value("6 rows of 7 are 42", "--question", "How many are 6 rows of 7?") == "42"
    said = json.loads(leadline("read", "0.906", "--gold", "0.91", "--precision", "0.01", "--json").out)
    assert said[0]["gold"]["same"]["declared"] is True


def test_a_negative_number_is_no_option_after_two_dashes(leadline: Leadline) -> None:
    assert json.loads(leadline("read", "--json", "--", "-5").out)[0]["value"] == "-5"


def test_texts_come_from_a_file_one_a_line(tmp_path: Path, leadline: Leadline) -> None:
    path = tmp_path / "answers.txt"
    path.write_bytes("\ufeff42\r\n\r\n20\u202f000 €\n".encode())
    said = json.loads(leadline("read", "--file", path, "--json").out)
    assert [(one["state"], one["value"]) for one in said] == [("ok", "42"), ("empty", None), ("ok", "20000")]


def test_what_stands_in_a_text_is_not_obeyed_by_the_terminal(leadline: Leadline) -> None:
    assert "\x1b" not in leadline("read", "\x1b[31m42\x1b[0m").out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--type", "nonsense", "42"], "--type"),
        (["--precision", "fine", "42"], "--precision"),
        (["--precision", "-1", "42"], "--precision"),
        (["--locale", "xx-YY", "42"], "--locale"),
        (["--locale", "!", "42"], "--locale"),
        (["--date-order", "ydm", "42"], "--date-order"),
        (["--gold", " ", "42"], "--gold"),
        (["--gold", "abc", "5"], "--gold: 'abc' cannot be read as number: no number"),
        (["--type", "date", "--gold", "5/6/2020", "2020-06-05"], "ambiguous"),
        (["--type", "parts", "--field", "a:b", "42"], "'b' is no type"),
        (["--field", ":number", "42"], "--field"),
        (["--file", "absent.txt"], "absent.txt"),
        (["--file", "."], "."),
        (["--check", "absent.yaml"], "absent.yaml"),
        (["42", "--file", "answers.txt"], "both"),
    ],
)
def test_a_wrong_setting_is_one_line(leadline: Leadline, arguments: list[str], said: str) -> None:
    ended = leadline("read", *arguments)
    assert ended.code == 2 and ended.out == ""
    assert said in ended.err and len(ended.err.splitlines()) == 1


def test_a_file_that_is_not_utf_8_is_named_with_its_line(tmp_path: Path, leadline: Leadline) -> None:
    path = tmp_path / "answers.txt"
    path.write_bytes(b"42\n20 \x80\n")
    ended = leadline("read", "--file", path)
    assert ended.code == 2 and f"{path}:2: not UTF-8" in ended.err


def test_a_table_is_checked_and_its_faults_listed(tmp_path: Path, leadline: Leadline) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        'readings:\n  - rows:\n      - {text: "42", value: "42"}\n      - {text: "41", value: "42"}\n',
        encoding="utf-8",
    )
    ended = leadline("read", "--check", path)
    assert ended.code == 1
    assert ended.out.splitlines() == [
        f"{path}:4: '41': is ok, read as '41', not '42'",
        f"{path}: 2 rows, 1 read otherwise",
    ]
    found = json.loads(leadline("read", "--check", path, "--json").out)
    assert (found["rows"], found["wrong"][0]["where"]) == (2, f"{path}:4")
    path.write_text('readings:\n  - rows:\n      - {text: "42", value: "42"}\n', encoding="utf-8")
    assert leadline("read", "--check", path).code == 0
