"""No answers that somebody brings along end in a traceback, hang an import or fill the memory."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import LeadlineError

for package in ("inspect_ai", "openai"):
    pytest.importorskip(package, reason="logs are made with the tool that writes them")

from tests.fuzz.brought import archive_of, brought, inspect_entries, inspect_files  # noqa: E402
from tests.fuzz.limits import command, examples, held  # noqa: E402
from tests.fuzz.mutations import broken, changed, written  # noqa: E402
from tests.fuzz.odd_places import ODD, put  # noqa: E402
from tests.fuzz.readers import Reader  # noqa: E402

pytestmark = [pytest.mark.fuzz, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

NAMES = (
    "inspect, json", "inspect, archive", "lm-eval, samples", "lm-eval, results", "openai batch",
    "table, lines", "table, csv", "table, parquet", "release, oracle", "release, runs",
)  # fmt: skip
SHAPED = [name for name in NAMES if name not in ("inspect, archive", "table, csv", "table, parquet")]


@pytest.fixture(scope="module")
def kinds() -> dict[str, Reader]:
    return brought()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path / "cache"))
    made = tmp_path / "given"
    made.mkdir()
    return made


def laid(reader: Reader, folder: Path, content: bytes) -> Path:
    """`content` as the reader's file in a folder with all that belongs to it."""
    if reader.beside is not None and not any(folder.iterdir()):
        reader.beside(folder)
    path = folder / reader.name
    path.write_bytes(content)
    return path


def test_the_kinds_are_all_that_there_are(kinds: dict[str, Reader]) -> None:
    assert set(kinds) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_files_that_all_others_are_made_of_are_sound(
    kinds: dict[str, Reader], name: str, folder: Path
) -> None:
    for content in kinds[name].originals:
        found = held(kinds[name].read, laid(kinds[name], folder, content))
        assert not isinstance(found, LeadlineError), found


@pytest.mark.parametrize("name", NAMES)
def test_broken_bytes_are_taken_or_refused(kinds: dict[str, Reader], name: str, folder: Path) -> None:
    reader = kinds[name]

    @examples(12)
    @given(broken(reader.originals))
    def check(content: bytes) -> None:
        held(reader.read, laid(reader, folder, content))

    check()


@pytest.mark.parametrize("name", SHAPED)
def test_any_part_may_be_anything(kinds: dict[str, Reader], name: str, folder: Path) -> None:
    reader = kinds[name]

    @examples(20)
    @given(changed(reader.values()), st.sampled_from((None, 1)))
    def check(value: object, indent: int | None) -> None:
        if reader.shape == "lines" and isinstance(value, list):
            content = b"".join(written(line) + b"\n" for line in value)
        else:
            content = written(value, indent=indent)
        held(reader.read, laid(reader, folder, content))

    check()


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_file_is_refused_at_once(
    kinds: dict[str, Reader], name: str, kind: str, folder: Path
) -> None:
    reader = kinds[name]
    path = laid(reader, folder, reader.originals[0])
    put(kind, path)
    found = held(reader.read, path)
    # Of a release, runs may be lacking: what is no file is then as good as not there.
    assert isinstance(found, LeadlineError) or name == "release, runs", f"{name} is {kind}: {found}"


def test_any_entry_of_an_archive_may_be_anything(kinds: dict[str, Reader], folder: Path) -> None:
    reader = kinds["inspect, archive"]

    @examples(20)
    @given(changed((inspect_entries(),)))
    def check(entries: Any) -> None:
        content = archive_of(entries) if isinstance(entries, dict) else written(entries)
        held(reader.read, laid(reader, folder, content))

    check()


def test_two_entries_of_one_name_and_names_that_lead_out_write_nothing(
    kinds: dict[str, Reader], folder: Path
) -> None:
    entries = inspect_entries()
    sample = next(name for name in entries if name.startswith("samples/"))
    odd = [*entries.items(), (sample, entries[sample]), ("../../outside.json", {}), ("/outside.json", [])]
    with pytest.warns(UserWarning, match="Duplicate name"):
        content = archive_of(odd)
    held(kinds["inspect, archive"].read, laid(kinds["inspect, archive"], folder, content))
    assert not list(folder.parent.rglob("outside.json")) and not Path("/outside.json").exists()


LONG = "9" * 5_000


def _number_in_json() -> tuple[str, bytes]:
    return "log.json", inspect_files()[".json"].replace(b'"version": 2', f'"version": {LONG}'.encode(), 1)


def _number_in_sample() -> tuple[str, bytes]:
    entries = inspect_entries()
    name = next(name for name in entries if name.startswith("samples/"))
    entries[name]["epoch"] = "\ue000a"
    return "log.eval", archive_of(entries)


def _bomb(name: str, size: int) -> tuple[str, bytes]:
    entries = inspect_entries()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for one, content in entries.items():
            if one != name:
                archive.writestr(one, json.dumps(content))
        with archive.open(name, "w", force_zip64=True) as file:
            file.write(b"{")
            for _ in range(size >> 20):
                file.write(b" " * (1 << 20))
            file.write(b"}")
    return "log.eval", out.getvalue()


@pytest.mark.parametrize(
    "make",
    [
        _number_in_json,
        _number_in_sample,
        lambda: _bomb("header.json", 1 << 29),
        lambda: _bomb("samples/3_epoch_1.json", 3 << 29),
    ],
    ids=[
        "a number of 5,000 digits in a log",
        "in a sample",
        "half a gigabyte of header",
        "a sample of 1.5 GB",
    ],
)
def test_what_ends_the_process_of_other_readers_is_refused_in_a_line(make: Any, tmp_path: Path) -> None:
    name, content = make()
    (tmp_path / name).write_bytes(content)
    ended = command("import", "inspect", tmp_path / name, "--study", tmp_path / "study")
    assert ended.code == 2, ended.err
    assert "digits" in ended.err or "unpacked" in ended.err
