"""What a header declares for the items of a task, and every way to get it wrong."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from leadline.bench import inspect_benchmark, load_benchmark, open_stream
from leadline.bench.answer_form import Term
from leadline.bench.item import Item
from leadline.bench.validate import validate
from leadline.errors import UsageError
from tests.bench.folders import HEADER as PLAIN
from tests.bench.folders import folder

HEADER = """\
name: contracts
version: "1.0"
licence: CC0-1.0
data_statement: Written for these tests.
tasks:
  - name: deductible
    category: money
    answer_type: number
    unit: USD
    precision: 0.10
    locale: en-US
    question: How much is the deductible?
    prompt: "{{ window }}\\n{{ question }}"
  - name: waiver
    answer_type: enum
    vocabulary: {yes: [on, "true"], no: [off], n/a: }
    question: Is it waived?
  - name: kind
    answer_type: enum
    vocabulary: [yes, 12, null]
  - name: terms
    answer_type: parts
    fields:
      - {name: amount, answer_type: number, precision: 0.01}
      - {name: waived, answer_type: enum, vocabulary: [yes, no]}
"""
ITEMS: list[dict[str, object]] = [
    {"id": "a", "task": "deductible", "answer": "5.50"},
    {
        "id": "b",
        "task": "deductible",
        "answer": "6",
        "unit": "EUR",
        "precision": None,
        "question": "Wie viel?",
    },
    {"id": "c", "relation": "waiver", "domain": "law", "answer": "yes"},
    {"id": "d", "task": "kind", "question": "Which?", "answer": "12"},
    {"id": "e", "task": "terms", "question": "What?", "answer": {"amount": 1.5, "waived": "no"}},
]


def header(tasks: str) -> str:
    return f'name: x\nversion: "1"\ntasks:\n{tasks}'


def test_items_take_from_their_task_what_they_lack(tmp_path: Path) -> None:
    items = load_benchmark(folder(tmp_path, ITEMS, HEADER)).by_id
    a = items["a"]
    assert (a.question, a.category, a.answer_type, a.unit) == (
        "How much is the deductible?", "money", "number", "USD",
    )  # fmt: skip
    assert (
        a.precision == Decimal("0.1") and a.locale == "en-US" and a.prompt == "{{ window }}\n{{ question }}"
    )


def test_null_in_an_item_takes_the_place_of_everything_that_its_task_declares(tmp_path: Path) -> None:
    nothing = dict.fromkeys(
        ("category", "answer_type", "prompt", "unit", "precision", "vocabulary", "locale", "fields")
    )
    items = [
        {"id": "a", "task": task, "question": "Q?", "answer": "A", **nothing}
        for task in ("deductible", "terms")
    ]
    for number, item in enumerate(items):
        (read,) = load_benchmark(folder(tmp_path / str(number), [item], HEADER)).items
        assert read == Item(id="a", task=str(item["task"]), question="Q?", answer="A")


def test_what_an_item_says_itself_counts_even_where_it_says_nothing(tmp_path: Path) -> None:
    b = load_benchmark(folder(tmp_path, ITEMS, HEADER)).by_id["b"]
    assert (b.unit, b.precision, b.question) == ("EUR", None, "Wie viel?")


def test_a_domain_of_the_item_wins_over_the_category_of_its_task(tmp_path: Path) -> None:
    tasks = header("  - {name: t, category: theirs, question: 'Q?'}\n")
    path = folder(tmp_path, [{"id": "a", "relation": "t", "domain": "mine", "answer": "A"}], tasks)
    assert load_benchmark(path).items[0].category == "mine"


def test_words_of_a_vocabulary_are_words_even_where_yaml_has_other_ideas(tmp_path: Path) -> None:
    benchmark = load_benchmark(folder(tmp_path, ITEMS, HEADER))
    assert benchmark.by_id["c"].vocabulary == (
        Term(value="yes", synonyms=("on", "true")),
        Term(value="no", synonyms=("off",)),
        Term(value="n/a"),
    )
    assert [term.value for term in benchmark.by_id["d"].vocabulary] == ["yes", "12", "null"]
    assert [term.value for term in benchmark.by_id["e"].fields[1].vocabulary] == ["yes", "no"]


def test_the_benchmark_and_its_stream_know_the_declarations(tmp_path: Path) -> None:
    path = folder(tmp_path, ITEMS, HEADER)
    benchmark, stream = load_benchmark(path), open_stream(path)
    assert [task.name for task in benchmark.tasks] == ["deductible", "waiver", "kind", "terms"]
    assert stream.header.tasks == benchmark.tasks
    assert [placed.item for placed in stream] == list(benchmark.items)
    assert benchmark.data_statement == "Written for these tests."


FAULTS = [
    ("  - {category: x}\n", "4", "the key 'name' is missing"),
    ("  - {name: a, unti: x}\n", "4", "unknown key 'unti' (did you mean 'unit'?)"),
    ("  - name: a\n    vocabulary:\n      - {valu: x}\n", "6", "did you mean 'value'?"),
    ("  - name: a\n    fields:\n      - {name: f, typ: x}\n", "6", "known keys: unit, precision"),
    ("  - {name: a, answer_type: numbr}\n", "4", "'tasks.answer_type' must be 'text', 'number'"),
    ("  - {name: a, precision: 0}\n", "4", "'tasks.precision' must be more than 0"),
    ("  - {name: a, precision: soon}\n", "4", "'tasks.precision' "),
    ("  - {name: a, vocabulary: yes}\n", "4", "'tasks.vocabulary' must be a list, not true"),
    ("  - {name: a, vocabulary: [x, X]}\n", "4", "uses the word 'X' for both 'x' and 'X'"),
    ("  - {name: a, vocabulary: [x, x]}\n", "4", "uses the word 'x' for two values"),
    ("  - {name: a, date_order: dym}\n", "4", "'tasks.date_order' must be 'dmy', 'mdy' or 'ymd'"),
    ("  - {name: a, locale: 'not a locale!'}\n", "4", "'tasks.locale' "),
    ("  - {name: a, locale: xx-YY}\n", "4", "'tasks.locale' 'xx-YY' is no locale that is known"),
    ("  - {name: a, locale: de-XX}\n", "4", "'tasks.locale' 'de-XX' is no locale that is known"),
    ("  - {name: a, unit: 5}\n", "4", "'tasks.unit' must be text, not 5 (put it in quotes)"),
    ("  - {name: a}\n  - {name: b}\n  - {name: a}\n", "6", "the task 'a' is declared twice, first on line 4"),
    ("  - {name: a, answer_type: parts}\n", "4", "answers of type 'parts' need 'fields'"),
    ("  - {name: a, fields: [{name: f}]}\n", "4", "but its answers are not of type 'parts'"),
    (
        "  - {name: a, answer_type: parts, fields: [{name: f}, {name: f}]}\n",
        "4",
        "two fields are called 'f'",
    ),
    ("  - &one {name: a}\n  - *one\n", "4", "YAML anchors are not used here"),
    ("  - name: a\n    name: b\n", "5", "the key 'name' occurs twice, first on line 4"),
    ("  name: a\n", "3", "'tasks' must be a list, not keys and values"),
    ("  - a\n", "4", "'tasks' must be keys and values, not 'a'"),
]


@pytest.mark.parametrize(("tasks", "line", "words"), FAULTS, ids=[words for _, _, words in FAULTS])
def test_every_fault_of_a_declaration_says_where_and_what(
    tmp_path: Path, tasks: str, line: str, words: str
) -> None:
    path = folder(tmp_path, ITEMS, header(tasks))
    problems = [p.line() for p in inspect_benchmark(path).problems if "benchmark.yaml" in p.where]
    assert problems[0].startswith(f"{path / 'benchmark.yaml'}:{line}: error: ")
    assert words in problems[0]


def test_all_faults_of_a_header_are_listed_at_once(tmp_path: Path) -> None:
    text = "name: x\nversion: 1\ntitel: y\ncolumns: {questoin: Q}\ntasks:\n  - {name: a, unti: x}\n"
    problems = inspect_benchmark(
        folder(tmp_path, [{"id": "a", "question": "Q?", "answer": "A"}], text)
    ).problems
    assert [problem.where.rpartition(":")[2] for problem in problems] == ["2", "3", "6"]
    columns = text.replace("version: 1", 'version: "1"').replace("titel", "title").replace("unti", "unit")
    problems = inspect_benchmark(folder(tmp_path, [], columns)).problems
    assert "did you mean 'question'?" in problems[0].line() and problems[0].where.endswith(".yaml:4")


def test_a_task_that_is_not_declared_is_a_warning_where_others_are(tmp_path: Path) -> None:
    tasks = header("  - {name: deductible, question: 'Q?'}\n  - {name: unused}\n")
    items: list[dict[str, object]] = [
        {"id": "a", "task": "deductable", "question": "Q?", "answer": "Paris"},
        {"id": "b", "task": "deductible", "answer": "Paris"},
    ]
    _, problems = validate(folder(tmp_path, items, tasks))
    lines = [problem.line() for problem in problems if problem.rule == "tasks-declared"]
    assert "items.jsonl:1: warning: item a: the task 'deductable' is not declared" in lines[0]
    assert "did you mean 'deductible'?" in lines[0]
    assert "the task 'unused' is declared and has no items" in lines[1]
    undeclared = folder(tmp_path, items[:1] * 1, 'name: x\nversion: "1"\n')
    assert not [p for p in validate(undeclared)[1] if p.rule == "tasks-declared"]


@pytest.mark.parametrize(("answer", "sound"), [("yes", True), ("ON", True), ("N/A", True), ("yess", False)])
def test_an_enum_answer_outside_its_vocabulary_is_an_error(tmp_path: Path, answer: str, sound: bool) -> None:
    path = folder(tmp_path, [{"id": "a", "task": "waiver", "answer": answer}], HEADER)
    found = [p for p in validate(path)[1] if p.rule == "in-vocabulary"]
    assert not found if sound else "did you mean 'yes'?" in found[0].line() and found[0].severity == "error"


def test_so_is_one_among_the_parts(tmp_path: Path) -> None:
    answer = {"amount": 2, "waived": "perhaps"}
    path = folder(tmp_path, [{"id": "a", "task": "terms", "question": "Q?", "answer": answer}], HEADER)
    found = [p.message for p in validate(path)[1] if p.rule == "in-vocabulary"]
    assert found == ["waived: the answer 'perhaps' is not in the vocabulary"]


def test_a_gold_answer_that_its_own_reader_does_not_read_is_an_error(tmp_path: Path) -> None:
    path = folder(tmp_path, ITEMS, HEADER)

    def digits_only(item: object) -> str:
        return "" if getattr(item, "answer")[0].isdigit() else "no digits"  # noqa: B009

    found = [p.line() for p in validate(path, gold=digits_only)[1] if p.rule == "gold-readable"]
    assert [line.split(": ")[2] for line in found] == ["item c", "item e"]
    assert "the answer 'yes' is not read as 'enum': no digits" in found[0]


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("README.md", "From the file."),
        ("In words, not a name.", "In words, not a name."),
        ("", "From the file."),
    ],
)
def test_the_data_statement_is_text_or_a_file(tmp_path: Path, statement: str, text: str) -> None:
    path = folder(tmp_path, ITEMS, HEADER.replace("Written for these tests.", f'"{statement}"'))
    (path / "README.md").write_text("From the file.\n", encoding="utf-8")
    assert load_benchmark(path).data_statement == text


@pytest.mark.parametrize("name", ["../../x.md", "/etc/x.txt", "docs/about.md", "..\\x.md"])
def test_a_data_statement_in_another_folder_is_not_taken_for_a_text(tmp_path: Path, name: str) -> None:
    path = folder(tmp_path, [{"id": "a", "question": "Q?", "answer": "A"}], f"{PLAIN}data_statement: {name}")
    with pytest.raises(UsageError, match=r"benchmark\.yaml:5: 'data_statement': .* is not in this folder"):
        load_benchmark(path)


def test_a_data_statement_that_is_named_must_be_there_and_be_text(tmp_path: Path) -> None:
    path = folder(tmp_path, ITEMS, HEADER.replace("Written for these tests.", "about.md"))
    with pytest.raises(UsageError, match=r"benchmark\.yaml:4: 'data_statement': about\.md cannot be read"):
        load_benchmark(path)
    (path / "about.md").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match=r"benchmark\.yaml:4: .*about\.md is not UTF-8"):
        load_benchmark(path)
