"""Drafts: nothing that was saved is lost, whoever saves at the same time and whenever the program ends."""

from __future__ import annotations

import multiprocessing
import sqlite3
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.errors import LeadlineError, UsageError
from leadline.review.drafts import ConflictError, Draft, Drafts, LateError, Sent
from leadline.review.drafts_file import heads_of
from leadline.review.places import DRAFTS, adjudications_file, as_file_name, pack_review_folder, review_folder

ONE = ("notes", "1", "Ann")


@pytest.fixture
def drafts(tmp_path: Path) -> Drafts:
    return Drafts(tmp_path / "new folder" / "review.sqlite")


def test_what_was_saved_is_read_back_by_another_opening(drafts: Drafts) -> None:
    fields = {
        "answer": "naïve \x00 👍 \u202e",
        "quotes": [{"start": 1, "quote": "x"}],
        "sure": True,
        "none": None,
    }
    saved = drafts.save(*ONE, Sent(0, fields))
    assert Drafts(drafts.path).get(*ONE) == saved
    assert saved.fields == fields
    assert (saved.version, saved.reader, saved.committed) == (1, "Ann", False)


def test_readers_jobs_and_entries_have_drafts_of_their_own(drafts: Drafts) -> None:
    drafts.save(*ONE, Sent(0, {"answer": "a"}))
    for other in (("notes", "1", "Bo"), ("notes", "2", "Ann"), ("other", "1", "Ann")):
        assert drafts.get(*other) is None
        assert drafts.save(*other, Sent(0, {"answer": str(other)})).version == 1
    assert set(drafts.all("notes", "Ann")) == {"1", "2"}
    assert drafts.known_reader(" ann ") == "Ann" and drafts.known_reader("Anna") == "Anna"


def test_of_two_who_change_one_version_the_second_is_told_and_both_texts_stay(drafts: Drafts) -> None:
    drafts.save("label", "1", "", Sent(0, {"answer": "begun"}, by="Ann"))
    theirs = drafts.save("label", "1", "", Sent(1, {"answer": "Ann's"}, by="Ann"))
    with pytest.raises(ConflictError) as conflict:
        drafts.save("label", "1", "", Sent(1, {"answer": "Bo's"}, by="Bo"))
    assert conflict.value.theirs == theirs
    history = drafts.history("label", "1", "")
    assert [draft.fields["answer"] for draft in history] == ["begun", "Ann's", "Bo's"]
    assert history[-1].version == conflict.value.kept
    assert drafts.get("label", "1", "") == theirs, "what came too late is not the newest"


def test_a_text_that_came_too_late_is_kept_once_however_often_it_is_sent(drafts: Drafts) -> None:
    drafts.save(*ONE, Sent(0, {"answer": "a"}))
    kept = []
    for _ in range(3):
        with pytest.raises(ConflictError) as conflict:
            drafts.save(*ONE, Sent(0, {"answer": "b"}))
        kept.append(conflict.value.kept)
    assert len(set(kept)) == 1
    assert len(drafts.history(*ONE)) == 2


def test_after_a_conflict_either_text_can_become_the_newest(drafts: Drafts) -> None:
    drafts.save(*ONE, Sent(0, {"answer": "a"}))
    with pytest.raises(ConflictError) as conflict:
        drafts.save(*ONE, Sent(0, {"answer": "b"}))
    mine = drafts.save(*ONE, Sent(conflict.value.theirs.version, {"answer": "b"}))
    assert drafts.get(*ONE) == mine
    assert [draft.fields["answer"] for draft in drafts.history(*ONE)] == ["a", "b", "b"]


def test_a_page_that_heard_no_answer_is_not_in_conflict_with_itself(drafts: Drafts) -> None:
    first = drafts.save(*ONE, Sent(0, {"answer": "a"}, page="p", edit=1))
    assert drafts.save(*ONE, Sent(0, {"answer": "a"}, page="p", edit=1)) == first
    second = drafts.save(*ONE, Sent(0, {"answer": "ab"}, page="p", edit=2))
    assert second.version == 2
    # A request that overtakes another on its way: the text that was typed last stays.
    assert drafts.save(*ONE, Sent(1, {"answer": "a"}, page="p", edit=1)) == second
    with pytest.raises(ConflictError):
        drafts.save(*ONE, Sent(1, {"answer": "x"}, page="q", edit=9))


def test_the_same_text_again_makes_no_version(drafts: Drafts) -> None:
    first = drafts.save(*ONE, Sent(0, {"a": 1, "b": 2}))
    assert drafts.save(*ONE, Sent(1, {"b": 2, "a": 1})) == first
    assert drafts.save(*ONE, Sent(0, {"a": 1, "b": 2})) == first, "two who wrote the same agree"


def test_undo_goes_back_step_by_step_and_loses_nothing(drafts: Drafts) -> None:
    for version, answer in enumerate("abc"):
        drafts.save(*ONE, Sent(version, {"answer": answer}))
    seen, version = [], 3
    for _ in range(4):
        draft = drafts.undo(*ONE, version)
        seen.append(draft.fields.get("answer", ""))
        version = draft.version
    assert seen == ["b", "a", "", ""]
    assert [draft.fields.get("answer") for draft in drafts.history(*ONE)][:3] == ["a", "b", "c"]
    saved = drafts.save(*ONE, Sent(version, {"answer": "d"}))
    assert drafts.undo(*ONE, saved.version).fields == {}, (
        "from a new text, undo leads to what was there before"
    )


def test_undo_of_what_another_has_changed_is_a_conflict(drafts: Drafts) -> None:
    drafts.save(*ONE, Sent(0, {"answer": "a"}))
    drafts.save(*ONE, Sent(1, {"answer": "b"}))
    with pytest.raises(ConflictError):
        drafts.undo(*ONE, 1)
    with pytest.raises(LookupError):
        drafts.undo("notes", "nothing", "Ann", 0)


def test_undo_of_a_commit_opens_it_again_with_its_text(drafts: Drafts) -> None:
    drafts.save(*ONE, Sent(0, {"answer": "a"}))
    done = drafts.commit(*ONE, Sent(1, {"answer": "b"}))
    assert drafts.states("notes", "Ann") == {"1": "done"}
    opened = drafts.undo(*ONE, done.version)
    assert (opened.fields, opened.committed) == ({"answer": "b"}, False)
    assert drafts.states("notes", "Ann") == {"1": "draft"}
    assert drafts.committed("notes", "Ann")["1"] == done, "what was committed last is still known"
    assert drafts.undo(*ONE, opened.version).fields == {"answer": "a"}


def test_a_commit_that_fails_leaves_the_draft_uncommitted(drafts: Drafts) -> None:
    drafts.save(*ONE, Sent(0, {"answer": "a"}))

    def full(draft: Draft) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        drafts.commit(*ONE, Sent(1, {"answer": "a"}), then=full)
    assert drafts.states("notes", "Ann") == {"1": "draft"}
    written: list[Draft] = []
    done = drafts.commit(*ONE, Sent(1, {"answer": "a"}), then=written.append)
    assert written == [done]
    assert drafts.commit(*ONE, Sent(1, {"answer": "a"}), then=written.append) == done
    assert [draft.version for draft in drafts.history(*ONE)] == [1, done.version], "again is no new version"
    assert written == [done, done], "but the job is told: what it keeps may be about something else now"


def test_a_commit_behind_a_newer_text_of_its_own_page_is_refused(drafts: Drafts) -> None:
    drafts.save(*ONE, Sent(0, {"answer": "older"}, page="p", edit=1))
    drafts.save(*ONE, Sent(1, {"answer": "newer"}, page="p", edit=2))
    with pytest.raises(LateError):
        drafts.commit(*ONE, Sent(1, {"answer": "older"}, page="p", edit=1))
    newest = drafts.get(*ONE)
    assert newest is not None and newest.fields == {"answer": "newer"} and not newest.committed
    assert drafts.commit(*ONE, Sent(1, {"answer": "newer"}, page="p", edit=2)).committed


def test_a_list_of_entries_does_not_read_the_texts_that_came_before(drafts: Drafts) -> None:
    for key in range(20):
        for version in range(20):
            drafts.save("notes", str(key), "Ann", Sent(version, {"answer": "x" * 2000 + str(version)}))
    assert {draft.fields["answer"][2000:] for draft in drafts.all("notes", "Ann").values()} == {"19"}
    read: list[str] = []
    with closing(sqlite3.connect(drafts.path)) as database:
        database.set_trace_callback(read.append)
        heads_of(database, "notes", "Ann", "counted")
        plan = database.execute(f"EXPLAIN QUERY PLAN {read[0]}").fetchall()
    steps = [row[3] for row in plan if "versions" in row[3]]
    assert len(steps) == 2 and "COVERING INDEX counted" in steps[0] and "version=?" in steps[1], steps


def test_a_commit_over_another_text_is_a_conflict_and_is_kept(drafts: Drafts) -> None:
    drafts.save("label", "1", "", Sent(0, {"answer": "Ann's"}, by="Ann"))
    with pytest.raises(ConflictError):
        drafts.commit("label", "1", "", Sent(0, {"answer": "Bo's"}, by="Bo"))
    assert [draft.kind for draft in drafts.history("label", "1", "")] == ["saved", "side"]


def _save_many(path: Path, who: str, count: int) -> None:
    drafts, version = Drafts(path), 0
    for number in range(count):
        try:
            version = drafts.save(
                "label", "1", "", Sent(version, {"answer": f"{who} {number}"}, by=who)
            ).version
        except ConflictError as conflict:
            version = conflict.theirs.version


def test_processes_and_threads_at_once_lose_no_text(tmp_path: Path) -> None:
    path, count = tmp_path / DRAFTS, 25
    started = multiprocessing.get_context("spawn")
    others = [started.Process(target=_save_many, args=(path, f"process {who}", count)) for who in range(2)]
    threads = [Thread(target=_save_many, args=(path, f"thread {who}", count)) for who in range(2)]
    for each in (*others, *threads):
        each.start()
    for each in (*others, *threads):
        each.join(60)
    assert [process.exitcode for process in others] == [0, 0]
    history = Drafts(path).history("label", "1", "")
    assert {draft.fields["answer"] for draft in history} == {
        f"{kind} {who} {number}"
        for kind in ("process", "thread")
        for who in range(2)
        for number in range(count)
    }
    assert [draft.version for draft in history] == list(range(1, len(history) + 1))


@settings(max_examples=40, deadline=None)
@given(steps=st.lists(st.tuples(st.integers(0, 12), st.sampled_from("abc"), st.sampled_from(["", "p", "q"]))))
def test_whatever_is_sent_in_whatever_order_every_refused_text_is_in_the_history(
    steps: list[tuple[int, str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    drafts = Drafts(tmp_path_factory.mktemp("drafts") / DRAFTS)
    for edit, (version, answer, page) in enumerate(steps, 1):
        try:
            head = drafts.save(*ONE, Sent(version, {"answer": answer}, page=page, edit=edit))
            assert head.fields == {"answer": answer}
        except ConflictError as conflict:
            assert conflict.theirs == drafts.get(*ONE)
            assert any(draft.version == conflict.kept for draft in drafts.history(*ONE))
        assert any(draft.fields == {"answer": answer} for draft in drafts.history(*ONE))


def test_a_file_of_something_else_is_refused_in_one_line_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "review.sqlite"
    path.write_text("not a database, but long enough to be taken for one" * 20)
    with pytest.raises(LeadlineError, match="the file of drafts is damaged"):
        Drafts(path).make()
    path.unlink()
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE songs (title)")
    with pytest.raises(LeadlineError, match="is a database of something else"):
        Drafts(path).make()
    (tmp_path / "file").write_text("")
    with pytest.raises(LeadlineError, match="cannot be made"):
        Drafts(tmp_path / "file" / "review.sqlite").make()


def test_a_damaged_file_is_named_at_once_and_in_one_line(tmp_path: Path) -> None:
    path, drafts = tmp_path / DRAFTS, Drafts(tmp_path / DRAFTS)
    for number in range(60):
        drafts.save("label", f"q{number}", "", Sent(0, {"answer": "a" * 3000}, by="Ann"))
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("UPDATE versions SET fields = '{' WHERE key = 'q7'")
    with pytest.raises(UsageError, match="the file of drafts is damaged: version 1 of an entry is no JSON"):
        Drafts(path).get("label", "q7", "")
    whole = path.read_bytes()
    half = len(whole) // 2 // 4096 * 4096
    for damage in (whole[:half] + b"\xff" * 4096 + whole[half + 4096 :], b"\0" * 50 + whole[50:]):
        path.write_bytes(damage)
        with pytest.raises(UsageError) as told:
            Drafts(path).make()
        assert (
            "damaged" in str(told.value) and "restore it" in str(told.value) and "\n" not in str(told.value)
        )


def test_what_people_write_lies_beside_their_benchmark_and_never_in_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from leadline.bench import load_benchmark

    monkeypatch.chdir(tmp_path)
    bundled = load_benchmark("licences")
    folder = review_folder(bundled)
    assert folder == Path("licences-review")
    assert adjudications_file(bundled, folder) == folder / "adjudications.jsonl"
    own = tmp_path / "mine"
    own.mkdir()
    (own / "benchmark.yaml").write_text("name: mine\nversion: '1'\n")
    (own / "items.jsonl").write_text('{"id": "1", "question": "?", "answer": "a"}\n')
    mine = load_benchmark(own)
    assert review_folder(mine) == own / "review"
    assert adjudications_file(mine, tmp_path / "elsewhere") == own / "adjudications.jsonl"
    assert review_folder(mine, tmp_path / "elsewhere") == tmp_path / "elsewhere"
    bare = load_benchmark(own / "items.jsonl")
    assert review_folder(bare) == Path("items-review")
    assert pack_review_folder(tmp_path / "pack") == tmp_path / "pack" / "review"
    assert as_file_name("../../etc/passwd") == "etc-passwd"
