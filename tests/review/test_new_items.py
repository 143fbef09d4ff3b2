"""From labels to a benchmark that validates, and in which an audit finds every quote."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.audit.repair_cut import between_characters
from leadline.bench import load_benchmark
from leadline.bench.header import Header
from leadline.documents import Sources
from leadline.errors import LeadlineError, UsageError
from leadline.review.labels import FILE, Label, Proof, add_label, read_labels
from leadline.review.new_items import new_items
from leadline.review.new_items_folder import write_new_items
from leadline.review.passages import Documents, documents_of
from leadline.review.quotes import mark
from leadline.review.windows import GAP, passage_around, window_of
from tests.end_to_end.commands import leadline
from tests.review.hard_documents import write_hard

ABOUT = Header(name="new", version="1")


def run(*arguments: str | Path) -> tuple[int, str]:
    """Exit code, and what was printed: results, or the one line of an error."""
    ended = leadline(*arguments)
    return ended.code, ended.err if ended.code == 2 else ended.out


def proof(documents: Documents, name: str, text: str, nth: int = 0) -> Proof:
    document = documents.open(documents.names.index(name))
    assert document is not None
    at = -1
    for _ in range(nth + 1):
        at = document.text.index(text, at + 1)
    quote = mark(document, at, at + len(text), text).quote
    return Proof(quote=quote.quote, source=quote.name, sha256=quote.sha256, start=quote.start, end=quote.end)


def label(key: str, proofs: list[Proof], **more: Any) -> Label:
    values = {
        "id": key,
        "question": f"{key}?",
        "answer": "thirty days",
        "reader": "Ann",
        "date": "2026-05-04",
    }
    return Label.model_validate({**values, "evidence": proofs, **more})


# Windows.


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 400), st.sampled_from([200, 500, 1000]))
def test_a_window_holds_its_quote_is_no_longer_than_asked_and_parts_nothing(
    seed: int, size: int, length: int
) -> None:
    draw = random.Random(seed)
    pieces = ["word ", "The end. ", "\n\n", "\r\n", "1,250 ", "👩‍👧 ", "e\u0301te\u0301 ", "日本語", "\t"]
    text = "".join(draw.choice(pieces) for _ in range(900))
    start = draw.randrange(len(text) - size)
    begin, finish = passage_around(text, start, start + size, length)
    assert begin <= start and start + size <= finish
    assert finish - begin <= max(length, size)
    for edge in (begin, finish):
        assert edge in (start, start + size) or between_characters(text, edge)


def test_a_window_begins_and_ends_with_paragraphs_where_it_can() -> None:
    paragraph = "Lorem ipsum dolor sit amet.\nConsectetur adipiscing elit.\n\n"
    text = paragraph * 30 + "The fee is due in thirty days.\n\n" + paragraph * 30
    start = text.index("thirty days")
    begin, finish = passage_around(text, start, start + 11, 600)
    assert text[begin:finish].startswith("Lorem ipsum") and text[begin - 2 : begin] == "\n\n"
    assert text[begin:finish].rstrip().endswith("elit.") and finish - begin > 400


def test_a_short_document_is_its_own_window() -> None:
    assert window_of("The fee is due.", [(4, 7)], 4000) == "The fee is due."


def test_places_far_apart_share_a_window_of_passages() -> None:
    text = "first one here. " + "filler text. " * 2_000 + "second one here."
    places = [(text.index("second"), text.index("second") + 10), (0, 9)]
    window = window_of(text, places, 600)
    assert len(window) <= 600 and window.count(GAP) == 1
    assert window.index("first one") < window.index(GAP) < window.index("second one")


# The benchmark.


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A review folder with labels on the documents of `licences`."""
    folder = tmp_path_factory.mktemp("labelled")
    documents = documents_of(load_benchmark("licences"))
    assert documents is not None
    made = [
        label("n1", [proof(documents, "GPL-3.0.txt", "prior to 30 days after")], answer="30 days",
              answer_type="number", unit="day", task="cure period", category="termination and time limits",
              question="How many days does a violator have to cure a first violation?"),
        label("n2", [proof(documents, "GPL-3.0.txt", "Version 3, 29 June 2007")], answer="2007-06-29",
              answer_type="date", task="licence date", question="What is the date of this licence?"),
        # The same words stand in the licence many times; the label means one of the last.
        label("n3", [proof(documents, "GPL-2.0.txt", "this License", 20)], answer="yes",
              answer_type="boolean", task="notices", question="Does it speak of itself?"),
        # Two places, far apart, and another document.
        label("n4", [proof(documents, "Apache-2.0.txt", "You are solely responsible for determining the"),
                     proof(documents, "Apache-2.0.txt", "hereby grants to You a perpetual,"),
                     proof(documents, "MIT.txt", "Permission is hereby granted, free of charge, to any")],
              question="Which of the two is longer?", answer="the Apache License", aliases=["Apache"],
              task="defined term"),
        label("n5", [], unsettled=True, reason="no court is named", answer="", question="Which court?"),
    ]  # fmt: skip
    for one in made:
        add_label(folder / FILE, one)
    return folder


@pytest.fixture(scope="module")
def made(labelled: Path) -> Path:
    out = labelled / "made"
    code, said = run(
        "review", "items", "licences", "--into", str(labelled), "--out", str(out), "--window", "1200"
    )
    assert (
        code == 0
        and "4 items" in said
        and "left out n5: the text cannot settle it: no court is named" in said
    )
    return out


def test_the_benchmark_validates_without_a_complaint(made: Path) -> None:
    code, said = run("bench", "validate", str(made))
    assert code == 0 and "0 errors, 0 warnings" in said


def test_an_audit_finds_every_quote_in_window_and_source(made: Path) -> None:
    code, said = run("audit", str(made), "--json")
    verdicts = {one["item"]: one for one in json.loads(said)["items"]}
    assert code == 0 and len(verdicts) == 4
    for verdict in verdicts.values():
        assert (verdict["quote_in_window"], verdict["quote_in_source"], verdict["flagged"]) == (
            True,
            True,
            False,
        )
        assert verdict["state"] == "verified present"
        assert verdict["route"] == "declared pointer, confirmed by content"
    assert "MIT.txt" in verdicts["n4"]["source"] and "Apache-2.0.txt" in verdicts["n4"]["source"]


def test_windows_are_cut_around_the_place_that_was_marked(made: Path) -> None:
    items = load_benchmark(made).by_id
    assert all(item.window is not None and len(item.window) <= 1200 for item in items.values())
    third = json.loads((made / FILE).read_text().splitlines()[2])["evidence"][0]
    text = (made / "sources" / "GPL-2.0.txt").read_text()
    window = items["n3"].window
    assert window is not None and text.count(window) == 1
    assert text.index(window) <= third["start"] and third["end"] <= text.index(window) + len(window)
    assert text[third["start"] : third["end"]] == third["quote"] == "this License"


def test_the_folder_holds_what_it_rests_on_and_who_made_it(made: Path) -> None:
    assert sorted(path.name for path in (made / "sources").iterdir()) == [
        "Apache-2.0.txt", "GPL-2.0.txt", "GPL-3.0.txt", "MIT.txt",
    ]  # fmt: skip
    benchmark = load_benchmark(made)
    assert [task.name for task in benchmark.tasks] == [
        "licence date", "cure period", "notices", "defined term",
    ]  # fmt: skip
    assert "Ann (4)" in benchmark.data_statement and "Which court?" in benchmark.data_statement
    assert not list(made.parent.glob(".made*")), "nothing half made is left"


def test_new_items_and_old_ones_are_one_benchmark_of_the_next_version(
    made: Path, labelled: Path, tmp_path: Path
) -> None:
    """`made` is the old one: labelled before, decided on, and read again."""
    old = tmp_path / "old"
    shutil.copytree(made, old)
    ruling = '{"item":"n3","outcome":"rejected"}\n'
    (old / "adjudications.jsonl").write_text(ruling)
    documents = documents_of(load_benchmark(old))
    assert documents is not None
    again = label("n1", [proof(documents, "MIT.txt", "WITHOUT WARRANTY OF ANY KIND")], answer="another")
    fresh = label("n9", [proof(documents, "MIT.txt", "WITHOUT WARRANTY OF ANY KIND")], question="Warranty?")
    for one in (again, fresh):
        add_label(old / "review" / FILE, one)
    out = tmp_path / "both"
    code, said = run("review", "items", str(old), "--out", str(out), "--with-old")
    assert code == 0 and "5 items, 1 of them new (version 1+labelled.1)" in said
    assert "left out n1: the benchmark has an item of this id already" in said
    before, after = load_benchmark(old), load_benchmark(out)
    assert after.items[:4] == before.items and after.items[4].id == "n9"
    assert (after.name, after.version, after.tasks) == (before.name, "1+labelled.1", before.tasks)
    assert (after.title, after.licence) == (before.title, before.licence) != ("", "")
    assert before.data_statement.strip() in after.data_statement and "1 question" in after.data_statement
    assert (out / "items.jsonl").read_bytes().startswith((old / "items.jsonl").read_bytes())
    assert list(read_labels(out / FILE)) == ["n1", "n2", "n3", "n4", "n9"]
    assert (out / "adjudications.jsonl").read_text() == ruling
    assert run("bench", "validate", str(out))[0] == 0 and run("audit", str(out))[0] == 0
    code, said = run("review", "items", str(old / "review" / FILE), "--out", str(out / "x"), "--with-old")
    assert code == 2 and "a file of labels has no old items" in said


def test_a_folder_that_is_there_is_not_written_over(made: Path, labelled: Path) -> None:
    before = (made / "items.jsonl").read_bytes()
    code, said = run(
        "review", "items", str(labelled / FILE), "--out", str(made), "--sources", str(made / "sources")
    )
    assert code == 2 and "something already" in said and (made / "items.jsonl").read_bytes() == before


def test_what_cannot_be_written_whole_leaves_nothing_and_takes_nothing_away(tmp_path: Path) -> None:
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "a.txt").write_text("The fee is due in thirty days.")
    documents = Documents(Sources(tmp_path / "sources"))
    made = new_items({"n1": label("n1", [proof(documents, "a.txt", "thirty days")])}, documents, ABOUT)
    (tmp_path / ".made.part").mkdir()  # somebody's
    (tmp_path / ".made.part" / "kept").touch()
    (tmp_path / "sources" / "a.txt").unlink()
    with pytest.raises(LeadlineError):
        write_new_items(made, documents.sources, tmp_path / "made")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".made.part", "sources"]
    (tmp_path / "sources" / "a.txt").write_text("The fee is due in thirty days.")
    write_new_items(made, documents.sources, tmp_path / "made")
    assert (tmp_path / "made" / "sources" / "a.txt").exists()
    assert (tmp_path / ".made.part" / "kept").exists()


def test_labels_without_anything_are_refused_in_one_line(tmp_path: Path) -> None:
    code, said = run("review", "items", "licences", "--into", str(tmp_path), "--out", str(tmp_path / "x"))
    assert code == 2 and "there are no labels" in said
    code, said = run("review", "items", "no-such", "--out", str(tmp_path / "x"))
    assert code == 2 and "there is no benchmark" in said


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"sha256": "1" * 64}, "a.txt was changed since it was labelled"),
        ({"start": 3}, "a quote does not stand where its label says"),
        ({"source": "b.txt"}, "b.txt is not among the sources"),
        ({"source": "../a.txt"}, "is not among the sources"),
    ],
)
def test_a_quote_that_does_not_stand_where_its_label_says_makes_no_item(
    tmp_path: Path, change: dict[str, Any], why: str
) -> None:
    (tmp_path / "a.txt").write_text("The fee is due in thirty days.")
    documents = Documents(Sources(tmp_path))
    found = proof(documents, "a.txt", "thirty days")
    good, bad = label("n1", [found]), label("n2", [found.model_copy(update=change)])
    made = new_items({"n1": good, "n2": bad}, documents, ABOUT)
    assert [item.id for item in made.benchmark.items] == ["n1"]
    assert [one.item for one in made.left_out] == ["n2"] and why in made.left_out[0].reason
    with pytest.raises(UsageError, match="no label makes an item"):
        new_items({"n2": bad}, documents, ABOUT)


def test_hard_documents_make_items_whose_quotes_an_audit_finds(tmp_path: Path) -> None:
    write_hard(tmp_path / "sources")
    documents = Documents(Sources(tmp_path / "sources"))
    quotes = {
        "odd.txt": "the fee is 1,250 🪙 per year", "deep/page.htm": "30 days & more",
        "line.txt": "needle lies 🧭",
        "packed.txt.gz": "licence ends after 45 days", "tags.txt": "onerror=alert(1)> and so on, for 30 days",
    }  # fmt: skip
    for number, (name, text) in enumerate(quotes.items()):
        add_label(tmp_path / FILE, label(f"n{number}", [proof(documents, name, text)], answer=text))
    code, said = run("review", "items", str(tmp_path / FILE), "--out", str(tmp_path / "made"))
    assert code == 0 and "5 items" in said
    code, said = run("audit", str(tmp_path / "made"), "--json")
    verdicts = json.loads(said)["items"]
    assert [(one["item"], one["quote_in_window"], one["quote_in_source"]) for one in verdicts] == [
        (f"n{number}", True, True) for number in range(5)
    ]
