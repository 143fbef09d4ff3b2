"""Files that fuzzing found: each ended in a traceback, or took minutes, and is one line by now."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from leadline.audit.document import load_audit
from leadline.bench import inspect_benchmark, load_benchmark
from leadline.errors import UsageError
from leadline.techniques.probing import read_prompts


def fault(path: Path) -> str:
    with pytest.raises(UsageError) as refused:
        load_benchmark(path)
    return str(refused.value)


def test_anchors_that_name_each_other_are_not_walked_through(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 40)]
    (tmp_path / "benchmark.yaml").write_text("\n".join(lines))
    assert "YAML anchors are not used here" in fault(tmp_path)


def test_a_key_that_occurs_twice_among_very_many_is_found_at_once(tmp_path: Path) -> None:
    keys = ", ".join(f'"{number}": 1' for number in range(100_000))
    (tmp_path / "items.jsonl").write_text(f'{{{keys}, "99999": 2}}')
    assert "the key '99999' occurs twice" in fault(tmp_path / "items.jsonl")


def test_very_many_columns_of_one_name_are_counted_once(tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text("a," * 100_000 + "\n")
    assert "two columns are called 'a'" in fault(tmp_path / "items.csv")


def test_of_very_many_columns_the_first_are_named(tmp_path: Path) -> None:
    names = ",".join(f"c{number}" for number in range(1_000))
    (tmp_path / "items.csv").write_text(f"{names}\n1{',' * 999}\n")
    (problem,) = inspect_benchmark(tmp_path / "items.csv").problems
    assert "c39 and 960 more" in problem.fix and "c40" not in problem.fix


def test_a_class_whose_sort_is_a_list_is_none(tmp_path: Path) -> None:
    rows = [{"id": "1", "question": "Which?", "answer": "0"}]
    pl.DataFrame(rows).write_parquet(tmp_path / "items.parquet")
    about = {"features": {"answer": {"_type": ["ClassLabel"], "names": ["a"]}}}
    (tmp_path / "dataset_info.json").write_text(json.dumps(about))
    assert load_benchmark(tmp_path / "items.parquet").items[0].answer == "0"


def test_a_parquet_file_that_its_reader_panics_over_is_told(tmp_path: Path) -> None:
    rows = [{"id": name, "question": f"{name}?", "answer": name} for name in ("a", "b", "c")]
    path = tmp_path / "items.parquet"
    pl.DataFrame(rows).write_parquet(path, compression="uncompressed", statistics=False)
    whole = path.read_bytes()
    told = 0
    for at in range(4, len(whole) - 8):
        path.write_bytes(whole[:at] + b"\0" + whole[at + 1 :])
        try:
            load_benchmark(path)
        except UsageError as error:
            told += "broken Parquet: polars panicked over it" in str(error)
    assert told, "polars panics over none of them any more: then nothing need be caught"


@pytest.mark.parametrize("listed", [True, 5, {"filename": "a"}, "a.arrow", [True]])
def test_a_saved_dataset_that_lists_no_files_is_told(listed: object, tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text(json.dumps({"_data_files": listed}))
    assert "names no files of data" in fault(tmp_path)


@pytest.mark.parametrize("splits", [True, 5, None, [5, None]])
def test_a_saved_dataset_that_lists_no_splits_is_told(splits: object, tmp_path: Path) -> None:
    (tmp_path / "dataset_dict.json").write_text(json.dumps({"splits": splits}))
    assert str(tmp_path) in fault(tmp_path)


def test_numbers_of_thousands_of_digits_are_no_tracebacks(tmp_path: Path) -> None:
    file = tmp_path / "file.jsonl"
    file.write_text(f'{{"id": {"9" * 5_000}}}')
    with pytest.raises(UsageError, match="a number that is too long"):
        read_prompts(file)
    with pytest.raises(UsageError, match="no JSON text"):
        load_audit(file)
