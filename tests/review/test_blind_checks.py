"""What is refused before a reading is the same whatever the key is: else trying answers would tell it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from leadline.bench import load_benchmark
from leadline.bench.views import for_labeller
from leadline.review import adjudicating, annotating, labelling
from leadline.review.adjudicating import AdjudicateJob
from leadline.review.drafts import Drafts
from leadline.review.flag_files import write_flags
from leadline.review.flags import Flag, flag_list
from leadline.review.order import FILE as ORDER
from leadline.review.pack import draw_pack
from leadline.review.pack_files import write_pack
from leadline.review.places import DRAFTS
from leadline.review.start import ServeOptions, what_is_wanted
from tests.review.crawl import Crawl
from tests.review.pages import served

PARTS = [
    {"name": "who"},
    {"name": "days", "answer_type": "number", "unit": "day"},
    {"name": "free", "answer_type": "boolean"},
]
ASKED: dict[str, dict[str, Any]] = {
    "text": {"question": "Which city?"},
    "number": {"question": "How many days?", "answer_type": "number", "unit": "day"},
    "date": {"question": "On which day?", "answer_type": "date"},
    "boolean": {"question": "Is it free?", "answer_type": "boolean"},
    "enum": {"question": "Which colour?", "answer_type": "enum", "vocabulary": ["red", "green", "blue"]},
    "parts": {"question": "Who, how long, and is it free?", "answer_type": "parts", "fields": PARTS},
}
# Keys of the same questions: answer and aliases.
KEYS: list[dict[str, tuple[str, ...]]] = [
    {
        "text": ("Lyon", "Lugdunum"),
        "number": ("30",),
        "date": ("2008-11-01",),
        "boolean": ("yes",),
        "enum": ("red",),
        "parts": ('{"who": "the licensee", "days": "30", "free": "yes"}',),
    },
    {
        "text": ("Rome", "Urbs", "unknown", "none of the above"),
        "number": ("45",),
        "date": ("1999-02-03",),
        "boolean": ("no",),
        "enum": ("blue",),
        "parts": ('{"who": "nobody knows", "days": "45", "free": "no"}',),
    },
]
SAID = sorted({text for key in KEYS for answers in key.values() for text in answers})
PROBES = [
    *SAID,
    *(f"I do not know whether it is {text} or Berlin" for text in SAID),
    *(f"The text does not mention {text}." for text in SAID),
    *(f"Sorry, I cannot answer: {text}" for text in SAID),
    *(f"{text} or 31" for text in SAID),
    *("", "?", "???", "n/a", "none", "unknown", "I cannot tell.", "perhaps"),
    *("November 2008", "31", "30.5", "3 weeks", "purple"),
    *("x" * 2001, "\ud800", "<think>Rome", "<think>Rome</think>", "\x00"),
]  # fmt: skip


def fields_of(kind: str, said: str) -> Iterator[dict[str, Any]]:
    if kind != "parts":
        yield {"answer": said}
        yield {"answer": said, "unsettled": True}
        return
    whole = {"part-0": "the licensee", "part-1": "30", "part-2": "yes"}
    for part in whole:
        yield {**whole, part: said}
        yield {part: said}


def written(place: Path, key: Mapping[str, Sequence[str]]) -> Path:
    place.mkdir()
    items = [
        {
            "id": kind,
            **ASKED[kind],
            "answer": answer,
            "aliases": aliases,
            "window": "It says nothing of that.",
        }
        for kind, (answer, *aliases) in key.items()
    ]
    (place / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items), "utf-8")
    (place / "benchmark.yaml").write_text('name: asked\nversion: "1"\n', "utf-8")
    benchmark = load_benchmark(str(place))
    flags = [
        Flag(item=item.id, kind="audit", failure="evidence absent", label_hash="sha256:" + 64 * "0")
        for item in benchmark.items
    ]
    write_flags(flag_list(benchmark, flags), place / "flags.jsonl")
    (place / "review").mkdir()
    (place / "review" / ORDER).write_text('{"seed": "one and the same"}\n', "utf-8")
    return place


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    place = tmp_path_factory.mktemp("keys")
    return [written(place / f"key-{at}" / "", key) for at, key in enumerate(KEYS)]


@pytest.fixture(scope="module")
def jobs(folders: list[Path]) -> list[AdjudicateJob]:
    return [job_of(folder) for folder in folders]


def job_of(folder: Path) -> AdjudicateJob:
    wanted, _ = what_is_wanted(ServeOptions(benchmark=str(folder), flags=folder / "flags.jsonl"))
    job = adjudicating.offer(wanted, Drafts(folder / "review" / DRAFTS))
    assert job is not None
    return job


def key_in(job: AdjudicateJob, kind: str) -> str:
    return next(key for key, item in job._items.items() if item.id == kind)


@pytest.mark.parametrize("kind", ASKED)
def test_whether_a_reading_is_refused_and_in_which_words_does_not_depend_on_the_key(
    kind: str, jobs: list[AdjudicateJob]
) -> None:
    one, other = (for_labeller(job._items[key_in(job, kind)]) for job in jobs)
    assert one == other  # else nothing would be compared
    told = set()
    for said in PROBES:
        for fields in fields_of(kind, said):
            first, second = (job.problems(key_in(job, kind), "Ann", fields) for job in jobs)
            assert first == second, fields
            told.add(json.dumps(dict(first)))
    assert "{}" in told and len(told) > 2  # some are accepted, some refused


def test_a_text_that_says_that_nobody_knows_is_a_reading(jobs: list[AdjudicateJob]) -> None:
    for job in jobs:
        for said in (
            "I do not know whether it is Lyon, Berlin or Oslo",
            "unknown",
            "n/a",
            "none of the above",
        ):
            assert job.problems(key_in(job, "text"), "Ann", {"answer": said}) == {}


def test_a_server_says_the_same_to_whoever_has_read_nothing_whatever_the_key_is(folders: list[Path]) -> None:
    told = []
    for folder in folders:
        job = job_of(folder)
        with served([job], Drafts(folder / "review" / DRAFTS)) as running:
            said = [(one.method, one.address, one.text) for one in Crawl(running, [job], "Ann", ["it"]).said]
            with closing(running.client("Bo")) as bo:
                for kind in ASKED:
                    for probe in (
                        "I do not know whether it is Oslo or Rome",
                        "I cannot tell if Lyon",
                        "perhaps",
                        "30 or 45",
                        "?",
                    ):
                        at = f"/api/adjudicate/{key_in(job, kind)}/commit"
                        fields = {"answer": probe, "part-0": "Bo", "part-1": probe, "part-2": "yes"}
                        if job.problems(key_in(job, kind), "Bo", fields):
                            version = bo.get(at.removesuffix("/commit")).json()["version"]
                            answer = bo.post(at, json={"version": version, "fields": fields})
                            assert answer.status_code == 422
                            said.append(("POST", at, answer.text))
        told.append([_alike(job, running.url, text) for text in map("\n".join, said)])
    first, second = told
    assert len(first) > 150
    assert sorted(first) == sorted(second)


def test_a_row_of_a_pack_is_checked_without_its_key(folders: list[Path], tmp_path: Path) -> None:
    found = []
    for at, folder in enumerate(folders):
        pack = write_pack(draw_pack(load_benchmark(str(folder))), tmp_path / f"pack-{at}")
        job = annotating.AnnotateJob(pack, tmp_path / f"pack-{at}", Drafts(tmp_path / f"drafts-{at}"))
        found.append(
            {
                (row.view.question, json.dumps(fields)): job.problems(row.token, "Ann", fields)
                for row in pack.rows
                for kind in [next(kind for kind in ASKED if ASKED[kind]["question"] == row.view.question)]
                for said in PROBES
                for fields in fields_of(kind, said)
            }
        )
    assert found[0] == found[1] and len(found[0]) > 500


def test_the_job_of_labelling_is_handed_no_item(folders: list[Path]) -> None:
    for folder in folders:
        (folder / "sources").mkdir(exist_ok=True)
        (folder / "sources" / "deed.txt").write_text("It says nothing of that.", "utf-8")
        asked = folder / "questions.jsonl"
        asked.write_text(
            "".join(json.dumps({"id": kind, **said}) + "\n" for kind, said in ASKED.items()), "utf-8"
        )
    found = []
    for folder in folders:
        wanted, _ = what_is_wanted(ServeOptions(benchmark=str(folder), questions=folder / "questions.jsonl"))
        job = labelling.offer(wanted, Drafts(folder / "review" / DRAFTS))
        assert job is not None
        found.append(
            {
                (entry.title, json.dumps(fields)): job.problems(entry.key, "Ann", fields)
                for entry, kind in zip(job.entries(), ASKED, strict=True)
                for said in PROBES
                for fields in fields_of(kind, said)
            }
        )
    assert found[0] == found[1] and len(found[0]) > 500


def _alike(job: AdjudicateJob, url: str, text: str) -> str:
    """Without what differs from server to server: its port, the time, what entries are called there."""
    for key, item in job._items.items():
        text = text.replace(key, f"KEY-OF-{item.id}")
    text = text.replace(url, "URL")
    return re.sub(
        r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[^\"<\s]*|date: .*|content-length: .*|set-cookie: .*", "", text
    )
