"""HTML and XML as what a person reads."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.documents import UnreadableDocument
from leadline.documents.markup import html_text, xml_text

RAISED = {
    "a footnote": ("is $5<sup>1</sup> a share", "is $5¹ a share"),
    "a power": ("12 per 10<sup>5</sup> years", "12 per 10⁵ years"),
    "a negative power": ("m<sup>-1</sup>", "m⁻¹"),
    "a formula": ("H<sub>2</sub>O", "H₂O"),
    "in another element": ("5<sup><b>1</b></sup>", "5¹"),
    "a footnote in brackets": ("$5,400<sup>(1)</sup> million", "$5,400(1) million"),
    "a letter": ("the 1<sup>st</sup> of 12<sup>a</sup>", "the 1st of 12a"),
    "never closed": ("y<sup>2", "y²"),
    "closed twice": ("y<sup>2</sup></sup>", "y²"),
}


@pytest.mark.parametrize(("markup", "text"), RAISED.values(), ids=RAISED.keys())
def test_a_raised_or_lowered_number_is_no_part_of_the_number_before_it(markup: str, text: str) -> None:
    assert html_text(f"<p>{markup}") == text


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<p>un<b>bro</b>ken <i>w</i>ord</p>", "unbroken word"),
        ("un<span>bro</span>ken<font size=2>!</font>", "unbroken!"),
        ("<ix:nonFraction name='a'>5</ix:nonFraction><ix:nonNumeric>6</ix:nonNumeric>", "56"),
        ("<p>One<p>Two<div>Three</div>Four", "One\nTwo\nThree\nFour"),
        ("One<br>Two<br/>Three<hr>Four", "One\nTwo\nThree\nFour"),
        ("<table><tr><td>EV</td><td>$5</td></tr><tr><td>Debt<td>$3</table>", "EV\t$5\nDebt\t$3"),
        ("<TABLE><TR><TH>A</TH><TH>B</TH></TR></TABLE>", "A\tB"),
        ("<table><tr><td><p>EV</p></td><td><p>$5</p></td></tr></table>", "EV\n$5"),
        ("<ul><li>One<li>Two</ul>", "One\nTwo"),
        ("<select><option>One<option>Two</select>", "One\nTwo"),
        ("<h1>Title</h1>text", "Title\ntext"),
        ("<head><title>Title</title></head><body>text", "Title\ntext"),
        ("a<script>if (x < 1) document.write('</p>')</script>b<style>p{}</style>c", "abc"),
        ("a<!-- not\nthis -->b<?php nor this ?>c", "abc"),
        ("a<template><p>not yet</p></template>b", "ab"),
        ("<p>one\n   two\t three</p>", "one two three"),
        ("<p> one </p>\n\n<p> two </p>", "one\ntwo"),
        ("<p>one\u00a0 \u00a0two</p>", "one\u00a0 \u00a0two"),
        ("<pre>  a   1\n  b   2</pre>c   d", "a   1\n  b   2\nc d"),
        ("x<pre>  a\tb\n\n  c</pre>y", "x\n  a\tb\n\n  c\ny"),
        ("It&rsquo;s &lt;5 &amp; &quot;x&quot; &euro;5", 'It\u2019s <5 & "x" \u20ac5'),
        ("&#146;q&#148; &#x92; &#150;", "\u2019q\u201d \u2019 \u2013"),
        ("&nbsp &copy 2020 AT&T &notanentity x", "\u00a0 \u00a9 2020 AT&T \u00acanentity x"),
        ("a&#8203;b&#x00a0;c", "a\u200bb\u00a0c"),
        ("&amp;rsquo;", "&rsquo;"),
        ("5 < 6 and <5", "5 < 6 and <5"),
        ("<p>a\x01b\x00c\x0bd\x1b[31m</p>", "abcd[31m"),
        ("\U0001f600 <p>\u00e9</p>", "\U0001f600\n\u00e9"),
        ("<div style='display:none'>hidden</div>shown", "hidden\nshown"),
        ("", ""),
        ("<p></p>", ""),
    ],
)
def test_html_reads_as_a_person_reads_it(markup: str, text: str) -> None:
    assert html_text(markup) == text


def test_xhtml_is_read_as_xml_so_an_empty_title_swallows_nothing() -> None:
    page = (
        '<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://127.0.0.1:9/x.dtd">'
        '<html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="a"/></head>'
        "<body><p>One&nbsp;and</p><p>t<b>w</b>o</p></body></html>"
    )
    assert html_text(page) == "One\u00a0and\ntwo"
    assert html_text(page.replace("<p>One", "<br><p>One")) != ""


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<a><b>1</b><b>2</b></a>", "1\n2"),
        ("<a>\n  <b>\n    1\n  </b>\n</a>", "1"),
        ("<p>un<italic>bro</italic>ken<sup>2</sup></p>", "unbroken²"),
        ("<sec>One<p>Two</p><p>Three</p></sec>", "One\nTwo\nThree"),
        ("<a><b><c>1</c> and <d>2</d></b><b>3</b></a>", "1 and 2\n3"),
        ("<x:a xmlns:x='urn:x'><x:b>1</x:b><x:b>2</x:b></x:a>", "1\n2"),
        ("<a><![CDATA[1 < 2 & <b>]]></a>", "1 < 2 & <b>"),
        ("<a>&lt;b&gt; &#233; &amp;amp;</a>", "<b> \u00e9 &amp;"),
        (
            "<!DOCTYPE a PUBLIC 'x' 'http://127.0.0.1:9/x.dtd'><a>1&nbsp;&mdash;&company;</a>",
            "1\u00a0\u2014&company;",
        ),
        ("<a><!-- <!ENTITY x 'y'> --><b>1</b></a>", "1"),
        (
            "<a>text of &lt;!ENTITY and <![CDATA[<!ENTITY x 'y'>]]></a>",
            "text of <!ENTITY and <!ENTITY x 'y'>",
        ),
    ],
)
def test_xml_puts_elements_on_lines_unless_they_stand_in_text(markup: str, text: str) -> None:
    assert xml_text(markup) == (text, ())


def test_xml_that_is_not_well_formed_is_read_with_a_note() -> None:
    text, (note,) = xml_text("<?xml version='1.0'?><a><name>One</name><value>2 &amp; 3<value></a>")
    assert text == "One\n2 & 3"
    assert note.startswith("not well-formed XML (") and note.endswith("): read leniently")


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


@pytest.mark.parametrize(
    "markup",
    [
        f'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY l0 "ha">{LAUGHS}]><a>&l9;</a>',
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
        '<!DOCTYPE a [<!ENTITY % x SYSTEM "http://127.0.0.1:9/"> %x;]><a/>',
        '<?xml version="1.0"?><!-- <a> --><?pi <b>?><!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>',
        f'<!DOCTYPE a [<!ENTITY x "{"y" * 100_000}">]><a>{"&x;" * 100_000}</a>',
    ],
    ids=["billion laughs", "a local file", "a parameter from the network", "behind comments", "quadratic"],
)
def test_entities_are_never_expanded(markup: str) -> None:
    began = time.monotonic()
    with pytest.raises(UnreadableDocument, match="declares entities of its own"):
        xml_text(markup, "bomb.xml")
    assert time.monotonic() - began < 2


def test_xhtml_that_declares_entities_is_read_without_them() -> None:
    page = (
        f'<?xml version="1.0"?><!DOCTYPE html [<!ENTITY l0 "ha">{LAUGHS}]><html><body>One &l9;</body></html>'
    )
    assert "ha" * 10 not in html_text(page) and "One" in html_text(page)


def test_deep_nesting_is_no_trouble() -> None:
    assert html_text("<div>" * 100_000 + "text") == "text"
    text, _ = xml_text("<a>" * 100_000 + "text" + "</a>" * 100_000)
    assert text == "text"


WORDS = st.lists(st.text("abcdef\u00e9\u4e00", min_size=1, max_size=5), min_size=1, max_size=20)


@given(WORDS, st.data())
def test_blocks_part_words_and_inline_elements_never_do(words: list[str], data: st.DataObject) -> None:
    markup = ""
    for word in words:
        place = data.draw(st.integers(0, len(word)))
        inline = data.draw(st.sampled_from(["b", "i", "span", "font", "a", "sup", "ix:nonNumeric"]))
        block = data.draw(st.sampled_from(["p", "div", "td", "li", "tr", "h3"]))
        markup += f"<{block}>{word[:place]}<{inline}>{word[place:]}</{inline}></{block}>"
    assert html_text(markup).split() == words


@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_any_text_is_read_as_html_and_as_xml(text: str) -> None:
    assert isinstance(html_text(text), str)
    try:
        assert isinstance(xml_text(text)[0], str)
    except UnreadableDocument:
        assert "<!ENTITY" in text.upper()


@pytest.mark.parametrize("inside", ["<p>word one</p>", "<tr><td>1</td><td>2</td></tr>", "<b>x</b> y "])
def test_a_large_page_is_read_like_a_small_one(inside: str) -> None:
    small = html_text(f"<table>{inside}</table>")
    large = html_text(f"<table>{inside * 60_000}</table>")
    joint = " " if inside.startswith("<b>") else "\n"
    assert large == joint.join([small] * 60_000)


def test_raised_elements_in_raised_elements_are_read_in_linear_time() -> None:
    began = time.process_time()
    assert html_text("<sup>1" * 300_000).startswith("111")
    assert time.process_time() - began < 10
