"""Wikitext becomes what a reader of the page has: its words, its links, and marks where words are lacking."""

from __future__ import annotations

import time

import pytest

pytest.importorskip("mwparserfromhell", reason="building needs the 'build' extra")

from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.build.articles.polish import Plain
from leadline.build.articles.sentences import sentences
from leadline.build.articles.wikitext import LONGEST, plain_text

CASES = {
    # What is rendered without loss.
    "'''Pears''' are ''sweet''.": "Pears are sweet.",
    "L'''amour'' is a word.": "L'amour is a word.",
    "He wrote {{lang|fr|texte}} and {{nowrap|ten km}}.": "He wrote texte and ten km.",
    "It&nbsp;is 5{{nbsp}}km &ndash; or 3&thinsp;mi.": "It is 5 km – or 3 mi.",
    "Born {{circa|1500}} in Rome, {{as of|2010|5|lc=y}}.": "Born c. 1500 in Rome, as of May 2010.",
    "The dog{{'}}s bone{{spaced ndash}}a big one.": "The dog's bone – a big one.",
    "The 19<sup>th</sup> century; 5 km<sup>2</sup>; H<sub>2</sub>O.": "The 19th century; 5 km2; H2O.",
    "See [http://pear.example the pears] [http://x.example].": "See the pears.",
    "Write <nowiki>[[pear]] and {{pear}}</nowiki>? {{'}}": "Write [[pear]] and {{pear}}? '",
    # What stands apart from the sentences goes.
    "{{Infobox fruit\n| name = Pear\n| image = [[File:p.jpg|thumb|A {{small|pear}}]]\n}}\nPears grow.": (
        "Pears grow."
    ),
    "[[File:P.jpg|thumb|left|A [[pear|ripe [sic]]] in [[Rome]], {{convert|5|m}}]]Pears grow.": "Pears grow.",
    "Pears grow.\n\n{| class=wikitable\n|-\n! a || b\n|-\n| {{flag|X}}\n{|\n| in\n|}\n|}\n\nSo do figs.": (
        "Pears grow.\n\nSo do figs."
    ),
    "Pears.<ref>A, ''B'' {{cite|x}} <!-- no --></ref><ref/> Figs.<ref>[http://a]</ref>": "Pears. Figs.",
    "Pears<!-- of\n\nall --> grow.\n<!-- alone -->\nThey do.": "Pears grow. They do.",
    "== History ==\nPears grew.\n=== Early ===\nThey did.\n\n== See also ==\n* [[Fig]]\n\n== Use ==\nEat.": (
        "Pears grew.\n\nThey did.\n\nEat."
    ),
    "Pears grow.\n[[Category:Fruit]]\n[[de:Birne]]\n{{DEFAULTSORT:Pear}}\n__NOTOC__": "Pears grow.",
    "<gallery>\nFile:a.jpg|one\n</gallery>\nPears grow.\n<timeline>x</timeline>": "Pears grow.",
    "* One [[pear]].\n* Two.\n: Three": "One pear.\n\nTwo.\n\nThree",
    "A line\nand its end.\n\n\n\nMore.": "A line and its end.\n\nMore.",
    "{{quote|Pears are good.|[[Pliny]]}}": "Pears are good.",
    # Brackets that are left empty go with what stood in them.
    "A pear<ref>x</ref> (<ref>y</ref>) is sweet.": "A pear is sweet.",
    "'''Rome''' ({{IPAc-en|r|oʊ|m}}; from ''Roma'') is a city.": "Rome (from Roma) is a city.",
    "'''Rome''' ({{IPA|x}}) is a city, ({{IPA|y}}, {{IPA|z}}) it is.": "Rome is a city, it is.",
}


@pytest.mark.parametrize("source", CASES)
def test_the_text_is_what_a_reader_has(source: str) -> None:
    assert plain_text(source).text == CASES[source]


DAMAGED = {
    "At {{convert|10|km}}, Alabama is wide.": "template",
    "He was born {{birth date|1900|1|2}} in Rome.": "template",
    "Einstein wrote <math>E = mc^2</math> here.": "template",
    "It has {{{1}}} pears.": "template",
    "About 10<sup>6</sup> of them.": "markup",
    "A pear [[grows here.": "markup",
    "A pear {{grows here.": "markup",
    "A pear <ref>grows here.": "markup",
    "A pear grows ]] here.": "markup",
    "A pear grows<ref>x</ref>here.": "glued",
    "The pear ends.<ref>x</ref>The fig begins.": "glued",
}


@pytest.mark.parametrize("source", DAMAGED)
def test_a_sentence_that_lacks_words_is_marked_and_its_neighbours_are_not(source: str) -> None:
    plain = plain_text(f"Figs are sweet and good.\n\n{source}\n\nSo are plums, all of them.")
    found = sentences(plain.text, "en", plain.damage)
    by_text = {plain.text[one.start : one.end]: one.damage for one in found}
    assert by_text["Figs are sweet and good."] == by_text["So are plums, all of them."] == ()
    touched = [damage for text, damage in by_text.items() if not text.startswith(("Figs", "So are"))]
    assert touched
    assert all(DAMAGED[source] in damage for damage in touched)


WHOLE = {
    "'''Rome''' ({{IPAc-en|r|oʊ|m}} {{respell|ROHM}}; {{lang-la|Roma}}<ref>x</ref>) is big.": "Rome is big.",
    "'''Rome'''<ref>y</ref> ({{lang-it|Roma}}, {{audio|Roma.ogg|hear}}) is big.": "Rome is big.",
    "They founded the ''League'' ({{IPA-de|x}} / {{lang-de|Bund}}).": "They founded the League.",
}


@pytest.mark.parametrize("source", WHOLE)
def test_a_bracket_that_only_says_how_a_name_sounds_or_is_written_elsewhere_is_no_loss(source: str) -> None:
    plain = plain_text(source)
    assert (plain.text, plain.damage) == (WHOLE[source], ())


@pytest.mark.parametrize(
    "source",
    [
        "'''Rome''' ({{IPA|x}}; from ''Roma'') is big.",
        "'''Rome''' ({{IPA|x}}; {{convert|5|km}}) is big.",
        "'''Rome''' ({{birth date|1900|1|2}}) is big.",
        "'''Rome''' ({{IPA|x}} <math>a</math>) is big.",
        "'''Rome''' is {{lang-la|Roma}} in Latin.",
    ],
)
def test_what_vanishes_in_part_or_says_more_stays_marked(source: str) -> None:
    assert {kind for _, kind in plain_text(source).damage} == {"template"}


def test_a_box_below_others_at_the_top_damages_nothing() -> None:
    plain = plain_text("{{Use dmy dates}}\n{{good article}}\n{{Odd periodic table}}\nPears grow.")
    assert (plain.text, plain.damage) == ("Pears grow.", ())


def test_a_template_that_has_a_line_for_itself_damages_nothing() -> None:
    plain = plain_text("{{Odd sidebar}}\nPears grow.\n\n{{Some box|a}}\nFigs grow.\n\n{{Odd navigation}}")
    assert (plain.text, plain.damage) == ("Pears grow.\n\nFigs grow.", ())


def test_a_template_alone_within_an_unended_sentence_damages_it() -> None:
    plain = plain_text("The pear is\n{{odd height|5}}\nhigh.")
    assert [kind for _, kind in plain.damage] == ["template"]


LINKED = {
    "See [[pear]]s and [[Fig tree#Use|the ''fig'']]!": [("pears", "Pear"), ("the fig", "Fig tree")],
    "See [[pear_tree]] {{ill|Quince jam|de|Quitten}}.": [
        ("pear_tree", "Pear tree"),
        ("Quince jam", "Quince jam"),
    ],
    "See [[Pear (fruit)|]].": [("Pear", "Pear (fruit)")],
    "See [[:Category:Fruit]], [[wikt:pear|pear]], [[User:A|A]], [[#Use|use]].": [],
    "A<ref>x</ref>  [[a &amp; b|A &amp; B]] {{x}} [[9/11 conspiracy theories]]": [
        ("A & B", "A & b"),
        ("9/11 conspiracy theories", "9/11 conspiracy theories"),
    ],
    "[[Pear|'''Pears''']] ({{IPA|x}}, [[Fig|figs]])": [("Pears", "Pear"), ("figs", "Fig")],
    "[[CSI: Miami]] and [[de:Birne]] and [[w:Fig|fig]]": [("CSI: Miami", "CSI: Miami"), ("fig", "Fig")],
}


@pytest.mark.parametrize("source", LINKED)
def test_a_links_span_is_its_words(source: str) -> None:
    plain = plain_text(source)
    assert [(plain.text[link.start : link.end], link.target) for link in plain.links] == LINKED[source]


_BITS = st.sampled_from(
    [
        *(
            "{{",
            "}}",
            "[[",
            "]]",
            "{|\n",
            "\n|}",
            "\n|-\n",
            "|",
            "'''",
            "''",
            "<ref>",
            "</ref>",
            "<ref/>",
            "<!--",
        ),
        *(
            "-->",
            "\n",
            "\n\n",
            " ",
            "pear",
            "Fig.",
            "(",
            ")",
            "; ",
            ", ",
            "\n* ",
            "\n== H ==\n",
            "{{{1}}}",
            "]",
        ),
        *(
            "[http://a ",
            "File:x.jpg",
            "&nbsp;",
            "&#0;",
            "{{convert|1|km}}",
            "{{lang|fr|ç}}",
            "[[fig|a fig]]s",
        ),
        *(
            "<sup>",
            "</sup>",
            "<div>",
            "<nowiki>",
            "</nowiki>",
            "\ue000",
            "\u200e",
            "İ",
            "<math>",
            "</math>",
            "=",
        ),
        *("&", "<", "{{quote|", "{{refn|", "[[Category:", "[[File:", "__TOC__", "𝔘", "\ud7ff", "thumb|"),
    ]
)


def _sound(plain: Plain) -> None:
    text = plain.text
    assert text == text.strip()
    assert not any("\ue000" <= character <= "\ue007" for character in text)
    assert "\n\n\n" not in text
    assert all(0 <= place <= len(text) for place, _ in plain.damage)
    for link in plain.links:
        words = text[link.start : link.end]
        assert words
        assert words == words.strip()
        assert "\n" not in words
    for sentence in sentences(text, "en", plain.damage):
        words = text[sentence.start : sentence.end]
        assert words == words.strip()
        assert "\n" not in words
        assert sentence.damage or "thumb|" not in words


@settings(max_examples=300, deadline=None)
@given(st.lists(_BITS, max_size=40).map("".join))
def test_any_mixture_of_markup_gives_sound_text(source: str) -> None:
    _sound(plain_text(source, "Pear"))


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200))
def test_any_text_gives_sound_text(source: str) -> None:
    _sound(plain_text(source))


@pytest.mark.parametrize(
    "unit", ["{{a|", "[[a|b", "<ref>", "{|\n", "{{a|b={{c}} [[d]]", "[http://a ", "<span style='{{a|"]
)
def test_a_page_of_openings_without_ends_is_read_in_bounded_time(unit: str) -> None:
    started = time.process_time()
    plain = plain_text("A pear.\n\n" + unit * (300_000 // len(unit)))
    assert time.process_time() - started < 10  # minutes to hours where a parser goes back at each
    assert plain.text.startswith("A pear.")


def test_deeply_nested_templates_are_read_in_bounded_time() -> None:
    started = time.process_time()
    plain = plain_text("A pear. " + "{{a|" * 50_000 + "}}" * 50_000 + "\n\nA fig.")
    assert time.process_time() - started < 10
    assert plain.text.endswith("A fig.")


def test_a_page_beyond_what_mediawiki_takes_is_refused() -> None:
    with pytest.raises(ValueError, match="more than"):
        plain_text("x" * (LONGEST + 1))
    with pytest.raises(ValueError, match="pieces of markup"):
        plain_text("[[a]]" * 200_000)
