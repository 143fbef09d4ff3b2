"""How items may be written: short forms, answers as they stand, windows in files; and how not."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from leadline.bench import Evidence, inspect_benchmark, load_benchmark
from leadline.bench.answer_form import Part, Term
from leadline.bench.header import FILE_KEYS
from leadline.errors import UsageError
from tests.bench.folders import folder

PARTS = '"answer_type": "parts", "fields": [{"name": "sum", "answer_type": "number"}, {"name": "who"}]'


def line(rest: str) -> bytes:
    return f'{{"id": "a", "question": "Q?", {rest}}}\n'.encode()


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ('"0.10"', "0.10"),
        ("0.10", "0.10"),
        ("1e3", "1e3"),
        ("-0", "-0"),
        ("12345678901234567890.123456789", "12345678901234567890.123456789"),
        ("true", "true"),
        ("false", "false"),
    ],
)
def test_an_answer_is_kept_as_the_text_that_it_was_written_as(
    tmp_path: Path, written: str, kept: str
) -> None:
    path = folder(tmp_path, line(f'"answer" :  {written} , "aliases": []'))
    assert load_benchmark(path).items[0].answer == kept


def test_an_answer_in_parts_is_the_text_of_its_object(tmp_path: Path) -> None:
    path = folder(tmp_path, line(f'"answer": {{"sum":0.50,  "who": "Ann \\u00e9"}}, {PARTS}'))
    assert load_benchmark(path).items[0].answer == '{"sum":0.50,  "who": "Ann \\u00e9"}'
    as_text = folder(tmp_path, line(f'"answer": "{{\\"sum\\": 1, \\"who\\": 2}}", {PARTS}'))
    assert load_benchmark(as_text).items[0].answer == '{"sum": 1, "who": 2}'


OPTIONAL = [name for name in FILE_KEYS if name not in ("id", "question", "answer")]


@pytest.mark.parametrize("name", OPTIONAL)
def test_null_says_nothing_in_every_optional_field(tmp_path: Path, name: str) -> None:
    plain = load_benchmark(folder(tmp_path / "a", line('"answer": "A"')))
    null = load_benchmark(folder(tmp_path / "b", line(f'"answer": "A", "{name}": null')))
    assert null.items == plain.items


@pytest.mark.parametrize("name", ["id", "question", "answer"])
def test_null_is_no_value_of_a_field_that_is_required(tmp_path: Path, name: str) -> None:
    entry = {"id": "a", "question": "Q?", "answer": "A", name: None}
    with pytest.raises(UsageError, match=rf"'{name}' must be text, not null"):
        load_benchmark(folder(tmp_path, json.dumps(entry).encode()))


def test_null_says_nothing_within_parts_terms_and_evidence(tmp_path: Path) -> None:
    part = '{"name": "x", "answer_type": null, "unit": null, "vocabulary": null, "locale": null}'
    rest = f'"answer": {{"x": "1"}}, "answer_type": "parts", "fields": [{part}]'
    evidence = '"evidence": [{"quote": "q", "source": null}]'
    (item,) = load_benchmark(folder(tmp_path, line(f"{rest}, {evidence}"))).items
    assert item.fields == (Part(name="x"),) and item.evidence == (Evidence(quote="q"),)
    terms = '"answer": "a", "answer_type": "enum", "vocabulary": [{"value": "a", "synonyms": null}]'
    (item,) = load_benchmark(folder(tmp_path, line(terms))).items
    assert item.vocabulary == (Term(value="a"),)


def test_an_unknown_field_is_one_also_where_it_is_null(tmp_path: Path) -> None:
    part = '"fields": [{"name": "x", "unti": null}]'
    for rest in ('"colour": null', f'"answer_type": "parts", {part}'):
        with pytest.raises(UsageError, match=r"not a known field|unknown field"):
            load_benchmark(folder(tmp_path, line(f'"answer": "A", {rest}')))


EVIDENCE = [
    ('"evidence": [{"quote": "q", "source": "d.txt"}, {"quote": "r"}]', [("q", "d.txt"), ("r", "")], ""),
    ('"evidence": {"quote": "q", "source": "d.txt"}', [("q", "d.txt")], ""),
    ('"evidence": "q", "source": "https://x.org/d"', [("q", "")], "https://x.org/d"),
    ('"evidence": ["q", "r"]', [("q", ""), ("r", "")], ""),
    ('"quote": "q", "source": "d.txt"', [("q", "")], "d.txt"),
    ('"quote": ["q", "r"]', [("q", ""), ("r", "")], ""),
    ('"evidence": []', [], ""),
    ('"evidence": null', [], ""),
]


@pytest.mark.parametrize(("written", "evidence", "source"), EVIDENCE, ids=[entry[0] for entry in EVIDENCE])
def test_evidence_has_short_forms(
    tmp_path: Path, written: str, evidence: list[tuple[str, str]], source: str
) -> None:
    item = load_benchmark(folder(tmp_path, line(f'"answer": "A", {written}'))).items[0]
    assert item.evidence == tuple(Evidence(quote=quote, source=place) for quote, place in evidence)
    assert item.source == source


FAULTS = [
    ('"answer": "A", "quote": "q", "evidence": "r"', "'quote' is a short form of 'evidence'"),
    ('"answer": "A", "quote": 5', "'quote' must be text or a list of texts, not a number"),
    ('"answer": "A", "evidence": 5', "'evidence' must be a list, not a number"),
    ('"answer": "A", "evidence": [5]', "'evidence.0' is wrong"),
    ('"answer": "A", "evidence": [{"quote": "q", "page": 3}]', "'evidence.0.page' is not a known field"),
    ('"answer": "A", "quote": " "', "'evidence.0.quote' is blank"),
    ('"answer": "A", "window": ""', "'window' has length zero"),
    ('"answer": "A", "window": " \\n"', "'window' is blank"),
    ('"answer": NaN', "NaN is not a number"),
    ('"answer": null', "'answer' must be text, not null"),
    ('"answer": {"a": 1}', "'answer' is an object, but 'answer_type' is not 'parts'"),
    ('"answer": "A", "fields": [{"name": "x"}]', "'fields' belong to answers of type 'parts'"),
    ('"answer": {"a": 1}, "answer_type": "parts"', "answers of type 'parts' need 'fields'"),
    (f'"answer": "A", {PARTS}', "'answer' must be an object with the fields of the answer"),
    (f'"answer": {{"sum": 1}}, {PARTS}', "'answer' lacks the field 'who' (fields: sum, who)"),
    (f'"answer": {{"sum": 1, "who": 1, "whom": 2}}, {PARTS}', "unknown field 'whom' (did you mean 'who'?)"),
    ('"answer": "A", "precision": -1', "'precision' is wrong"),
    ('"answer": "A", "vocabulary": ["x", "X"]', "uses the word 'X'"),
    ('"answer": "A", "window_fil": "x"', "did you mean 'window_file'?"),
    ('"answer": "A", "window_file": 3', "'window_file' must be text, not a number"),
    ('"answer": "A", "window_file": "a.txt", "window": "W"', "has both 'window' and 'window_file'"),
]


@pytest.mark.parametrize(("rest", "words"), FAULTS, ids=[words for _, words in FAULTS])
def test_every_fault_of_an_item_says_where_and_what(tmp_path: Path, rest: str, words: str) -> None:
    path = folder(tmp_path, line(rest))
    with pytest.raises(UsageError) as caught:
        load_benchmark(path)
    assert str(caught.value).startswith(f"{path / 'items.jsonl'}:1: ")
    assert words in str(caught.value)


def windowed(path: Path, name: str) -> Path:
    return folder(path, [{"id": "a", "question": "Q?", "answer": "A", "window_file": name}])


def test_a_window_may_lie_in_a_file_of_its_own_line_ends_and_all(tmp_path: Path) -> None:
    path = windowed(tmp_path, "a.txt")
    (path / "windows").mkdir()
    (path / "windows" / "a.txt").write_bytes("\ufeffeins\r\nzwei ü\n".encode())
    assert load_benchmark(path).items[0].window == "eins\r\nzwei ü\n"


def test_the_folder_of_windows_comes_before_the_rest_of_the_folder(tmp_path: Path) -> None:
    path = windowed(tmp_path, "texts/a.txt")
    (path / "texts").mkdir()
    (path / "texts" / "a.txt").write_text("outer")
    assert load_benchmark(path).items[0].window == "outer"
    (path / "windows" / "texts").mkdir(parents=True)
    (path / "windows" / "texts" / "a.txt").write_text("inner")
    assert load_benchmark(path).items[0].window == "inner"


def test_the_hash_is_that_of_the_same_window_inline(tmp_path: Path) -> None:
    path = windowed(tmp_path / "file", "a.txt")
    (path / "a.txt").write_text("Some window.")
    spelt = b'{ "window":"Some\\u0020window.","answer" :"A","question":"Q?", "id":"a"}'
    assert (
        load_benchmark(path).content_hash == load_benchmark(folder(tmp_path / "inline", spelt)).content_hash
    )
    (path / "a.txt").write_text("Another window.")
    assert (
        load_benchmark(path).content_hash != load_benchmark(folder(tmp_path / "inline", spelt)).content_hash
    )


def _missing(path: Path) -> None: ...


def _folder(path: Path) -> None:
    path.mkdir()


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(3 * 1024**3)  # of holes


def _loop(path: Path) -> None:
    path.symlink_to(path)


def _outside(path: Path) -> None:
    (path.parent.parent / "secret").write_text("s")
    path.symlink_to(path.parent.parent / "secret")


def _pipe(path: Path) -> None:
    os.mkfifo(path)


WINDOW_FAULTS = [
    (_missing, "'window_file' does not exist: 'w'"),
    (_folder, "is a folder, not a file"),
    (_huge, "is too large: 'w' has 3,221,225,472 bytes"),
    (_loop, "is a symbolic link to itself"),
    (_outside, "is not within the folder"),
    (_pipe, "is not an ordinary file"),
    (lambda path: path.write_bytes(b""), "'window' has length zero"),
    (lambda path: path.write_bytes(b"ab\nc\xff"), "is not UTF-8: 'w', line 2: byte 0xff at offset 4"),
    (lambda path: path.write_text("text", encoding="utf-16"), "is UTF-16"),
    (lambda path: path.write_text("x" * 2_000_001), "has 2,000,001 characters; at most 2,000,000"),
]


@pytest.mark.parametrize(("make", "words"), WINDOW_FAULTS, ids=[words for _, words in WINDOW_FAULTS])
def test_a_window_file_that_cannot_be_a_window_is_a_fault_of_its_item(
    tmp_path: Path, make: object, words: str
) -> None:
    path = windowed(tmp_path / "bench", "w")
    make(path / "w")  # type: ignore[operator]
    with pytest.raises(UsageError) as caught:
        load_benchmark(path)
    assert str(caught.value).startswith(f"{path / 'items.jsonl'}:1: item a: ")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "name",
    ["../secret.txt", "/etc/hostname", "windows/../../secret.txt", "C:\\x.txt", "\\\\host\\x", "a\0b", ""],
)
def test_a_window_never_comes_from_outside_of_the_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    path = windowed(tmp_path / "bench", name)
    (path / "windows").mkdir()
    problem = inspect_benchmark(path).problems[0].line()
    assert "'window_file' is" in problem or "'window_file' does not exist" in problem
    assert "secret'" not in json.dumps(problem) and inspect_benchmark(path).benchmark is None


def test_a_folder_that_is_a_loop_of_links_is_one_line(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(UsageError, match=r"there is no benchmark|cannot be read"):
        load_benchmark(loop)
