"""No file that a person brings along ends in a traceback, hangs a reader or fills the memory."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import LeadlineError
from tests.fuzz.limits import examples, held
from tests.fuzz.mutations import broken, changed, written
from tests.fuzz.odd_places import ODD, put
from tests.fuzz.readers import Reader, readers

pytestmark = pytest.mark.fuzz

READERS = {reader.name: reader for reader in readers()}
SHAPED = [name for name, reader in READERS.items() if reader.shape != "text"]
# Files that may be lacking: what is no file is then as good as not there.
_MAY_LACK = {
    "README.md",
    "state.json",
    "order.json",
    "dataset_info.json",
    "index.jsonl",
    "readings.jsonl",
    "labels.jsonl",
}


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path / "cache"))


def laid(reader: Reader, folder: Path, content: bytes) -> Path:
    """`content` as the reader's file in a folder with all that belongs to it."""
    if reader.beside is not None and not any(folder.iterdir()):
        reader.beside(folder)
    path = folder / reader.name
    path.write_bytes(content)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "given"
    made.mkdir()
    return made


@pytest.mark.parametrize("name", READERS)
def test_the_files_that_all_others_are_made_of_are_sound(name: str, folder: Path) -> None:
    reader = READERS[name]
    for content in reader.originals:
        path = laid(reader, folder, content)
        found = held(reader.read, path)
        assert not isinstance(found, LeadlineError), found


@pytest.mark.parametrize("name", READERS)
def test_broken_bytes_are_read_or_refused(name: str, folder: Path) -> None:
    reader = READERS[name]

    @examples(25)
    @given(broken(reader.originals))
    def check(content: bytes) -> None:
        held(reader.read, laid(reader, folder, content))

    check()


@pytest.mark.parametrize("name", SHAPED)
def test_any_part_may_be_anything(name: str, folder: Path) -> None:
    reader = READERS[name]

    @examples(40)
    @given(changed(reader.values()), st.sampled_from((None, 1)))
    def check(value: object, indent: int | None) -> None:
        if reader.finish is not None:
            value = reader.finish(value)
        if reader.shape == "lines" and isinstance(value, list):
            content = b"".join(written(line) + b"\n" for line in value)
        else:
            content = written(value, indent=indent)
        held(reader.read, laid(reader, folder, content))

    check()


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("name", READERS)
def test_what_is_no_file_is_refused_at_once(name: str, kind: str, folder: Path) -> None:
    reader = READERS[name]
    path = laid(reader, folder, reader.originals[0])
    put(kind, path)
    found = held(reader.read, path)
    assert isinstance(found, LeadlineError) or name in _MAY_LACK, f"{name} is {kind}, and was read: {found}"
