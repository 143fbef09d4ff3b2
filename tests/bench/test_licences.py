"""The bundled benchmark `licences` is what its data statement says, and planted faults are what they say."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from leadline.answers.reading import State as Read
from leadline.answers.registry import read_answer
from leadline.audit import audit
from leadline.audit.document import AuditDocument, Route, State
from leadline.bench import Benchmark, Item, load_benchmark, write_benchmark
from leadline.bench.stream import open_stream
from leadline.documents import Sources

FOLDER = Path(__file__).parents[2] / "src" / "leadline" / "bench" / "data" / "licences"
SOURCES = {path.name: path.read_bytes().decode("utf-8") for path in sorted((FOLDER / "sources").glob("*"))}
README = (FOLDER / "README.md").read_text(encoding="utf-8")
CLEAN = load_benchmark("licences")
PLANTED = load_benchmark("licences/planted")
EXPECTED: dict[str, dict[str, Any]] = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
FAILURES = ("evidence absent", "computational", "label untraceable", "answer stated")

# What people change when they quote. The audit knows more; quotes here must not need it.
_MARKS = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "−": "-"})


def plain(text: str) -> str:
    return " ".join(text.translate(_MARKS).casefold().split())


PLAIN_SOURCES = {name: plain(text) for name, text in SOURCES.items()}


def spans(item: Item) -> list[str]:
    pieces = (piece for one in item.evidence for piece in re.split(r"\.\.\.|\[[^]]*\]", one.quote))
    return [span for span in map(plain, pieces) if span]


def quoted_in(item: Item, text: str) -> bool:
    return all(span in text for span in spans(item))


def window(item: Item) -> str:
    assert item.window is not None
    return item.window


def prints(answer: str, text: str) -> bool:
    """The figure stands in the text by itself, not within a longer one."""
    return re.search(rf"(?<![\d.,]){re.escape(answer)}(?![\d]|[.,]\d)", text) is not None


def planted(fault: str) -> list[Item]:
    return [item for item in PLANTED.items if EXPECTED[item.id]["fault"] == fault]


def of_type(benchmark: Benchmark, answer_type: str) -> list[Item]:
    return [item for item in benchmark.items if item.answer_type == answer_type]


def test_there_are_enough_items_tasks_and_categories_for_a_report_by_category() -> None:
    assert len(CLEAN.items) >= 60
    assert len({item.task for item in CLEAN.items}) >= 12
    categories = Counter(item.category for item in CLEAN.items)
    assert len(categories) >= 6
    assert min(categories.values()) >= 8
    assert {item.answer_type for item in CLEAN.items} == {"number", "date", "boolean", "enum", "text"}


def test_at_least_fourteen_whole_licences_are_held_in_less_than_a_megabyte() -> None:
    assert len(SOURCES) >= 14
    assert sum(len(text.encode()) for text in SOURCES.values()) < 1_000_000
    assert {item.source for item in CLEAN.items} <= set(SOURCES)


@pytest.mark.parametrize("item", CLEAN.items, ids=lambda item: item.id)
def test_a_window_is_cut_from_its_source_character_for_character(item: Item) -> None:
    assert window(item) in SOURCES[item.source]
    assert 400 <= len(window(item)) <= 3500


@pytest.mark.parametrize("item", CLEAN.items, ids=lambda item: item.id)
def test_the_quote_of_a_clean_item_stands_in_its_window(item: Item) -> None:
    assert spans(item)
    assert quoted_in(item, plain(window(item)))


def test_windows_keep_the_form_of_the_document() -> None:
    assert any("\f" in window(item) for item in CLEAN.items)
    assert any("“" in window(item) for item in CLEAN.items)
    assert sum("\n  " in window(item) for item in CLEAN.items) > 20


def test_windows_are_not_cut_around_the_quote() -> None:
    """Where the evidence begins is spread over the window: not always in its middle, nor at its beginning."""
    places = []
    for item in CLEAN.items:
        text = plain(window(item))
        places.append(text.index(spans(item)[0]) / len(text))
    thirds = Counter(min(int(3 * place), 2) for place in places)
    assert min(thirds[third] for third in range(3)) > len(places) / 10


def test_some_quotes_have_gaps_and_insertions_as_people_write_them() -> None:
    quotes = [one.quote for item in CLEAN.items for one in item.evidence]
    assert sum("..." in quote for quote in quotes) >= 8
    assert sum("[" in quote for quote in quotes) >= 2
    assert sum(len(item.evidence) > 1 for item in CLEAN.items) >= 2


def test_yes_and_no_are_balanced_in_all_and_occur_in_every_task() -> None:
    answers = Counter(item.answer for item in of_type(CLEAN, "boolean"))
    assert set(answers) == {"yes", "no"}
    assert min(answers.values()) / answers.total() > 0.4
    for task in {item.task for item in of_type(CLEAN, "boolean")}:
        said = Counter(item.answer for item in CLEAN.items if item.task == task)
        assert set(said) == {"yes", "no"}, task


def test_every_value_of_a_vocabulary_is_the_answer_of_some_item() -> None:
    for task in {item.task for item in of_type(CLEAN, "enum")}:
        items = [item for item in CLEAN.items if item.task == task]
        assert {item.answer for item in items} == {term.value for term in items[0].vocabulary}
        assert all(term.value in item.question for item in items for term in item.vocabulary)


def test_numbers_and_dates_are_written_in_the_plainest_form() -> None:
    for benchmark in (CLEAN, PLANTED):
        assert all(re.fullmatch(r"\d+", item.answer) for item in of_type(benchmark, "number"))
        dates = [item.answer for item in of_type(benchmark, "date")]
        assert all(re.fullmatch(r"\d{4}(-\d{2}){0,2}", date) for date in dates)
        assert any(len(date) == 7 for date in dates)


def test_a_time_has_a_unit() -> None:
    for item in of_type(CLEAN, "number"):
        assert item.unit in ({"day", "month", "year"} if item.task != "amount" else {None, "USD"})


def test_no_clean_item_is_a_planted_one() -> None:
    assert not {item.id for item in CLEAN.items} & {item.id for item in PLANTED.items}
    assert CLEAN.content_hash != PLANTED.content_hash


def test_the_planted_set_shares_the_folder_and_its_sources() -> None:
    stream = open_stream("licences/planted")
    assert stream.folder is not None
    assert (stream.folder / "sources" / "GPL-2.0.txt").is_file()
    assert stream.header.name == PLANTED.name == "licences-planted"
    assert [placed.item for placed in stream] == list(PLANTED.items)


def test_the_planted_set_can_be_written_and_keeps_its_bytes(tmp_path: Path) -> None:
    write_benchmark(PLANTED, tmp_path)
    assert (tmp_path / "benchmark.yaml").read_bytes() == (FOLDER / "planted.yaml").read_bytes()
    assert (tmp_path / "planted.jsonl").read_bytes() == (FOLDER / "planted.jsonl").read_bytes()
    assert load_benchmark(tmp_path) == PLANTED


def test_every_planted_item_has_an_expectation_and_each_failure_at_least_twelve() -> None:
    assert set(EXPECTED) == {item.id for item in PLANTED.items}
    faults = Counter(entry["fault"] for entry in EXPECTED.values())
    assert all(faults[failure] >= 12 for failure in FAILURES)
    assert faults["wrong pointer"] >= 5
    assert faults["not checkable"] >= 3
    assert all(entry["made"] for entry in EXPECTED.values())
    for entry in EXPECTED.values():
        failure = entry["fault"] if entry["fault"] in FAILURES else None
        assert entry["expect"]["failure"] == failure
        assert entry["expect"]["flagged"] == (failure is not None)


@pytest.mark.parametrize("item", planted("evidence absent"), ids=lambda item: item.id)
def test_absent_evidence_is_in_the_document_and_not_in_the_window(item: Item) -> None:
    assert window(item) in SOURCES[item.source]
    assert quoted_in(item, PLAIN_SOURCES[item.source])
    assert not any(span in plain(window(item)) for span in spans(item))
    assert not (item.answer_type == "number" and prints(item.answer, window(item)))
    assert not (item.answer_type == "date" and item.answer[:4] in window(item))


@pytest.mark.parametrize("item", planted("computational"), ids=lambda item: item.id)
def test_a_calculation_can_be_made_from_the_window_and_its_result_is_not_printed_there(item: Item) -> None:
    assert window(item) in SOURCES[item.source]
    assert not any(quoted_in(item, text) for text in PLAIN_SOURCES.values())
    assert not prints(item.answer, window(item))
    words = {"six": 6, "three": 3}  # the only ones that a quote spells out
    written = item.evidence[0].quote
    figures = [int(words.get(found, found)) for found in re.findall(r"\d+|six|three", written)]
    *operands, result = figures
    assert result == int(item.answer)
    text = window(item)
    assert all(prints(str(n), text) or any(w in text for w, v in words.items() if v == n) for n in operands)
    assert result in {sum(operands), abs(operands[0] - operands[1]), operands[0] / operands[1]}


@pytest.mark.parametrize("item", planted("label untraceable"), ids=lambda item: item.id)
def test_an_untraceable_label_is_quoted_in_its_window_and_in_no_document(item: Item) -> None:
    assert quoted_in(item, plain(window(item)))
    assert item.source in SOURCES
    assert not any(quoted_in(item, text) for text in PLAIN_SOURCES.values())


@pytest.mark.parametrize("item", planted("answer stated"), ids=lambda item: item.id)
def test_a_stated_answer_has_a_sound_window_and_a_reworded_quote(item: Item) -> None:
    assert window(item) in SOURCES[item.source]
    assert item.answer_type in ("number", "date")
    assert not any(span in text for span in spans(item) for text in PLAIN_SOURCES.values())
    words = {"30": "30", "60": "60", "10": "ten", "6": "six", "2": "two", "50": "fifty"}
    stated = item.answer[:4] if item.answer_type == "date" else words.get(item.answer, item.answer)
    assert stated in window(item)


@pytest.mark.parametrize("item", planted("wrong pointer"), ids=lambda item: item.id)
def test_a_wrong_pointer_names_a_licence_and_exactly_one_other_holds_the_quote(item: Item) -> None:
    right = EXPECTED[item.id]["expect"]["source"]
    assert item.source in SOURCES
    assert item.source != right
    assert [name for name, text in PLAIN_SOURCES.items() if quoted_in(item, text)] == [right]
    assert window(item) in SOURCES[right]


@pytest.mark.parametrize("item", planted("not checkable"), ids=lambda item: item.id)
def test_what_cannot_be_checked_points_to_a_document_that_is_not_held(item: Item) -> None:
    assert item.source
    assert item.source not in SOURCES
    assert quoted_in(item, plain(window(item)))
    assert not any(quoted_in(item, text) for text in PLAIN_SOURCES.values())


def test_the_data_statement_counts_what_is_there() -> None:
    assert f"{len(CLEAN.items)} questions" in README
    assert f"{len(PLANTED.items)} items" in README
    for category in CLEAN.categories:
        items = [item for item in CLEAN.items if item.category == category]
        tasks = ", ".join(f"{task} {n}" for task, n in Counter(item.task for item in items).items())
        assert f"| {category} | {len(items)} | {tasks} |" in README
    for fault, count in Counter(entry["fault"] for entry in EXPECTED.values()).items():
        assert f"| {fault} | {count} |" in README


@pytest.mark.parametrize("name", SOURCES)
def test_every_licence_is_the_one_whose_origin_and_digest_the_data_statement_gives(name: str) -> None:
    digest = hashlib.sha256((FOLDER / "sources" / name).read_bytes()).hexdigest()
    assert f"{digest}  {name}\n" in README
    assert f"| `{name}` |" in README


@pytest.mark.parametrize("answer_type", ["number", "date", "boolean", "enum", "text"])
def test_every_gold_answer_is_read_as_itself_and_no_other_answer_is(answer_type: str) -> None:
    items = [*of_type(CLEAN, answer_type), *of_type(PLANTED, answer_type)]
    for item in items:
        reading = read_answer(item, item.answer)
        assert (reading.state, reading.correct, reading.correct_strict) == (Read.OK, True, True), item.id
        other = (
            next(one.answer for one in items if one.task == item.task and one.answer != item.answer)
            if (len({one.answer for one in items if one.task == item.task}) > 1)
            else None
        )
        assert other is None or not read_answer(item, other).correct, (item.id, other)


def audited(ref: str) -> AuditDocument:
    stream = open_stream(ref)
    assert stream.folder is not None
    document = audit(stream, Sources(stream.folder / "sources"), workers=1)
    assert isinstance(document, AuditDocument)
    assert document.self_test.passed
    return document


def test_the_audit_finds_nothing_in_the_clean_set() -> None:
    verdicts = audited("licences").items
    assert len(verdicts) == len(CLEAN.items)
    assert not [(verdict.item, verdict.reasons) for verdict in verdicts if verdict.flagged]
    assert {verdict.state for verdict in verdicts} == {State.PRESENT}
    assert {verdict.route for verdict in verdicts} == {Route.DECLARED}


def test_the_audit_finds_every_planted_fault_and_calls_it_by_its_name() -> None:
    found = {verdict.item: verdict for verdict in audited("licences/planted").items}
    names = ("flagged", "failure", "quote_in_window", "quote_in_source")
    wanted = {item: {name: entry["expect"][name] for name in names} for item, entry in EXPECTED.items()}
    assert {item: {name: getattr(found[item], name) for name in names} for item in wanted} == wanted
    for item, entry in EXPECTED.items():
        if entry["fault"] == "wrong pointer":
            assert found[item].route is Route.ELSEWHERE
            assert Path(found[item].source).name == entry["expect"]["source"]
        if entry["fault"] == "not checkable":
            assert found[item].state is State.NOT_CHECKABLE
        assert bool(found[item].derivation) == (entry["fault"] == "computational"), item
