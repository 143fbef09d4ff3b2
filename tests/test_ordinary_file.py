"""What lies where a file is expected and is none is told at once; no more of a file is read than allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from leadline.bench.loading import inspect_benchmark
from leadline.errors import LeadlineError, UsageError
from leadline.ordinary_file import content, opened, text
from leadline.review.order import FILE, recorded_seed
from leadline.review.readings import Readings
from leadline.study.config_file import read_config
from tests.fuzz.odd_places import put


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("a pipe", "it is a pipe, not a file"),
        ("a socket", "it is a socket, not a file"),
        ("an endless device", "it is a device, not a file"),
        ("a folder", "Is a directory"),
        ("a link to nowhere", "No such file or directory"),
    ],
)
def test_what_is_no_file_is_named(kind: str, said: str, tmp_path: Path) -> None:
    put(kind, tmp_path / "file")
    with pytest.raises(OSError) as refused:
        opened(tmp_path / "file")
    assert refused.value.strerror == said and refused.value.filename is not None


def test_a_name_that_no_file_can_have_is_no_traceback() -> None:
    with pytest.raises(OSError, match="null"):
        opened(Path("a\0b"))


def test_a_file_is_read_up_to_the_most_that_is_allowed(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"\xef\xbb\xbfa\r\nb\rc")
    assert text(file) == "a\nb\nc"
    assert len(content(file, most=9)) == 9
    with pytest.raises(OSError) as refused:
        content(file, most=8)
    assert refused.value.strerror == "it has 9 bytes, and 8 are allowed"


def test_a_pipe_in_the_place_of_readings_or_a_study_is_told(tmp_path: Path) -> None:
    for name in ("readings.jsonl", "study.yaml"):
        put("a pipe", tmp_path / name)
    with pytest.raises(UsageError, match="cannot be read: it is a pipe, not a file"):
        Readings(tmp_path / "readings.jsonl").all()
    with pytest.raises(UsageError, match="cannot be read: it is a pipe, not a file"):
        read_config(tmp_path / "study.yaml")


def test_an_order_that_is_nested_too_deeply_holds_no_seed(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("[" * 100_000)
    with pytest.raises(UsageError, match="holds no seed"):
        recorded_seed(tmp_path)


def test_a_file_of_one_endless_line_is_not_read_to_its_end(tmp_path: Path) -> None:
    put("fifty gigabytes of nothing", tmp_path / "items.jsonl")
    (problem,) = inspect_benchmark(tmp_path / "items.jsonl").problems
    assert "the file is not read further" in problem.message


def test_an_error_that_quotes_a_file_is_no_longer_than_can_be_read() -> None:
    line = str(LeadlineError("is no date: " + "x" * 100_000, where="labels.jsonl:1", fix="write one"))
    assert (
        len(line) < 1_100 and line.startswith("labels.jsonl:1: is no date") and line.endswith("… (write one)")
    )
