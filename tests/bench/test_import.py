"""`leadline bench import`: other people's files become a benchmark, and nothing is left out in silence."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner, Result

from leadline.bench import load_benchmark
from leadline.cli.bench import app
from leadline.errors import LeadlineError, UsageError

runner = CliRunner()
pa = pytest.importorskip("pyarrow")

ROWS: list[dict[str, Any]] = [
    {"key": 1, "q": "One?", "a": ["A"]},
    {"key": 2, "q": "Two?", "a": []},
    {"key": 3, "q": "Three?", "a": ["C", "D"]},
]
NAMED = ["--column", "question=q", "--column", "answer=a"]


def bring(*arguments: str) -> Result:
    return runner.invoke(app, ["import", *arguments])


def refused(result: Result) -> str:
    assert isinstance(result.exception, LeadlineError), result.output
    return str(result.exception)


def parquet(path: Path, rows: list[dict[str, Any]] = ROWS) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(rows).write_parquet(path)
    return path


def saved(path: Path, rows: list[dict[str, Any]] = ROWS, shards: int = 2) -> Path:
    """As datasets' `save_to_disk` leaves one split: Arrow streams, and a state that lists them."""
    path.mkdir(parents=True)
    whole = pa.Table.from_pylist(rows)
    names = []
    for shard in range(shards):
        part = whole.slice(shard * 2, 2)
        name = f"data-{shard:05d}-of-{shards:05d}.arrow"
        with pa.OSFile(str(path / name), "wb") as sink, pa.ipc.new_stream(sink, part.schema) as writer:
            writer.write_table(part, max_chunksize=1)
        names.append({"filename": name})
    (path / "state.json").write_text(json.dumps({"_data_files": names, "_split": "train"}))
    (path / "dataset_info.json").write_text("{}")
    return path


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


def test_classes_are_called_by_their_names(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    label = datasets.ClassLabel(names=["neg", "pos"])
    features = datasets.Features(
        {"q": datasets.Value("string"), "a": label, "more": [label], "deep": {"x": label}}
    )
    data = {"q": ["One?", "Two?"], "a": [0, 1], "more": [[1], [0, 1]], "deep": [{"x": 1}, {"x": 0}]}
    made = datasets.Dataset.from_dict(data, features=features)
    made.save_to_disk(str(tmp_path / "set"))
    made.to_parquet(str(tmp_path / "x.parquet"))
    for source in ("set", "x.parquet"):
        for column, answers in (("a", ["neg", "pos"]), ("more", ["pos", "neg"]), ("deep.x", ["pos", "neg"])):
            out = tmp_path / f"{source}-{column}"
            columns = ["--column", "question=q", "--column", f"answer={column}"]
            assert bring(str(tmp_path / source), "--out", str(out), *columns).exit_code == 0
            assert [item.answer for item in load_benchmark(out).items] == answers


def test_the_names_of_classes_may_stand_beside_the_file_alone(tmp_path: Path) -> None:
    rows = [{"q": "One?", "a": 1}, {"q": "Two?", "a": 0}, {"q": "Three?", "a": -1}, {"q": "Four?", "a": 7}]
    folder = saved(tmp_path / "set", rows)
    names = {"features": {"a": {"names": ["no", "yes"], "_type": "ClassLabel"}}}
    (folder / "dataset_info.json").write_text(json.dumps(names))
    result = bring(str(folder), "--out", str(tmp_path / "out"), *NAMED)
    assert [item.answer for item in load_benchmark(tmp_path / "out").items] == ["yes", "no", "7"]
    assert "left out: 1 faulty row, with 1 fault" in result.stdout  # -1 is "no label"
    for broken in ("[]", "{", '{"features": 5}', '{"features": {"a": {"_type": "ClassLabel"}}}'):
        (folder / "dataset_info.json").write_text(broken)
        bring(str(folder), "--out", str(tmp_path / "out"), *NAMED, "--force")
        assert [item.answer for item in load_benchmark(tmp_path / "out").items] == ["1", "0", "-1", "7"]


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


def test_datasets_saved_to_disk_are_read_shard_after_shard(tmp_path: Path) -> None:
    folder = saved(tmp_path / "set")
    assert bring(str(folder), "--out", str(tmp_path / "out"), *NAMED, "--column", "id=key").exit_code == 0
    assert [item.id for item in load_benchmark(tmp_path / "out").items] == ["1", "3"]


def test_splits_are_chosen_by_name(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    saved(folder / "train")
    saved(folder / "test", ROWS[:1], shards=1)
    (folder / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    out = str(tmp_path / "out")
    assert "--split one of: train, test" in refused(bring(str(folder), "--out", out, *NAMED))
    assert "did you mean 'test'?" in refused(bring(str(folder), "--out", out, *NAMED, "--split", "tset"))
    assert bring(str(folder), "--out", out, *NAMED, "--split", "test").exit_code == 0
    assert len(load_benchmark(out).items) == 1


CARD = """---
license: cc-by-4.0
pretty_name: Rivers
configs:
- config_name: large
  data_files:
  - split: train
    path: [large/part-*]
- config_name: small
  data_files: small/*.parquet
---
# Rivers

How it was made.
"""


def test_a_card_says_which_files_and_what_they_are(tmp_path: Path) -> None:
    folder, out = tmp_path / "rivers", tmp_path / "out"
    parquet(folder / "large" / "part-0.parquet")
    parquet(folder / "large" / "part-1.parquet", [{"key": 9, "q": "Nine?", "a": ["N"]}])
    parquet(folder / "small" / "x.parquet", ROWS[:1])
    (folder / "README.md").write_text(CARD)
    message = refused(bring(str(folder), "--out", str(out), *NAMED))
    assert "several configs" in message and "--config one of: large, small" in message
    assert (
        bring(str(folder), "--out", str(out), *NAMED, "--config", "large", "--column", "id=key").exit_code
        == 0
    )
    benchmark = load_benchmark(out)
    assert [item.id for item in benchmark.items] == ["1", "3", "9"]
    assert (benchmark.title, benchmark.licence) == ("Rivers", "cc-by-4.0")
    assert benchmark.data_statement == "# Rivers\n\nHow it was made."


def test_without_a_card_splits_are_told_by_names(tmp_path: Path) -> None:
    parquet(tmp_path / "set" / "data" / "train-00000-of-00001.parquet")
    parquet(tmp_path / "set" / "data" / "validation-00000-of-00001.parquet", ROWS[:1])
    (tmp_path / "set" / "loop").symlink_to(tmp_path / "set")
    (tmp_path / "set" / "README.md").write_text("---\nlicense: mit\n---\nText")
    out = str(tmp_path / "out")
    assert bring(str(tmp_path / "set"), "--out", out, *NAMED, "--split", "validation").exit_code == 0
    assert len(load_benchmark(out).items) == 1


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("gone/*.parquet", "config 'gone' names gone/*.parquet: no such file"),
        ("../list.json", "config 'gone' names ../list.json, which is not in its folder"),
        ("/etc/*", "config 'gone' names /etc/*, which is not in its folder"),
        ("https://example.org/x.csv", "names https://example.org/x.csv, which is not in its folder"),
        ("link/hosts", "config 'gone' names link/hosts: no such file"),
        ("'[!'", "config 'gone' names [!: no such file"),
        ("[data/train-*, gone.csv]", "config 'gone' names gone.csv: no such file"),
        ("data/*.gz", "config 'gone' names data/*.gz: more.csv.gz is no file of data that is read"),
        ("data/notes*", "notes.txt is no file of data that is read"),
        ("5", "a path in 'data_files' must be text, not a number"),
    ],
)
@pytest.mark.parametrize("command", ["import", "validate", "show"])
def test_other_files_are_not_read_in_the_place_of_those_that_a_card_names(
    tmp_path: Path, command: str, path: str, words: str
) -> None:
    folder = tmp_path / "set"
    parquet(folder / "data" / "train-0.parquet")
    (folder / "data" / "more.csv.gz").write_bytes(b"x")
    (folder / "data" / "notes.txt").write_text("x")
    (folder / "link").symlink_to("/etc")
    files = f"    data_files:\n    - {{split: train, path: {path}}}\n"
    (folder / "README.md").write_text(f"---\nconfigs:\n  - config_name: gone\n{files}---\nText")
    out = ["--out", str(tmp_path / "out")] if command == "import" else []
    chosen = ["--config", "gone", "--split", "train"]
    for options in (chosen, []):
        message = refused(runner.invoke(app, [command, str(folder), *options, *out, *NAMED]))
        assert f"{folder / 'README.md'}: " in message and words in message and "\n" not in message


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ("configs: 5", "README.md: 'configs' must be a list, not a number"),
        ("configs: [5]", "README.md: an entry of 'configs' must be keys and values, not a number"),
        ("configs: [{data_files: 5}]", "README.md: 'data_files' must be a list, not a number"),
        ("configs: [{data_dir: 5}]", "README.md: config 'default': 'data_dir' must be text, not a number"),
        ("configs: [{data_dir: ../x}]", "README.md: config 'default' names the folder ../x: there is none"),
        ("configs: [{data_dir: gone}]", "README.md: config 'default' names the folder gone: there is none"),
        ("license: mit\n: broken: [", "README.md:3: broken YAML"),
    ],
)
def test_a_card_that_is_wrong_is_one_line_that_names_it(tmp_path: Path, head: str, words: str) -> None:
    folder = tmp_path / "set"
    parquet(folder / "data" / "train-0.parquet")
    (folder / "README.md").write_text(f"---\n{head}\n---\nText")
    message = refused(bring(str(folder), "--out", str(tmp_path / "out"), *NAMED))
    assert words in message and "\n" not in message


@pytest.mark.parametrize(
    ("configs", "options", "number"),
    [
        ("[{config_name: other, data_dir: other}, {config_name: default, data_dir: main}]", [], 1),
        ("[{config_name: a, data_dir: other}, {config_name: b, data_dir: main, default: true}]", [], 1),
        ("[{config_name: other, data_dir: other}, {data_dir: main}]", ["--config", "other"], 2),
        ("[{config_name: other, data_dir: other}]", [], 2),
        ("[{data_dir: other, data_files: {train: x.*}}]", ["--split", "train"], 2),
        ("[{data_files: main/x.parquet}, {config_name: other, data_dir: other}]", [], 1),
    ],
)
def test_the_default_configuration_need_not_be_named_and_folders_are_configurations(
    tmp_path: Path, configs: str, options: list[str], number: int
) -> None:
    folder = tmp_path / "set"
    parquet(folder / "main" / "x.parquet", ROWS[:1])
    parquet(folder / "other" / "x.parquet")
    (folder / "README.md").write_text(f"---\nconfigs: {configs}\n---\nText")
    assert bring(str(folder), "--out", str(tmp_path / "out"), *NAMED, *options).exit_code == 0
    assert len(load_benchmark(tmp_path / "out").items) == number


def test_of_a_dataset_that_is_here_in_part_the_splits_that_are_here_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    parquet(folder / "data" / "train-0.parquet")
    files = "{train: data/train-*, test: data/test-*}"
    (folder / "README.md").write_text(f"---\nconfigs: [{{data_files: {files}}}]\n---\nText")
    assert bring(str(folder), "--out", str(tmp_path / "out"), *NAMED).exit_code == 0
    message = refused(bring(str(folder), "--out", str(tmp_path / "two"), *NAMED, "--split", "test"))
    assert "config 'default' names data/test-*: no such file" in message


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--split", "test"], "is one split, called 'train' (leave --split out)"),
        (["--config", "x"], "a saved dataset has no configurations"),
    ],
)
def test_a_split_that_a_saved_dataset_is_not_is_refused(
    tmp_path: Path, options: list[str], words: str
) -> None:
    folder = saved(tmp_path / "set")
    assert words in refused(bring(str(folder), "--out", str(tmp_path / "out"), *NAMED, *options))
    named = ["--split", "train"]
    assert bring(str(folder), "--out", str(tmp_path / "out"), *NAMED, *named).exit_code == 0


@pytest.mark.parametrize(
    ("break_it", "words"),
    [
        (lambda folder: (folder / "state.json").write_text("{"), "state.json: broken JSON"),
        (lambda folder: (folder / "state.json").write_text("{}"), "names no files of data"),
        (
            lambda folder: (folder / "state.json").write_text(
                '{"_data_files": [{"filename": "../x.arrow"}]}'
            ),
            "names no files of data",
        ),
        (
            lambda folder: next(folder.glob("*0-of*.arrow")).unlink(),
            "00000-of-00002.arrow: cannot be read: No such file",
        ),
        (lambda folder: next(folder.glob("*0-of*.arrow")).write_bytes(b"junk" * 9), "broken Arrow file"),
    ],
)
def test_a_damaged_dataset_is_one_line(tmp_path: Path, break_it: Any, words: str) -> None:
    folder = saved(tmp_path / "set")
    break_it(folder)
    message = refused(bring(str(folder), "--out", str(tmp_path / "out"), *NAMED))
    assert words in message and "\n" not in message


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


def test_a_benchmark_without_its_header_is_no_dataset(tmp_path: Path) -> None:
    (tmp_path / "items.jsonl").write_text('{"id": "a", "question": "Q?", "answer": "A"}')
    with pytest.raises(UsageError, match=r"the folder holds no benchmark\.yaml"):
        load_benchmark(tmp_path)


def test_a_dataset_can_be_validated_without_importing_it(tmp_path: Path) -> None:
    folder = saved(tmp_path / "set")
    result = runner.invoke(app, ["validate", str(folder), *NAMED, "--column", "id=key"])
    assert "left out: 1 row: no answer is given" in result.stdout and result.exit_code == 0
    without = runner.invoke(app, ["validate", str(folder), *NAMED])
    assert without.exit_code == 1 and "leadline bench import numbers the rows" in without.stdout


def test_what_datasets_itself_saves_is_read(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    rows = [{"id": str(n), "context": f"It costs {n} dollars.", "question": "How much?",
             "answers": {"text": [str(n)], "answer_start": [9]}} for n in range(5)]  # fmt: skip
    made = datasets.Dataset.from_list(rows)
    datasets.DatasetDict({"train": made, "test": made.select([3])}).save_to_disk(str(tmp_path / "set"))
    assert bring(str(tmp_path / "set"), "--out", str(tmp_path / "out"), "--split", "test").exit_code == 0
    (item,) = load_benchmark(tmp_path / "out").items
    assert (item.id, item.answer, item.window) == ("3", "3", "It costs 3 dollars.")
    with pytest.raises(UsageError, match="several splits"):
        load_benchmark(tmp_path / "set")
