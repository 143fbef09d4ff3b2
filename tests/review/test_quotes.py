"""Marked quotes: compared with the document at once, and what is no quote refused in words."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from leadline.audit.matching import match_quote
from leadline.documents import Sources
from leadline.review.passages import Documents, OpenDocument
from leadline.review.quotes import LONGEST, MOST_QUOTES, RefusedQuote, check_quotes, mark, quotes_of
from tests.documents.papers import pdf
from tests.review.hard_documents import ODD, write_hard


@pytest.fixture(scope="module")
def hard(tmp_path_factory: pytest.TempPathFactory) -> Documents:
    folder = tmp_path_factory.mktemp("sources")
    write_hard(folder)
    return Documents(Sources(folder))


def held(text: str) -> OpenDocument:
    return OpenDocument(0, "a.txt", text, "0" * 64)


def marked(document: OpenDocument, text: str) -> str:
    start = document.text.index(text)
    quote = mark(document, start, start + len(text), text).quote
    assert document.text[quote.start : quote.end] == quote.quote
    return quote.quote


@pytest.mark.parametrize(
    "text",
    [
        "🧭 compass 👩‍👩‍👧‍👦 shows e\u0301te\u0301",
        "الترخيص ساري لمدة ثلاثين يومًا",
        "הרישיון תקף\u200f לשלושים יום",
        "the fee is 1,250 🪙 per year",
        "compass 👩‍👩‍👧‍👦 shows e\u0301te\u0301 🇳🇴.\r\nالترخيص",
        "ใบอนุญาต",
    ],
)
def test_a_quote_of_any_script_is_kept_as_it_stands(hard: Documents, text: str) -> None:
    document = hard.open(hard.names.index("odd.txt"))
    assert document is not None
    assert marked(document, text) == text and text in ODD


def test_blanks_at_the_ends_of_a_selection_are_left_out() -> None:
    document = held("one\r\n  two three\t\n four")
    assert mark(document, 3, 17, document.text[3:17]).quote.quote == "two three"


@pytest.mark.parametrize(
    ("text", "part", "whole"),
    [
        ("The licence terminates at once.", "cence terminat", "licence terminates"),
        ("a fee of 1,250.50 euros", "250.5", "1,250.50"),
        ("nothing to widen here", "to widen", "to widen"),
        ("ราคาคือหนึ่งร้อย", "ราคา", "ราคา"),  # no blanks between words
    ],
)
def test_a_selection_that_cuts_a_word_is_widened_to_it(text: str, part: str, whole: str) -> None:
    document = held(text)
    start = text.index(part)
    found = mark(document, start, start + len(part), part)
    assert found.quote.quote == whole and found.widened == (part != whole)
    assert match_quote(found.quote.quote, text).found


@pytest.mark.parametrize(
    ("start", "end", "text", "why"),
    [
        (0, 4, "other", "is not what stands at characters 0 to 4 of a.txt"),
        (4, 4, "", "nothing is marked"),
        (5, 3, "x", "nothing is marked"),
        (0, 10**9, "some text, and — 🧭 — more", "nothing is marked"),
        (14, 19, " — 🧭 ", "no letter and no digit"),
    ],
)
def test_what_is_no_quote_is_refused_in_words(start: int, end: int, text: str, why: str) -> None:
    with pytest.raises(RefusedQuote, match=why):
        mark(held("some text, and — 🧭 — more"), start, end, text)


def test_offsets_in_halves_of_characters_do_not_pass_for_offsets_in_characters() -> None:
    document = held("🧭🧭 north east")
    assert mark(document, 3, 8, "north").quote.start == 3
    with pytest.raises(RefusedQuote, match="is not what stands"):
        mark(document, 5, 10, "north")


def test_a_chapter_and_half_a_character_are_no_quotes() -> None:
    long = "word " * LONGEST
    with pytest.raises(RefusedQuote, match="mark the sentence"):
        mark(held(long), 0, len(long), long)
    with pytest.raises(RefusedQuote, match="half a character"):
        mark(held("a \ud83e b"), 0, 5, "a \ud83e b")


def test_a_pdf_and_a_packed_file_are_quoted_by_their_text(hard: Documents, tmp_path: Path) -> None:
    (tmp_path / "paper.pdf").write_bytes(pdf("The cure period is thirty days"))
    document = Documents(Sources(tmp_path)).open(0)
    packed = hard.open(hard.names.index("packed.txt.gz"))
    assert document is not None and packed is not None
    assert marked(document, "thirty days") == "thirty days" and marked(packed, "45 days") == "45 days"


def test_quotes_of_a_draft_are_compared_again(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The cure period is thirty days.")
    documents = Documents(Sources(tmp_path))
    document = documents.open(0)
    assert document is not None
    quote = mark(document, 4, 15, "cure period").quote.model_dump()
    kept = quotes_of([quote, quote])
    assert [one.quote for one in kept] == ["cure period"]
    check_quotes(kept, documents)
    for wrong, why in (
        ([{**quote, "start": 5}], "quote 1: the text marked is not what stands"),
        ([quote, {**quote, "quote": "cure Period"}], "quote 2"),
        ([{**quote, "name": "b.txt"}], "b.txt is not among the documents"),
        ([{**quote, "name": "../a.txt"}], "is not among the documents"),
        ([{**quote, "sha256": "1" * 64}], "is not the document that it was"),
        ([{**quote, "start": 5, "quote": "ure period"}], "begins or ends within a word"),
        ([{"quote": "made up"}], "quote 1 is none"),
        ("quotes", "is no list"),
        ({"a": 1}, "is no list"),
        ([quote] * (MOST_QUOTES + 1), "51 quotes, and 50 are allowed"),
    ):
        with pytest.raises(RefusedQuote, match=why):
            check_quotes(quotes_of(wrong), documents)
    (tmp_path / "a.txt").write_text("The cure period is forty days, since yesterday.")
    with pytest.raises(RefusedQuote, match="is not the document that it was"):
        check_quotes(kept, documents)


def test_a_quote_stays_its_document_s_where_another_document_comes_before_it(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("The cure period is thirty days.")
    document = Documents(Sources(tmp_path)).open(0)
    assert document is not None
    kept = quotes_of([mark(document, 4, 15, "cure period").quote.model_dump()])
    (tmp_path / "a.txt").write_text("This one sorts before it.")
    check_quotes(kept, Documents(Sources(tmp_path)))


def test_what_was_widened_as_far_as_a_word_may_be_is_kept(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(f"see {'x' * 300} there")
    documents = Documents(Sources(tmp_path))
    document = documents.open(0)
    assert document is not None
    try:
        made = mark(document, 100, 150, "x" * 50)
    except RefusedQuote as error:
        assert "mark whole words" in str(error)
    else:
        check_quotes([made.quote], documents)


def test_a_document_whose_name_no_label_could_hold_is_not_quoted(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.txt")).write_text("The cure period is thirty days.")
    document = Documents(Sources(tmp_path)).open(0)
    assert document is not None
    with pytest.raises(RefusedQuote, match="another name"):
        mark(document, 4, 15, "cure period")
