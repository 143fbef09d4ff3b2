"""The forms in which sentences and texts are compared, and the bulk form that they are looked for in."""

from __future__ import annotations

import json
import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.build.presence import grams
from leadline.build.presence.literal_engine import literal_engine
from leadline.build.presence.normal_form import FOLDED, normalised, overlapping, stripped
from leadline.build.presence.patterns import pattern
from leadline.build.presence.squeeze import is_irregular, squeeze, squeezed_text, without_marks


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("a  b\t\n c", "a b c"),
        ("a\u00a0b\u2003c\u3000d", "a b c d"),
        ("‘a’ ‚b‛ “c” „d‟ «e»", '\'a\' \'b\' "c" "d" "e"'),
        ("1939–1945 — a‑b − c", "1939-1945 - a-b - c"),
        ("and so on…", "and so on..."),
        ("Cafe\u0301", "Café"),
        ("300 \u212a", "300 K"),
        ("  at the ends ", " at the ends "),
        ("", ""),
        (" \n", ""),
        ("zero\u200bwidth", "zero\u200bwidth"),
    ],
)
def test_a_normal_form_folds_what_typesetting_changes(text: str, same: str) -> None:
    assert normalised(text) == same


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("born[1] in Ulm [2], he[citation needed] went.[a][b]", "born in Ulm, he went."),
        ("[note 3] First", " First"),
        ("an array x[1000] and [sic] and [a list]", "an array x[1000] and and [a list]"),
        ("[Citation Needed] [When?]", ""),
        ("[[1]]", "[]"),
        ("no marks", "no marks"),
    ],
)
def test_footnote_marks_go_and_other_brackets_stay(text: str, bare: str) -> None:
    assert stripped(text) == bare


@given(st.text())
def test_a_normal_form_is_its_own_normal_form(text: str) -> None:
    assert normalised(normalised(text)) == normalised(text)


_REGULAR = st.text(
    st.one_of(
        st.characters(codec="utf-8"),
        st.sampled_from([*map(chr, FOLDED), *'\\\\"/nu  \n\t\u00a0\u2003\u3000[]é中\U0001f600']),
    )
).filter(lambda text: not any(map(is_irregular, text)))


@given(_REGULAR, st.booleans(), st.booleans())
def test_the_bulk_form_of_a_json_line_is_that_of_its_text(text: str, ascii_only: bool, slashes: bool) -> None:
    line = json.dumps(text, ensure_ascii=ascii_only)
    line = line.replace("/", "\\/") if slashes else line
    squeezed = squeeze(line.encode() + b"\n", json=True)
    assert squeezed.irregular.size == 0
    assert squeezed.ends.tolist() == [len(line.encode())]
    assert squeezed.text.tobytes() == b'"' + squeezed_text(text) + b'"\n'


@given(st.text(st.characters(codec="utf-8", exclude_characters="\n\t\v\f\r\x1c\x1d\x1e\x1f")))
def test_plain_text_is_regular_or_said_to_be_irregular(text: str) -> None:
    squeezed = squeeze(text.encode() + b"\n", json=False)
    if unicodedata.normalize("NFC", text) != text:
        assert squeezed.irregular.size > 0
    if squeezed.irregular.size == 0:
        assert squeezed.text.tobytes() == squeezed_text(text) + b"\n"


def test_every_character_that_nfc_may_change_is_irregular() -> None:
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        if 0xD800 <= code < 0xE000 or is_irregular(character) or character.isspace():
            continue
        assert unicodedata.normalize("NFC", character) == character, hex(code)
        assert not unicodedata.combining(character), hex(code)
        parts = unicodedata.decomposition(character).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            assert is_irregular(chr(int(parts[1], 16))), hex(code)


def test_marks_are_cut_out_of_the_bulk_form_as_out_of_a_text() -> None:
    for text in ("born[1]in[a]Ulm[citation needed].", "[[1]]", "x[1000][sic][when?]", "[note 12]a[nb 3]"):
        squeezed = np.frombuffer(squeezed_text(text), np.uint8)
        assert without_marks(squeezed).tobytes() == squeezed_text(stripped(text))


def test_occurrences_may_overlap() -> None:
    assert overlapping("abababa", "aba") == 3
    assert overlapping("abc", "d") == 0


@pytest.mark.parametrize(
    ("sentence", "core"),
    [
        ("He was born.", "ewasborn"),
        ("was built[1] in the year 1879", "intheyear187"),
        ("citation needed] He was born in Ulm", "HewasborninUl"),
        ("\u0301xaccents at the end are cafe", "accentsattheendarecaf"),
        ("[1]", ""),
        ("a", ""),
        ("citation needed", ""),
    ],
)
def test_a_core_is_what_every_form_of_a_text_must_hold(sentence: str, core: str) -> None:
    got = pattern(sentence).core.decode()
    assert got == core or sentence.startswith("\u0301")
    assert got in "".join(sentence.split())


@given(
    st.lists(
        st.binary(min_size=1, max_size=60).map(lambda b: bytes(97 + c % 2 for c in b)),
        min_size=1,
        max_size=12,
    ),
    st.binary(max_size=600).map(lambda b: bytes(97 + c % 2 for c in b)),
)
def test_engines_find_every_occurrence_of_every_literal(literals: list[bytes], text: bytes) -> None:
    """Over two letters, so that literals overlap, contain each other, and share their grams."""
    text = text + literals[0] + text[:7] + literals[-1]
    expected = sorted(
        (place, number)
        for number, literal in enumerate(literals)
        for place in range(len(text))
        if text.startswith(literal, place)
    )
    array = np.frombuffer(text, np.uint8)
    for name in ("grams", "hyperscan", "ahocorasick"):
        assert sorted(literal_engine(literals, name).find(array)) == expected, name  # type: ignore[arg-type]


def test_a_literal_is_found_at_every_remainder_and_at_the_very_ends() -> None:
    literal = bytes(range(97, 97 + grams.SHORTEST))
    tables = grams.gram_tables([literal, literal + b"ABCDEFGH"])
    for before in range(40):
        for after in (0, 1, 7, 8, 15, 16, 17):
            text = np.frombuffer(b"-" * before + literal + b"-" * after, np.uint8)
            assert grams.find(tables, text) == [(before, 0)]
