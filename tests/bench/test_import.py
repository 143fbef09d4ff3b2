"""`leadline bench import`: other people's files become a benchmark, and nothing is left out in silence."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from leadline.bench import load_benchmark
from leadline.cli.bench import app
from tests.bench.brought import CARD, NAMED, ROWS, bring, parquet, refused, runner


def test_a_table_becomes_a_folder_that_validates(tmp_path: Path) -> None:
    out = tmp_path / "bench"
    result = bring(str(parquet(tmp_path / "data.parquet")), "--out", str(out), *NAMED, "--column", "id=key")
    assert result.exit_code == 0
    assert result.stdout == f"left out: 1 row: no answer is given\n{out}: 2 items\n"
    benchmark = load_benchmark(out)
    assert (benchmark.name, benchmark.version) == ("data", "1")
    assert [(i.id, i.answer, i.aliases) for i in benchmark.items] == [("1", "A", ()), ("3", "C", ("D",))]
    assert runner.invoke(app, ["validate", str(out)]).exit_code == 0


def test_rows_without_an_id_are_numbered_and_stay_so(tmp_path: Path) -> None:
    path = parquet(tmp_path / "data.parquet")
    for name in ("one", "two"):
        bring(str(path), "--out", str(tmp_path / name), *NAMED, "--name", "N", "--version", "2")
    ids = [item.id for item in load_benchmark(tmp_path / "one").items]
    assert ids == ["N-1", "N-3"] == [item.id for item in load_benchmark(tmp_path / "two").items]


def test_faulty_rows_are_left_out_listed_and_end_in_1(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("id,question,answer\n1,Q?,A\n2,,B\n3,Q?\n4,Q?,D\n")
    result = bring(str(path), "--out", str(tmp_path / "out"))
    assert result.exit_code == 1
    assert f"{path}:3: error: item 2: the field 'question' is missing" in result.stdout
    assert f"{path}:4: error: the row has 2 cells" in result.stdout
    assert "left out: 2 faulty rows, with 2 faults" in result.stdout
    assert [item.id for item in load_benchmark(tmp_path / "out").items] == ["1", "4"]
    document = json.loads(bring(str(path), "--out", str(tmp_path / "again"), "--json").stdout)
    assert (document["items"], document["faults"], len(document["problems"])) == (2, 2, 2)
    path.write_text("id,question,answer,precision\n1,Q?,A,\n2,,B,-1\n3,,,\n")
    assert "left out: 2 faulty rows, with 3 faults" in bring(str(path), "--out", str(tmp_path / "3")).stdout


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("x.csv", b'id,question,answer\n1,Q?,A\n2,"Q?,A\n'),
        ("x.csv", b"id,question,answer\n1,Q?,A\n2,\xff?,A\n3,Q?,A\n"),
        ("x.json", b'[{"id": "1", "question": "Q?", "answer": "A"},'),
    ],
)
def test_half_of_a_file_is_not_taken_for_the_whole(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    assert f"{name}:" in refused(bring(str(tmp_path / name), "--out", str(tmp_path / "out")))
    assert not (tmp_path / "out").exists()


def test_a_folder_with_something_in_it_is_not_overwritten_without_force(tmp_path: Path) -> None:
    path, out = parquet(tmp_path / "data.parquet"), tmp_path / "out"
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    assert "--force replaces it" in refused(bring(str(path), "--out", str(out), *NAMED))
    assert bring(str(path), "--out", str(out), *NAMED, "--force").exit_code == 0
    assert (out / "notes.txt").read_text() == "mine" and len(load_benchmark(out).items) == 2


def test_an_earlier_readme_is_not_the_new_benchmarks_data_statement(tmp_path: Path) -> None:
    folder, out = tmp_path / "rivers", tmp_path / "out"
    parquet(folder / "small" / "x.parquet")
    parquet(folder / "large" / "part-0.parquet")
    (folder / "README.md").write_text(CARD)
    assert bring(str(folder), "--out", str(out), *NAMED, "--config", "small").exit_code == 0
    again = bring(str(folder), "--out", str(out), *NAMED, "--config", "large", "--force")
    assert "README" not in again.stdout and not (out / "README.old.md").exists()
    result = bring(str(parquet(tmp_path / "data.parquet")), "--out", str(out), *NAMED, "--force")
    assert "note: the README.md that was there is now README.old.md" in result.stdout
    assert load_benchmark(out).data_statement == ""
    assert (out / "README.old.md").read_text() == "# Rivers\n\nHow it was made.\n"


def test_what_cannot_be_written_is_not_said_to_be_unreadable(tmp_path: Path) -> None:
    path = str(parquet(tmp_path / "data.parquet"))
    assert refused(bring(path, "--out", "/proc/x", *NAMED)).startswith("/proc/x: cannot be written: ")
    (tmp_path / "file").write_text("mine")
    for options in ([], ["--force"]):
        message = refused(bring(path, "--out", str(tmp_path / "file"), *NAMED, *options))
        assert message.startswith(f"{tmp_path / 'file'}: is a file, not a folder")
    assert "cannot be written" in refused(bring(path, "--out", str(tmp_path / "file" / "x"), *NAMED))


def test_a_full_disk_is_told_as_such(tmp_path: Path) -> None:
    path = str(
        parquet(tmp_path / "data.parquet", [{"key": n, "q": "?" * 999, "a": ["A"]} for n in range(99)])
    )
    full = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))"
    call = ["import", path, "--out", str(tmp_path / "out"), *NAMED]
    code = f"import polars; {full}; from leadline.cli.app import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "bench", *call], check=False, capture_output=True, text=True
    )
    assert f"{tmp_path / 'out'}: cannot be written: File too large" in done.stderr
    assert done.returncode == 2 and not (tmp_path / "out").exists()


def test_what_is_no_ordinary_file_is_not_said_to_be_missing(tmp_path: Path) -> None:
    assert "/dev/null: is no ordinary file" in refused(bring("/dev/null", "--out", str(tmp_path / "out")))
    assert "/dev/null: is no ordinary file" in refused(runner.invoke(app, ["validate", "/dev/null"]))


@pytest.mark.parametrize("option", ["--split", "--config"])
@pytest.mark.parametrize("command", ["import", "validate", "show"])
def test_a_file_has_no_splits(tmp_path: Path, command: str, option: str) -> None:
    path = parquet(tmp_path / "data.parquet")
    out = ["--out", str(tmp_path / "out")] if command == "import" else []
    message = refused(runner.invoke(app, [command, str(path), option, "x", *out, *NAMED]))
    assert f"{path}: {option} is for the folder of a dataset, and this is a file" in message


def test_a_nan_is_no_gold_answer(tmp_path: Path) -> None:
    rows = [{"q": "One?", "a": 1.5, "p": {"x": 1.0}}, {"q": "Two?", "a": float("nan"), "p": {"x": 1.0}},
            {"q": "Three?", "a": float("inf"), "p": {"x": float("nan")}}]  # fmt: skip
    path = parquet(tmp_path / "data.parquet", rows)
    for answer, number in (("a", 1), ("p.x", 2)):
        out = tmp_path / answer
        result = bring(str(path), "--out", str(out), "--column", "question=q", "--column", f"answer={answer}")
        assert result.exit_code == 1 and len(load_benchmark(out).items) == number
        assert f"{path}:3: error: 'answer': NaN and infinity are not numbers" in result.stdout


TWICE = "task,item,question,answer\nt,1,One?,A\nu,1,Two?,B\n"


def test_ids_that_differ_within_a_task_only_are_joined_with_it(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text(TWICE)
    result = bring(str(path), "--out", str(tmp_path / "out"), "--column", "id=item")
    assert "where they differ within a task only: --column id=task+item" in result.stdout
    named = ["--column", "id=task+item"]
    assert bring(str(path), "--out", str(tmp_path / "two"), *named).exit_code == 0
    assert [item.id for item in load_benchmark(tmp_path / "two").items] == ["t/1", "u/1"]
    assert runner.invoke(app, ["validate", str(path), *named]).exit_code == 0
    wrong = refused(bring(str(path), "--out", str(tmp_path / "3"), "--column", "id=task+itme"))
    assert "no column is called 'itme' (did you mean 'item'?)" in wrong
    path.write_text("task,task+item,question,answer\nt,1,One?,A\n")
    assert bring(str(path), "--out", str(tmp_path / "4"), *named).exit_code == 0
    assert [item.id for item in load_benchmark(tmp_path / "4").items] == ["1"]
    path.write_text(TWICE.replace("u,1", ",1"))
    gap = bring(str(path), "--out", str(tmp_path / "5"), *named)
    assert f"{path}:3: error: 'id': one of its columns holds no text or number" in gap.stdout


PROBITY = Path(__file__).parents[3] / "shared" / "data" / "probity" / "items.jsonl"


@pytest.mark.skipif(not PROBITY.is_file(), reason="the shared data is not beside the repository")
def test_items_of_many_tasks_are_brought_by_task_and_item(tmp_path: Path) -> None:
    named = ["answer=label", "source=source_url", "id=task+item"]
    options = [word for column in named for word in ("--column", column)]
    result = bring(str(PROBITY), "--out", str(tmp_path / "out"), *options)
    assert result.exit_code == 0, result.stdout
    assert len(load_benchmark(tmp_path / "out").items) == len(PROBITY.read_text().splitlines())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "none are named for them (columns found: key, q, a"),
        (["--column", "question=w", "--column", "answer=a"], "no column is called 'w'"),
        (["--column", "question"], "is not FIELD=COLUMN"),
        (["--column", "questoin=q"], "did you mean 'question'?"),
        (["--column", "id=q", "--column", "id=a"], "names 'id' twice"),
        (["--format", "csv", *NAMED], "not UTF-8"),
        ([*NAMED, "--name", "a\nb"], "--name must be one line of 1 to 100 characters"),
        ([*NAMED, "--version", ""], "--version must be one line"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_mapping_is_said_and_nothing_is_written(
    tmp_path: Path, arguments: list[str], words: str
) -> None:
    path, out = parquet(tmp_path / "data.parquet"), tmp_path / "out"
    message = refused(bring(str(path), "--out", str(out), *arguments))
    assert words in message or (words == "not UTF-8" and "data.parquet" in message)
    assert not out.exists()


def test_nothing_left_is_an_error_that_says_why(tmp_path: Path) -> None:
    path = parquet(tmp_path / "data.parquet", [ROWS[1], {"key": 5, "q": "x", "a": []}])
    message = refused(bring(str(path), "--out", str(tmp_path / "out"), *NAMED))
    assert "no items are left: 2 rows: no answer is given" in message
    assert not (tmp_path / "out").exists()


def test_what_is_no_data_at_all_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    out = ["--out", str(tmp_path / "out")]
    assert "holds no data" in refused(bring(str(tmp_path / "empty"), *out))
    assert "there is no such file" in refused(bring(str(tmp_path / "none"), *out))
    (tmp_path / "x.bin").write_bytes(b"x")
    assert "--format csv" in refused(bring(str(tmp_path / "x.bin"), *out))
    assert "is a benchmark already" in refused(bring(str(parquet_bench(tmp_path)), *out))


def parquet_bench(tmp_path: Path) -> Path:
    made = tmp_path / "made"
    assert bring(str(parquet(tmp_path / "data.parquet")), "--out", str(made), *NAMED).exit_code == 0
    return made
