"""Folders of datasets: what their cards name is read, or is an error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from leadline.bench import load_benchmark
from leadline.cli.bench import app
from leadline.errors import UsageError
from tests.bench.brought import CARD, NAMED, ROWS, bring, parquet, refused, runner, saved


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
