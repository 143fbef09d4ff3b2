"""Does a quote stand in a text?"""

from __future__ import annotations

import pytest

from leadline.audit import normal as normal_module
from leadline.audit.matching import match_quote
from leadline.audit.normal import Normal, normal_text

PASSAGE = (
    "The holders of Series A-1 Preferred shall be entitled to receive, out of the assets of the Company, "
    "an amount per share equal to $1.25, plus any dividends declared but unpaid thereon."
)

SAME = {
    "curly and straight quotation marks": ("the “Company”", 'the "Company"'),
    "single and double quotation marks": ("the 'Company'", "the “Company”"),
    "padded quotation marks": ('the " Discount Rate " is', "the “Discount Rate” is"),
    "quotation marks of LaTeX": ("the ``Company'' shall", "the “Company” shall"),
    "an apostrophe, and a Windows-1252 entity": ("the Company's board", "the Company&#146;s board"),
    "named entities": ("the Company’s board", "the Company&rsquo;s board"),
    "an entity that was escaped twice": ("the Company’s board", "the Company&amp;rsquo;s board"),
    "an entity that was escaped three times": ("the Company’s board", "the Company&amp;amp;#8217;s board"),
    "entities in the quote": ("December&#x00a0;31", "December 31"),
    "a missing semicolon": ("the Company’s board", "the Company&#146s board"),
    "a missing semicolon of a name": ("a &amp b", "a & b"),
    "an ampersand that is no entity": ("AT&T and R&D", "AT&T and R&amp;D"),
    "escaped markup": ("<item>06b</item>", "&lt;item&gt;06b&lt;/item&gt;"),
    "zero-width spaces": ("per share $37.00", "per share &#8203; &#8203; $37.00"),
    "em spaces": ("per share $37.00", "per share&#8195;&#8195;$37.00"),
    "no-break spaces": ("the Series A Preferred", "the\u00a0Series\u202fA\u2009Preferred"),
    "line breaks": ("the Series A Preferred", "the  Series\n\n   A\r\n\tPreferred"),
    "soft hyphens": ("participating preferred", "partici\u00adpating pre\u00adferred"),
    "hyphenation of broken lines": ("participating preferred", "partici-\npating pre- ferred"),
    "a hyphen that a broken line keeps": ("non-participating", "non-\nparticipating"),
    "kinds of dashes": ("pre-money – 5 – 10", "pre‑money — 5 − 10"),
    "letter case": ("SIMPLE AGREEMENT", "Simple Agreement"),
    "ligatures": ("first office", "ﬁrst oﬃce"),
    "composed and combining accents": ("résumé", "re\u0301sume\u0301"),
    "full-width digits": ("１２３ shares", "123 shares"),
    "one half": ("2½ years", "2 1/2 years"),
    "a letter with an apostrophe of its own": ("n or so", "ŉ or so"),
    "one half with a raised and a lowered digit": ("2½ years", "2¹/₂ years"),
    "ellipsis as one sign": ("wait… there", "wait... there"),
    "a lowered digit of a formula": ("12 t of CO₂ in all", "12 t of CO2 in all"),
    "a raised digit of a unit": ("250 m² of floor", "250 m2 of floor"),
    "a footnote behind an amount": ("of $5,400 million and 12% in", "of $5,400² million³ and 12%¹ in"),
    "a footnote behind a price": ("is $5 and it expires", "is $5¹ and it expires"),
    "points of Hebrew": ("בראשית ברא אלהים", "בְּרֵאשִׁית בָּרָא אֱלֹהִים"),
    "strokes and vowels of Arabic": ("دفع الطرفان مبلغ", "دَفَعَ الطـــرفان مبلغ"),
    "a capital I with a dot": ("İSTANBUL ŞUBESİ", "istanbul şubesi"),
    "bullets of a list": ("Given for: pain fever", "Given for:\n• pain\n• fever"),
    "bold in Markdown": ("the Maturity Date is", "the **Maturity Date** is"),
    "small capitals that an extraction took apart": ("SERIES A PREFERRED", "S ERIES A P REFERRED"),
}


@pytest.mark.parametrize(("quote", "text"), SAME.values(), ids=SAME.keys())
def test_the_same_words_written_otherwise_match_both_ways(quote: str, text: str) -> None:
    assert match_quote(quote, f"Before it, {text} and behind it.").found
    assert match_quote(text, f"Before it, {quote} and behind it.").found


OTHER = {
    "another digit": ("$1.25 per share", "$1.26 per share"),
    "a number inside a longer one": ("$5", "$50"),
    "a number with decimals": ("$5", "$5.50"),
    "the end of a number": ("1.5", "11.5"),
    "the tail of a number with thousands": ("250 shares", "1,250 shares"),
    "the tail of a number with spaced thousands": ("602 shares", "2 602 shares"),
    "the tail behind a no-break space": ("602 shares", "2\u00a0602 shares"),
    "the head of a number with spaced thousands": ("worth 2", "worth 2\u00a0602"),
    "digits joined": ("1 100", "1100"),
    "a footnote sign is no digit": ("$51", "$5¹"),
    "a power is no digit": ("per 105 years", "per 10⁵ years"),
    "a negative power is no digit": ("10-5 of it", "10⁻⁵ of it"),
    "another number than a power": ("per 10 years", "per 10⁵ years"),
    "a number at the end that is a power": ("for 12 per 10", "for 12 per 10⁵"),
    "a lowered digit behind a number is another number's": ("52 of", "5₂ of"),
    "a circled digit is a sign of its own": ("in case 1 of", "in case ① of"),
    "digits on two sides of a bullet": ("56 of", "5•6 of"),
    "digits on two sides of asterisks": ("23 of", "2**3 of"),
    "a half is no digit": ("21/2", "2½"),
    "a word inside a word": ("art", "the party"),
    "the beginning of a word, in a short quote": ("Class A Sto", "Class A Stock"),
    "another word": ("the holders of Common Stock", "the holders of Preferred Stock"),
    "a lost negation": ("shall be entitled", "shall not be entitled"),
    "a lost sign": ("a loss of -5", "a loss of 5"),
    "another accent": ("año", "ano"),
}


@pytest.mark.parametrize(("quote", "text"), OTHER.values(), ids=OTHER.keys())
def test_another_text_does_not_match(quote: str, text: str) -> None:
    assert not match_quote(quote, f"Before it {text} and behind it.").found


def test_a_number_at_the_end_of_a_long_quote_is_not_found_inside_a_longer_one() -> None:
    assert not match_quote("holders shall then be entitled to receive an amount per share of $5", "").found
    text = "The holders shall then be entitled to receive an amount per share of $50 in cash."
    assert not match_quote("holders shall then be entitled to receive an amount per share of $5", text).found


@pytest.mark.parametrize("cut", range(45, len(PASSAGE)))
def test_a_quote_that_a_storage_limit_cut_in_mid_word_still_matches(cut: int) -> None:
    # Two cuts are in mid-number, and look like whole numbers ($1, $1.2): those may be other numbers.
    kept = PASSAGE[:cut]
    assert match_quote(kept, PASSAGE).found == (not kept.endswith(("$1", "$1.", "$1.2")))


def test_a_quote_cut_within_a_number_matches_where_one_can_see_the_cut() -> None:
    text = (
        "The initial conversion price shall be $0.363238, reflecting an initial conversion ratio of 4.57:1."
    )
    match = match_quote(
        ".363238, reflecting an initial conversion ratio of 4.57:1. Such", text + " Such price"
    )
    assert match.found
    assert match.notes == ("the quote is cut in the middle of a number",)
    issued = (
        "the Company issued 1,500,000 shares of its Series A Preferred Stock to the investors named below"
    )
    assert match_quote("00,000 shares of its Series A Preferred Stock to the investors", issued).found
    assert match_quote("500,000 shares of its Series A Preferred Stock to the investors nam", issued).found
    assert not match_quote("500,000 shares of its Series A Preferred Stock to the investors", issued).found


def test_an_entity_that_a_storage_limit_tore_is_left_out() -> None:
    text = "plus any dividends declared but unpaid on the Company&rsquo;s preferred stock"
    assert match_quote("any dividends declared but unpaid on the Company&rsq", text).found


def test_a_quote_with_an_omission_matches_span_by_span() -> None:
    quote = (
        "The holders of Series A-1 Preferred shall be entitled ... any dividends declared but unpaid thereon"
    )
    for omission in ("...", "…", "[...]", "[…]", "(...)", ". . .", "....", "* * *", "|"):
        assert match_quote(quote.replace("...", omission), PASSAGE).found, omission


def test_brackets_and_ellipses_of_the_source_itself_are_taken_literally_first() -> None:
    text = "is up to or equal to […***…], the aggregate number, at US$[PURCHASE PRICE] on December 22"
    assert len(match_quote("equal to […***…], the aggregate number", text).spans) == 1
    assert match_quote("US$[PURCHASE PRICE] on December", text).found
    assert not match_quote("US$[PURCHASE PRICE] on January", text).found


def test_what_stands_in_an_editors_brackets_need_not_be_there() -> None:
    quote = (
        "[T]he holders of [the said] Series A-1 Preferred shall be entitled to receive, out of the asset[s]"
    )
    assert match_quote(quote, PASSAGE).found
    assert match_quote("entitled to receive, out of the [firm's] assets of the Company", PASSAGE).found


def test_a_short_connective_need_not_be_found_beside_a_substantive_span() -> None:
    quote = "by reason thereof ... an amount per share equal to $1.25, plus any dividends declared"
    match = match_quote(quote, PASSAGE)
    assert match.found
    assert [span.required for span in match.spans] == [False, True]
    assert match.spans[0].place is None


@pytest.mark.parametrize("figure", ["$ 88,200", "March 31, 2005", "5 %", "Section 3"])
def test_a_short_span_that_bears_a_number_must_be_found_beside_a_substantive_one(figure: str) -> None:
    long = "Total stockholders' equity attributable to the Company"
    assert match_quote(f"{long} | {figure}", f"{long}\t 77,100 and {figure}").found
    match = match_quote(f"{long} | {figure}", f"{long}\t 77,100 and nothing more")
    assert [span.text for span in match.missing] == [figure]


@pytest.mark.parametrize(
    "remark", ["(emphasis added)", "[Emphasis supplied]", "(citations omitted; emphasis added)"]
)
def test_what_an_annotator_says_about_the_quote_is_no_part_of_it(remark: str) -> None:
    assert match_quote(f"out of the assets of the Company {remark}", PASSAGE).found
    assert not match_quote(f"out of the funds of the Company {remark}", PASSAGE).found


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("人民币一百二十五万元", "合同金额为人民币一百二十五万元整，乙方应付清。"),
        ("五日以内", "契約日から五日以内に支払う。"),
        ("ค่าเช่าเดือนละ", "ผู้เช่าต้องชำระค่าเช่าเดือนละห้าพันบาท"),
    ],
)
def test_scripts_that_put_no_spaces_between_words_may_be_quoted_from_any_character(
    quote: str, text: str
) -> None:
    assert match_quote(quote, text).found


def test_a_substantive_span_that_is_missing_fails_the_quote_and_is_named() -> None:
    quote = "an amount per share equal to $1.25, plus any ... the greater of the amounts that are named above"
    match = match_quote(quote, PASSAGE)
    assert not match.found
    assert [span.text for span in match.missing] == ["the greater of the amounts that are named above"]


def test_short_spans_alone_must_stand_within_one_passage() -> None:
    table = "Implied Per Share Reference Range   $0.31   $0.51"
    quote = "Implied Per Share Reference Range ... $0.51"
    assert match_quote(quote, table).found
    assert not match_quote(quote, table.replace("$0.51", "") + " word" * 200 + " $0.51").found
    assert match_quote(quote, "$0.51" + " word" * 300 + " " + table).found


def test_spans_may_stand_in_another_order_and_the_match_says_so() -> None:
    one, two = (
        "The first of the two clauses that matter here",
        "the second of the two clauses that matter here",
    )
    assert match_quote(f"{one} | {two}", f"{two}. {one}.").notes == (
        "the spans stand in another order than in the quote",
    )
    assert match_quote(f"{one} | {two}", f"{one}. {two}.").notes == ()


@pytest.mark.parametrize("quote", ["", " ", "...", "[]", "|", "“”", "&nbsp;", "-"])
def test_a_quote_without_a_letter_or_digit_is_found_nowhere(quote: str) -> None:
    assert not match_quote(quote, "some text ... | [] “” -").found
    assert not match_quote(quote, "").found


def test_a_quote_longer_than_its_text_is_not_found() -> None:
    assert not match_quote(PASSAGE * 20, PASSAGE).found


def test_every_character_of_unicode_has_a_normal_form_and_a_place() -> None:
    for start in range(0, 0x110000, 0x1000):
        raw = " a".join(chr(code) for code in range(start, start + 0x1000))
        normal = Normal(raw)
        assert "\ufffd" not in normal.text or start == 0xF000
        for at in range(0, len(normal.text), 97):
            first, behind = normal.place(at, at + 1)
            assert 0 <= first < behind <= len(raw)


@pytest.mark.parametrize("odd", ["፩", "፩𐀀", "①", "⑴", "㏂", "⅓", "²", "𝟚", "\ud800", "ﷺ", "\U0010ffff"])
def test_odd_characters_are_found_where_they_stand(odd: str) -> None:
    raw = f"The clause has {odd} in it, 𐀀 and elsewhere, and is long enough to be a span of its own."
    assert match_quote(raw[4:-10], raw).found
    assert match_quote(raw[4:-10], raw.replace(odd, "")).found is False or odd in ("\ud800", "\U0010ffff")


def test_a_place_is_that_of_the_raw_text() -> None:
    raw = "x &amp;nbsp; “Series&#8203;&nbsp;A-1   Pre-\nferred” y"
    match = match_quote("series a-1 preferred", raw)
    assert match.cover is not None
    assert raw[slice(*match.cover)] == "Series&#8203;&nbsp;A-1   Pre-\nferred"


def test_a_long_text_is_normalised_in_blocks_as_in_one_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = (
        "The co-\nmpany’s 1 250 000 shares — “Series A-1” — at &#36;1.25 &amp; more; re\u0301sume\u0301 ﬁve. "
        * 40
    )
    in_one = Normal(raw)
    monkeypatch.setattr(normal_module, "_BLOCK", 100)
    in_blocks = Normal(raw)
    assert in_blocks.text == in_one.text
    step = 37
    for start in range(0, len(in_one.text) - step, step):
        assert in_blocks.place(start, start + step) == in_one.place(start, start + step)
    assert normal_text(raw) == in_one.text
