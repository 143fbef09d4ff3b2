"""Keys that are really used, by a provider that is careless with them, stand in no file and no output."""

from __future__ import annotations

import io
import json
import logging
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="local models need the 'local' extra")
pytest.importorskip("inspect_ai", reason="models behind an API need the 'served' extra")

from leadline.redaction import spellings
from tests.end_to_end.commands import Ended, leadline
from tests.study.provider import Provider, Reply, provider, served_study
from tests.study.small import change

# Signs that URLs, JSON, HTML and shells each write in another way.
PLANTED = {
    "LOCAL_API_KEY": 'planted/key+0123"<4567>',
    "OPENAI_API_KEY": "sk-planted-0123456789abcdef",
    "HF_TOKEN": "hf_plantedABCDEFGHIJ",
    "LEADLINE_TOKEN": "planted-token-of-the-server",
    "DB_PASSWORD": "planted pass&word 42",
    "AWS_SECRET_ACCESS_KEY": "/planted/With+Slashes/0123",
    "HTTPS_PROXY": "http://me:planted-proxy-word@proxy.example:3128",
}
SECRETS = [value for name, value in PLANTED.items() if name != "HTTPS_PROXY"] + ["planted-proxy-word"]
FORBIDDEN = sorted({spelling.encode() for secret in SECRETS for spelling in spellings(secret)})


def careless(body: dict[str, Any], number: int) -> Reply:
    """A server that says what it was sent and what it was started with, in every spelling that there is."""
    everything = "; ".join(sorted(each.decode() for each in FORBIDDEN))
    if number % 4 == 0:
        return Reply(
            f"rejected: Authorization: Bearer {PLANTED['LOCAL_API_KEY']}; {everything}",
            status=(401, 400, 500, 429)[number // 4 % 4],
            headers={"Retry-After": "0"},
        )
    said = PLANTED["LOCAL_API_KEY"]
    return Reply("a b", model=f"house {said}", fingerprint=f"fp {PLANTED['OPENAI_API_KEY']}")


@pytest.fixture(scope="module")
def environment() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in PLANTED.items():
            patch.setenv(name, value)
        patch.setenv("NO_PROXY", "127.0.0.1")
        yield


@pytest.fixture(scope="module")
def logged() -> Iterator[io.StringIO]:
    """What any logger says, at the level at which most is said."""
    said = io.StringIO()
    handler, root = logging.StreamHandler(said), logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    yield said
    root.removeHandler(handler)
    root.setLevel(before)


@pytest.fixture(scope="module")
def done(
    environment: None, logged: io.StringIO, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Provider, dict[str, Ended]]:
    """A folder with everything that came of a study, and what each command printed."""
    folder = tmp_path_factory.mktemp("everything")
    study, out = folder / "study", folder / "out"
    out.mkdir()
    ended: dict[str, Ended] = {}

    def run(*arguments: str | Path) -> None:
        ended[" ".join(str(one).rpartition("/")[2] for one in arguments)] = leadline(*arguments)

    with provider(careless) as house:
        served_study(study, house.url, 8)
        run("run", study, "--dry-run", "--json")
        for _ in range(3):  # what failed is asked again
            run("run", study)
        run("run", study, "--json")
    run("report", study)
    run("report", study, "--json")
    run("review", "flags", study, "--out", out / "flags.jsonl", "--out", out / "flags.html")
    run("export", "answers", study, "--out", out / "answers.csv")
    run("export", "answers", study, "--out", out / "answers.jsonl")
    run("export", "inspect-log", study, out / "logs")
    run("prereg", study, "--title", "Steady", "--statistic", "wobble", "--below", "0.9")
    run("bundle", study, folder / "release")
    run("verify", folder / "release", "--json")
    batch = out / "batch.jsonl"
    batch.write_text("".join(f"{json.dumps(line)}\n" for line in batch_lines()), encoding="utf-8")
    run("import", "openai-batch", batch, "--study", study)
    batch.unlink()  # what others wrote holds what it holds
    for number, wrong in enumerate(WRONG):
        change(study, models=[{"ref": "inspect:openai-api/local/house", "base_url": house.url, **wrong}])
        run("run", study, *["--json"] * number)
        (study / "study.yaml").unlink()
        served_study(study, house.url, 8)
    return folder, house, ended


WRONG: list[dict[str, Any]] = [
    {"base_url": "http://me:planted-proxy-word@127.0.0.1:9/v1"},
    {"args": {"api_key": "planted-token-of-the-server"}},
    {"base_url": "http://127.0.0.1:9/v1?api_key=planted-token-of-the-server"},
    {"base_url": "http://127.0.0.1:9/planted-token-of-the-server/v1"},
]


def batch_lines() -> list[dict[str, Any]]:
    """A batch's output with a failed call that repeats a key."""
    message = f"bad key {PLANTED['OPENAI_API_KEY']} or {PLANTED['DB_PASSWORD']}"
    return [
        {
            "id": "b-1",
            "custom_id": "i00",
            "response": {"status_code": 401, "body": {"error": {"message": message}}},
            "error": {"code": "invalid", "message": message},
        }
    ]


def held(path: Path) -> Iterator[bytes]:
    """The bytes of a file; an archive's entries, too."""
    yield path.read_bytes()
    if path.suffix in (".zip", ".eval") and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            yield from (archive.read(entry) for entry in archive.infolist() if entry.compress_type != 93)


def test_the_keys_were_really_used_and_every_command_did_its_work(
    done: tuple[Path, Provider, dict[str, Ended]],
) -> None:
    folder, house, ended = done
    assert house.headers[0]["authorization"] == f"Bearer {PLANTED['LOCAL_API_KEY']}"
    codes = {name: one.code for name, one in ended.items()}
    assert all(code in (0, 1, 2, 3) for code in codes.values()), codes
    assert codes["bundle study release"] == 0 and codes["verify release --json"] == 0, ended
    assert codes["report study"] == 0 and codes["export answers study --out answers.csv"] == 0
    assert len([path for path in folder.rglob("*") if path.is_file()]) > 25


def test_what_providers_say_of_themselves_and_of_failures_is_kept_without_the_keys_in_it(
    done: tuple[Path, Provider, dict[str, Ended]],
) -> None:
    with closing(sqlite3.connect(done[0] / "study" / "responses.sqlite")) as database:
        failures = [row[0] for row in database.execute("SELECT message FROM failures")]
        everything = "\n".join(database.iterdump())
    assert failures and all("***" in message for message in failures)
    assert "house ***" in everything and "fp ***" in everything


def test_no_secret_stands_in_any_file_in_any_spelling(
    done: tuple[Path, Provider, dict[str, Ended]],
) -> None:
    found = [
        (path.relative_to(done[0]).as_posix(), spelling)
        for path in sorted(done[0].rglob("*"))
        if path.is_file()
        for data in held(path)
        for spelling in FORBIDDEN
        if spelling in data
    ]
    assert found == []


def test_no_secret_was_printed_or_logged_in_any_spelling(
    done: tuple[Path, Provider, dict[str, Ended]], logged: io.StringIO
) -> None:
    said = {name: one.out + one.err for name, one in done[2].items()} | {"loggers": logged.getvalue()}
    found = [(name, each) for name, text in said.items() for each in FORBIDDEN if each in text.encode()]
    assert found == []
    assert any("***" in text for text in said.values()), "something was said in their place"


def test_wrong_addresses_and_arguments_are_refused_in_one_line(
    done: tuple[Path, Provider, dict[str, Ended]],
) -> None:
    refused = [one for one in done[2].values() if one.code == 2]
    assert len(refused) >= 2
    assert all(one.fault for one in refused)
