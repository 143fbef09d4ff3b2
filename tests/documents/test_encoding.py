"""Bytes as characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.documents.encoding import decode

WESTERN = "The “Company” – a café in Zürich – owes €5,000 for crème brûlée."
LATIN = "Le café coûte cinq francs à la crémerie, naïveté comprise, dès demain."


@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "cp1252"],
)
def test_western_text_is_read_in_whatever_encoding_nobody_declared(encoding: str) -> None:
    assert decode(WESTERN.encode(encoding)).text == WESTERN


def test_latin_1_is_read_as_windows_1252_which_holds_it() -> None:
    decoded = decode(LATIN.encode("latin-1"))
    assert (decoded.text, decoded.encoding) == (LATIN, "windows-1252")
    (note,) = decoded.notes
    assert note.startswith("no encoding is declared: read as windows-1252 (a guess, ")


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Компания выплатила пять миллионов рублей акционерам. ", "cp1251"),
        ("会社は昨年、株主に五百万円を支払いました。", "shift_jis"),
        ("公司去年向股东支付了五百万元人民币。", "gb18030"),
    ],
)  # fmt: skip
def test_other_scripts_are_told_apart_by_what_they_say(text: str, encoding: str) -> None:
    assert decode((text * 5).encode(encoding)).text == text * 5


@pytest.mark.parametrize(
    "head",
    [
        '<meta charset="{}">',
        "<meta charset={} >",
        '<META http-equiv="Content-Type" content="text/html; charset={}">',
        '<?xml version="1.0" encoding="{}"?>',
        "<?xml version='1.0' encoding='{}' standalone='yes'?>",
    ],
)
@pytest.mark.parametrize("name", ["koi8-r", "KOI8-R"])
def test_a_declared_encoding_is_believed(head: str, name: str) -> None:
    text = head.format(name) + "<p>да</p>"
    decoded = decode(text.encode("koi8-r"))
    assert (decoded.text, decoded.encoding, decoded.notes) == (text, "koi8-r", ())


@pytest.mark.parametrize("name", ["iso-8859-1", "latin1", "us-ascii", "windows-1252"])
def test_latin_1_and_ascii_mean_windows_1252_as_in_browsers(name: str) -> None:
    decoded = decode(f'<meta charset="{name}"><p>“café”'.encode("cp1252"))
    assert decoded.text.endswith("“café”") and decoded.notes == ()


def test_what_is_valid_utf_8_is_read_as_that_whatever_it_says_with_a_note() -> None:
    decoded = decode(f'<meta charset="iso-8859-1"><p>{LATIN}'.encode())
    assert LATIN in decoded.text
    assert decoded.notes == ("declared as windows-1252, read as UTF-8, which it validly is",)


def test_a_byte_order_mark_outweighs_a_declaration() -> None:
    assert decode('<meta charset="koi8-r">é'.encode("utf-8-sig")).text.endswith("é")


def test_text_that_calls_itself_utf_16_in_ascii_letters_is_not() -> None:
    assert decode(b'<?xml version="1.0" encoding="UTF-16"?><a>b</a>').text.endswith("<a>b</a>")


def test_a_server_is_believed_where_the_document_says_nothing() -> None:
    assert decode("да".encode("koi8-r"), "KOI8-R").text == "да"
    inside = '<meta charset="cp1251">да'.encode("cp1251")
    assert decode(inside, "KOI8-R").text.endswith("да")


@pytest.mark.parametrize(
    "name", ["utf-7", "idna", "rot13", "base64", "zip", "no-such-thing", "unicode_escape", "\0"]
)
def test_encodings_that_are_none_for_documents_are_not_obeyed(name: str) -> None:
    assert decode(f'<meta charset="{name}">+ADw-script+AD4- \\x41 é'.encode()).text.endswith("\\x41 é")
    assert decode("café".encode(), name).text == "café"


def test_japanese_with_shifts_is_read_as_declared_though_it_is_ascii() -> None:
    text = '<meta charset="iso-2022-jp">株主'
    assert decode(text.encode("iso2022_jp")).text == text


def test_stray_bytes_in_utf_8_are_read_as_windows_1252_and_counted() -> None:
    decoded = decode("“naïve” cafés ".encode() * 9 + b"\x93quoted\x94")
    assert decoded.text.endswith("“quoted”") and "“naïve”" in decoded.text
    assert decoded.notes == ("UTF-8 but for 2 bytes, read as Windows-1252",)


@given(st.text(st.characters(codec="utf-8")))
def test_utf_8_is_never_misread(text: str) -> None:
    if not text.startswith("\ufeff") and "\0" not in text:
        assert decode(text.encode()).text == text


@given(st.text(st.characters(codec="cp1252", exclude_characters="\0"), min_size=1))
def test_declared_windows_1252_is_never_misread_unless_it_is_valid_utf_8(text: str) -> None:
    data = b'<meta charset="windows-1252">' + text.encode("cp1252")
    decoded = decode(data)
    assert decoded.text.endswith(text) or decoded.notes


@given(st.binary(max_size=300))
def test_any_bytes_have_a_reading(data: bytes) -> None:
    assert isinstance(decode(data).text, str)
