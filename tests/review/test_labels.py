"""Labels and the job of labelling: what is asked, what makes a label, and what is kept of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from leadline.bench.task import TaskDeclaration
from leadline.documents import Sources
from leadline.errors import UsageError
from leadline.review.drafts import Drafts, Sent
from leadline.review.labelling import NEW, LabelJob, offer
from leadline.review.labels import FILE, Label, Proof, add_label, answer_problems, read_labels
from leadline.review.passages import Documents
from leadline.review.places import DRAFTS
from leadline.review.questions import Question, read_questions
from leadline.review.quotes import mark
from leadline.review.start import ServeOptions, what_is_wanted

TEXT = "8. Termination. You may cure the violation prior to 30 days after your receipt of the notice."


def label(**more: object) -> Label:
    values = {"id": "n1", "question": "How long?", "reader": "Ann", "date": "2026-05-04", **more}
    return Label.model_validate(values)


def test_of_several_labels_of_a_question_the_last_counts(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "labels.jsonl"
    first, second, other = label(answer="30"), label(answer="60", reader="Bo"), label(id="n2", answer="x")
    for one in (first, other, second, second):
        add_label(path, one)
    assert read_labels(path) == {"n1": second, "n2": other}
    assert len(path.read_text().splitlines()) == 3, "saying the same again adds nothing"
    add_label(path, second.model_copy(update={"date": "2026-05-05"}))
    assert len(path.read_text().splitlines()) == 3, "on the next day neither"


def test_half_a_line_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    add_label(path, label(answer="30"))
    path.write_bytes(path.read_bytes() + b'{"id": "n2", "quest')
    assert set(read_labels(path)) == {"n1"}
    add_label(path, label(id="n3", answer="x"))
    assert set(read_labels(path)) == {"n1", "n3"}


def test_a_line_that_is_no_label_is_named(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text('{"id": "n1", "question": "How?", "reader": "Ann", "date": "yesterday"}\n')
    with pytest.raises(Exception, match=r"labels.jsonl:1: date"):
        read_labels(path)


def test_quotes_keep_their_places_in_the_file_and_lose_them_in_the_item() -> None:
    proof = Proof(quote="thirty days", source="a.txt", sha256="0" * 64, start=19, end=30)
    other = proof.model_copy(update={"source": "b.txt"})
    one = label(answer="30", evidence=(proof,)).as_item("… thirty days …")
    assert one.source == "a.txt" and one.evidence[0].source == "" and one.window == "… thirty days …"
    two = label(answer="30", evidence=(proof, other)).as_item()
    assert two.source == "" and [each.source for each in two.evidence] == ["a.txt", "b.txt"]


# Questions.


def test_questions_are_items_without_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(
        '{"id": "a", "question": "How long?", "answer_type": "number", "unit": "day", "source": "a.txt"}\n'
        '{"id": "b", "task": "law"}\n'
        '{"id": "c", "question": "Which?", "answer_type": "parts", "fields": [{"name": "day"}]}\n'
    )
    law = TaskDeclaration(
        name="law", question="Which law?", answer_type="enum", vocabulary=["French", "Dutch"]
    )
    first, second, third = read_questions(path, (law,))
    assert (first.unit, first.source, second.question) == ("day", "a.txt", "Which law?")
    assert [term.value for term in second.vocabulary] == ["French", "Dutch"]
    assert third.asked().answer_type == "parts"
    table = tmp_path / "questions.csv"
    table.write_text("id,question,task\na,How long?,\nb,,law\n")
    assert [one.question for one in read_questions(table, (law,))] == ["How long?", "Which law?"]


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (
            '{"id": "a", "question": "How?", "answer": "so"}',
            r"questions.jsonl:1: has 'answer', which whoever",
        ),
        ('{"id": "a", "question": "How?", "evidence": ["x"]}', "has 'evidence'"),
        ('{"id": "a"}', "the field 'question' is missing"),
        ('{"id": "a", "question": "x?"}\n{"id": "a", "question": "y?"}', "duplicate id"),
        ('{"id": "a", "question": "x?", "colour": "red"}', "unknown field 'colour'"),
        ('{"id": "a", "question": "x?", "answer_type": "poem"}', "'answer_type' must be"),
        ("", "holds no questions"),
    ],
)
def test_a_file_that_is_no_list_of_questions_is_refused_by_its_line(
    tmp_path: Path, lines: str, why: str
) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(lines + "\n")
    with pytest.raises(UsageError, match=why):
        read_questions(path)


@pytest.mark.parametrize(
    ("more", "answer", "aliases", "fault"),
    [
        ({}, "William Herschel", ["Herschel"], {}),
        ({}, "William Herschel", ["william  herschel"], {"aliases": "reads the same"}),
        ({}, "—", [], {"answer": "no letters or digits"}),
        ({}, "a\x07b", [], {"answer": "control character"}),
        (
            {"answer_type": "number", "unit": "day"},
            "a long while",
            [],
            {"answer": "not read as a number"},
        ),
        ({"answer_type": "number", "unit": "day"}, "30 days", [], {}),
        ({"answer_type": "date"}, "5/6/2020", [], {"answer": "not read as a date"}),
        ({"answer_type": "boolean"}, "perhaps", [], {"answer": "not read as yes or no"}),
        ({"answer_type": "enum", "vocabulary": ["Paris", "Oslo"]}, "Rome", [], {"answer": "Rome"}),
        (
            {"answer_type": "parts", "fields": [{"name": "day", "answer_type": "date"}]},
            '{"day": "2020-05-04"}',
            [],
            {},
        ),
        (
            {"answer_type": "parts", "fields": [{"name": "day"}]},
            "x",
            [],
            {"answer": "an object with the fields"},
        ),
    ],
)
def test_an_answer_is_held_to_the_rules_of_its_benchmark(
    more: dict[str, Any], answer: str, aliases: list[str], fault: dict[str, str]
) -> None:
    question = Question.model_validate({"id": "q", "question": "Which?", **more})
    found = answer_problems(question, answer, aliases)
    assert found.keys() == fault.keys()
    for name, words in fault.items():
        assert words in found[name]


# The job.


@pytest.fixture
def job(tmp_path: Path) -> LabelJob:
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "a.txt").write_text(TEXT)
    (tmp_path / "sources" / "b.txt").write_text("Another text.")
    documents = Documents(Sources(tmp_path / "sources"))
    return LabelJob(documents, tmp_path / "review", Drafts(tmp_path / "review" / DRAFTS))


def quote_in(job: LabelJob, text: str) -> dict[str, Any]:
    document = job.documents.open(0)
    assert document is not None
    start = document.text.index(text)
    return mark(document, start, start + len(text), text).quote.model_dump()


def commit(job: LabelJob, key: str, reader: str, fields: dict[str, Any]) -> None:
    found = job.problems(key, reader, fields)
    assert not found
    before = job.drafts.get("label", key, "")
    sent = Sent(before.version if before else 0, fields, by=reader)
    job.drafts.commit("label", key, "", sent, then=lambda draft: job.commit(key, reader, draft))


def test_a_new_item_becomes_a_label_with_the_place_of_its_quote(job: LabelJob) -> None:
    key = job.begin("Ann")
    quote = quote_in(job, "cure the violation prior to 30 days")
    fields = {
        "question": "How long is the cure period?", "answer_type": "number", "unit": "day", "answer": "30",
        "quotes": [quote], "note": "as of version 3",
    }  # fmt: skip
    commit(job, key, "Ann", fields)
    label = read_labels(job.folder / FILE)[key]
    assert (label.question, label.answer, label.unit, label.reader) == (
        fields["question"],
        "30",
        "day",
        "Ann",
    )
    (proof,) = label.evidence
    assert TEXT[proof.start : proof.end] == proof.quote == quote["quote"] and proof.source == "a.txt"
    assert job.state(key, "Bo", job.drafts.get("label", key, "")) == "done"
    assert [entry.key for entry in job.entries()] == [key, NEW]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"quotes": []}, "quotes"),
        ({"quotes": None}, "quotes"),
        ({"quotes": [{"document": 0}]}, "quotes"),
        ({"answer": "  "}, "answer"),
        ({"answer": "a few"}, "answer"),
        ({"question": ""}, "question"),
        ({"unsettled": True}, "unsettled"),
        ({"unsettled": True, "answer": ""}, "reason"),
        ({"answer_type": "enum"}, "choices"),
        ({"answer_type": ["odd"], "unit": {"odd": 1}, "answer": 7}, "answer"),
    ],
)
def test_what_a_label_lacks_is_said_by_field(job: LabelJob, change: dict[str, Any], fault: str) -> None:
    sound = {
        "question": "How long?", "answer_type": "number", "answer": "30", "choices": "",
        "quotes": [quote_in(job, "30 days")],
    }  # fmt: skip
    assert not job.problems("n1", "Ann", sound)
    assert fault in job.problems("n1", "Ann", {**sound, **change})


def test_what_the_text_cannot_settle_is_kept_with_its_reason(job: LabelJob) -> None:
    commit(job, "n1", "Ann", {"question": "Who wrote it?", "unsettled": True, "reason": "no author is named"})
    label = read_labels(job.folder / FILE)["n1"]
    assert label.unsettled and label.reason == "no author is named" and label.answer == ""


def test_each_part_of_an_answer_has_its_field(job: LabelJob) -> None:
    parts = ({"name": "days", "answer_type": "number"}, {"name": "since", "answer_type": "date"})
    question = Question.model_validate(
        {"id": "q", "question": "How long?", "answer_type": "parts", "fields": parts}
    )
    asked = LabelJob(job.documents, job.folder, job.drafts, (question,))
    key = asked.entries()[0].key
    fields = {"quotes": [quote_in(job, "30 days")], "part-0": "30", "part-1": ""}
    assert asked.problems(key, "Ann", fields) == {
        "part-1": "say what the answer is, or that the text cannot settle it"
    }
    assert asked.problems(key, "Ann", {**fields, "part-0": "a few", "part-1": "then"}).keys() == {""}
    commit(asked, key, "Ann", {**fields, "part-1": "2020-05-04"})
    assert json.loads(read_labels(job.folder / FILE)["q"].answer) == {
        "days": "30",
        "since": "2020-05-04",
    }


def test_two_people_who_begin_an_item_get_two(job: LabelJob) -> None:
    keys = [job.begin("Ann") for _ in range(50)]
    assert len(set(keys)) == 50
    assert [entry.key for entry in job.entries()][-1] == NEW and {entry.key for entry in job.entries()} > set(
        keys
    )


def test_questions_from_a_file_keep_their_keys_wherever_they_stand(tmp_path: Path, job: LabelJob) -> None:
    one, two = (Question(id=name, question=f"{name}?") for name in ("licence-mit-yes", "other"))
    keys = [
        LabelJob(job.documents, job.folder, job.drafts, order).entries() for order in ((one, two), (two, one))
    ]
    assert [entry.key for entry in keys[0]] == [entry.key for entry in reversed(keys[1])]
    assert all("mit" not in entry.key for entry in keys[0])


def test_what_a_task_declares_is_not_written_again(job: LabelJob) -> None:
    job.tasks = (
        TaskDeclaration(name="cure", category="time", question="How long?", answer_type="number", unit="day"),
    )
    fields = {
        "task": "cure",
        "answer_type": "date",
        "answer": "30 days",
        "quotes": [quote_in(job, "30 days")],
    }
    commit(job, "n1", "Ann", fields)
    label = read_labels(job.folder / FILE)["n1"]
    assert (label.question, label.answer_type, label.unit, label.category) == (
        "How long?",
        "number",
        "day",
        "time",
    )


def test_the_job_is_offered_where_there_are_documents(tmp_path: Path) -> None:
    drafts = Drafts(tmp_path / DRAFTS)
    made = offer(what_is_wanted(ServeOptions(benchmark="licences"))[0], drafts)
    assert made is not None and "GPL-3.0.txt" in made.documents.names and len(made.tasks) == 21
    assert offer(what_is_wanted(ServeOptions(benchmark="facts"))[0], drafts) is None
    (tmp_path / "questions.jsonl").write_text(json.dumps({"id": "a", "question": "How?"}))
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "a.txt").write_text(TEXT)
    made = offer(what_is_wanted(ServeOptions(questions=tmp_path / "questions.jsonl"))[0], drafts)
    assert made is not None and made.documents.names == ("a.txt",) and len(made.entries()) == 1
