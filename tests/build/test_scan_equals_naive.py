"""A scan finds what a naive search of every document finds: on all tiers, with every engine."""

from __future__ import annotations

import gzip
import json
import random
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import zstandard

from leadline.build.presence.literal_engine import EngineName
from leadline.build.presence.normal_form import form, overlapping
from leadline.build.presence.scanner import TIERS, Scanner

from .real_inputs import abstracts, needs_data, passages

Counts = dict[int, dict[str, tuple[int, int]]]

_ODD = [
    "Er wurde in Ulm geboren – „sagte“ er…  und ging",
    "Der Café-Besitzer Müller kaufte das Haus in Cafe\u0301-Nähe",
    "Москва является столицей Российской Федерации с давних времён",
    "北京是中华人民共和国的首都，也是全国的政治中心。",
    "대한민국의 수도는 서울특별시이며 한강을 끼고 있다",
    'He said: "It\'s / was\\not <b>bold</b> & done" in 1990-1991',
    "Short one.",
    "ab",
    "[1]",
    "citation needed",
    "was built[1] in the year 1879[citation needed] by the Romans [a] and others",
    "was built in the year 1879 by the Romans and others",
    "in the year 1879 by the Romans",
    "the year 1879 by the Romans and others",
    "ananananananananananananananananananananananan",
    "anananananananananananananananananana",
    "1] He was born in the town of Bielefeld in Westphalia",
    "\u0301accent first and then a long enough sentence follows",
    "accents at the end of a long enough sentence are like cafe",
    "Temperatures of 300 K were measured; they rose to 400 K later",
    "tabs\tand\u00a0other\u2003spaces stand between these many words here",
    "emoji \U0001f600 in the middle of a sentence that is long enough",
    "a backspace \b or a bell \x07 in the middle of this sentence",
]

_WORDS = [
    *("the", "of", "Bielefeld", "was", "born", "in", "1879", "Ulm’s", "“old”", "K", "naïve", "Größe", "–"),
    *("and…", "é", "(x)", "a/b", "北京", "й"),
]


def naive(documents: Sequence[str], sentences: Sequence[str]) -> Counts:
    """Every document in every form searched for every sentence: occurrences and documents."""
    found: Counts = {}
    for tier in TIERS:
        forms = [form(text, tier) for text in documents]
        for number, sentence in enumerate(sentences):
            wanted = form(sentence, tier) if tier == "exact" else form(sentence, tier).strip()
            if not wanted:
                continue
            times = [overlapping(text, wanted) for text in forms if wanted in text]
            if times:
                found.setdefault(number, {})[tier] = (sum(times), len(times))
    return found


def scanned(path: Path, sentences: Sequence[str], engine: EngineName = "grams") -> Counts:
    hits = Scanner(sentences, engine=engine).scan(path)
    return {
        number: {tier: (one.occurrences, one.documents) for tier, one in tiers.items()}
        for number, tiers in hits.hits.items()
    }


def encoded(number: int, text: str, rnd: random.Random) -> str:
    """A line as the encoders of corpora write it: with and without escapes, in either case, \\/ and <."""
    said: dict[str, Any] = {"id": f"d{number}", "text": text, "meta": {"title": text[:40], "n": [1]}}
    if rnd.random() < 0.3:
        said = dict(reversed(said.items()))
    line = json.dumps(said, ensure_ascii=rnd.random() < 0.5, separators=rnd.choice([None, (",", ":")]))
    if rnd.random() < 0.3:
        line = line.replace("/", "\\/")
    if rnd.random() < 0.3:
        line = line.replace("<", "\\u003c").replace("&", "\\u0026").replace("'", "\\u0027")
    if rnd.random() < 0.3:
        line = line.replace("\\u2013", "\\u2013".upper().replace("U", "u")).replace("\\u00fc", "\\u00FC")
    return line + "\n"


def worn(sentence: str, rnd: random.Random) -> str:
    """A sentence as it may stand on another page: other spaces, quotes, dashes, marks, compositions."""
    for _ in range(rnd.randrange(3)):
        wear = rnd.choice(["spaces", "quotes", "marks", "nfd", "newline", "cut", "twice"])
        words = sentence.split(" ")
        place = rnd.randrange(len(words))
        if wear == "spaces":
            sentence = rnd.choice(["  ", "\u00a0", "\t", " \r\n", "\u2009", "\u3000"]).join(words)
        elif wear == "quotes":
            sentence = sentence.replace("'", "’").replace('"', "”").replace("-", "–").replace("...", "…")
        elif wear == "marks":
            mark = rnd.choice(
                ["[1]", " [12]", "[a]", "[citation needed]", " [note 3]", "[ 1 ]", "[1][2]", "[x1]"]
            )
            sentence = " ".join([*words[:place], words[place] + mark, *words[place + 1 :]])
        elif wear == "nfd":
            sentence = unicodedata.normalize("NFD", sentence)
        elif wear == "newline":
            sentence = "\n".join([" ".join(words[:place]), " ".join(words[place:])])
        elif wear == "cut":
            sentence = sentence[: rnd.randrange(1, len(sentence) + 1)] if sentence else sentence
        else:
            sentence = sentence + rnd.choice(["", " ", "\n"]) + sentence
    return sentence


def made_up(rnd: random.Random, size: int) -> tuple[list[str], list[str]]:
    """Documents and sentences out of words that repeat, so that all sorts of hits and near misses occur."""
    sentences = [*_ODD, *(" ".join(rnd.choices(_WORDS, k=rnd.randrange(2, 16))) for _ in range(size))]
    documents = []
    for _ in range(size):
        parts = [
            worn(rnd.choice(sentences), rnd) if rnd.random() < 0.6 else " ".join(rnd.choices(_WORDS, k=9))
            for _ in range(rnd.randrange(6))
        ]
        documents.append(rnd.choice([" ", "\n", ""]).join(parts))
    return documents, list(dict.fromkeys(sentences))


@pytest.mark.parametrize("seed", range(6))
def test_a_scan_of_json_lines_equals_a_naive_search(seed: int, tmp_path: Path) -> None:
    rnd = random.Random(seed)
    documents, sentences = made_up(rnd, 250)
    path = tmp_path / "shard.jsonl.zst"
    lines = "".join(encoded(number, text, rnd) for number, text in enumerate(documents))
    path.write_bytes(zstandard.ZstdCompressor().compress(lines.encode()))
    expected = naive(documents, sentences)
    assert sum(len(tiers) for tiers in expected.values()) > 100
    assert scanned(path, sentences) == expected


@pytest.mark.parametrize("engine", ["hyperscan", "ahocorasick"])
def test_every_engine_finds_the_same(engine: EngineName, tmp_path: Path) -> None:
    rnd = random.Random(99)
    documents, sentences = made_up(rnd, 250)
    path = tmp_path / "shard.jsonl"
    path.write_text("".join(encoded(n, text, rnd) for n, text in enumerate(documents)), encoding="utf-8")
    if engine == "hyperscan":
        pytest.importorskip("hyperscan")
    assert scanned(path, sentences, engine) == scanned(path, sentences) == naive(documents, sentences)


def test_parquet_and_text_files_hold_what_json_lines_hold(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    documents, sentences = made_up(random.Random(5), 250)
    table = pyarrow.table({"text": documents, "id": [str(n) for n in range(len(documents))]})
    parquet.write_table(table, tmp_path / "shard.parquet")
    assert scanned(tmp_path / "shard.parquet", sentences) == naive(documents, sentences)
    for number, text in enumerate(documents[:40]):
        path = tmp_path / f"{number}.txt"
        path.write_bytes(text.encode())
        assert scanned(path, sentences) == naive([text], sentences)


def test_documents_are_named_in_the_order_of_their_lines_and_no_more_than_asked(tmp_path: Path) -> None:
    sentence = "The town of Bielefeld lies in the north-east of Westphalia."
    path = tmp_path / "shard.jsonl.gz"
    lines = [json.dumps({"id": f"d{n}", "text": f"{sentence} {sentence}"}) for n in range(9)]
    lines[4] = json.dumps({"text": sentence})  # without an id
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    hits = Scanner([sentence], locations=5).scan(path).hits[0]["exact"]
    assert (hits.occurrences, hits.documents) == (17, 9)
    assert hits.sample == ["d0", "d1", "d2", "d3", "shard.jsonl.gz:5"]


@needs_data
def test_sentences_of_wikipedia_are_found_where_a_naive_search_finds_them(tmp_path: Path) -> None:
    """Real text: passages of 2018 with abstracts among them, in both ways to write é."""
    rnd = random.Random(1)
    texts = [text for _, text in passages()] + [one["text"] for one in abstracts()]
    rnd.shuffle(texts)
    sentences = sorted({s.strip() for text in texts for s in text.split(". ") if len(s.strip()) > 20})
    chosen = rnd.sample(sentences, 400)
    path = tmp_path / "shard.jsonl"
    with path.open("w", encoding="utf-8") as file:
        file.writelines(encoded(number, text, rnd) for number, text in enumerate(texts))
    expected = naive(texts, chosen)
    assert len(expected) == 400
    assert scanned(path, chosen) == expected
