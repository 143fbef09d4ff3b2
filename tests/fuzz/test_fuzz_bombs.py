"""Small files that would be large, or long to take apart, cost neither ten seconds nor two gigabytes."""

from __future__ import annotations

import gzip
import io
import json
import os
import threading
import time
import zipfile
from functools import cache
from pathlib import Path

import pytest

from leadline.bench import inspect_benchmark
from leadline.documents.read import read_document
from tests.fuzz.limits import held, held_apart
from tests.fuzz.sound_files import HEADER, ITEMS

pytestmark = pytest.mark.fuzz

BENCHMARK = "leadline.bench.loading:load_benchmark"
DOCUMENT = "tests.fuzz.apart:document"
LAUGHS = "\n".join(
    [
        "a0: &a0 [x, x]",
        *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)),
        "name: s",
        "version: '1'",
    ]
)


@cache
def zeros() -> bytes:
    """A gibibyte of one byte, packed."""
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=1, mtime=0) as file:
        for _ in range(1024):
            file.write(b"<" * 1024 * 1024)
    return out.getvalue()


def zip_of_zeros() -> bytes:
    out = io.BytesIO()
    with (
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("page.htm", "w", force_zip64=True) as file,
    ):
        for _ in range(1024):
            file.write(b"<" * 1024 * 1024)
    return out.getvalue()


BOMBS: dict[str, tuple[str, str, bytes, int]] = {
    "a gigabyte in a gzip file": (DOCUMENT, "page.gz", b"", 3),
    "a gigabyte in a zip file": (DOCUMENT, "page.zip", b"", 3),
    "a million open elements": (DOCUMENT, "page.htm", b"<div>" * 1_000_000 + b"x", 0),
    "a million open elements of XML": (
        DOCUMENT,
        "page.xml",
        b"<?xml version='1.0'?>" + b"<a>" * 1_000_000,
        3,
    ),
    "a million raised numbers": (DOCUMENT, "page.htm", b"<sup>1" * 1_000_000, 0),
    "entities that name each other": (
        DOCUMENT,
        "page.xml",
        b'<!DOCTYPE a [<!ENTITY a "xxxxxxxxxx"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]><a>&b;</a>',
        3,
    ),
    "anchors that name each other": (BENCHMARK, "benchmark.yaml", LAUGHS.encode(), 2),
    "YAML of brackets": (BENCHMARK, "benchmark.yaml", HEADER + b"title: " + b"[" * 500_000, 2),
    "YAML in one line": (
        BENCHMARK,
        "benchmark.yaml",
        HEADER + b"x: [" + b"a: 1, " * 100_000 + b"]",
        2,
    ),
    "a line of sixteen megabytes of brackets": (BENCHMARK, "items.jsonl", b"[" * 16_000_000, 2),
    "sixteen megabytes of open objects": (BENCHMARK, "items.json", b'[{"a":' * 2_700_000, 2),
    "keys without number": (
        BENCHMARK,
        "items.jsonl",
        json.dumps({**ITEMS[0], **{str(number): number for number in range(200_000)}}).encode(),
        2,
    ),
    "one key twice among very many": (
        BENCHMARK,
        "items.jsonl",
        b"{" + b", ".join(b'"%d": 1' % number for number in range(200_000)) + b', "199999": 2}',
        2,
    ),
    "columns of names without number": (
        BENCHMARK,
        "items.csv",
        b",".join(b"%d" % number for number in range(200_000)) + b"\n1" + b"," * 199_999 + b"\n",
        2,
    ),
    "columns without number": (BENCHMARK, "items.csv", b"a," * 200_000 + b"\n", 2),
    "one key very often": (BENCHMARK, "items.jsonl", b"{" + b'"a": 1, ' * 100_000 + b'"b": 1}', 2),
    "a number of sixteen million digits": (
        BENCHMARK,
        "items.jsonl",
        b'{"id": ' + b"9" * 16_000_000 + b"}",
        2,
    ),
    "an answer of a million digits": (
        BENCHMARK,
        "items.jsonl",
        b'{"id": "1", "question": "?", "answer_type": "number", "answer": 0.' + b"9" * 1_000_000 + b"}",
        2,
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_one_line(name: str, tmp_path: Path) -> None:
    reader, file, content, code = BOMBS[name]
    if name.startswith("a gigabyte"):
        content = zeros() if file.endswith("gz") else zip_of_zeros()
    (tmp_path / file).write_bytes(content)
    ended = held_apart(reader, tmp_path / file)
    assert ended.code == code, ended
    if code:
        assert len(ended.err.strip().splitlines()) == 1


def test_files_that_change_while_they_are_read_are_read_or_refused(tmp_path: Path) -> None:
    items, page = tmp_path / "items.jsonl", tmp_path / "page.htm"
    lines = [json.dumps(item).encode() for item in ITEMS[:5]] * 200
    stopped = threading.Event()

    def write() -> None:
        turn = 0
        while not stopped.is_set():
            turn += 1
            items.write_bytes(b"\n".join(lines[: turn * 7 % 900]))
            if turn % 3 == 0:
                os.truncate(items, turn * 13 % 2_000)
            page.write_bytes(b"<p>One" * (turn * 11 % 5_000))
            time.sleep(0.001)

    items.write_bytes(b"")
    page.write_bytes(b"")
    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(50):
            held(inspect_benchmark, items)
            held(read_document, page)
    finally:
        stopped.set()
        writer.join()
