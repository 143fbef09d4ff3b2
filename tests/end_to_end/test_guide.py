"""The guide from documents to a release, typed as it stands: its commands, what it says that they print, and
three people at the pages (over HTTP; the pages in a browser have tests of their own)."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from leadline.bench import load_benchmark
from leadline.bench.adjudications import read_adjudications
from leadline.study.study import open_study
from tests.end_to_end.commands import QUIET
from tests.review.pages import Client, token_in
from tests.study.stored import findings, table

pytestmark = pytest.mark.model

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "labelling-to-release.md"
# Commands that end with 1: they found what they were made to find.
FINDING = ("leadline audit my-bench --out audit.html", "leadline audit my-bench-repaired")


@dataclass(frozen=True)
class Step:
    """A command of the guide, and the lines that it is said to print."""

    command: str
    printed: tuple[str, ...]


def steps() -> Iterator[Step]:
    """Every command of the guide, in order."""
    for block in re.findall(r"^```console\n(.*?)^```", GUIDE.read_text("utf-8"), flags=re.M | re.S):
        for said in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, *printed = said.strip().splitlines()
            yield Step(command, tuple(printed))


# What people do at the pages


def label(client: Client, folder: Path) -> None:
    """Jane Doe labels all questions."""
    documents = {path.name: path.read_text("utf-8") for path in (folder / "my-licences/sources").iterdir()}
    names = sorted(documents)
    said = {
        "written offer": (r"valid for at least three\s+years|valid for at\s+least three years", "3"),
        "cessation": (r"prior to\s+60 days after the cessation", "60"),
        "breach be cured": (r"within 30 days of becoming aware", "30"),
        "Which law governs": (r"governed by\s+California law provisions", "California"),
        "propagation": (r'To "convey" a work means any kind of propagation', "convey"),
    }
    keys = links(client, "label")
    assert len(keys) == 6
    for key in keys:
        page = client.get(f"/label/{key}").text
        (number,) = re.findall(r'<option value="(\d+)"[^>]*selected', page)
        text = documents[names[int(number)]]
        pattern, answer = next(known for words, known in said.items() if words in page)
        found = re.search(pattern, text)
        assert found, (names[int(number)], pattern)
        marked = {"start": found.start(), "end": found.end(), "text": found[0]}
        quote = client.post(f"/api/documents/{number}/quote", json=marked).json()["quote"]
        assert text[quote["start"] : quote["end"]] == quote["quote"] == found[0]
        commit(client, "label", key, answer=answer, quotes=[quote])


def adjudicate(client: Client, folder: Path) -> None:
    """Jane Doe reads doubted items until she has decided on three that the study asks, each another way."""
    items = open_study(folder / "my-study").whole.by_id
    study = {item.id for item in open_study(folder / "my-study").benchmark.items}
    left = ["rejected", "excluded-ambiguous", "upheld"]
    for key in links(client, "adjudicate"):
        assert client.get(f"/api/adjudicate/{key}/revealed").status_code == 403
        commit(client, "adjudicate", key, unsettled=True)
        told = client.get(f"/api/adjudicate/{key}/revealed").json()
        item = items[told["item"]["id"] if isinstance(told["item"], dict) else told["item"]]
        assert item.answer in json.dumps(told, ensure_ascii=False)
        if item.id not in study:
            continue  # the audit has taken it out already
        outcome = left.pop(0)
        seen = {"seen": "0", "corrected": ""}
        commit(client, "adjudicate", key, outcome=outcome, reason="As the clause says.", **seen)
        if not left:
            return
    raise AssertionError("too few doubts on the study's own items")


def annotate(client: Client, folder: Path) -> None:
    """John Roe answers the pack: as the labels say, but for one."""
    items = load_benchmark(folder / "my-bench-repaired").items
    rows = list(csv.DictReader((folder / "my-pack/sheet.csv").read_text("utf-8-sig").splitlines()))
    assert len(rows) == 22
    windows = [json.loads(line) for line in (folder / "my-pack/rows.jsonl").read_text("utf-8").splitlines()]
    for number, (row, shown) in enumerate(zip(rows, windows, strict=True)):
        window = shown["window"] if "window" in shown else shown["view"]["window"]
        (item,) = (one for one in items if (one.question, one.window) == (row["question"], window))
        said = {"answer": item.answer} if number else {"unsettled": True}
        commit(client, "annotate", row["token"], **said)


def links(client: Client, job: str) -> list[str]:
    """The keys of a job's entries, in the order of its list."""
    found = re.findall(rf'href="/{job}/([\w-]+)"', client.get(f"/{job}?show=all").text)
    return [key for key in dict.fromkeys(found) if key != "next"]


def commit(client: Client, job: str, key: str, **fields: Any) -> None:
    version = client.get(f"/api/{job}/{key}").json()["version"]
    answer = client.post(f"/api/{job}/{key}/commit", json={"version": version, "fields": fields})
    assert answer.status_code == 200, answer.text


@dataclass
class Walked:
    """Where the guide was walked, and what each command printed."""

    folder: Path
    printed: dict[str, str]


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Walked:
    start = tmp_path_factory.mktemp("guide")
    (start / "leadline" / "examples").mkdir(parents=True)
    shutil.copytree(ROOT / "examples" / "review", start / "leadline" / "examples" / "review")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, **QUIET, "PATH": path}
    doing: dict[str, Callable[[Client, Path], None]] = {
        "--questions": label,
        "--study": adjudicate,
        "--pack": annotate,
    }
    found = Walked(start / "work", {})
    at = start
    for step in steps():
        if step.command.startswith("leadline review serve"):
            act = next(do for flag, do in doing.items() if flag in step.command)
            printed = with_pages(f"{step.command} --port 0", at, environment, act)
        else:
            ran = subprocess.run(
                ["bash", "-c", step.command],
                cwd=at,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            expected = 1 if step.command.startswith(FINDING) else 0
            printed = ran.stdout + ran.stderr
            assert ran.returncode == expected, (step.command, printed[-3000:])
        if "cd work" in step.command:
            at = found.folder
        found.printed[step.command] = printed
    return found


def with_pages(
    command: str, at: Path, environment: dict[str, str], act: Callable[[Client, Path], None]
) -> str:
    """Serve the pages while somebody works on them; Ctrl-C ends it."""
    process = subprocess.Popen(
        ["bash", "-c", f"exec {command}"],
        cwd=at, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        line = process.stdout.readline().strip()
        assert line, process.communicate()[1]
        with closing(Client(line.partition("/?")[0], token_in(line), reader="")) as client:
            act(client, at)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 130 and "Traceback" not in err, err
        return line + out + err
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def test_every_command_prints_what_the_guide_says(walked: Walked) -> None:
    told = [step for step in steps() if step.printed]
    assert len(told) > 5
    for step in told:
        for line in step.printed:
            assert line in walked.printed[step.command], step.command


def test_what_was_labelled_is_a_benchmark_whose_quotes_are_found(walked: Walked) -> None:
    benchmark = load_benchmark(walked.folder / "my-items")
    assert {item.id: item.answer for item in benchmark.items} == {
        "new-offer-gpl-2": "3",
        "new-offer-lgpl-2.1": "3",
        "new-cessation-gpl-3": "60",
        "new-cure-mpl-1.1": "30",
        "new-law-mpl-1.1": "California",
        "new-term-gpl-3": "convey",
    }
    for item in benchmark.items:
        source = (walked.folder / "my-items" / "sources" / item.source).read_text("utf-8")
        assert item.window is not None and item.window in source
        assert all(piece.quote in item.window for piece in item.evidence)
    assert "0 errors, 0 warnings" in walked.printed["leadline bench validate my-items"]


def test_decisions_are_in_every_population_and_can_be_left_aside(walked: Walked) -> None:
    decisions = read_adjudications(walked.folder / "my-bench-repaired" / "adjudications.jsonl")
    assert len(decisions) == 3 and {one.reader for one in decisions} == {"Jane Doe"}
    gone = {one.item for one in decisions if one.outcome != "rejected"}
    with_them, without = (
        findings(walked.folder / "my-study"),
        json.loads((walked.folder / "without-decisions" / "findings.json").read_text("utf-8")),
    )
    assert without["benchmark"]["items_asked"] - with_them["benchmark"]["items_asked"] == len(gone) == 2
    assert "3 decisions" in with_them["benchmark"]["population"]
    assert "not adjudicated" in without["benchmark"]["population"]
    assert table(with_them, "adjudication", "both")


def test_the_second_reader_agrees_on_all_rows_but_one(walked: Walked) -> None:
    (score,) = (walked.folder / "my-pack").glob("score-*.json")
    told = score.read_text("utf-8")
    assert "inter-annotator" in told
    printed = next(text for command, text in walked.printed.items() if "review score" in command)
    assert "21/22" in printed.replace(" of ", "/"), printed


def test_the_release_holds_decisions_and_pack_and_verifies(walked: Walked) -> None:
    release = walked.folder / "my-release"
    original = walked.folder / "my-bench-repaired" / "adjudications.jsonl"
    assert (release / "adjudications.jsonl").read_bytes() == original.read_bytes()
    assert {path.name for path in (release / "packs" / "my-pack").iterdir()} >= {"sheet.csv", "pack.json"}
    assert (release / "evidence.html").is_file()
    alone = subprocess.run(
        [sys.executable, "-I", release / "verify.py", release], capture_output=True, text=True, check=False
    )
    assert alone.returncode == 0, alone.stdout + alone.stderr
