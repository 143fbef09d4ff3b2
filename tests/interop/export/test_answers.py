"""`leadline export answers`: the table says what the study says, and comes back as the same findings."""

from __future__ import annotations

import csv
import json
import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leadline.interop.export_answers import COLUMNS, export_answers
from leadline.interop.table import import_table
from leadline.report.study_report import report_study
from leadline.study.new import recorded_study
from leadline.study.progress import Quiet
from leadline.study.readings import readings
from leadline.study.recording import RecordedAnswer, record
from leadline.study.store import open_store
from leadline.study.study import open_study
from tests.interop.conftest import Leadline
from tests.interop.export.recorded import write_study
from tests.study.small import change, small_study, write_model

FORMS = ("parquet", "csv", "jsonl")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_study(tmp_path_factory.mktemp("recorded"))


def reported(folder: Path, without: Sequence[str] = ()) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The findings in a study's findings.json, and what else it says: who was asked, who plays which part."""
    report_study(open_study(folder))
    written = json.loads((folder / "report" / "findings.json").read_text("utf-8"))
    found = [one for one in written["findings"] if not {one["lens"], one["table"]} & set(without)]
    kept = ("name", "model", "label", "samples", "responses", "role")
    parts = {
        "benchmark": written["benchmark"],
        "protocol": written["protocol"],
        "configurations": [{key: one[key] for key in kept} for one in written["configurations"]],
    }
    return found, parts


@pytest.mark.parametrize("form", FORMS)
def test_a_study_of_recorded_answers_comes_back_with_the_same_findings(
    study: Path, tmp_path: Path, form: str, leadline: Leadline
) -> None:
    table = tmp_path / f"answers.{form}"
    assert leadline("export", "answers", study, "--out", table).code == 0
    ended = leadline(
        "import", "table", table, "--study", tmp_path / "back", "--benchmark", study.parent / "bench"
    )
    assert "columns: as `leadline export answers` has them" in ended.out
    before = reported(study)
    assert len(before[0]) > 20
    assert reported(tmp_path / "back") == before


@pytest.mark.parametrize("form", FORMS)
def test_texts_tokens_ends_and_failures_come_back_to_the_letter(
    study: Path, tmp_path: Path, form: str
) -> None:
    table = tmp_path / f"answers.{form}"
    export_answers(open_study(study), table)
    import_table([table], tmp_path / "back", benchmark=str(study.parent / "bench"))
    kept = (
        "SELECT configuration, item, asked, sample, text, finish, tokens_in, tokens_out FROM responses "
        "ORDER BY 1, 2, 3, 4",
        "SELECT configuration, item, asked, sample, kind, message FROM failures ORDER BY 1, 2, 3, 4",
    )
    for statement in kept:
        before, after = (
            sqlite3.connect(folder / "responses.sqlite").execute(statement).fetchall()
            for folder in (study, tmp_path / "back")
        )
        assert before and after == before


def test_a_row_says_what_the_reading_says(study: Path, tmp_path: Path) -> None:
    done = export_answers(open_study(study), tmp_path / "answers.parquet")
    table = pl.read_parquet(tmp_path / "answers.parquet")
    assert table.columns == list(COLUMNS) and table.height == done.rows == 54 and done.failed == 1
    opened = open_study(study)
    with open_store(study, write=False) as store:
        frame = readings(opened, store)
    keys = ["model", "configuration", "item", "sample"]
    said = [*keys, "state", "value", "correct", "correct_strict", "tokens_in", "tokens_out"]
    assert table.sort(keys).select(said).equals(frame.sort(keys).select(said))
    failed = table.row(by_predicate=pl.col("state") == "error", named=True)
    assert (failed["text"], failed["error"]) == (None, "timeout")
    assert failed["message"] == "no answer within\n120 s, =1"
    assert set(table["state"]) >= {"ok", "truncated", "refused", "error", "unreadable"}


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of a model, with techniques, temperatures, partitions and techniques that are asked again."""
    pytest.importorskip("torch", reason="local models need the 'local' extra")
    from leadline.study.run import run_study

    folder = tmp_path_factory.mktemp("asked")
    place = small_study(
        folder / "study", write_model(folder / "model"), again={"times": 3, "temperature": 0.7}
    )
    run_study(open_study(place), Quiet())
    return place


def test_a_study_of_a_model_comes_back_with_its_parts(asked: Path, tmp_path: Path) -> None:
    export_answers(open_study(asked), tmp_path / "answers.csv")
    import_table([tmp_path / "answers.csv"], tmp_path / "back", benchmark=str(asked / "items.jsonl"))
    # Ranks of gold answers were looked up inside the model, and no table of answers holds them.
    ranks = ("rank_shift", "rank shift")
    before = reported(asked, ranks)
    assert {one["lens"] for one in before[0]} >= {"accuracy", "transitions", "beyond_sampling", "wobble"}
    assert reported(tmp_path / "back", ranks) == before


def test_a_study_comes_back_twice_over(asked: Path, tmp_path: Path) -> None:
    export_answers(open_study(asked), tmp_path / "one.parquet")
    import_table([tmp_path / "one.parquet"], tmp_path / "back", benchmark=str(asked / "items.jsonl"))
    export_answers(open_study(tmp_path / "back"), tmp_path / "two.parquet")
    others = pl.all().exclude("created", "configuration_id")
    one, two = (pl.read_parquet(tmp_path / f"{name}.parquet").select(others) for name in ("one", "two"))
    assert two.equals(one)


def test_answers_beyond_what_the_study_asks_for_are_left_out(asked: Path, tmp_path: Path) -> None:
    whole = export_answers(open_study(asked), tmp_path / "whole.parquet").rows
    before = (asked / "study.yaml").read_text("utf-8")
    try:
        change(asked, sampling={"temperatures": [0.7], "vote": 3}, items=3)
        few = export_answers(open_study(asked), tmp_path / "few.parquet").rows
    finally:
        (asked / "study.yaml").write_text(before, "utf-8")
    assert 0 < few < whole / 2
    assert pl.read_parquet(tmp_path / "few.parquet")["item"].n_unique() == 3


def test_no_cell_of_a_csv_is_a_formula(study: Path, tmp_path: Path, leadline: Leadline) -> None:
    ended = leadline("export", "answers", study, "--out", tmp_path / "answers.csv")
    assert "begin with an apostrophe" in ended.out
    with (tmp_path / "answers.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 54
    assert not [cell for row in rows for cell in row.values() if cell.lstrip()[:1] in tuple("=+-@")]
    guarded = {row["text"]: row["apostrophe"] for row in rows if row["apostrophe"]}
    assert guarded["'-5"] == "text value"
    assert guarded['\'=HYPERLINK("http://x")'] == "item text"


texts = st.lists(
    st.one_of(st.text(), st.text(alphabet="=+-@'\"\t\r\n, \x00\x85\u2028﻿＝")), min_size=20, max_size=60
)


@given(texts)
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_survives_any_format(tmp_path_factory: pytest.TempPathFactory, said: list[str]) -> None:
    place = tmp_path_factory.mktemp("any")
    (place / "items.jsonl").write_text('{"id": "a", "question": "?", "answer": "x"}\n', "utf-8")
    recorded_study(place / "study", str(place / "items.jsonl"))
    answers = [RecordedAnswer("a", sample, text) for sample, text in enumerate(said)]
    record(place / "study", "m", "c", {}, answers)
    stored = "SELECT sample, text FROM responses ORDER BY sample"
    before = sqlite3.connect(place / "study" / "responses.sqlite").execute(stored).fetchall()
    for form in FORMS:
        export_answers(open_study(place / "study"), place / f"t.{form}")
        import_table([place / f"t.{form}"], place / form, benchmark=str(place / "items.jsonl"))
        assert sqlite3.connect(place / form / "responses.sqlite").execute(stored).fetchall() == before


def test_pieces_hold_whole_items_whatever_their_size(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from leadline.study.store import Store

    export_answers(open_study(study), tmp_path / "whole.parquet")
    batches = Store.batches
    monkeypatch.setattr(Store, "batches", lambda store, configuration: batches(store, configuration, 2))
    seen: list[int] = []
    export_answers(open_study(study), tmp_path / "pieces.parquet", progress=seen.append)
    assert len(seen) > 10
    whole, pieces = (pl.read_parquet(tmp_path / f"{name}.parquet") for name in ("whole", "pieces"))
    order = ["model", "configuration", "item", "sample"]
    assert pieces.sort(order).equals(whole.sort(order))


def test_nothing_is_replaced_unless_it_is_said(study: Path, tmp_path: Path, leadline: Leadline) -> None:
    place = tmp_path / "answers.csv"
    place.write_text("mine", "utf-8")
    fault = leadline("export", "answers", study, "--out", place).fault
    assert fault == f"error: {place}: is there already (--force replaces it)\n"
    assert place.read_text("utf-8") == "mine"
    assert leadline("export", "answers", study, "--out", place, "--force").code == 0
    assert place.read_text("utf-8") != "mine"
    assert [one.name for one in tmp_path.iterdir()] == ["answers.csv"]


def test_what_cannot_be_written_is_said(study: Path, tmp_path: Path, leadline: Leadline) -> None:
    assert "end it in .parquet, .csv or .jsonl" in leadline("export", "answers", study, "-o", "a.xlsx").fault
    nothing = recorded_study(tmp_path / "empty", str(study.parent / "bench")).parent
    assert "no answers yet" in leadline("export", "answers", nothing, "-o", tmp_path / "a.csv").fault
    assert not (tmp_path / "a.csv").exists()


def test_a_part_that_is_none_is_a_fault_with_its_line(
    tmp_path: Path, study: Path, leadline: Leadline
) -> None:
    table = tmp_path / "a.csv"
    table.write_text("item,configuration,sample,text,part,configuration_id\nprice,a,0,1,{},x\n", "utf-8")
    bench = study.parent / "bench"
    ended = leadline("import", "table", table, "--study", tmp_path / "s", "--benchmark", bench)
    assert f"{table}:2: the part of the configuration" in ended.fault
    assert not (tmp_path / "s").exists()


def test_a_table_without_its_baseline_asks_for_another(
    study: Path, tmp_path: Path, leadline: Leadline
) -> None:
    export_answers(open_study(study), tmp_path / "all.parquet")
    others = pl.read_parquet(tmp_path / "all.parquet").filter(pl.col("configuration") != "plain")
    others.write_parquet(tmp_path / "others.parquet")
    arguments = ("import", "table", tmp_path / "others.parquet", "--study", tmp_path / "s")
    arguments = (*arguments, "--benchmark", study.parent / "bench")
    assert "was exported with the baseline 'plain', and holds no answers of it" in leadline(*arguments).fault
    assert leadline(*arguments, "--baseline", "step by step").code == 0


def test_the_page_names_every_column() -> None:
    page = (Path(__file__).parents[3] / "docs" / "exporting.md").read_text("utf-8")
    rows = re.findall(r"^\| (`[^|]*`) \| [^|]+ \|$", page, re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert sorted(named) == sorted(COLUMNS)
