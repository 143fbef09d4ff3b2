"""Items in CSV, TSV, JSON, Parquet and SQuAD's shape, with columns named; and each way these are broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.bench import Evidence, inspect_benchmark, load_benchmark, open_stream
from leadline.bench.json_rows import json_list_rows
from leadline.bench.opened import Reading
from leadline.bench.problem import Problems
from leadline.bench.squad import MISPLACED
from leadline.errors import LeadlineError, UsageError
from tests.bench.folders import HEADER, folder

COLUMNS = {"question": "Q", "answer": "gold", "window": "ctx", "id": "key"}
ROWS: list[dict[str, Any]] = [
    {"key": "1", "Q": 'What, "then"?', "gold": "0.10", "ctx": "One\nline", "other": "x"},
    {"key": "2", "Q": "Wer? ü", "gold": "B", "ctx": None, "other": "y"},
]


def csv_file(path: Path, separator: str = ",") -> Path:
    pl.DataFrame(ROWS).write_csv(path, separator=separator)
    return path


def table(tmp_path: Path, form: str) -> Path:
    path = tmp_path / f"data.{form}"
    match form:
        case "csv":
            return csv_file(path)
        case "tsv":
            return csv_file(path, "\t")
        case "parquet":
            pl.DataFrame(ROWS).write_parquet(path)
        case "json":
            path.write_text(json.dumps(ROWS, indent=1), encoding="utf-8")
        case "jsonl":
            path.write_text("\n".join(json.dumps(row) for row in ROWS), encoding="utf-8")
    return path


@pytest.mark.parametrize("form", ["csv", "tsv", "json", "jsonl", "parquet"])
def test_every_format_gives_the_same_items(tmp_path: Path, form: str) -> None:
    path = table(tmp_path, form)
    benchmark = load_benchmark(path, Reading(COLUMNS))
    assert [(i.id, i.question, i.answer, i.window) for i in benchmark.items] == [
        ("1", 'What, "then"?', "0.10", "One\nline"),
        ("2", "Wer? ü", "B", None),
    ]
    assert benchmark.name == "data"


@pytest.mark.parametrize("form", ["csv", "tsv", "json", "jsonl", "parquet"])
def test_a_header_names_the_columns_as_well_and_tasks_fill_in(tmp_path: Path, form: str) -> None:
    columns = "".join(f"  {name}: {column}\n" for name, column in COLUMNS.items())
    tasks = "tasks:\n  - {name: x, category: c, answer_type: number}\n"
    text = f"{HEADER}items: data.{form}\ncolumns:\n{columns}  task: other\n{tasks}"
    path = folder(tmp_path, b"", text)
    table(tmp_path, form)
    first, second = load_benchmark(path).items
    assert (first.task, first.category, first.answer_type) == ("x", "c", "number")
    assert (second.task, second.category) == ("y", "")
    assert [placed.item for placed in open_stream(path)] == [first, second]


def test_places_are_lines_where_rows_begin_and_rows_where_there_are_no_lines(tmp_path: Path) -> None:
    for form, places in {
        "csv": ["2", "4"],
        "json": ["2", "9"],
        "jsonl": ["1", "2"],
        "parquet": ["1", "2"],
    }.items():
        stream = open_stream(table(tmp_path, form), Reading(COLUMNS))
        assert [placed.where.rpartition(":")[2] for placed in stream] == places


CSV_FAULTS = [
    ("key,Q,gold,ctx\n1,a?,b\n", ":2", "the row has 3 cells, the first row has 4"),
    ("key,Q,gold,ctx\n1,a?,b,c\n\n2,a?,b,c,d\n", ":4", "the row has 5 cells"),
    ('key,Q,gold,ctx\n1,a?,b,c\n2,"a?,b,c\n', ":3", "a double quote is not closed"),
    ('key,Q,gold,ctx\n1,"a"?,b,c\n', ":2", "broken CSV"),
    ("key,Q,gold,ctx,Q\n", ":1", "two columns are called 'Q'"),
    ("key,Q,gold,ctx\n1,,b,c\n", ":2", "item 1: the field 'question' is missing"),
    ("key,Q,gold,ctx\n1,a?,b,c\n1,b?,c,d\n", ":3", "item 1: duplicate id, first used in row 1"),
    ("key,Q,gold,ctx\n1,a?,b,c\n2,\xff?,b,c\n3,a?,b,c\n", ":3:3", "not UTF-8: byte 0xff at offset 26"),
    ("", ":1", "the file holds no items"),
    ("key,Q,gold,ctx\n", ":1", "the file holds no items"),
    (
        "key,question_text,gold,ctx\n1,a,b,c\n",
        "",
        "no column is called 'Q' (columns: key, question_text, gold, ctx)",
    ),
]


@pytest.mark.parametrize(("text", "place", "words"), CSV_FAULTS, ids=[words for _, _, words in CSV_FAULTS])
def test_every_fault_of_a_csv_file_says_where_and_what(
    tmp_path: Path, text: str, place: str, words: str
) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError) as caught:
        load_benchmark(path, Reading(COLUMNS))
    assert str(caught.value).startswith(f"{path}{place}: " if place else "--column question")
    assert words in str(caught.value)


def test_semicolons_tabs_byte_order_marks_and_carriage_returns_are_read(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    for text in ("id;question;answer\r\n1;a, b?;4,2\r\n", "id\tquestion\tanswer\r\n1\ta, b?\t4,2\r\n"):
        path.write_bytes(b"\xef\xbb\xbf" + text.encode())
        item = load_benchmark(path).items[0]
        assert (item.id, item.question, item.answer) == ("1", "a, b?", "4,2")


def test_a_wrong_column_in_a_header_is_named_with_its_line(tmp_path: Path) -> None:
    path = folder(tmp_path, b"", f"{HEADER}items: data.csv\ncolumns:\n  id: key\n  question: Qu\n")
    csv_file(tmp_path / "data.csv")
    problem = inspect_benchmark(path).problems[0].line()
    assert problem.startswith(f"{path / 'benchmark.yaml'}:8: error: no column is called 'Qu'")


def test_without_a_mapping_the_columns_found_are_shown(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"columns found: key, Q, gold, ctx, other; --column id=COLUMN"):
        load_benchmark(csv_file(tmp_path / "data.csv"))


@pytest.mark.parametrize("form", ["csv", "json", "jsonl", "parquet"])
def test_a_utf16_file_and_one_of_other_bytes_is_one_line(tmp_path: Path, form: str) -> None:
    for data in ("id,question\n1,x\n".encode("utf-16"), b"\x00\x01\xfe\xff" * 100, b"PAR1" + b"\x00" * 50):
        path = tmp_path / f"x.{form}"
        path.write_bytes(data)
        with pytest.raises(UsageError) as caught:
            load_benchmark(path, Reading(COLUMNS))
        assert len(str(caught.value)) < len(str(path)) + 400 and "\n" not in str(caught.value)


def test_a_parquet_file_that_is_cut_off_is_one_line(tmp_path: Path) -> None:
    path = table(tmp_path, "parquet")
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(UsageError, match=r"data\.parquet: broken Parquet: .*is the file whole"):
        load_benchmark(path, Reading(COLUMNS))
    path.write_bytes(b"no parquet")
    with pytest.raises(UsageError, match=r"data\.parquet: not a Parquet file"):
        load_benchmark(path, Reading(COLUMNS))


JSON_FAULTS = [
    ('{"a": 1}', "1", "expected a list, found an object without one"),
    ('"x"', "1", "expected a list of JSON objects"),
    ("", "1", "the file is empty"),
    ("[\n1]", "2", "expected a JSON object, found a number"),
    ('[\n\n{"id": }]', "3", "broken JSON"),
    ('[{"id": "1"}\n{"id": "2"}]', "2", "broken JSON: expected ',' or ']'"),
    ('[{"id": "1"},', "1", "broken JSON"),
    ('[{"id": "1", "id": "2"}]', "1", "the key 'id' occurs twice"),
    ('{"data": 5}', "1", "found an object without one"),
    ('{"data"', "1", "expected a key and a colon"),
    ('{"data": [{"title": "x", "paragraphs": 4}]}', "1", "expected an article with 'paragraphs'"),
    ("[" * 100_000, "1", "nested too deeply"),
]


@pytest.mark.parametrize(("text", "line", "words"), JSON_FAULTS, ids=[words for _, _, words in JSON_FAULTS])
def test_every_fault_of_a_json_file_says_where_and_what(
    tmp_path: Path, text: str, line: str, words: str
) -> None:
    path = tmp_path / "data.json"
    path.write_text(text)
    sort = "squad" if "paragraphs" in text else None
    problems = [problem.line() for problem in inspect_benchmark(path, Reading(format=sort)).problems]
    assert any(problem.startswith(f"{path}:{line}") and words in problem for problem in problems), problems


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(
    entries=st.lists(st.dictionaries(st.text(max_size=4), JSON, max_size=4), max_size=5),
    indent=st.none() | st.integers(0, 3),
    wrap=st.booleans(),
    chunk=st.integers(1, 7),
)
@settings(max_examples=200, deadline=None)
def test_a_list_that_is_read_in_small_pieces_is_what_json_reads_whole(
    tmp_path_factory: pytest.TempPathFactory, entries: list[Any], indent: int | None, wrap: bool, chunk: int
) -> None:
    path = tmp_path_factory.mktemp("json") / "data.json"
    whole = {"version": [1, {"a": 2}], "data": entries, "end": 1} if wrap else entries
    path.write_text(json.dumps(whole, indent=indent, ensure_ascii=False), encoding="utf-8")
    problems = Problems()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("leadline.bench.json_rows._CHUNK", chunk)
        assert [dict(row.values) for row in json_list_rows(path, problems)] == entries
    assert not problems.found


def test_nested_columns_are_reached_by_dots(tmp_path: Path) -> None:
    rows = [
        {"id": 7, "q": "Q?", "answers": {"text": ["A", "B", "A"], "n": 1}, "meta": [{"s": "x"}, {"s": "y"}]},
        {"id": 8, "q": "Q?", "answers": {"text": [], "n": 0}, "meta": []},
    ]
    path = tmp_path / "data.parquet"
    pl.DataFrame(rows).write_parquet(path)
    columns = {"question": "q", "answer": "answers.text", "quote": "meta.s", "subject": "answers.text.1"}
    inspection = inspect_benchmark(path, Reading(columns))
    assert inspection.benchmark is not None and not inspection.problems
    (item,) = inspection.benchmark.items
    assert (item.id, item.answer, item.aliases, item.subject) == ("7", "A", ("B",), "B")
    assert item.evidence == (Evidence(quote="x"), Evidence(quote="y"))
    assert inspection.left_out == {"no answer is given": 1}
    wrong = inspect_benchmark(path, Reading({**columns, "answer": "answers.txt"})).problems[0]
    assert "did you mean 'answers.text'?" in wrong.line()


def test_cells_may_hold_lists_as_json(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text(
        "id,question,answer,aliases,evidence\n"
        '1,Q?,A,"[""B"", ""C""]","[{""quote"": ""q"", ""source"": ""d.txt""}]"\n'
        "2,Q?,A,[B,plain quote\n"
    )
    first, second = load_benchmark(path).items
    assert first.aliases == ("B", "C") and first.evidence == (Evidence(quote="q", source="d.txt"),)
    assert second.aliases == ("[B",) and second.evidence == (Evidence(quote="plain quote"),)


def test_values_of_other_types_become_the_text_that_people_write(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_text(
        '[{"id": 1, "question": "Q?", "answer": 0.10}, {"id": 2, "question": "Q?", "answer": true},'
        ' {"id": 3, "question": "Q?", "answer": {"a": 0.50, "b": "x"}, "answer_type": "parts",'
        ' "fields": [{"name": "a"}, {"name": "b"}]}]'
    )
    assert [item.answer for item in load_benchmark(path).items] == ["0.10", "true", '{"a": 0.50, "b": "x"}']


SQUAD = {
    "version": "v2.0",
    "data": [
        {
            "title": "Normans",
            "paragraphs": [
                {
                    "context": "The Normans lived in Normandy in the 10th century.",
                    "qas": [
                        {
                            "id": "a",
                            "question": " Where? ",
                            "is_impossible": False,
                            "answers": [
                                {"text": "Normandy", "answer_start": 21},
                                {"text": "in Normandy", "answer_start": 18},
                                {"text": "Normandy", "answer_start": 21},
                            ],
                        },
                        {"id": "b", "question": "Who?", "answers": [], "is_impossible": True},
                        {"id": "c", "question": "When?", "answers": [{"text": "10th", "answer_start": 1}]},
                    ],
                }
            ],
        }
    ],
}


def test_squad_files_are_recognised(tmp_path: Path) -> None:
    path = tmp_path / "dev.json"
    path.write_text(json.dumps(SQUAD))
    inspection = inspect_benchmark(path)
    assert inspection.benchmark is not None and not inspection.problems
    a, c = inspection.benchmark.items
    assert (a.question, a.answer, a.aliases, a.category) == (
        "Where?",
        "Normandy",
        ("in Normandy",),
        "Normans",
    )
    assert a.evidence == (Evidence(quote="Normandy"),) and a.window is not None and "10th" in a.window
    assert c.answer == "10th"
    assert inspection.left_out == {"no answer is given": 1}
    problems = Problems()
    from leadline.bench.squad import squad_rows

    assert len(list(squad_rows(path, problems))) == 3 and problems.notes == {MISPLACED: 1}


def test_squad_in_a_table_is_recognised_by_its_columns(tmp_path: Path) -> None:
    article = SQUAD["data"][0]  # type: ignore[index]
    paragraph = article["paragraphs"][0]  # type: ignore[index]
    rows = [
        {
            "id": q["id"],
            "title": "Normans",
            "context": paragraph["context"],
            "question": q["question"],
            "answers": {
                "text": [a["text"] for a in q["answers"]],
                "answer_start": [a["answer_start"] for a in q["answers"]],
            },
        }
        for q in paragraph["qas"]
    ]
    pl.DataFrame(rows).write_parquet(tmp_path / "t.parquet")
    (tmp_path / "dev.json").write_text(json.dumps(SQUAD))
    assert load_benchmark(tmp_path / "t.parquet").items == load_benchmark(tmp_path / "dev.json").items


def test_columns_are_for_bare_files(tmp_path: Path) -> None:
    path = folder(tmp_path, [{"id": "a", "question": "Q?", "answer": "A"}])
    with pytest.raises(UsageError, match="columns, format and split are for bare files"):
        load_benchmark(path, Reading({"question": "Q"}))


PIECES = st.sampled_from(
    [
        b'"',
        b",",
        b"\n",
        b"\r\n",
        b"[",
        b"]",
        b"{",
        b"}",
        b":",
        b"id",
        b"question",
        b"answer",
        b"data",
        b"PAR1",
    ]
)


@given(
    data=st.binary(max_size=60) | st.lists(PIECES | st.binary(max_size=3), max_size=25).map(b"".join),
    form=st.sampled_from(["csv", "tsv", "json", "jsonl", "parquet", "arrow"]),
)
@settings(max_examples=400, deadline=None)
def test_any_bytes_end_in_items_or_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, form: str
) -> None:
    path = tmp_path_factory.mktemp("any") / f"x.{form}"
    path.write_bytes(data)
    for reading in (Reading(), Reading(COLUMNS), Reading(format="squad")):
        try:
            assert load_benchmark(path, reading).items
        except LeadlineError as error:
            assert "\n" not in str(error) and len(str(error)) < 2 * len(str(path)) + 500
