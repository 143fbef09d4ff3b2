"""A file of lines only grows, by whole lines, whoever writes and however a writer ended."""

from __future__ import annotations

import multiprocessing
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import BaseModel

from leadline.bench.lines_file import growing, lines_of
from leadline.errors import LeadlineError


class Line(BaseModel):
    n: int
    text: str = ""


def add(path: Path, *lines: Line) -> None:
    for line in lines:
        with growing(path) as write:
            write(line)


def found(path: Path) -> list[Line]:
    return [Line.model_validate_json(line) for _, line in lines_of(path.read_bytes())]


def test_what_was_written_stays_to_the_byte_and_further_lines_follow(tmp_path: Path) -> None:
    path = tmp_path / "made" / "a.jsonl"
    add(path, Line(n=1))
    before = path.read_bytes()
    add(path, Line(n=2, text="two\nlines, \x1b[2J, Rhône"))
    assert path.read_bytes().startswith(before) and b"\x1b" not in path.read_bytes()
    assert found(path) == [Line(n=1), Line(n=2, text="two\nlines, \x1b[2J, Rhône")]


@pytest.mark.parametrize("length", [10, (1 << 16) - 1, 1 << 16, 200_000])
def test_half_a_line_of_any_length_is_dropped(tmp_path: Path, length: int) -> None:
    path = tmp_path / "a.jsonl"
    add(path, Line(n=1))
    before = path.read_bytes()
    path.write_bytes(before + b'{"n": 2, "text": "' + b"x" * length)
    assert found(path) == [Line(n=1)], "and it was never read"
    add(path, Line(n=3))
    assert path.read_bytes() == before + b'{"n": 3}\n'


def test_where_a_line_finds_no_room_a_file_that_was_not_there_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with growing(path) as write:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
        try:
            with pytest.raises(LeadlineError, match="cannot be written"):
                write(Line(n=1))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not path.exists()


def test_a_pipe_is_no_file_to_wait_for(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    os.mkfifo(path)
    with pytest.raises(LeadlineError, match="it is no file"):
        add(path, Line(n=1))


def test_a_whole_line_without_its_end_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"n": 1}')
    assert found(path) == [Line(n=1)]
    add(path, Line(n=2))
    assert path.read_bytes() == b'{"n": 1}\n{"n": 2}\n'


def _next(path: Path, number: int) -> None:
    for _ in range(number):
        with growing(path) as write:
            there = found(path) if path.exists() else []
            write(Line(n=len(there)))


def test_what_a_line_depends_on_still_holds_when_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    fork = multiprocessing.get_context("fork")
    running = [fork.Process(target=_next, args=(path, 25)) for _ in range(4)]
    for process in running:
        process.start()
    for process in running:
        process.join()
    assert [line.n for line in found(path)] == list(range(100))


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    """A limit on the size of files is what the system has for a disk that is full."""
    path = tmp_path / "a.jsonl"
    add(path, Line(n=1))
    before = path.read_bytes()
    code = (
        "import resource, signal, sys; from pathlib import Path; from tests.bench.test_lines_file import *\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({len(before) + 100},) * 2)\n"
        "add(Path(sys.argv[1]), Line(n=2, text='x' * 1000))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert "cannot be written: No space left on device" in ended.stderr
    assert path.read_bytes() == before


def test_a_place_that_cannot_be_written_is_said_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file", "utf-8")
    with pytest.raises(LeadlineError, match="cannot be written") as told:
        add(tmp_path / "taken" / "a.jsonl", Line(n=1))
    assert "\n" not in str(told.value)
