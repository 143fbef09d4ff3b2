"""The job of adjudicating where something changed meanwhile: the item, the decisions, the documents."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from leadline.bench import load_benchmark
from leadline.bench.adjudications import label_hash, read_adjudications
from leadline.review.adjudicating import AdjudicateJob
from leadline.review.decide import decide
from leadline.review.flag_files import write_flags
from leadline.review.flagging import flags_of
from leadline.review.read_documents import box_of
from leadline.study.study import open_study
from tests.review.doubted import Doubted, adjudicate, copied, doubted
from tests.review.pages import Client, served

CRATE = "crate-quibbleforth"
REJECTED = {"outcome": "rejected", "reason": "clear", "corrected": ""}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Doubted:
    return doubted(tmp_path_factory.mktemp("doubted"))


@pytest.fixture
def made(original: Doubted, tmp_path: Path) -> Doubted:
    return copied(original, tmp_path)


def key_of(job: AdjudicateJob, item: str = CRATE) -> str:
    return next(key for key, one in job._items.items() if one.id == item)


def commit(client: Client, key: str, **fields: Any) -> Any:
    """Commits after whatever was saved so far; `seen` is what the page tells beside its fields."""
    version = client.get(f"/api/adjudicate/{key}").json()["version"]
    beside = {name: fields.pop(name) for name in ("seen",) if name in fields}
    sent = {"version": version, "fields": fields, "beside": beside}
    return client.post(f"/api/adjudicate/{key}/commit", json=sent)


def changed(made: Doubted, before: str, after: str) -> Path:
    """Changes the items, and gives the study's flags as if they had been raised on what the items are now."""
    items = made.benchmark / "items.jsonl"
    text = items.read_text("utf-8")
    assert text.count(before) >= 1
    flags = flags_of(open_study(made.study))
    items.write_text(text.replace(before, after, 1), "utf-8")
    now = load_benchmark(made.benchmark).content_hash
    path = made.study.parent / "flags.jsonl"
    write_flags(flags.model_copy(update={"content_hash": now}), path)
    return path


def outcomes(made: Doubted) -> list[tuple[str, str]]:
    found = read_adjudications(made.benchmark / "adjudications.jsonl")
    return [(one.reader, one.outcome) for one in found]


def test_an_item_that_was_changed_is_read_and_decided_anew(made: Doubted) -> None:
    job, drafts = adjudicate(made)
    old = key_of(job)
    with served([job], drafts) as running, closing(running.client()) as ann:
        commit(ann, old, answer="Zanthoxa")
        commit(ann, old, **REJECTED)
    job, drafts = adjudicate(made, study=None, flags=changed(made, "Who receives", "Which union receives"))
    new = key_of(job)
    assert new != old and len(job.entries()) == 5, "the old one is gone"
    with served([job], drafts) as running, closing(running.client()) as ann:
        assert "Zanthoxa" not in ann.get(f"/adjudicate/{new}").text, "nothing is filled in"
        assert commit(ann, new, answer="Zanthoxa").json()["next"] == f"/adjudicate/{new}"
        assert commit(ann, new, **REJECTED).status_code == 200
        assert "1 of 5 done" in ann.get("/adjudicate").text
    labels = [one.label for one in read_adjudications(made.benchmark / "adjudications.jsonl")]
    now = label_hash(load_benchmark(made.benchmark).by_id[CRATE])
    assert [label == now for label in labels] == [False, True]


def test_what_was_taken_back_elsewhere_can_be_decided_the_same_way_again(made: Doubted) -> None:
    job, drafts = adjudicate(made)
    key = key_of(job)
    with served([job], drafts) as running, closing(running.client()) as ann:
        commit(ann, key, answer="Zanthoxa")
        commit(ann, key, **REJECTED)
        decide(job.benchmark, job.decisions.path, CRATE, "withdrawn", reason="no", reader="Bob")
        assert commit(ann, key, **REJECTED).status_code == 200
    assert outcomes(made) == [("Ann", "rejected"), ("Bob", "withdrawn"), ("Ann", "rejected")]


def test_of_two_who_decide_in_one_moment_the_second_is_told(made: Doubted) -> None:
    """Its commit passes the first look, and is stopped where it would be written."""

    class Overtaken(AdjudicateJob):
        def problems(self, key: str, reader: str, fields: Mapping[str, Any]) -> Mapping[str, str]:
            found = super().problems(key, reader, fields)
            if "outcome" in fields:
                decide(self.benchmark, self.decisions.path, CRATE, "rejected", reason="so", reader="Bob")
            return found

    job, drafts = adjudicate(made)
    slow = Overtaken(job.benchmark, job.flags, job.readings, job.decisions, job.seed)
    key = key_of(slow)
    with served([slow], drafts) as running, closing(running.client()) as ann:
        commit(ann, key, answer="Zanthoxa")
        late = commit(ann, key, outcome="upheld", reason="not so", seen="0")
        assert late.status_code == 422 and "Bob has decided on this item since" in late.text
    assert outcomes(made) == [("Bob", "rejected")]


def test_each_document_that_was_read_is_recorded_and_a_lost_one_is_told(made: Doubted) -> None:
    annex = made.benchmark / "sources" / "annex.txt"
    annex.write_text("The annex says no more.", "utf-8")
    quote = '"evidence": [{"quote": "shall return every borrowed crate before the season"}'
    flags = changed(made, quote, quote + ', {"quote": "The annex says no more", "source": "annex.txt"}')
    job, drafts = adjudicate(made, study=None, flags=flags)
    key = key_of(job)
    decision = {**REJECTED, box_of("deed.txt"): True, box_of("annex.txt"): True}
    with served([job], drafts) as running, closing(running.client()) as ann:
        commit(ann, key, answer="Zanthoxa")
        page = ann.get(f"/adjudicate/{key}").text
        assert "deed.txt</bdi>, beyond" in page and "annex.txt</bdi>, beyond" in page
        away = annex.rename(made.benchmark / "annex.txt")
        gone = commit(ann, key, **decision)
        assert gone.status_code == 422
        assert "not among the sources any more" in gone.json()["problems"][box_of("annex.txt")]
        away.rename(annex)
        assert commit(ann, key, **decision).status_code == 200
    (kept,) = read_adjudications(made.benchmark / "adjudications.jsonl")
    assert kept.read is not None
    read = {one.source: len(one.sha256) for one in (kept.read, *kept.also_read)}
    assert read == {"deed.txt": 64, "annex.txt": 64}


def test_no_document_is_opened_while_a_decision_is_written(made: Doubted) -> None:
    """Drafts wait while a commit is written: a document that takes long to open would keep all readers."""
    job, drafts = adjudicate(made)
    key = key_of(job)
    with served([job], drafts) as running, closing(running.client()) as ann:
        commit(ann, key, answer="Zanthoxa")
        # Not readable as a document, and hashed all the same: it was read on the page before.
        (made.benchmark / "sources" / "deed.txt").write_bytes(b"%PDF-1.7 is broken" * 1000)
        assert commit(ann, key, **{**REJECTED, box_of("deed.txt"): True}).status_code == 200
    (kept,) = read_adjudications(made.benchmark / "adjudications.jsonl")
    assert kept.read is not None and kept.read.sha256
