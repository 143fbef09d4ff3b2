"""The normal form: which spellings are the same, and which are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.bench.folding import normalise, tokens


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Curaçao", "curacao"),
        ("São Paulo", "SAO-PAULO"),
        ("Tromsø", "Tromso"),
        ("Łódź", "Lodz"),
        ("Straße", "STRASSE"),
        ("H₂O", "H2O"),
        ("U.S.", "US"),
        ("ﬁnch", "finch"),
        ("İstanbul", "istanbul"),
        ("O’Neill", "O'Neill"),
        ("Ｔｏｋｙｏ", "Tokyo"),
        ("Фёдор", "федор"),
        ("ΑΘΉΝΑ", "Αθηνα"),
        ("ירושָלים", "ירושלים"),
    ],
)
def test_same(one: str, other: str) -> None:
    assert normalise(one) == normalise(other) != ""


@pytest.mark.parametrize(
    ("one", "other"), [("がく", "かく"), ("कि", "की"), ("Rome", "Romeo"), ("1969", "1996"), ("C", "")]
)
def test_different(one: str, other: str) -> None:
    assert normalise(one) != normalise(other)


@given(st.text())
def test_normal_form_is_stable_and_holds_no_blanks(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert not any(character.isspace() for character in once)


@given(st.text(st.characters(codec="utf-8", max_codepoint=0x24F)))
def test_ascii_shortcut_and_words_agree_with_the_rule(text: str) -> None:
    assert "".join(token.text for token in tokens(text)) == normalise(text)


def test_words() -> None:
    assert [token.text for token in tokens("It isn't Jean-Paul's «U.S.» 3,5")] == [
        "it", "isnt", "jean", "pauls", "u", "s", "3", "5",
    ]  # fmt: skip
    assert [token.text for token in tokens("東京です in がく")] == ["東", "京", "で", "す", "in", "が", "く"]
    assert [token.gap for token in tokens("a, b (c")] == ["", ", ", " ("]
