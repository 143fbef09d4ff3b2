"""What was read and not changed is written as it was; what was changed reads back the same."""

from __future__ import annotations

import filecmp
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.bench import Benchmark, Item, TaskDeclaration, load_benchmark, write_benchmark
from leadline.bench.answer_form import Part, Term
from tests.bench.folders import folder

HEADER = (
    b"# Ours.\r\nname:   odd   # short\r\nversion: '1'\r\ndescription: >-\r\n  Two\r\n  lines.\r\n"
    b"tasks:\r\n- {name: t, unit: USD, precision: 0.10, question: 'How much?'}\r\n"
)
LINES = [
    b'\xef\xbb\xbf{"task":"t" ,  "answer": 5.50,"id":"a", "window_file":"w.txt"}\r\n',
    b'   \r\n{"id": "b","question":"\\u0041\\/ \\"x\\"?","answer":"A", "aliases": [ ]  }\r\n',
    b'{"id": "c", "domain": "d", "question": "Q \xe2\x80\xa8?", "answer": true, "quote": "q"}\r\n\r\n',
    b'  {"answer": "A", "question": "Q?", "id": "d", "unit": null}',
]


def odd(path: Path) -> Path:
    """A folder as no program would write it: mixed blanks, escapes, line ends, no final newline."""
    folder(path, b"".join(LINES))
    (path / "benchmark.yaml").write_bytes(HEADER)
    (path / "windows").mkdir()
    (path / "windows" / "w.txt").write_bytes(b"A window\r\nof two lines")
    (path / "README.md").write_bytes(b"A statement.\n\n")
    return path


def changed(benchmark: Benchmark, identity: str, **fields: object) -> Benchmark:
    items = tuple(item.model_copy(update=fields) if item.id == identity else item for item in benchmark.items)
    return benchmark.with_items(items)


def test_a_benchmark_that_was_not_changed_keeps_every_byte(tmp_path: Path) -> None:
    source, target = odd(tmp_path / "source"), tmp_path / "target"
    write_benchmark(load_benchmark(source), target)
    names = ["benchmark.yaml", "items.jsonl", "README.md", "windows/w.txt"]
    assert filecmp.cmpfiles(source, target, names, shallow=False) == (names, [], [])
    assert sorted(p.name for p in target.iterdir()) == [
        "README.md",
        "benchmark.yaml",
        "items.jsonl",
        "windows",
    ]


def test_written_over_itself_it_keeps_every_byte_too(tmp_path: Path) -> None:
    source = odd(tmp_path)
    before = {path: path.read_bytes() for path in source.rglob("*") if path.is_file()}
    write_benchmark(load_benchmark(source), source)
    assert {path: path.read_bytes() for path in source.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("identity", "abcd")
def test_a_changed_item_changes_its_own_line_alone(tmp_path: Path, identity: str) -> None:
    source, target = odd(tmp_path / "source"), tmp_path / "target"
    benchmark = changed(load_benchmark(source), identity, window="Another\nwindow")
    write_benchmark(benchmark, target)
    written = (target / "items.jsonl").read_bytes()
    at = "abcd".index(identity)
    for number, line in enumerate(LINES):
        assert (line.removeprefix(b"\xef\xbb\xbf").rstrip(b"\r\n") in written) == (number != at)
    assert written.count(b'"Another\\nwindow"') == 1
    assert load_benchmark(target).items == benchmark.items


def test_items_may_be_left_out_and_change_their_order(tmp_path: Path) -> None:
    source, target = odd(tmp_path / "source"), tmp_path / "target"
    benchmark = load_benchmark(source)
    a, _, c, d = benchmark.items
    write_benchmark(benchmark.with_items((d, c, a)), target)
    text = (target / "items.jsonl").read_bytes()
    # A blank line goes with the item below it.
    assert text == b"\r\n" + LINES[3] + b"\r\n" + LINES[2].rstrip(b"\r\n") + b"\r\n" + LINES[0][3:]
    assert load_benchmark(target).items == (d, c, a)


def test_another_version_keeps_the_comments_of_the_header(tmp_path: Path) -> None:
    source, target = odd(tmp_path / "source"), tmp_path / "target"
    benchmark = load_benchmark(source).replaced(
        version="1+repaired", licence="CC0-1.0", description="One: line"
    )
    write_benchmark(benchmark, target)
    text = (target / "benchmark.yaml").read_bytes()
    assert b'# Ours.\r\nname:   odd   # short\r\nversion: "1+repaired"\r\n' in text
    assert b"precision: 0.10" in text
    assert load_benchmark(target) == benchmark


def test_another_declaration_does_not_leave_lines_that_mean_something_else(tmp_path: Path) -> None:
    source, target = odd(tmp_path / "source"), tmp_path / "target"
    task = TaskDeclaration(name="t", unit="EUR", question="How much?")
    benchmark = load_benchmark(source).replaced(tasks=(task,))  # its items still say USD
    write_benchmark(benchmark, target)
    assert load_benchmark(target) == benchmark
    assert load_benchmark(target).by_id["a"].unit == "USD"


def test_an_item_that_says_less_than_its_task_says_so(tmp_path: Path) -> None:
    task = TaskDeclaration(name="t", category="c", answer_type="number", unit="USD", precision="0.01")
    item = Item(id="a", question="Q?", answer="A", task="t")
    benchmark = Benchmark(name="b", version="1", tasks=(task,), items=(item,))
    write_benchmark(benchmark, tmp_path)
    entry = json.loads((tmp_path / "items.jsonl").read_text())
    assert entry["unit"] is None and entry["category"] == "" and entry["answer_type"] == "text"
    assert load_benchmark(tmp_path) == benchmark


def test_what_a_task_declares_is_not_repeated_in_its_items(tmp_path: Path) -> None:
    term = Term(value="yes", synonyms=("ja",))
    task = TaskDeclaration(name="t", answer_type="enum", vocabulary=(term, Term(value="no")), question="Q?")
    form = {name: getattr(task, name) for name in ("answer_type", "vocabulary", "question")}
    item = Item(id="a", answer="no", task="t", **form)
    benchmark = Benchmark(name="b", version="1", tasks=(task,), items=(item,))
    write_benchmark(benchmark, tmp_path)
    assert json.loads((tmp_path / "items.jsonl").read_text()) == {"id": "a", "answer": "no", "task": "t"}
    assert load_benchmark(tmp_path) == benchmark
    assert load_benchmark(tmp_path).content_hash == benchmark.content_hash


def test_when_the_origin_is_gone_everything_is_written_anew(tmp_path: Path) -> None:
    source, target = odd(tmp_path / "source"), tmp_path / "target"
    benchmark = load_benchmark(source)
    for path in (source / "items.jsonl", source / "benchmark.yaml"):
        path.unlink()
    write_benchmark(benchmark, target)
    assert load_benchmark(target) == benchmark


def test_a_line_of_the_origin_that_was_edited_since_is_not_taken(tmp_path: Path) -> None:
    source, target = odd(tmp_path / "source"), tmp_path / "target"
    benchmark = load_benchmark(source)
    (source / "items.jsonl").write_bytes(b"".join(LINES).replace(b"Q?", b"Really?"))
    write_benchmark(benchmark, target)
    assert load_benchmark(target).items == benchmark.items


def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    source = odd(tmp_path)
    broken = load_benchmark(source).items[0].model_copy(update={"question": "\ud800"})
    with pytest.raises(UnicodeEncodeError):
        write_benchmark(load_benchmark(source).with_items((broken,)), source)
    assert (source / "items.jsonl").read_bytes() == b"".join(LINES)
    assert not [path for path in source.iterdir() if path.name.startswith(".")]


SPACE = st.sampled_from(["", " ", "  ", "\t"])
VALUE = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=8).filter(str.strip)


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """Lines of items in any order of keys, spacing, escapes and line ends."""
    lines = []
    for number in range(draw(st.integers(1, 4))):
        fields = {"id": f"i{number}", "question": draw(VALUE), "answer": draw(VALUE), "window": draw(VALUE)}
        escaped = draw(st.booleans())
        space = [draw(SPACE) for _ in range(4)]
        pairs = [
            f"{space[0]}{json.dumps(name)}{space[1]}:{space[2]}"
            f"{json.dumps(fields[name], ensure_ascii=escaped)}{space[3]}"
            for name in draw(st.permutations(list(fields)))
        ]
        lines.append("{" + ",".join(pairs) + "}" + draw(st.sampled_from(["\n", "\r\n", "\n\n", " \n"])))
    text = "".join(lines)
    return (text.rstrip("\r\n") if draw(st.booleans()) else text).encode()


@given(data=files(), keep=st.sets(st.integers(0, 3)))
@settings(max_examples=150, deadline=None)
def test_lines_survive_whatever_they_look_like(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, keep: set[int]
) -> None:
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("target")
    benchmark = load_benchmark(folder(source, data))
    write_benchmark(benchmark, target)
    assert (target / "items.jsonl").read_bytes() == data
    items = tuple(
        item if number in keep else item.model_copy(update={"answer": "new"})
        for number, item in enumerate(benchmark.items)
    )
    write_benchmark(benchmark.with_items(items), target)
    assert load_benchmark(target).items == items
    lines = data.splitlines()
    written = (target / "items.jsonl").read_bytes()
    texts = [line for line in data.split(b"\n") if line.strip()]
    assert len(texts) == len(items) and lines
    for number, text in enumerate(texts):
        if number in keep:
            assert text.rstrip(b"\r") in written


NAME = st.from_regex(r"[a-z]{1,5}", fullmatch=True)
TERMS = st.lists(NAME, max_size=3, unique=True).map(lambda words: tuple(Term(value=word) for word in words))
FORM = {
    "unit": st.none() | NAME,
    "precision": st.none() | st.sampled_from(["0.1", "0.010", "5", "1e-7", "1E+3"]),
    "vocabulary": TERMS,
    "locale": st.none() | st.sampled_from(["en-US", "de"]),
    "date_order": st.none() | st.sampled_from(["dmy", "ymd"]),
}
TASKS = st.lists(
    st.builds(
        TaskDeclaration,
        name=NAME,
        category=st.none() | NAME,
        answer_type=st.none() | st.sampled_from(["text", "number", "enum"]),
        question=st.none() | NAME,
        prompt=st.none() | NAME,
        **FORM,
    ),
    max_size=2,
    unique_by=lambda task: task.name,
)


@given(tasks=TASKS, data=st.data())
@settings(max_examples=150, deadline=None)
def test_any_mix_of_tasks_and_items_reads_back_the_same(
    tmp_path_factory: pytest.TempPathFactory, tasks: list[TaskDeclaration], data: st.DataObject
) -> None:
    names = [task.name for task in tasks] or ["none"]
    item = st.builds(
        Item,
        id=NAME,
        question=NAME,
        answer=NAME,
        task=st.sampled_from([*names, ""]),
        category=st.sampled_from(["", "c"]),
        answer_type=st.sampled_from(["text", "number", "enum"]),
        prompt=st.none() | NAME,
        **FORM,
    )
    items = data.draw(st.lists(item, min_size=1, max_size=4, unique_by=lambda entry: entry.id))
    benchmark = Benchmark(name="b", version="1", tasks=tuple(tasks), items=tuple(items))
    path = tmp_path_factory.mktemp("mixed")
    write_benchmark(benchmark, path)
    assert load_benchmark(path) == benchmark


def test_parts_read_back_the_same(tmp_path: Path) -> None:
    fields = (
        Part(name="sum", answer_type="number", precision="0.05"),
        Part(name="how", answer_type="enum", vocabulary=(Term(value="no", synonyms=("off",)),)),
    )
    task = TaskDeclaration(name="t", answer_type="parts", fields=fields)
    item = Item(
        id="a",
        question="Q?",
        answer='{"sum": 1.50, "how": "no"}',
        task="t",
        answer_type="parts",
        fields=fields,
    )
    benchmark = Benchmark(name="b", version="1", tasks=(task,), items=(item,))
    write_benchmark(benchmark, tmp_path)
    assert load_benchmark(tmp_path) == benchmark
