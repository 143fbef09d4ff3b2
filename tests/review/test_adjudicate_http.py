"""The job of adjudicating over HTTP: a reading first, then everything, then a decision that is kept."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from leadline.bench import load_benchmark
from leadline.bench.adjudications import label_hash, layered, read_adjudications
from leadline.errors import UsageError
from leadline.interop.table import import_table
from leadline.review.adjudicating import AdjudicateJob, offer
from leadline.review.drafts import Drafts
from leadline.review.flag_files import write_flags
from leadline.review.flagging import flags_of
from leadline.review.flags import as_recorded, blinded
from leadline.review.read_documents import box_of
from leadline.review.start import ServeOptions, what_is_wanted
from leadline.review.wanted import Wanted
from leadline.study.study import open_study
from tests.review.doubted import DEED, Doubted, adjudicate, copied, doubted
from tests.review.pages import Client, Served, served


@dataclass
class Reviewed:
    """A served review of the doubted benchmark."""

    made: Doubted
    job: AdjudicateJob
    served: Served

    def key(self, item: str) -> str:
        return next(key for key, one in self.job._items.items() if one.id == item)

    @property
    def decisions(self) -> Path:
        return self.made.benchmark / "adjudications.jsonl"

    @property
    def readings(self) -> list[dict[str, Any]]:
        path = self.made.benchmark / "review" / "readings.jsonl"
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Doubted:
    return doubted(tmp_path_factory.mktemp("doubted"))


@pytest.fixture
def made(original: Doubted, tmp_path: Path) -> Doubted:
    return copied(original, tmp_path)


@pytest.fixture
def review(made: Doubted) -> Iterator[Reviewed]:
    job, drafts = adjudicate(made)
    with served([job], drafts) as running:
        yield Reviewed(made, job, running)


def commit(client: Client, key: str, **fields: Any) -> Any:
    """Commits after whatever was saved so far; `seen` is what the page tells beside its fields."""
    version = client.get(f"/api/adjudicate/{key}").json()["version"]
    beside = {name: fields.pop(name) for name in ("seen",) if name in fields}
    sent = {"version": version, "fields": fields, "beside": beside}
    return client.post(f"/api/adjudicate/{key}/commit", json=sent)


def test_what_is_hidden_is_shown_after_the_reading_and_not_before(review: Reviewed) -> None:
    key = review.key("crate-quibbleforth")
    with closing(review.served.client()) as ann:
        early = ann.get(f"/api/adjudicate/{key}/revealed")
        assert early.status_code == 403
        assert early.json() == {"error": "this is shown once you have committed a reading of this item"}
        assert "Quibbleforth" not in ann.get(f"/adjudicate/{key}").text
        answer = commit(ann, key, answer="Zanthoxa", unsettled=False)
        assert answer.status_code == 200
        assert answer.json()["next"] == f"/adjudicate/{key}", "the second step is on the same page"
        page = ann.get(f"/adjudicate/{key}").text
        for words in ("Quibbleforth", "Brinderhaus Union", "12 of 12", "crate-quibbleforth"):
            assert words in page
        told = ann.get(f"/api/adjudicate/{key}/revealed").json()
    assert told["key"]["answer"] == "Quibbleforth" and told["key"]["aliases"] == ["Brinderhaus Union"]
    assert told["key"]["evidence"][0]["quote"].startswith("shall return")
    assert told["agrees"] is False and told["as_reader"] == [12, 12]
    assert [flag["kind"] for flag in told["flags"]] == ["label"]
    assert [
        (one["model"], [(said["value"], said["count"], said["correct"]) for said in one["said"]])
        for one in told["answers"]
    ] == [(name, [("zanthoxa", 4, False)]) for name in ("alderwood-1b", "birchwood-2b", "cedarwood-3b")]
    (line,) = review.readings
    item = load_benchmark(review.made.benchmark).by_id["crate-quibbleforth"]
    assert (line["item"], line["reader"], line["answer"], line["label"]) == (
        "crate-quibbleforth",
        "Ann",
        "Zanthoxa",
        label_hash(item),
    )


def test_numbers_that_are_written_otherwise_are_the_same_answer(review: Reviewed) -> None:
    key = review.key("number-of-crates")
    with closing(review.served.client()) as ann:
        commit(ann, key, answer="8,429 crates")
        told = ann.get(f"/api/adjudicate/{key}/revealed").json()
    assert told["as_reader"] == [12, 12]
    assert told["answers"][0]["said"][0]["texts"] == ["8429", "about 8429 crates"]


def test_a_reading_has_to_say_something_that_can_be_read(review: Reviewed) -> None:
    key = review.key("number-of-crates")
    with closing(review.served.client()) as ann:
        for answer in ("", "  ", "a great many"):
            refused = commit(ann, key, answer=answer)
            assert refused.status_code == 422 and "answer" in refused.json()["problems"]
        assert ann.get(f"/api/adjudicate/{key}/revealed").status_code == 403
        assert commit(ann, key, answer="", unsettled=True).status_code == 200
        told = ann.get(f"/api/adjudicate/{key}/revealed").json()
    assert told["agrees"] is None and told["reading"]["unsettled"] is True
    assert review.readings[0]["unsettled"] is True


def test_an_answer_beside_cannot_be_settled_is_refused_and_not_dropped(review: Reviewed) -> None:
    key = review.key("crate-quibbleforth")
    with closing(review.served.client()) as ann:
        refused = commit(ann, key, answer="Zanthoxa", unsettled=True)
        assert refused.status_code == 422
        assert "An answer stands here too" in refused.json()["problems"]["unsettled"]
        assert ann.get(f"/api/adjudicate/{key}").json()["fields"]["answer"] == "Zanthoxa", "it is kept"
    assert review.readings == []


def test_where_no_model_was_asked_the_page_says_so(review: Reviewed) -> None:
    key = review.key("crate-quibbleforth")
    with closing(sqlite3.connect(review.made.study / "responses.sqlite")) as database:
        database.execute("DELETE FROM responses WHERE item = 'crate-quibbleforth'")
        database.commit()
    with closing(review.served.client()) as ann:
        commit(ann, key, answer="Zanthoxa")
        page = ann.get(f"/adjudicate/{key}").text
    assert "No configuration of the study was asked this item." in page and "As of" not in page


def test_a_reading_stays_and_what_is_said_later_is_a_note(review: Reviewed) -> None:
    key = review.key("crate-quibbleforth")
    with closing(review.served.client()) as ann:
        commit(ann, key, answer="Zanthoxa")
        # A second page of the same reader, opened before the reading, commits another one.
        assert commit(ann, key, answer="Quibbleforth").status_code == 200
        assert ann.get(f"/api/adjudicate/{key}/revealed").json()["reading"]["answer"] == "Zanthoxa"
    assert [(one["answer"], one.get("kind", "reading")) for one in review.readings] == [
        ("Zanthoxa", "reading"),
        ("Quibbleforth", "note"),
    ]


def test_decisions_are_kept_as_the_command_line_keeps_them(review: Reviewed) -> None:
    bench = load_benchmark(review.made.benchmark)
    wanted = {
        "crate-quibbleforth": {"outcome": "upheld", "corrected": "Zanthoxa", box_of("deed.txt"): True},
        "season-evidence-absent": {"outcome": "excluded-ambiguous", "corrected": "is left aside"},
        "number-of-crates": {"outcome": "rejected"},
        "unsteady-colour": {"outcome": "upheld", "corrected": ""},
    }
    with closing(review.served.client()) as ann:
        for item, fields in wanted.items():
            key = review.key(item)
            commit(ann, key, answer="8429")
            answer = commit(ann, key, reason=f" read § of {item} ", **fields)
            assert answer.status_code == 200, answer.text
            assert answer.json()["next"] != f"/adjudicate/{key}"
        listed = ann.get("/adjudicate").text
        assert "4 of 5 done" in listed
    found = {one.item: one for one in read_adjudications(review.decisions)}
    assert {item: one.outcome for item, one in found.items()} == {
        item: fields["outcome"] for item, fields in wanted.items()
    }
    first = found["crate-quibbleforth"]
    assert (first.reader, first.reading, first.corrected) == ("Ann", "8429", "Zanthoxa")
    assert first.reason == "read § of crate-quibbleforth" and first.label == label_hash(bench.items[0])
    assert first.read is not None and first.read.source == "deed.txt" and len(first.read.sha256) == 64
    assert first.flag == as_recorded(review.job.flags, first.item) and first.flag["runs"] == [12, 12]
    assert found["unsteady-colour"].flag["kind"] == "unstable"
    assert found["season-evidence-absent"].corrected is None
    assert found["number-of-crates"].read is None
    under = layered(bench, found.values())
    assert under.excluded == {
        "season-evidence-absent": "excluded-ambiguous",
        "unsteady-colour": "upheld",
    }
    assert under.benchmark.by_id["crate-quibbleforth"].answer == "Zanthoxa"


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ({"outcome": "", "reason": "x"}, "outcome", "Choose"),
        ({"outcome": "maybe", "reason": "x"}, "outcome", "Choose"),
        ({"outcome": "withdrawn", "reason": "x"}, "outcome", "no decision in force"),
        ({"outcome": "rejected", "reason": " "}, "reason", "reason"),
        ({"outcome": "upheld", "reason": "x", "corrected": "many"}, "corrected", "not of the item's type"),
        ({"outcome": "upheld", "reason": "x", "corrected": "7,316"}, "corrected", "is the label"),
        ({"outcome": "upheld", "reason": "x", "corrected": "9" * 2001}, "corrected", "2,000"),
    ],
)
def test_a_decision_that_lacks_something_is_refused_in_words(
    review: Reviewed, fields: dict[str, Any], field: str, words: str
) -> None:
    key = review.key("number-of-crates")
    with closing(review.served.client()) as ann:
        commit(ann, key, answer="8429")
        refused = commit(ann, key, **fields)
    assert refused.status_code == 422
    assert words in refused.json()["problems"][field]
    assert not review.decisions.exists()


def test_fields_of_any_shape_are_refused_and_never_a_fault(review: Reviewed) -> None:
    key = review.key("number-of-crates")
    shapes: list[Any] = [None, [], {"a": 1}, 3, True, "\ud800", "\x00"]
    with closing(review.served.client()) as ann:
        for shape in shapes:
            body = json.dumps({"version": 0, "fields": {"answer": shape, "outcome": shape}})
            sent = ann.post(
                f"/api/adjudicate/{key}/commit", content=body, headers={"Content-Type": "application/json"}
            )
            assert sent.status_code in (409, 422), (shape, sent.text)


def test_a_decision_is_taken_back_and_taken_anew(review: Reviewed) -> None:
    key = review.key("crate-quibbleforth")
    first = {"outcome": "rejected", "reason": "clear", "corrected": ""}
    with closing(review.served.client()) as ann:
        commit(ann, key, answer="Zanthoxa")
        commit(ann, key, **first)
        assert "Take back the decision in force" in ann.get(f"/adjudicate/{key}").text
        back = commit(ann, key, outcome="withdrawn", reason="read again")
        assert back.json()["next"] == f"/adjudicate/{key}", "it lacks a decision again"
        commit(ann, key, **first)
    outcomes = [one.outcome for one in read_adjudications(review.decisions)]
    assert outcomes == ["rejected", "withdrawn", "rejected"]


def test_the_same_commit_sent_twice_is_one_line(review: Reviewed) -> None:
    key = review.key("crate-quibbleforth")
    with closing(review.served.client()) as ann:
        commit(ann, key, answer="Zanthoxa")
        version = ann.get(f"/api/adjudicate/{key}").json()["version"]
        body = {"version": version, "fields": {"outcome": "rejected", "reason": "clear"}}
        for _ in range(2):
            assert ann.post(f"/api/adjudicate/{key}/commit", json=body).status_code == 200
    assert len(read_adjudications(review.decisions)) == 1


def test_a_second_reader_begins_blind_and_then_sees_the_first_decision(review: Reviewed) -> None:
    key = review.key("crate-quibbleforth")
    with closing(review.served.client("Ann")) as ann, closing(review.served.client("Bob")) as bob:
        commit(ann, key, answer="Zanthoxa")
        commit(ann, key, outcome="rejected", reason="Annafried's reason")
        assert bob.get(f"/api/adjudicate/{key}/revealed").status_code == 403
        assert "Annafried" not in bob.get(f"/adjudicate/{key}").text
        assert "0 of 5 done" in bob.get("/adjudicate?show=all").text
        commit(bob, key, answer="Quibbleforth")
        page = bob.get(f"/adjudicate/{key}").text
        assert "Annafried&#39;s reason" in page and "Your reading says what the label says." in page
        commit(bob, key, outcome="upheld", reason="unlike Ann")
    assert [(one.reader, one.outcome) for one in read_adjudications(review.decisions)] == [
        ("Ann", "rejected"),
        ("Bob", "upheld"),
    ]


def test_who_decides_at_the_same_time_is_told_of_the_other(review: Reviewed) -> None:
    key = review.key("crate-quibbleforth")
    with closing(review.served.client("Ann")) as ann, closing(review.served.client("Bob")) as bob:
        for client in (ann, bob):
            commit(client, key, answer="Zanthoxa")
            assert 'data-beside="seen" value="0"' in client.get(f"/adjudicate/{key}").text
        assert commit(ann, key, outcome="rejected", reason="clear", seen="0").status_code == 200
        late = commit(bob, key, outcome="upheld", reason="not so", seen="0")
        assert late.status_code == 422 and "Ann has decided on this item since" in late.json()["problems"][""]
        page = bob.get(f"/adjudicate/{key}").text
        assert 'data-beside="seen" value="1"' in page and ">not so</textarea>" in page, "nothing is lost"
        assert "seen" not in bob.get(f"/api/adjudicate/{key}").json()["fields"]
        assert commit(bob, key, outcome="upheld", reason="not so", seen="1").status_code == 200
    assert [one.reader for one in read_adjudications(review.decisions)] == ["Ann", "Bob"]


def test_answers_that_come_while_somebody_reads_are_told(review: Reviewed) -> None:
    key = review.key("crate-quibbleforth")
    with closing(review.served.client()) as ann:
        ann.get(f"/adjudicate/{key}")
        more = review.made.study.parent / "more.csv"
        head = "item,model,configuration,sample,text\n"
        more.write_text(head + "crate-quibbleforth,deodar-4b,asked-plainly,0,Quibbleforth\n", "utf-8")
        import_table([more], review.made.study)
        commit(ann, key, answer="Zanthoxa")
        told = ann.get(f"/api/adjudicate/{key}/revealed").json()
    assert told["as_reader"] == [12, 13] and told["answers"][-1]["said"][0]["correct"] is True
    assert told["of"].startswith("20")


def test_a_damaged_database_is_told_and_a_decision_can_be_taken(review: Reviewed) -> None:
    key = review.key("crate-quibbleforth")
    (review.made.study / "responses.sqlite").write_bytes(b"no database")
    with closing(review.served.client()) as ann:
        commit(ann, key, answer="Zanthoxa")
        page = ann.get(f"/adjudicate/{key}")
        assert page.status_code == 200 and "answers cannot be read" in page.text
        assert commit(ann, key, outcome="rejected", reason="clear").status_code == 200


def test_damaged_decisions_are_an_error_in_words(review: Reviewed) -> None:
    key = review.key("crate-quibbleforth")
    review.decisions.write_text("{}\n", "utf-8")
    with closing(review.served.client()) as ann:
        commit(ann, key, answer="Zanthoxa")
        page = ann.get(f"/adjudicate/{key}")
        assert page.status_code == 503 and "adjudications.jsonl:1" in page.text


def test_the_document_opens_at_the_passage(review: Reviewed) -> None:
    with closing(review.served.client()) as ann:
        (place,) = ann.get(f"/api/adjudicate/{review.key('number-of-crates')}/places").json()["places"]
        assert [DEED[start:end] for start, end in place["spans"]] == ["every borrowed crate"]
        slice_ = ann.get(f"/api/documents/{place['document']}?at={place['at']}").json()
        assert slice_["start"] <= place["at"] < slice_["end"]
        absent = ann.get(f"/api/adjudicate/{review.key('season-evidence-absent')}/places").json()["places"]
        assert set(absent[0]) == {"document", "at", "spans"} and absent[0]["spans"] == []


def test_quotes_can_be_hidden(made: Doubted) -> None:
    job, drafts = adjudicate(made, hide_quotes=True)
    with served([job], drafts) as running, closing(running.client()) as ann:
        for entry in job.entries():
            assert "<mark>" not in ann.get(f"/adjudicate/{entry.key}").text
            (place,) = ann.get(f"/api/adjudicate/{entry.key}/places").json()["places"]
            assert place["spans"] == []


def test_no_address_leads_elsewhere(review: Reviewed) -> None:
    with closing(review.served.client()) as ann:
        for key in ("crate-quibbleforth", "..%2f..%2fadjudications.jsonl", "%2e%2e", "0" * 16, "a" * 5000):
            for address in (
                f"/adjudicate/{key}",
                f"/api/adjudicate/{key}/revealed",
                f"/api/adjudicate/{key}",
            ):
                found = ann.get(address)
                assert found.status_code == 404, address
                assert "quibbleforth" not in found.text.lower()
        for path in ("/review.sqlite", "/static/..%2f..%2freview.sqlite", "/static/review.sqlite"):
            assert ann.get(path).status_code == 404


def test_a_list_of_flags_is_enough_where_there_is_no_study(made: Doubted, tmp_path: Path) -> None:
    study = open_study(made.study)
    path = tmp_path / "flags.jsonl"
    write_flags(flags_of(study), path)
    job, drafts = adjudicate(made, study=None, flags=path)
    with served([job], drafts) as running, closing(running.client()) as ann:
        key = job.entries()[0].key
        commit(ann, key, answer="1")
        assert "No study is at hand" in ann.get(f"/adjudicate/{key}").text
    write_flags(blinded(flags_of(study), study.whole), path)
    job, _ = adjudicate(made, study=None, flags=path)
    assert len(job.entries()) == 5


def test_flags_without_items_and_a_study_of_another_benchmark_are_refused(
    made: Doubted, tmp_path: Path
) -> None:
    path = tmp_path / "flags.jsonl"
    write_flags(flags_of(open_study(made.study)), path)
    drafts = Drafts(tmp_path / "drafts.sqlite")
    with pytest.raises(UsageError, match="a list of flags holds no items"):
        what_is_wanted(ServeOptions(flags=path))
    with pytest.raises(UsageError, match="other content than"):
        what_is_wanted(ServeOptions(benchmark="licences", study=made.study))
    with pytest.raises(UsageError, match="about other content"):
        offer(Wanted(tmp_path, load_benchmark("licences"), flags=path), drafts)
    assert offer(Wanted(tmp_path, load_benchmark("licences")), drafts) is None


def test_an_item_that_was_read_stays_for_its_reader_though_it_is_flagged_no_more(made: Doubted) -> None:
    """And it is no part of what is to be done."""
    job, drafts = adjudicate(made)
    keys = [entry.key for entry in job.entries()]
    with served([job], drafts) as running, closing(running.client()) as ann:
        commit(ann, keys[2], answer="8429")
    kept = job.flags.model_copy(update={"flags": job.flags.of(job._items[keys[0]].id)})
    again = AdjudicateJob(job.benchmark, kept, job.readings, job.decisions, job.seed)
    assert [(one.key, one.counted) for one in again.entries("Ann")] == [(keys[0], True), (keys[2], False)]
    assert [one.key for one in again.entries("Bo")] == [keys[0]], "who read what is told to nobody else"
    with served([again], drafts) as running, closing(running.client()) as ann:
        page = ann.get("/adjudicate?show=all").text
        assert "0 of 1 done" in page and "Read before, and flagged no more" in page
        assert ann.get(f"/adjudicate/{keys[2]}").status_code == 200


def test_each_reader_has_an_order_of_their_own_which_stays(made: Doubted) -> None:
    job, _ = adjudicate(made)
    orders = {name: [one.key for one in job.entries(name)] for name in ("Ann", "Bo", "Cem", "Di")}
    assert len({tuple(order) for order in orders.values()}) > 1
    assert len({frozenset(order) for order in orders.values()}) == 1, "the same items"
    again, _ = adjudicate(made)
    assert [one.key for one in again.entries(" ann ")] == orders["Ann"]


@pytest.mark.parametrize("hide_quotes", [False, True])
def test_whether_quotes_were_marked_is_kept_with_the_reading_and_the_decision(
    made: Doubted, hide_quotes: bool
) -> None:
    job, drafts = adjudicate(made, hide_quotes=hide_quotes)
    with served([job], drafts) as running, closing(running.client()) as ann:
        review = Reviewed(made, job, running)
        key = review.key("crate-quibbleforth")
        assert ("<mark>" in ann.get(f"/adjudicate/{key}").text) is not hide_quotes
        commit(ann, key, answer="Zanthoxa")
        assert commit(ann, key, outcome="rejected", reason="so", seen="0").status_code == 200
        assert review.readings[0]["quotes_shown"] is not hide_quotes
        assert read_adjudications(review.decisions)[0].quotes_shown is not hide_quotes


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"answer": "Quibbleforth"', '"answer": "Zanthoxa"'),
        ('"id": "crate-quibbleforth"', '"id": "crate-other"'),
        ('"question": "Who receives the crates?"', '"question": 5'),
    ],
)
def test_an_item_that_is_another_on_the_disk_is_neither_read_nor_decided(
    review: Reviewed, before: str, after: str
) -> None:
    key, items = review.key("crate-quibbleforth"), review.made.benchmark / "items.jsonl"
    sound = items.read_text("utf-8")
    with closing(review.served.client()) as ann:
        items.write_text(sound.replace(before, after), "utf-8")
        told = commit(ann, key, answer="Brinderhaus, I think")
        assert told.status_code == 422 and "changed on the disk" in told.json()["problems"][""]
        assert "zanthoxa" not in told.text.lower() and review.readings == []
        assert ann.get(f"/api/adjudicate/{key}").json()["fields"]["answer"] == "Brinderhaus, I think"
        items.write_text(sound, "utf-8")
        assert commit(ann, key, answer="Zanthoxa").status_code == 200
        items.write_text(sound.replace(before, after), "utf-8")
        told = commit(ann, key, outcome="rejected", reason="clause 4", seen="0")
        assert told.status_code == 422 and "changed on the disk" in told.json()["problems"][""]
        assert not review.decisions.exists()
        assert ann.get(f"/api/adjudicate/{key}").json()["fields"]["reason"] == "clause 4"


@pytest.mark.parametrize("spoilt", [{"corrected": 12345}, {"outcome": "Marnistide"}])
def test_a_damaged_decision_tells_nobody_what_stands_in_it(review: Reviewed, spoilt: dict[str, Any]) -> None:
    key, other = review.key("crate-quibbleforth"), review.key("season-evidence-absent")
    line = {"item": "season-evidence-absent", "outcome": "upheld", "reader": "Cem", "date": "2026-01-01"}
    line |= {"reason": "so", "label": "sha256:" + 64 * "0"} | spoilt
    with closing(review.served.client()) as ann:
        commit(ann, key, answer="Zanthoxa")
        review.decisions.write_text(json.dumps(line) + "\n", "utf-8")
        for address in (
            f"/adjudicate/{key}",
            f"/adjudicate/{other}",
            "/adjudicate",
            f"/api/adjudicate/{key}/revealed",
        ):
            told = ann.get(address)
            assert "12345" not in told.text and "marnistide" not in told.text.lower()
        assert told.status_code == 503 and "is no decision" in told.text


def test_what_is_no_truth_value_settles_nothing(review: Reviewed) -> None:
    with closing(review.served.client()) as ann:
        key = review.key("crate-quibbleforth")
        assert commit(ann, key, unsettled="no").status_code == 422
        page = ann.get(f"/adjudicate/{key}").text
        (box,) = [part for part in page.split("<input")[1:] if 'data-field="unsettled"' in part]
        assert "checked" not in box.partition(">")[0]


def test_an_audit_is_enough_before_any_model_answered(made: Doubted) -> None:
    job, drafts = adjudicate(made, study=None, audit=made.audit)
    with served([job], drafts) as running, closing(running.client()) as ann:
        keys = {job._items[entry.key].id: entry.key for entry in job.entries("Ann")}
        assert "season-evidence-absent" in keys and "crate-quibbleforth" not in keys
        commit(ann, keys["season-evidence-absent"], unsettled=True)
        page = ann.get(f"/adjudicate/{keys['season-evidence-absent']}").text
        assert "From the audit." in page and "No study is at hand" in page
    with pytest.raises(UsageError, match="an audit holds no items"):
        what_is_wanted(ServeOptions(audit=made.audit))
