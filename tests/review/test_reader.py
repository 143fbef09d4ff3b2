"""Which names are one reader's: letters tell people apart, capitals, blanks and compositions do not."""

from __future__ import annotations

import pytest

from leadline.bundle.verifier.pack_sentences import folded
from leadline.review.reader import reader_key, reader_slug, same_reader


@pytest.mark.parametrize(
    ("one", "other", "is_one"),
    [
        ("Ann Lee", " ann   LEE", True),
        ("Jörg", "Jo\u0308rg", True),
        ("STRAẞE", "straße", True),
        ("Jörg Strauß", "Jörg Strauss", False),
        ("Jörg", "Jorg", False),
        ("Ann-Lee", "Ann Lee", False),
        ("Ⅳ", "IV", False),
        ("Ann¹", "Ann1", False),
    ],
)
def test_two_names_are_one_reader_s_or_not_wherever_it_is_asked(one: str, other: str, is_one: bool) -> None:
    assert same_reader(one, other) is is_one
    assert (reader_slug(one) == reader_slug(other)) is is_one
    assert (folded(one) == folded(other)) is is_one, "verify.py asks by the same rule"
    assert reader_key(reader_key(one)) == reader_key(one)
