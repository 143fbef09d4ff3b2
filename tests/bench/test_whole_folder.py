"""A folder is there whole, or not at all, and takes nobody's place."""

from __future__ import annotations

from pathlib import Path

import pytest

from leadline.bench.whole_file import whole_folder


def test_a_folder_appears_when_it_is_whole(tmp_path: Path) -> None:
    with whole_folder(tmp_path / "deep" / "made") as folder:
        (folder / "a.txt").write_text("a", "utf-8")
        assert not (tmp_path / "deep" / "made").exists()
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["made"]
    assert (tmp_path / "deep" / "made" / "a.txt").read_text("utf-8") == "a"
    by_hand = tmp_path / "by hand"
    by_hand.mkdir()
    assert (tmp_path / "deep" / "made").stat().st_mode == by_hand.stat().st_mode, "others may look into it"


def test_what_ends_badly_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), whole_folder(tmp_path / "made") as folder:
        (folder / "a.txt").write_text("a", "utf-8")
        raise RuntimeError
    assert not list(tmp_path.iterdir())


def test_an_empty_folder_is_filled_also_the_one_one_stands_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    with whole_folder(Path()) as folder:
        (folder / "a.txt").write_text("a", "utf-8")
    assert (tmp_path / "empty" / "a.txt").is_file()
    monkeypatch.chdir(tmp_path)
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("there", ["full folder", "file", "broken link", "link"])
def test_what_is_there_stays(tmp_path: Path, there: str) -> None:
    place, other = tmp_path / "made", tmp_path / "other"
    match there:
        case "full folder":
            place.mkdir()
            (place / "mine.txt").write_text("mine", "utf-8")
        case "file":
            place.write_text("mine", "utf-8")
        case "broken link":
            place.symlink_to(other)
        case "link":
            other.mkdir()
            place.symlink_to(other)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(OSError), whole_folder(place) as folder:
        (folder / "a.txt").write_text("a", "utf-8")
    assert sorted(tmp_path.rglob("*")) == before and place.is_symlink() == ("link" in there)


def test_somebodys_folder_with_a_name_as_of_a_half_made_one_stays(tmp_path: Path) -> None:
    (tmp_path / ".made.part").mkdir()
    (tmp_path / ".made.part" / "mine.txt").write_text("mine", "utf-8")
    with whole_folder(tmp_path / "made"):
        pass
    assert (tmp_path / ".made.part" / "mine.txt").is_file()
