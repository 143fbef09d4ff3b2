"""Loops as machine code find what a naive search finds, and come to what array operations come to."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.build.presence import grams, machine_code
from leadline.build.presence.normal_form import FOLDED, MARK_WORDS
from leadline.build.presence.shards import faulty_by_shape
from leadline.build.presence.squeeze import Squeezed, squeeze

from .test_scan_equals_naive import made_up, naive, scanned

pytest.importorskip("numba")


@pytest.fixture
def no_numba(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(machine_code, "find_spec", lambda name: None)
    machine_code.loops.cache_clear()
    yield
    machine_code.loops.cache_clear()


def both(block: bytes, *, json: bool, marks: bool) -> tuple[Squeezed, Squeezed]:
    """With and without numba."""
    fast = squeeze(block, json=json, marks=marks)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("leadline.build.presence.squeeze.loops", lambda name: None)
        return fast, squeeze(block, json=json, marks=marks)


def nasty(number: int, text: str, rnd: random.Random) -> bytes:
    """A line as no encoder writes it: any character may be an escape, of either case; ends of Windows."""
    share = rnd.choice([0.0, 0.05, 1.0])

    def written(character: str) -> str:
        if rnd.random() < share:
            units = character.encode("utf-16-be", "surrogatepass")
            codes = [f"{units[at] << 8 | units[at + 1]:04x}" for at in range(0, len(units), 2)]
            return "".join(f"\\u{code.upper() if rnd.random() < 0.5 else code}" for code in codes)
        return "\\/" if character == "/" else json.dumps(character, ensure_ascii=rnd.random() < 0.3)[1:-1]

    body = "".join(map(written, text))
    about = rnd.choice(['"n": [1], ', '"a": "[12]", ', '"b": "\\\\", ', ""])
    return f'{{"id": "d{number}", {about}"text": "{body}"}}{rnd.choice(["", " ", chr(13)])}\n'.encode()


@pytest.mark.parametrize("seed", range(4))
def test_nasty_escapes_hide_nothing_with_numba_or_without(
    seed: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    rnd = random.Random(1000 + seed)
    documents, sentences = made_up(rnd, 200)
    path = tmp_path / "shard.jsonl"
    path.write_bytes(b"".join(nasty(number, text, rnd) for number, text in enumerate(documents)))
    expected = naive(documents, sentences)
    assert sum(len(tiers) for tiers in expected.values()) > 100
    assert scanned(path, sentences) == expected
    request.getfixturevalue("no_numba")
    assert scanned(path, sentences) == expected


_PARTS = st.one_of(
    st.sampled_from(
        [*map(chr, FOLDED), *MARK_WORDS, *'[]\\"/nu b\n\t \u00a0\u2003\u3000é中\U0001f600\u0301']
    ),
    st.sampled_from(
        [
            "[1]",
            "[",
            "]",
            "[ a b]",
            "[note 3]",
            "[citation  needed]",
            "[1234]",
            "[1,2]",
            "[Dubious – discuss]",
        ]
    ),
    st.sampled_from(
        ["\\u005b1\\u005D", "\\u00e9", "\\ud83d\\ude00", "\\ud83d", "\\uDE00", "\\u201c", "\\u12"]
    ),
    st.sampled_from(["\\u2026", "\\u0020", "\\u0301", "\\\\u0041", '\\"', "\\b", "\\/", "\\"]),
    st.text(st.characters(codec="utf-8"), max_size=5),
)


@given(st.lists(_PARTS, max_size=40).map("".join), st.booleans(), st.booleans(), st.integers(0, 20))
def test_a_block_is_squeezed_alike_with_and_without_numba(
    text: str, json: bool, marks: bool, before: int
) -> None:
    """Also where a character goes over the end of what is looked at in one go."""
    block = b" " * 500 + b"y" * ((1 << 13) - 500 - before) + text.encode() + b"\n" + text.encode() + b"\n"
    fast, slow = both(block, json=json, marks=marks)
    assert fast.text.tobytes() == slow.text.tobytes()
    assert fast.ends.tolist() == slow.ends.tolist()
    assert fast.irregular.tolist() == slow.irregular.tolist()


@given(st.binary(max_size=80), st.booleans())
def test_no_line_end_goes_whatever_the_bytes_are(data: bytes, json: bool) -> None:
    data = b"\xe2\x80\n\xc2\n" + data.replace(b"\x00", b"\n\\") + b"\n"
    for squeezed in both(data, json=json, marks=False):
        assert squeezed.ends.tolist() == [at for at, byte in enumerate(data) if byte == 0x0A]
        assert squeezed.text.tobytes().count(b"\n") == data.count(b"\n")


@given(
    st.lists(
        st.sampled_from(['{"', '"text": "', '"text":"', '"}', "x", '"text": 1', "[", " ", '"te']), max_size=9
    )
)
def test_odd_lines_are_told_alike_with_and_without_numba(parts: list[str]) -> None:
    lines = ["".join(parts[:cut]) for cut in range(len(parts) + 1)]
    data = "".join(line + "\n" for line in lines).encode()
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == 0x0A)
    fast = faulty_by_shape(data, ends)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("leadline.build.presence.shards.loops", lambda name: None)
        assert faulty_by_shape(data, ends) == fast


@pytest.mark.parametrize("numba", [True, False])
def test_grams_and_lines_are_found_wherever_they_lie(numba: bool, request: pytest.FixtureRequest) -> None:
    if not numba:
        request.getfixturevalue("no_numba")
    rnd = random.Random(3)
    literals = [bytes(rnd.choices(b"ab", k=rnd.randrange(23, 60))) for _ in range(300)]
    plain = b"".join(rnd.choices(literals, k=200)) + literals[0]
    tables = grams.gram_tables(literals)
    for cut in range(17):
        # Behind the text its memory goes on as the text would: nothing of that is part of it.
        text = np.frombuffer(plain[cut:].replace(b"ba", b"b\n", 3), np.uint8)[: -1 - cut]
        ends = [at for at, byte in enumerate(text.tolist()) if byte == 0x0A]
        assert grams.lines_of(text, [0, ends[1], ends[1] + 1, text.size]) == [0, 1, 2, 3]
        bounded = text.tobytes()
        places = [
            (place, number)
            for number, literal in enumerate(literals)
            for place in range(text.size)
            if bounded.startswith(literal, place)
        ]
        assert sorted(grams.find(tables, text)) == sorted(places)


def test_lines_of_the_shape_of_documents_are_not_parsed() -> None:
    good = b'{"id": "d1", "text": "x"}\n{"text":"y"}\n' * 20
    data = good + b'{"id": 1}\n' + good
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == 0x0A)
    loop = machine_code.loops("shape_loop")
    assert loop is not None
    assert loop.odd(np.frombuffer(data, np.uint8), ends).tolist() == [40]
    assert loop.lines_in(np.frombuffer(data, np.uint8)) == 81
