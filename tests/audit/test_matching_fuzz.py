"""Whatever noise two copies of a passage differ in, it matches; another number or word never does.

`LEADLINE_FUZZ=100000` tries that many inputs instead of a few thousand.
"""

from __future__ import annotations

import os
import re
from random import Random

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from leadline.audit.matching import match_quote
from leadline.audit.normal import Normal, normal_text
from leadline.audit.spans import whole

EXAMPLES = max(200, int(os.environ.get("LEADLINE_FUZZ", "2000")) // 5)
fuzz = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)

letters = st.text(
    st.sampled_from("abcdefghijklmnopqrstuvwxyzABCDEFGXYZéüñçßøÅŁğİσςΩжЯ中文日本かハ한글ไทยहिن"),
    min_size=1,
    max_size=9,
)
numbers = st.one_of(
    st.integers(0, 10**7).map(str),
    st.integers(0, 10**9).map(lambda n: f"{n:,}"),
    st.decimals(0, 10**5, places=2).map(lambda n: f"${n}"),
    st.integers(1, 99).map(lambda n: f"{n}%"),
    st.integers(1, 999).map(lambda n: f"({n})"),
    st.sampled_from(
        ["A-1", "2.1(b)", "-5", "$(0.3)", "12/31/17", "4.57:1", "½", "x²", "2½", "re\u0301sume\u0301"]
    ),
)
signs = st.sampled_from(
    ["—", "-", "--", "…", "[…***…]", "[HOLDER NAME]", "|", "“Cap”", '" Cap "', "(the", "end.", "wide,", "&",
     "AT&T", "non-participating", "<item>06b</item>", "US$[PRICE]", "fl;", "a:", "...", "* * *", "ﬁrst", "№",
     "™", "’s"]
)  # fmt: skip
words = st.lists(st.one_of(letters, letters, letters, numbers, signs), min_size=16, max_size=60)


@st.composite
def passages(draw: st.DrawFn) -> tuple[str, str]:
    """A text and a part of it, at least 40 characters long, cut on word boundaries."""
    parts = draw(words)
    first = draw(st.integers(0, len(parts) - 12))
    size = draw(st.integers(12, len(parts) - first))
    quote = " ".join(parts[first : first + size])
    assume(len(quote) >= 50)  # still 40 when the signs at its edges are trimmed
    return " ".join(parts), quote


def _same_letter(character: str, other: str) -> bool:
    return normal_text(character) == normal_text(other)


@st.composite
def noisy(draw: st.DrawFn, text: str) -> str:
    """The same text, written otherwise."""
    random = Random(draw(st.integers(0, 2**32)))  # much faster than hypothesis' own
    kind = draw(
        st.sets(st.sampled_from(["space", "quotes", "dashes", "entities", "case", "soft", "hyphens"]))
    )
    out: list[str] = []
    for at, character in enumerate(text):
        before, behind = text[at - 1 : at] if at else "", text[at + 1 : at + 2]
        new = character
        if character == " " and "space" in kind and random.random() < 0.4:
            # A no-break space between digits may be part of a number, so not there.
            plain = [" ", "\n", "  \t", "\r\n  "]
            wide = [
                *plain,
                "\u00a0",
                "\u2003",
                "\u202f",
                " \u200b ",
                "&nbsp;",
                "&#160;",
                "&#8203; ",
                "&#x2009;",
            ]
            new = random.choice(plain if before.isdigit() or behind.isdigit() else wide)
        elif character in '“”"' and "quotes" in kind:
            new = random.choice(["“", "”", '"', "«", "&ldquo;", "&#147;", "&quot;", "&amp;rdquo;", " ”"])
        elif character in "’'" and "quotes" in kind:
            new = random.choice(["’", "'", "‘", "&rsquo;", "&#146;", "&#146"])
        elif character in "—-–" and "dashes" in kind:
            new = random.choice(["—", "-", "–", "−", "‑", "&mdash;", "&#8211;", "&amp;ndash;"])
        elif character == "&" and "entities" in kind and behind == " ":
            new = random.choice(["&amp;", "&amp;amp;", "&#38;"])
        elif character.isalpha() and "case" in kind and random.random() < 0.5:
            swapped = character.swapcase()
            new = swapped if _same_letter(character, swapped) else character
        elif character.isalpha() and "entities" in kind and random.random() < 0.1:
            new = random.choice(
                [f"&#{ord(character)};", f"&#x{ord(character):x};", f"&amp;#{ord(character)};"]
            )
        out.append(new)
        if character.isascii() and character.isalpha() and behind.isascii() and behind.isalpha():
            if "soft" in kind and random.random() < 0.1:
                out.append(random.choice(["\u00ad", "&shy;", "\u2060", "\ufeff", "\u200b"]))
            elif "hyphens" in kind and random.random() < 0.05:
                out.append(random.choice(["-\n", "- ", "-\r\n   ", "\u2010\n"]))
    return "".join(out)


@fuzz
@given(st.data(), passages())
def test_a_planted_quote_passes_whatever_noise_it_carries(
    data: st.DataObject, passage: tuple[str, str]
) -> None:
    text, quote = passage
    match = match_quote(data.draw(noisy(quote)), text)
    if any(character.isalnum() for character in normal_text(quote)):
        assert match.found


@fuzz
@given(st.data(), passages())
def test_a_planted_quote_passes_whatever_noise_the_text_carries(
    data: st.DataObject, passage: tuple[str, str]
) -> None:
    text, quote = passage
    raw = data.draw(noisy(text))
    match = match_quote(quote, raw)
    if not any(character.isalnum() for character in normal_text(quote)):
        return
    assert match.found
    for span in match.spans:
        if span.place is not None:
            assert normal_text(span.text).strip("-.,;:|*") == normal_text(raw[slice(*span.place)]).strip(
                "-.,;:|*"
            )


@fuzz
@given(st.data(), passages())
def test_another_digit_fails(data: st.DataObject, passage: tuple[str, str]) -> None:
    text, quote = passage
    at = [match.start() for match in re.finditer(r"[0-9]", quote)]
    if not at:
        return
    place = data.draw(st.sampled_from(at))
    digit = data.draw(st.sampled_from([d for d in "0123456789" if d != quote[place]]))
    changed = quote[:place] + digit + quote[place + 1 :]
    if whole(changed).normal in normal_text(text):
        return  # it truly stands there
    match = match_quote(changed, text)
    # Short spans of a quote with omissions are not required; nor is what stands in an editor's brackets.
    if len(match.spans) == 1 and not re.search(r"\[[^\]]*[0-9][^\[]*\]", quote):
        assert not match.found


@fuzz
@given(st.data(), passages())
def test_another_word_fails(data: st.DataObject, passage: tuple[str, str]) -> None:
    text, quote = passage
    parts = quote.split(" ")
    at = data.draw(st.integers(0, len(parts) - 1))
    if not parts[at].isalpha():
        return
    parts[at] = data.draw(st.sampled_from(["zebra", "quagga", "unless", "not"]))
    changed = " ".join(parts)
    if whole(changed).normal in normal_text(text) or "[" in quote:
        return
    match = match_quote(changed, text)
    if len(match.spans) == 1:
        assert not match.found


@fuzz
@given(st.text(max_size=300), st.text(max_size=80))
def test_any_two_texts_are_compared_without_a_fault_and_places_are_true(text: str, quote: str) -> None:
    match = match_quote(quote, text)
    for span in match.spans:
        if span.place is not None:
            start, end = span.place
            assert 0 <= start < end <= len(text)
    normal = Normal(text)
    for at in range(0, len(normal.text), 7):
        start, end = normal.place(at, at + 1)
        assert 0 <= start < end <= len(text)
    assert normal_text(normal.text) == normal_text(normal_text(normal.text))
