"""A damaged database is noticed by whatever reads it; what can be read is recovered, the rest asked anew."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from leadline.errors import LeadlineError
from leadline.study.readings import readings
from leadline.study.recovery import recover
from leadline.study.seals import insert, register
from leadline.study.store import open_store
from leadline.study.study import open_study
from leadline.study.tables import COLUMNS
from tests.endurance.ledger import Ledger
from tests.endurance.points import Killable, points_of
from tests.study import stored
from tests.study.conftest import Leadline
from tests.study.small import small_study

pytestmark = pytest.mark.endurance
SEED = 92
PAGE = 4096
Damage = Callable[[bytearray, random.Random], None]


def noise(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data) // PAGE) * PAGE
    data[at : at + PAGE] = chance.randbytes(PAGE)


def zeros(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data) // PAGE) * PAGE
    data[at : at + PAGE] = bytes(PAGE)


def another_page(data: bytearray, chance: random.Random) -> None:
    one, other = (chance.randrange(len(data) // PAGE) * PAGE for _ in range(2))
    data[one : one + PAGE] = data[other : other + PAGE]


def scribble(data: bytearray, chance: random.Random) -> None:
    length = chance.choice((1, 2, 16, 300))
    at = chance.randrange(len(data) - length)
    data[at : at + length] = chance.randbytes(length)


def turned_bit(data: bytearray, chance: random.Random) -> None:
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def turned_letter(data: bytearray, chance: random.Random) -> None:
    """Of a text: what no check of the structure can see."""
    letters = [at for at in chance.sample(range(len(data)), 400) if chr(data[at]).isalnum()]
    if letters:
        data[letters[0]] ^= 1


def cut(data: bytearray, chance: random.Random) -> None:
    del data[chance.randrange(1, len(data)) :]


DAMAGES: tuple[Damage, ...] = (noise, zeros, another_page, scribble, turned_bit, turned_letter, cut)


@pytest.fixture(scope="module")
def whole(
    tmp_path_factory: pytest.TempPathFactory, model: Path, killable: Killable
) -> tuple[Path, list[dict[str, Any]]]:
    """A study that is complete, and what is read of it."""
    folder = small_study(tmp_path_factory.mktemp("whole") / "study", model, 16)
    assert killable.start("run", folder).wait() == 0
    return folder, read(folder)


def read(folder: Path) -> list[dict[str, Any]]:
    """All that a report is made of, but for the study's own files."""
    with open_store(folder, write=False) as store:
        frame = readings(open_study(folder), store)
        told = [vars(one) for one in store.history()]
        known = [store.models(), store.configurations(), store.registrations()]
    return [*frame.to_dicts(), *told, *({"known": one} for one in known)]


def damaged(folder: Path, place: Path, damage: Damage, chance: random.Random) -> bool:
    """A copy of the study in which the damage was done; False where it changed nothing."""
    shutil.copytree(folder, place, ignore=shutil.ignore_patterns("report"))
    database = place / "responses.sqlite"
    before = database.read_bytes()
    data = bytearray(before)
    damage(data, chance)
    database.write_bytes(data)
    return bytes(data) != before


def some(long: bool, few: int, many: int) -> Iterator[tuple[int, Damage, random.Random]]:
    """So many damages, all kinds in turn."""
    for number in range(many if long else few):
        yield number, DAMAGES[number % len(DAMAGES)], random.Random(f"{SEED} {number}")


def test_damage_anywhere_is_noticed_or_changes_nothing_that_is_read(
    whole: tuple[Path, list[dict[str, Any]]], tmp_path: Path, ledger: Ledger, long: bool
) -> None:
    folder, expected = whole
    tally = ledger.tally("database damaged", SEED)
    noticed = 0
    for number, damage, chance in some(long, 63, 1400):
        place = tmp_path / str(number)
        if not damaged(folder, place, damage, chance):
            continue
        tally.fault(midway=True)
        tally.answers += len(expected)
        called = f"{damage.__name__} {number}"
        try:
            found = read(place)
        except LeadlineError as error:
            noticed += 1
            tally.expect("\n" not in str(error) and str(place) in str(error), "other", f"{called}: {error}")
        except Exception as error:
            tally.broken("other", f"{called}: {error!r}")
        else:
            tally.expect(found == expected, "wrong reports", called)
        shutil.rmtree(place)
    assert noticed > tally.faults / 2
    tally.check(faults=40)


def test_what_can_be_read_is_recovered_and_the_rest_is_asked_anew(
    whole: tuple[Path, list[dict[str, Any]]], tmp_path: Path, ledger: Ledger, long: bool, leadline: Leadline
) -> None:
    folder, _ = whole
    tally = ledger.tally("database recovered", SEED)
    calm, before, report = stored.texts(folder), stored.rows(folder), stored.findings(folder)
    recovered = 0
    for number, damage, chance in some(long, 7, 70):
        place = tmp_path / str(number)
        if not damaged(folder, place, damage, chance):
            continue
        tally.fault(midway=True)
        called = f"{damage.__name__} {number}"
        ended = leadline("recover", place)
        tally.expect(ended.code == 0 and not ended.err, "other", f"{called}: {ended.err}")
        kept = stored.rows(place)
        recovered += len(kept) > 0.5 * len(before) and "recovered" in ended.out
        tally.expect(kept.items() <= before.items(), "wrong reports", f"{called}: an answer is another")
        ended = leadline("run", place, "--quiet")
        tally.expect(ended.code == 0, "other", f"{called}: {ended.err}")
        after = stored.rows(place)
        tally.expect(after.items() >= kept.items(), "lost", called)
        asked = len(after) - len(kept)
        tally.expect(asked == len(before) - len(kept), "asked twice", called)
        tally.answers += len(after)
        tally.expect(stored.texts(place) == calm, "lost", f"{called}: answers differ")
        tally.expect(stored.findings(place) == report, "wrong reports", called)
        shutil.rmtree(place)
    assert recovered >= tally.faults / 3, "most damages leave most answers"
    tally.check(faults=5)


def test_a_recovery_killed_anywhere_is_ended_by_the_next(
    whole: tuple[Path, list[dict[str, Any]]], tmp_path: Path, killable: Killable, ledger: Ledger, long: bool
) -> None:
    folder, _ = whole
    tally = ledger.tally("recovery, killed", SEED)

    def broken(place: Path) -> Path:
        assert damaged(folder, place, zeros, random.Random(f"{SEED} 8"))
        (place / "responses.sqlite-wal").write_bytes(b"")
        return place

    process = killable.start_at(0, tmp_path, "recover", broken(tmp_path / "calm"))
    assert process.wait() == 0, process.err.read_text()
    calm, points = stored.rows(tmp_path / "calm"), points_of(process)
    for point in range(1, points + 1) if long else (2, points - 3, points - 2, points - 1, points):
        place = broken(tmp_path / str(point))
        before = (place / "responses.sqlite").read_bytes()
        if killable.start_at(point, place, "recover", place).wait() == 0:
            continue
        tally.fault(midway=True)
        there = (place / "responses.sqlite").read_bytes()
        kept = [path.read_bytes() for path in place.glob("responses.damaged-*.sqlite")]
        tally.expect(before in (there, *kept), "lost", f"point {point}: the damaged file")
        process = killable.start("recover", place)
        tally.expect(process.wait() == 0, "other", f"point {point}: {process.err.read_text()}")
        tally.expect(stored.rows(place) == calm, "lost", f"point {point}")
        tally.answers += len(calm)
        names = {path.name for path in place.glob("responses.*")} - {"responses.sqlite-shm"}
        tally.expect("responses.sqlite.recovered" not in names, "other", f"point {point}: {names}")
        shutil.rmtree(place)
    tally.check(faults=3)


def test_what_was_only_in_the_log_is_recovered_too(
    whole: tuple[Path, list[dict[str, Any]]], tmp_path: Path
) -> None:
    source, place = (shutil.copytree(whole[0], tmp_path / name) for name in ("source", "place"))
    database = sqlite3.connect(source / "responses.sqlite")
    register(database)
    database.execute("PRAGMA wal_autocheckpoint = 0")
    row = list(database.execute("SELECT * FROM responses LIMIT 1").fetchone())[:-1]
    row[3] = 999
    with database:
        database.execute(insert("responses"), row)
    for name in ("responses.sqlite", "responses.sqlite-wal"):
        shutil.copy(source / name, place / name)
    database.close()
    with (place / "responses.sqlite").open("r+b") as file:
        file.seek(PAGE * 3)
        file.write(bytes(PAGE))
    found = recover(open_study(place))
    assert found.kept is not None and found.kept.with_name(f"{found.kept.name}-wal").exists()
    assert (*row[:3], 999) in stored.rows(place)
    assert recover(open_study(place)).kept is None, "nothing is damaged any more"


def test_a_database_of_an_earlier_version_gains_seals_and_is_recovered_without(
    whole: tuple[Path, list[dict[str, Any]]], tmp_path: Path, leadline: Leadline
) -> None:
    folder, expected = whole
    before = stored.texts(folder)
    old = shutil.copytree(folder, tmp_path / "old")
    with sqlite3.connect(old / "responses.sqlite") as database:
        for table in COLUMNS:
            database.execute(f"ALTER TABLE {table} DROP COLUMN seal")
        database.execute("PRAGMA user_version = 1")
    database.close()
    assert read(old) == expected
    broken = shutil.copytree(old, tmp_path / "broken")
    with (broken / "responses.sqlite").open("r+b") as file:
        file.seek((broken / "responses.sqlite").stat().st_size // 2 // PAGE * PAGE)
        file.write(bytes(PAGE))
    found = recover(open_study(broken))
    assert found.kept is not None and 0 < found.unsealed == found.answers < len(before)
    assert stored.texts(broken).items() <= before.items()
    for study in (old, broken):
        assert leadline("run", study, "--quiet").code == 0
        assert stored.texts(study) == before
        with open_store(study, write=False) as store:
            assert store.select("responses", "SELECT COUNT(*) FROM responses WHERE seal IS NULL") == [(0,)]


def test_a_database_that_is_whole_is_left_alone(
    whole: tuple[Path, list[dict[str, Any]]], tmp_path: Path, leadline: Leadline
) -> None:
    place = shutil.copytree(whole[0], tmp_path / "study")
    before = (place / "responses.sqlite").read_bytes()
    ended = leadline("recover", place)
    assert ended.code == 0 and ended.out.startswith("nothing is damaged: ")
    assert (place / "responses.sqlite").read_bytes() == before
