"""Files of records: whole or not there, and damage is noticed wherever it is."""

from __future__ import annotations

import errno
import os
import random
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leadline.build.disk import said_by_the_disk
from leadline.build.parts import reading, writing
from leadline.build.records import Article, Drop, Fact, Sentence
from leadline.errors import LeadlineError

TEXT = "Bielefeld is a city. “Świdnica”, 𝄞 and \x00 are in it.\u2028Next."


def articles(count: int, seed: int = 0) -> list[Article]:
    random_ = random.Random(seed)
    return [
        Article(
            id=str(number),
            title=f"Page {number}",
            text=TEXT + "".join(chr(random_.randrange(32, 0x2FF)) for _ in range(200)),
            sentences=(Sentence(start=0, end=20), Sentence(start=21, end=50, damage=("glued",))),
        )
        for number in range(count)
    ]


def write(path: Path, count: int, seed: int = 0) -> list[Article]:
    made = articles(count, seed)
    with writing(path) as keep:
        for article in made:
            keep(article)
    return made


def test_what_is_written_is_read_and_the_same_records_are_the_same_bytes(tmp_path: Path) -> None:
    one, two = tmp_path / "one.jsonl.zst", tmp_path / "deep" / "two.jsonl.zst"
    made = write(one, 500)
    write(two, 500)
    assert list(reading(one, Article)) == made
    assert one.read_bytes() == two.read_bytes()
    write(tmp_path / "none.jsonl.zst", 0)
    assert list(reading(tmp_path / "none.jsonl.zst", Article)) == []


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, bytes]]:
    path = tmp_path_factory.mktemp("parts") / "part.jsonl.zst"
    write(path, 300)
    yield path.with_name("cut.jsonl.zst"), path.read_bytes()


@given(share=st.floats(0, 1, exclude_max=True))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_that_was_cut_off_anywhere_is_an_error_and_never_a_shorter_list(
    whole: tuple[Path, bytes], share: float
) -> None:
    path, packed = whole
    path.write_bytes(packed[: int(len(packed) * share)])
    with pytest.raises(LeadlineError, match=r"cut\.jsonl\.zst:\d+: is damaged: .*the stage is done again"):
        list(reading(path, Article))


@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_altered_bit_is_an_error_or_changes_nothing(
    whole: tuple[Path, bytes], place: float, bit: int
) -> None:
    path, packed = whole
    altered = bytearray(packed)
    altered[int(len(packed) * place)] ^= 1 << bit
    path.write_bytes(altered)
    try:
        read = list(reading(path, Article))
    except LeadlineError as error:
        assert "is damaged" in str(error) and "\n" not in str(error)
    else:
        assert read == articles(300)


def test_frames_after_each_other_are_all_read(tmp_path: Path) -> None:
    made = write(tmp_path / "one.zst", 40, 1) + write(tmp_path / "two.zst", 40, 2)
    joined = tmp_path / "joined.zst"
    joined.write_bytes((tmp_path / "one.zst").read_bytes() + (tmp_path / "two.zst").read_bytes())
    assert list(reading(joined, Article)) == made
    joined.write_bytes(joined.read_bytes() + b"tail")
    with pytest.raises(LeadlineError, match=r"joined\.zst:80: is damaged"):
        list(reading(joined, Article))


def test_a_record_of_another_kind_is_named_by_its_line_and_key(tmp_path: Path) -> None:
    path = tmp_path / "part.jsonl.zst"
    write(path, 3)
    with pytest.raises(LeadlineError, match=r"part\.jsonl\.zst:1: is damaged: article: Field required"):
        list(reading(path, Fact))
    lines = b'{"id": "1", "title": "A", "text": "a"}\n{"id": "2", "title"\n'
    path.write_bytes(zstandard.compress(lines))
    with pytest.raises(LeadlineError, match=r"part\.jsonl\.zst:2: is damaged: Invalid JSON"):
        list(reading(path, Article))
    path.write_bytes(b"%PDF-1.7 something else entirely, and longer than a header of a frame")
    with pytest.raises(LeadlineError, match=r"part\.jsonl\.zst:0: is damaged"):
        list(reading(path, Article))
    with pytest.raises(LeadlineError, match="the stage before has left nothing here"):
        list(reading(tmp_path / "absent.zst", Drop))


def test_a_write_that_fails_leaves_the_file_that_was_there_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "part.jsonl.zst"
    made = write(path, 5)
    with pytest.raises(ZeroDivisionError), writing(path) as keep:
        keep(made[0])
        1 / 0  # noqa: B018
    assert list(reading(path, Article)) == made
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_is_said_in_one_line(tmp_path: Path) -> None:
    small = Path("/dev/full")  # every write to it finds the disk full
    if not small.exists() or not stat.S_ISCHR(small.stat().st_mode):
        pytest.skip("no /dev/full here")
    with (
        pytest.raises(LeadlineError, match=r"the disk is full \(free some space") as told,
        said_by_the_disk(small),
        small.open("wb", buffering=0) as file,
    ):
        file.write(b"x")
    assert told.value.exit_code == 3


def test_a_closed_folder_is_said_and_errors_of_another_file_are_passed_on(tmp_path: Path) -> None:
    with (
        pytest.raises(LeadlineError, match="cannot be written: Permission denied"),
        said_by_the_disk(tmp_path / "a"),
    ):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES), str(tmp_path / "a"))
    with (
        pytest.raises(PermissionError),
        said_by_the_disk(tmp_path / "a"),
    ):  # another file, which was being read
        raise OSError(errno.EACCES, os.strerror(errno.EACCES), "/elsewhere/input.xml")
