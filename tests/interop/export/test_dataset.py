"""`leadline export dataset`: what Hugging Face's tools load, and what is a benchmark again."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from leadline.bench import load_benchmark
from leadline.interop.export_dataset import export_dataset
from leadline.study.study import open_study
from tests.interop.conftest import Leadline
from tests.interop.export.recorded import ITEMS, write_benchmark, write_study


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize("name", ["facts", "licences", "own"])
def test_a_dataset_is_the_same_benchmark(name: str, tmp_path: Path) -> None:
    place = str(write_benchmark(tmp_path / "bench")) if name == "own" else name
    benchmark = load_benchmark(place)
    export_dataset(benchmark, tmp_path / "dataset")
    back = load_benchmark(tmp_path / "dataset")
    assert back.content_hash == benchmark.content_hash
    assert back.items == benchmark.items


def test_the_library_loads_items_and_answers(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    study = write_study(tmp_path)
    done = export_dataset(open_study(study).benchmark, tmp_path / "dataset", study=open_study(study))
    assert (done.items, done.answers) == (6, 54)
    items = datasets.load_dataset(str(tmp_path / "dataset"), cache_dir=str(tmp_path / "c"))["test"]
    assert sorted(items["id"]) == sorted(str(item["id"]) for item in ITEMS)
    (first,) = (one for one in items if one["id"] == "eu/vienna")
    assert first["aliases"] == ["Donau"]
    assert first["evidence"] == [{"quote": "Vienna lies on the Danube.", "source": "atlas"}]
    answers = datasets.load_dataset(str(tmp_path / "dataset"), "answers", cache_dir=str(tmp_path / "c"))[
        "test"
    ]
    assert answers.num_rows == 54 and answers[0]["item"] in items["id"]


def test_the_card_says_what_tools_need_and_is_no_markup(tmp_path: Path) -> None:
    export_dataset(load_benchmark(write_benchmark(tmp_path / "bench")), tmp_path / "dataset")
    head, text = (tmp_path / "dataset" / "README.md").read_text("utf-8").split("---\n")[1:]
    said = yaml.safe_load(head)
    assert said["license"] == "cc-by-4.0" and said["pretty_name"] == "odds and ends"
    assert said["configs"][0]["data_files"] == [{"split": "test", "path": "data/items.parquet"}]
    assert "<script>" not in text and "&lt;script> of items" in text


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path, leadline: Leadline) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine", "utf-8")
    assert "is a folder that is not empty" in leadline("export", "dataset", "facts", tmp_path / "out").fault
    assert leadline("export", "dataset", "facts", tmp_path / "out", "--force").out.endswith("700 items\n")
    assert {one.name for one in (tmp_path / "out").iterdir()} == {"README.md", "data", "mine.txt"}
    assert {one.name for one in tmp_path.iterdir()} == {"out"}
