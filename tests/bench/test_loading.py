"""Loading: what is accepted, and what every fault says."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.bench import bundled_names, inspect_benchmark, load_benchmark, write_benchmark
from leadline.bench.benchmark import Benchmark
from leadline.bench.item import MAX_CHARACTERS, Evidence, Item
from leadline.bench.problem import MAX_PROBLEMS
from leadline.errors import UsageError
from tests.bench.folders import FACTS_HEADER, HEADER, fact, folder

GOOD = b'{"id": "a", "question": "Q?", "answer": "A"}\n'


def test_a_folder_is_a_benchmark(tmp_path: Path) -> None:
    benchmark = load_benchmark(folder(tmp_path, [fact("b"), fact("a")], FACTS_HEADER))
    assert (benchmark.name, benchmark.version, benchmark.kind) == ("tiny", "1.0", "facts")
    assert [item.id for item in benchmark.items] == ["b", "a"]
    item = benchmark.by_id["a"]
    assert (item.category, item.task, item.subject) == ("geography", "capital", "Land a")
    assert item.valid_answers == ("Paris", "City of Light")


def test_a_bare_file_is_a_benchmark_named_after_itself(tmp_path: Path) -> None:
    path = tmp_path / "my facts.jsonl"
    path.write_bytes(GOOD)
    assert load_benchmark(str(path)).name == "my facts"
    assert load_benchmark(path).kind == "general"


def test_the_header_may_be_named_as_well(tmp_path: Path) -> None:
    assert load_benchmark(folder(tmp_path, GOOD) / "benchmark.yaml").name == "tiny"


def test_byte_order_mark_blank_lines_carriage_returns_and_line_separators_are_harmless(
    tmp_path: Path,
) -> None:
    second = '{"id": "b", "question": "Q\u2028?", "answer": "A"}'.encode()
    path = folder(tmp_path, b"\xef\xbb\xbf" + GOOD.replace(b"\n", b"\r\n") + b"\r\n   \n" + second)
    benchmark = load_benchmark(path)
    assert [item.id for item in benchmark.items] == ["a", "b"]
    assert benchmark.by_id["b"].question == "Q\u2028?"


def test_a_long_window_is_fine(tmp_path: Path) -> None:
    window = "ü" * 2_000_000
    item = {"id": "a", "question": "Q?", "answer": "A", "window": window, "evidence": [{"quote": "ü"}]}
    assert load_benchmark(folder(tmp_path, [item])).items[0].window == window


LINE_FAULTS = [
    (b"{", "1:2", "broken JSON"),
    (b'{"id": "b" "question"', "1:12", "broken JSON: Expecting ',' delimiter"),
    (b"[1, 2]", "1", "expected a JSON object, found a list"),
    (b'"text"', "1", "expected a JSON object, found text"),
    (b"null", "1", "found null"),
    (b'{"id": "b", "question": "Q?"}', "1", "item b: the field 'answer' is missing"),
    (b'{"id": "b", "question": "Q?", "answer": "A", "alias": []}', "1", "did you mean 'aliases'?"),
    (b'{"id": "b", "question": "Q?", "answer": "A", "zzz": 1}', "1", "known fields: id, question"),
    (b'{"id": "b", "question": "Q?", "answer": [3]}', "1", "item b: 'answer' must be text, not a list"),
    (b'{"id": "b", "question": null, "answer": "A"}', "1", "'question' must be text, not null"),
    (
        b'{"id": "b", "question": "Q?", "answer": "A", "aliases": "B"}',
        "1",
        "'aliases' must be a list, not text",
    ),
    (b'{"id": "b", "question": "Q?", "answer": "A", "aliases": ["B", 1]}', "1", "'aliases.1' must be text"),
    (b'{"id": "b", "question": "Q?", "answer": "A", "aliases": [" "]}', "1", "'aliases.0' is blank"),
    (b'{"id": "b", "question": " ", "answer": "A"}', "1", "item b: 'question' is blank"),
    (b'{"id": "b", "question": "Q?", "answer": "\\t"}', "1", "'answer' is blank"),
    (b'{"id": "", "question": "Q?", "answer": "A"}', "1", "'id' is blank"),
    (b'{"id": "b\\u001b[31m", "question": "Q?", "answer": "A"}', "1", "'id' contains a control character"),
    (b'{"id": " b", "question": "Q?", "answer": "A"}', "1", "'id' begins or ends with a space"),
    (b'{"id": 7, "question": "Q?", "answer": "A"}', "1", "'id' must be text, not a number"),
    (b'{"id": "b", "question": "\\ud800", "answer": "A"}', "1", "lone surrogate"),
    (b'{"id": "b", "question": "Q?", "answer": "A", "answer_type": "txt"}', "1", "must be 'text', 'number'"),
    (b'{"id": "b", "question": "Q?", "answer": "A", "task": "t", "relation": "r"}', "1", "two names of one"),
    (b'{"id": "b", "id": "c", "question": "Q?", "answer": "A"}', "1", "the key 'id' occurs twice"),
    (
        b'{"id": "b", "question": "Q?", "answer": "A", "evidence": [{"quote": ""}]}',
        "1",
        "'evidence.0.quote' is blank",
    ),
    (
        b'{"id": "b", "question": "Q?", "answer": "A", "evidence": [{"quot": "q"}]}',
        "1",
        "'evidence.0.quote' is miss",
    ),
    (b'{"id": "b", "question": "Q\xff?", "answer": "A"}', "1:27", "not UTF-8: byte 0xff at offset 26"),
    (b'{"id": "b", "question": ' + b"9" * 5000 + b"}", "1", "a number that is too long"),
    (b'{"a":' * 100_000, "1", "nested too deeply"),
    ('{"id": "b", "question": "Q?"}'.encode("utf-16"), "1", "UTF-16"),
]


@pytest.mark.parametrize(("line", "place", "words"), LINE_FAULTS, ids=[words for _, _, words in LINE_FAULTS])
def test_every_fault_of_a_line_says_where_and_what(
    tmp_path: Path, line: bytes, place: str, words: str
) -> None:
    path = folder(tmp_path, line + b"\n")
    with pytest.raises(UsageError) as caught:
        load_benchmark(path)
    assert str(caught.value).startswith(f"{path / 'items.jsonl'}:{place}: ")
    assert words in str(caught.value)
    assert len(str(caught.value)) < len(str(path)) + 500


def test_the_byte_offset_counts_from_the_start_of_the_file(tmp_path: Path) -> None:
    path = folder(tmp_path, GOOD + b'{"\xfe"}')
    problem = inspect_benchmark(path).problems[0]
    assert problem.where == f"{path / 'items.jsonl'}:2:3"
    assert f"offset {len(GOOD) + 2} " in problem.message


def test_a_duplicate_id_names_both_lines(tmp_path: Path) -> None:
    path = folder(tmp_path, [fact("a"), fact("b"), fact("a")])
    with pytest.raises(UsageError, match=r"items\.jsonl:3: item a: duplicate id, first used on line 1"):
        load_benchmark(path)


def test_a_huge_question_is_one_short_message_and_quick(tmp_path: Path) -> None:
    question = "x" * 10_485_760
    path = folder(tmp_path, [fact("a"), fact("b", question=question)])
    start = time.perf_counter()
    with pytest.raises(UsageError) as caught:
        load_benchmark(path)
    assert time.perf_counter() - start < 2
    assert str(caught.value) == (
        f"{path / 'items.jsonl'}:2: item b: 'question' has 10,485,760 characters; at most 20,000 are allowed"
    )


def test_a_line_beyond_all_limits_is_skipped_with_its_size_and_reading_goes_on(tmp_path: Path) -> None:
    path = folder(tmp_path, b"x" * (40 * 1024 * 1024) + b"\n" + b"{\n")
    first, second = inspect_benchmark(path).problems
    assert first.where.endswith("items.jsonl:1") and "41,943,041 bytes" in first.message
    assert second.where.endswith("items.jsonl:2:2")


@pytest.mark.parametrize("name", ["id", "answer", "category", "task", "subject"])
def test_every_text_has_a_limit_that_says_the_size(tmp_path: Path, name: str) -> None:
    size = MAX_CHARACTERS[name] + 1
    entry = {"id": "a", "question": "Q?", "answer": "A", name: "y" * size}
    problem = inspect_benchmark(folder(tmp_path, [entry])).problems[0]
    assert f"{size:,} characters" in problem.message
    assert len(problem.line()) < len(str(tmp_path)) + 300


def test_all_problems_are_collected_and_the_error_says_how_many_more(tmp_path: Path) -> None:
    path = folder(
        tmp_path, [fact("a", answer=None), fact("b", answer=[1]), fact("c"), fact("d", question="")]
    )
    with pytest.raises(UsageError) as caught:
        load_benchmark(path)
    assert "items.jsonl:1: item a" in str(caught.value)
    assert f"and 2 more, listed by: leadline bench validate {path}" in str(caught.value)
    inspection = inspect_benchmark(path)
    assert [problem.item for problem in inspection.problems] == ["a", "b", "d"]
    assert inspection.benchmark is not None and [item.id for item in inspection.benchmark.items] == ["c"]


def test_a_thousand_problems_are_enough(tmp_path: Path) -> None:
    assert len(inspect_benchmark(folder(tmp_path, b"[]\n" * 5000)).problems) == MAX_PROBLEMS


HEADER_FAULTS = [
    ('name: x\nversion: "1"\ntitel: y\n', "3", "did you mean 'title'?"),
    ('name: x\nversion: "1"\nzzz: y\n', "3", "known keys: name, version"),
    ('name: x\nversion: "1"\nname: y\n', "3", "the key 'name' occurs twice, first on line 1"),
    ("name: x\nversion: 1.0\n", "2", "'version' must be text, not 1.0 (put it in quotes"),
    ('name: [x]\nversion: "1"\n', "1", "'name' must be text"),
    ('name: x\nversion: "1"\ntitle:\n', "3", "'title' must be text"),
    ("name: x\n", "1", "the key 'version' is missing"),
    ('name: ""\nversion: "1"\n', "1", "'name' must be one line of 1 to 100 characters"),
    ('name: x\nversion: "1"\nkind: fact\n', "3", "'kind' must be 'facts' or 'general', not 'fact'"),
    ('name: x\nversion: "1"\nitems: ../../etc/passwd\n', "3", "must name a file in this folder"),
    ('name: x\nversion: "1"\nitems: "a\\\\b"\n', "3", "must name a file in this folder"),
    ("name: 'x\n", "2:1", "broken YAML"),
    ("a: b: c\n", "1:5", "broken YAML"),
    ("- a\n", "1", "expected keys and values"),
    ("", "1", "the file is empty"),
    ("name: \x07\n", "1", "a control character"),
    ("[" * 5000, "1", "nested too deeply"),
    ("!!python/object/apply:os.system ['true']", "1", "expected keys and values"),
]


@pytest.mark.parametrize(
    ("header", "place", "words"), HEADER_FAULTS, ids=[words for _, _, words in HEADER_FAULTS]
)
def test_every_fault_of_the_header_says_where_and_what(
    tmp_path: Path, header: str, place: str, words: str
) -> None:
    path = folder(tmp_path, GOOD, header)
    with pytest.raises(UsageError) as caught:
        load_benchmark(path)
    assert str(caught.value).startswith(f"{path / 'benchmark.yaml'}:{place}: ")
    assert words in str(caught.value)


def test_a_header_that_is_not_utf8_says_its_line(tmp_path: Path) -> None:
    path = folder(tmp_path, GOOD)
    (path / "benchmark.yaml").write_bytes(b"name: x\nversion: \xff\n")
    with pytest.raises(UsageError, match=r"benchmark\.yaml:2: not UTF-8: byte 0xff at offset 17"):
        load_benchmark(path)


def test_what_is_not_there_is_said_with_what_is(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no benchmark 'no-such'"):
        load_benchmark("no-such")
    with pytest.raises(UsageError, match=r"the folder holds no benchmark\.yaml"):
        load_benchmark(tmp_path)
    text = tmp_path / "items.txt"
    text.write_text("a,b")
    with pytest.raises(UsageError, match="not a benchmark"):
        load_benchmark(text)
    with pytest.raises(UsageError, match=r"not a path|there is no benchmark"):
        load_benchmark("a\0b")


def test_an_item_file_that_is_missing_a_folder_or_empty(tmp_path: Path) -> None:
    path = folder(tmp_path, b"\n \n")
    with pytest.raises(UsageError, match=r"items\.jsonl:1: the file holds no items"):
        load_benchmark(path)
    (path / "items.jsonl").unlink()
    with pytest.raises(UsageError, match=r"items\.jsonl: does not exist"):
        load_benchmark(path)
    (path / "items.jsonl").mkdir()
    with pytest.raises(UsageError, match=r"items\.jsonl: is a folder, not a file"):
        load_benchmark(path)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything"
)
def test_a_file_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    path = folder(tmp_path, GOOD)
    (path / "items.jsonl").chmod(0)
    with pytest.raises(UsageError, match=r"items\.jsonl: cannot be read: Permission denied"):
        load_benchmark(path)


@given(data=st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
@settings(max_examples=150)
def test_any_bytes_end_in_a_benchmark_or_in_a_usage_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.mktemp("any")
    for name in ("items.jsonl", "benchmark.yaml"):
        folder(path, GOOD)
        (path / name).write_bytes(data)
        try:
            assert load_benchmark(path).items
        except UsageError as error:
            assert str(path) in str(error) and len(str(error)) < len(str(path)) + 500


TEXT = st.text(min_size=1, max_size=20).filter(str.strip)
NAME = st.from_regex(r"[a-zé]{1,6}", fullmatch=True)
ITEMS = st.lists(
    st.builds(
        Item,
        id=NAME,
        question=TEXT,
        answer=TEXT,
        aliases=st.lists(TEXT, max_size=2).map(tuple),
        category=NAME,
        task=NAME,
        subject=st.none() | TEXT,
        window=st.none() | TEXT,
        evidence=st.lists(st.builds(Evidence, quote=TEXT, source=NAME), max_size=1).map(tuple),
        answer_type=st.sampled_from(["text", "number"]),
    ),
    min_size=1,
    max_size=5,
    unique_by=lambda item: item.id,
).map(tuple)


@given(items=ITEMS, names=st.sampled_from([("domain", "relation"), ("category", "task")]))
@settings(max_examples=60)
def test_writing_and_loading_gives_the_same_benchmark(
    tmp_path_factory: pytest.TempPathFactory, items: tuple[Item, ...], names: tuple[str, str]
) -> None:
    benchmark = Benchmark(
        name="x",
        version="2",
        title="T: 'é'",
        kind="facts",
        category_name=names[0],
        task_name=names[1],
        items=items,
    )
    path = tmp_path_factory.mktemp("written")
    write_benchmark(benchmark, path)
    loaded = load_benchmark(path)
    assert loaded == benchmark
    assert loaded.content_hash == benchmark.content_hash
    first = json.loads((path / "items.jsonl").read_text(encoding="utf-8").split("\n")[0])
    assert names[0] in first and names[1] in first


def test_bundled_benchmarks_load_and_win_over_a_folder_of_the_same_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "facts" in bundled_names()
    monkeypatch.chdir(tmp_path)
    folder(tmp_path / "facts", GOOD, HEADER)
    assert load_benchmark("facts").kind == "facts"
    assert load_benchmark("./facts").name == "tiny"
