"""An audit on a terminal: readable at 80 columns, nothing obeyed, the marks where the spans are."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console, RenderableType

from leadline.audit.document import Place, SpanCheck
from leadline.report.audit_item import audit_item
from leadline.report.audit_marks import Piece, differences, marked
from leadline.report.audit_terminal import audit_summary
from leadline.report.audit_texts import ItemTexts, collect_texts, shown_in_full
from tests.report.audit_documents import WINDOW, audit_document, item, item_texts, span

WHOLE = audit_document()


def shown(what: RenderableType, width: int = 100, colour: bool = False) -> str:
    sink = io.StringIO()
    Console(file=sink, width=width, force_terminal=colour, color_system="standard" if colour else None).print(
        what
    )
    return sink.getvalue()


def test_the_self_test_comes_before_the_counts() -> None:
    text = shown(audit_summary(WHOLE))
    order = ["terms 1.2: 22 items", "Self-test passed: 112 of 112", "Flagged: 45.5 % (10/22) [26.9, 65.3]"]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    assert "Not checkable: the source of 2 items" in text and "provenance, not truth" in text


def test_counts_carry_what_they_are_of_and_an_interval() -> None:
    text = shown(audit_summary(WHOLE))
    for line in (
        r"Failure type, of flagged items +evidence absent +50\.0 % \(5/10\) \[23\.7, 76\.3\]",
        r"Quote in window, of items +present +59\.1 % \(13/22\) \[38\.7, 76\.7\]",
        r"verified absent +9\.1 % \(2/22\)",
        r"termination +16 +37\.5 % \(6/16\)",
    ):
        assert re.search(line, text), line


def test_a_failed_self_test_leaves_no_verdict_to_read() -> None:
    text = shown(audit_summary(audit_document(passed=False)))
    assert "Self-test FAILED: 105 of 112" in text and "25/32" in text
    assert "No item has a verdict" in text
    assert "Flagged" not in text and "evidence absent" not in text


@pytest.mark.parametrize("listed", [0, 3, 10, 50])
def test_the_list_is_as_long_as_asked_for_and_says_how_many_are_left(listed: int) -> None:
    text = shown(audit_summary(WHOLE, listed))
    assert text.count("✗ ") == min(listed, 10)
    assert (f"… and {10 - listed} more" in text) == (listed < 10)


def test_many_tasks_are_cut_to_those_with_flags() -> None:
    tasks = [item(f"i{n}", task=f"task-{n:02}", flagged=n == 17, quote_in_window=n != 17) for n in range(30)]
    text = shown(audit_summary(audit_document(items=tuple(tasks)), 0))
    assert "task-17" in text and "task-03" not in text and "29 more; 30 in all" in text


def test_nothing_in_an_items_texts_is_obeyed() -> None:
    texts = item_texts(WHOLE)
    everything = [audit_summary(WHOLE, 50), audit_summary(audit_document(passed=False))]
    everything += [audit_item(entry, texts[entry.item]) for entry in WHOLE.items]
    text = "".join(map(shown, everything))
    assert "\x1b" not in text and "\u202e" not in text
    assert "\\x1b[31mred" in text and "[x](javascript:alert(1))" in text  # shown, not read as markup


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    texts = item_texts(WHOLE)
    (hostile,) = [entry for entry in WHOLE.items if "hostile" in entry.item]
    for what in (audit_summary(WHOLE, 50), audit_item(hostile, texts[hostile.item])):
        assert max(map(len, shown(what, width).splitlines())) <= width


def test_an_item_in_full_marks_its_spans_in_the_window_and_names_what_is_nearest() -> None:
    entry = next(entry for entry in WHOLE.items if entry.item == "absent-1")
    text = shown(audit_item(entry, item_texts(WHOLE)["absent-1"]))
    assert "«1If you cease all violation of this licence1»" in text
    assert "81% alike" in text and "prior to 60 days" in text
    assert "connective, not required" in text and "8,000–8,042" in text
    assert "Within how many days is the licence reinstated?" in text and "60 (number)" in text


def test_an_item_whose_texts_are_not_at_hand_is_shown_by_its_verdict() -> None:
    text = shown(audit_item(WHOLE.items[0], None))
    assert "fine-0" in text and "nothing failed" in text


# Windows in pieces


def test_pieces_put_together_are_the_window_and_marks_are_the_spans() -> None:
    spans = (span(WINDOW, "covered work"), span(WINDOW, "work except"), span(WINDOW, "nowhere"))
    pieces = marked(WINDOW, spans, 10_000)
    assert "".join(piece.text for piece in pieces) == WINDOW
    assert [piece for piece in pieces if piece.spans] == [
        Piece("covered ", (1,)),
        Piece("work", (1, 2)),
        Piece(" except", (2,)),
    ]


def test_a_missing_span_is_near_where_its_nearest_text_stands() -> None:
    spans = (span("abc defg hij", "abc"), SpanCheck(text="defx", nearest="defg"))
    assert marked("abc defg hij", spans, 100) == (
        Piece("abc", (1,)),
        Piece(" "),
        Piece("defg", near=(2,)),
        Piece(" hij"),
    )


def test_offsets_beyond_the_window_are_cut_to_it() -> None:
    wrong = (
        SpanCheck(text="x", in_window=Place(start=3, end=99)),
        SpanCheck(text="x", in_window=Place(start=7, end=9)),
    )
    assert marked("abcde", wrong, 100) == (Piece("abc"), Piece("de", (1,)))
    assert marked("", wrong, 100) == ()


def test_a_long_window_is_shown_around_its_spans_and_gaps_are_counted() -> None:
    window = "a" * 30_000 + "NEEDLE" + "b" * 50_000 + "PIN" + "c" * 20_000
    pieces = marked(window, (span(window, "NEEDLE"), span(window, "PIN")), 20_000)
    assert [piece.text for piece in pieces if piece.spans] == ["NEEDLE", "PIN"]
    assert sum(len(piece.text) + piece.cut for piece in pieces) == len(window)
    assert sum(len(piece.text) for piece in pieces) < 7_000
    (beginning, rest) = marked(window, (), 20_000)
    assert beginning.text == "a" * 20_000 and rest.cut == len(window) - 20_000


def test_spans_without_end_do_not_make_a_long_window_longer_than_its_limit() -> None:
    window = "word " * 20_000
    spans = tuple(
        SpanCheck(text="w", in_window=Place(start=at, end=at + 4)) for at in range(0, len(window), 500)
    )
    pieces = marked(window, spans, 20_000)
    assert sum(len(piece.text) for piece in pieces) <= 20_000
    assert sum(len(piece.text) + piece.cut for piece in pieces) == len(window)


def test_words_that_differ_are_told_from_those_that_do_not() -> None:
    pieces = differences("not more than 30 days after", "not (more) than 60 days, After it")
    assert [piece.text.strip() for piece in pieces if piece.spans] == ["60", "it"]
    assert "".join(piece.text for piece in pieces) == "not (more) than 60 days, After it"


# Which items are shown


def test_flagged_items_come_first_and_silent_ones_not_at_all() -> None:
    names = [entry.item for entry in shown_in_full(WHOLE, 100)]
    assert len(names) == 12 and names[-2:] == ["circular", "giveaway"]
    assert [entry.item for entry in shown_in_full(WHOLE, 2)] == ["absent-1", "absent-2"]


def test_texts_are_collected_for_the_wanted_items_without_reading_on() -> None:
    from leadline.bench.item import Evidence, Item

    def items() -> object:
        for number in range(100):
            assert number <= 7, "all that was wanted is found"
            yield Item(
                id=f"i{number}", question="Q?", answer="A", window="W", evidence=(Evidence(quote="W"),)
            )

    found = collect_texts(items(), ["i2", "i7"])  # type: ignore[arg-type]
    assert found == {name: ItemTexts("Q?", "A", "W", ("W",)) for name in ("i2", "i7")}
