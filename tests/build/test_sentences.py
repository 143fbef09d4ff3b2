"""Sentences are verbatim parts of a text, and what is damaged shows."""

from __future__ import annotations

import pytest

pytest.importorskip("sentencex", reason="building needs the 'build' extra")

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.build.articles.damage import signs
from leadline.build.articles.sentences import sentences


def _said(text: str) -> list[str]:
    return [text[one.start : one.end] for one in sentences(text)]


def test_abbreviations_and_initials_do_not_end_a_sentence() -> None:
    text = 'Dr. W. E. B. Du Bois lived in the U.S. from c. 1900.  He wrote. "Why?" asked Mr. Smith.'
    assert _said(text) == [
        "Dr. W. E. B. Du Bois lived in the U.S. from c. 1900.",
        "He wrote.",
        '"Why?" asked Mr. Smith.',
    ]


def test_no_sentence_crosses_a_paragraph_or_a_line() -> None:
    assert _said("Pears of\n\nthe best kind\nare sweet.") == ["Pears of", "the best kind", "are sweet."]


def test_what_has_no_letter_is_no_sentence() -> None:
    assert _said("* * *\n\n—\n\nPears.\r\n") == ["Pears."]


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=st.sampled_from("aB.!? \n\r\t\"')(،。1é\u2028\u0085𝔘")))
def test_sentences_lie_in_order_within_the_text_and_keep_its_words(text: str) -> None:
    found = sentences(text)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert all(before.end <= after.start for before, after in itertools.pairwise(found))
    kept = {place for one in found for place in range(one.start, one.end)}
    assert all(at in kept for at, character in enumerate(text) if character.isalnum())


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("Sima (11 August 184827 June 1934) was a painter.", "glued"),
        ("He died on June 5, 1934He was 80.", "glued"),
        ("From 1 May 20102 May 2011 it rained.", "glued"),
        ("The pear ends here.The fig begins here.", "glued"),
        ("At , Alabama has many rivers.", "template"),
        ("Rome (; from Roma) is a city.", "template"),
        ("Rome ( ) is a city.", "template"),
        ("The cost of delivering a  of milk is high.", "template"),
        ("Mount Gozur  is a mountain, high, in the Maglenik Heights.", "template"),
        ("Mount Keltie  is a mountain high, midway between two others.", "template"),
        ("Hill Bay  is a bay, long and wide, which indents the island.", "template"),
        ("Doggers Bay  is an ice-filled bay about long and wide.", "template"),
        ("The shrub typically grows to a height of and has leaves.", "template"),
        ("Dufek Mountain  is a large mountain rising to , standing south.", "template"),
        ("Daniel Hristov  (born", "template"),
        ("thumb|A pear on a table.", "markup"),
        ("A pear [[File:x.jpg]] on a table.", "markup"),
        ("{{cite|x}} on a table.", "markup"),
        ("A pear</ref> on a table.", "markup"),
        ("A pear &nbsp; on a table.", "markup"),
        ("|} on a table.", "markup"),
    ],
)  # fmt: skip
def test_damage_shows_in_the_words_of_any_text(sentence: str, kind: str) -> None:
    assert kind in signs(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "He lived from 11 August 1848 to 27 June 1934.",
        "On June 5, 1934, the AT&T company (US$ 5,000) bought iPods; cf. printf() and a[1] < b.",
        'McDonald and the YouTube star met: "Yes," she said, in the 1990s (1990–95).',
        # An aside vanished, or a typist put two blanks: the sentence reads whole.
        "Kielce Power Station  is a coal-fired combined power and heat plant at Kielce, Poland.",
        "Daniel Hristov  (born 1 May 1990) is in  the team.  It rained.",
        "It is about 30 m high, in a long and wide valley, and rich in  wine, high in sugar.",
        "(Pears (and figs) grow here.",
        "Dr. E.g. and U.S.A. are short. It's 5'10\" tall = high.",
    ],
)
def test_sound_sentences_carry_no_damage(sentence: str) -> None:
    assert signs(sentence) == ()


def test_damage_marks_the_sentences_that_it_touches_and_no_others() -> None:
    text = "One is here. Two is here. Three is here."
    found = sentences(text, "en", [(18, "template"), (18, "glued")])
    assert [one.damage for one in found] == [(), ("glued", "template"), ()]
    # Between two sentences it may belong to either.
    assert [one.damage for one in sentences(text, "en", [(12, "template")])] == [
        ("template",),
        ("template",),
        (),
    ]
