"""Recorded answers of a table become a study: real answers, and everything that can be wrong with one."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from leadline.errors import UsageError
from leadline.interop.table import TableImport, import_table
from leadline.lenses.registry import run_lenses
from leadline.study.members import members, protocol
from leadline.study.readings import readings
from leadline.study.store import open_store
from leadline.study.study import open_study
from tests.interop.answers_csv import HERE, Line, lines, write_benchmark, write_csv
from tests.interop.conftest import Leadline

ITEMS = [
    {"id": "a", "question": "How long?", "answer": "1.5", "answer_type": "number", "task": "length"},
    {"id": "b", "question": "How wide?", "answer": "20", "answer_type": "number", "task": "width"},
    {"id": "c", "question": "Where?", "answer": "Paris", "task": "place"},
]
HEAD = "item,configuration,sample,text\n"


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    """Three items."""
    folder = tmp_path / "bench"
    folder.mkdir()
    (folder / "benchmark.yaml").write_text('name: three\nversion: "1"\n', "utf-8")
    (folder / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in ITEMS), "utf-8")
    return folder


def table(place: Path, text: str | bytes, name: str = "runs.csv") -> Path:
    path = place / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def stored(study: Path) -> set[tuple[str, str, int, str]]:
    """Configuration, item, sample and text of every answer, as readings have them."""
    opened = open_study(study)
    with open_store(study, write=False) as store:
        frame = readings(opened, store)
    return set(frame.select("configuration", "item", "sample", "text").iter_rows())


def findings(study: Path, only: Sequence[str] = ()) -> list[dict[str, Any]]:
    """What the lenses say; rows of tables of certain configurations only, if so asked."""
    opened = open_study(study)
    with open_store(study, write=False) as store:
        frame = readings(opened, store)
        found = run_lenses(frame, protocol(opened, members(opened, store)))
    plain = [finding.model_dump(mode="json") for finding in found]
    if not only:
        return plain
    return [
        {"table": (one["lens"], one["table"]), "row": row}
        for one in plain
        for row in one["rows"]
        if row["keys"].get("configuration") in only and "against" not in row["keys"]
    ]


def import_rows(place: Path, rows: Sequence[Line], name: str = "study", **options: Any) -> TableImport:
    """Import rows into a study beside the benchmark of the release."""
    bench = place / "bench"
    if not bench.exists():
        write_benchmark(bench)
    path = write_csv(place / f"{name}.csv", rows)
    return import_table([path], place / name, benchmark=str(bench), **options)


# --- real answers ---


@HERE
def test_a_release_becomes_a_study_whose_cells_wobble_as_published(tmp_path: Path) -> None:
    """Unstable configurations of 12 per item, responses of 960: as recomputed from the release."""
    done = import_rows(tmp_path, lines())
    assert (done.rows, done.stored, done.known, len(done.configurations)) == (960, 960, 0, 12)
    assert done.failed == 960 - 916
    opened = open_study(tmp_path / "study")
    with open_store(tmp_path / "study", write=False) as store:
        frame = readings(opened, store)
    said = frame.filter(pl.col("state") == "ok")
    assert said.height == 916
    spread = (
        said.group_by("configuration", "item")
        .agg(
            pl.col("value_exact").n_unique().alias("exact"),
            pl.col("value_rounding").n_unique().alias("rounding"),
        )
        .group_by("item")
        .agg((pl.col("exact") > 1).sum(), (pl.col("rounding") > 1).sum())
        .sort("item")
    )
    assert spread["exact"].to_list() == [6, 8, 12, 6]
    assert 0 < spread["rounding"].sum() < 32


@HERE
def test_neither_the_order_of_rows_nor_a_second_export_changes_a_finding(tmp_path: Path) -> None:
    rows = lines()
    import_rows(tmp_path, rows)
    shuffled = rows + rows[:200]
    random.Random(3).shuffle(shuffled)
    done = import_rows(tmp_path, shuffled, "shuffled")
    assert (done.stored, done.known) == (960, 200)
    assert findings(tmp_path / "shuffled") == findings(tmp_path / "study")


@HERE
def test_a_further_configuration_leaves_the_figures_of_the_others(tmp_path: Path) -> None:
    rows = lines()
    names = sorted({row["configuration"] for row in rows})
    import_rows(tmp_path, [row for row in rows if row["configuration"] != names[0]])
    before = [
        one for one in findings(tmp_path / "study", names[1:]) if one["table"][0] in ("accuracy", "wobble")
    ]
    done = import_rows(tmp_path, [row for row in rows if row["configuration"] == names[0]], "more")
    assert done.made
    path = write_csv(tmp_path / "rest.csv", [row for row in rows if row["configuration"] == names[0]])
    import_table([path], tmp_path / "study")
    after = [
        one for one in findings(tmp_path / "study", names[1:]) if one["table"][0] in ("accuracy", "wobble")
    ]
    assert len(before) > 20
    assert after == before


@HERE
@pytest.mark.parametrize("name", ["runs.tsv", "runs.jsonl", "runs.json", "runs.parquet"])
def test_every_format_stores_the_same_answers(tmp_path: Path, name: str) -> None:
    rows = lines()
    import_rows(tmp_path, rows)
    frame = pl.DataFrame(rows)
    path = tmp_path / name
    match path.suffix:
        case ".tsv":
            frame.write_csv(path, separator="\t")
        case ".jsonl":
            frame.write_ndjson(path)
        case ".json":
            path.write_text(json.dumps(rows), "utf-8")
        case _:
            frame.write_parquet(path)
    import_table([path], tmp_path / "other", benchmark=str(tmp_path / "bench"))
    assert stored(tmp_path / "other") == stored(tmp_path / "study")


@HERE
def test_a_study_of_recorded_answers_is_reported(tmp_path: Path, leadline: Leadline) -> None:
    write_benchmark(tmp_path / "bench")
    path = write_csv(tmp_path / "runs.csv", lines())
    ended = leadline(
        "import", "table", path, "--study", tmp_path / "study", "--benchmark", tmp_path / "bench"
    )
    assert ended.code == 0 and ended.err == ""
    assert "item = item (guessed)" in ended.out and "sample = run (guessed)" in ended.out
    assert "stored: 960 answers of 12 configurations to 4 items" in ended.out
    assert "of these failed calls: 44" in ended.out
    assert ended.out.splitlines()[-1] == f"next: leadline report {tmp_path / 'study'}"
    report = leadline("report", tmp_path / "study")
    assert report.code == 0 and "not there yet" not in report.err, report.err
    assert "report.html" in report.out
    document = json.loads((tmp_path / "study" / "report" / "findings.json").read_text("utf-8"))
    assert document["protocol"]["baseline"] == "" and document["protocol"]["methods"] == []
    assert len(document["protocol"]["members"]) == len(document["configurations"]) == 12
    assert document["incomplete"] == []
    manifest = json.loads((tmp_path / "study" / "manifest.json").read_text("utf-8"))
    (run,) = manifest["runs"]
    assert [one["file"] for one in run["recorded"]["tables"]] == ["runs.csv"]
    assert len(manifest["configurations"]) == 12 and str(tmp_path) not in json.dumps(manifest)
    accuracy = [one for one in document["findings"] if (one["lens"], one["table"]) == ("accuracy", "overall")]
    assert [len(one["rows"]) for one in accuracy] == [12]
    assert not [one for one in document["findings"] if one["lens"] == "transitions"]
    assert not [one["lens"] for one in document["findings"] if not one["rows"] and not one["notes"]]


@HERE
def test_recorded_configurations_are_compared_with_a_baseline_that_is_named(
    tmp_path: Path, leadline: Leadline
) -> None:
    import_rows(tmp_path, lines(), baseline="gemma3-1b")
    assert "baseline: gemma3-1b" in (tmp_path / "study" / "study.yaml").read_text("utf-8")
    assert leadline("report", tmp_path / "study", "--json").code == 0
    document = json.loads((tmp_path / "study" / "report" / "findings.json").read_text("utf-8"))
    assert {(one["kind"], one["vote"]) for one in document["protocol"]["methods"]} == {("recorded", 20)}
    (overall,) = (
        one for one in document["findings"] if (one["lens"], one["table"]) == ("transitions", "overall")
    )
    assert len(overall["rows"]) == 11
    for row in overall["rows"]:
        gain, loss = row["figures"]["gain"], row["figures"]["loss"]
        assert gain["denominator"] + loss["denominator"] == 4


# --- what is said of columns ---


def test_columns_are_guessed_and_named(tmp_path: Path, bench: Path) -> None:
    path = table(tmp_path, "doc_id,system,epoch,response\na,x,1,1.5\na,x,2,1.6\nc,y,1,Paris\n")
    done = import_table([path], tmp_path / "study", benchmark=str(bench))
    assert done.columns.columns == {
        "item": "doc_id",
        "configuration": "system",
        "sample": "epoch",
        "text": "response",
    }
    assert stored(tmp_path / "study") == {("x", "a", 0, "1.5"), ("x", "a", 1, "1.6"), ("y", "c", 0, "Paris")}


def test_samples_that_count_from_one_go_on_where_they_were(tmp_path: Path, bench: Path) -> None:
    first = table(tmp_path, HEAD + "a,x,2,1.6\na,x,1,1.5\n")
    import_table([first], tmp_path / "study", benchmark=str(bench))
    import_table([table(tmp_path, HEAD + "a,x,3,1.7\na,x,2,1.6\n", "more.csv")], tmp_path / "study")
    assert stored(tmp_path / "study") == {("x", "a", 0, "1.5"), ("x", "a", 1, "1.6"), ("x", "a", 2, "1.7")}
    zero = table(tmp_path, HEAD + "b,x,0,20\n", "zero.csv")
    with pytest.raises(UsageError, match=r"zero.csv:2.*numbered from 1 on"):
        import_table([zero], tmp_path / "study")


def test_without_samples_the_order_of_the_file_counts_and_a_file_counts_once(
    tmp_path: Path, bench: Path
) -> None:
    first = table(tmp_path, "item,configuration,text\na,x,1.5\na,x,1.5\nb,x,20\na,y,2\n")
    done = import_table([first], tmp_path / "study", benchmark=str(bench))
    assert done.stored == 4
    expected = {("x", "a", 0, "1.5"), ("x", "a", 1, "1.5"), ("x", "b", 0, "20"), ("y", "a", 0, "2")}
    assert stored(tmp_path / "study") == expected
    again = import_table([shutil.copy(first, tmp_path / "copy.csv")], tmp_path / "study")
    assert (again.rows, again.stored, again.again) == (0, 0, ("copy.csv",))
    more = table(tmp_path, "item,configuration,text\na,x,1.7\n", "more.csv")
    import_table([more], tmp_path / "study")
    assert stored(tmp_path / "study") == expected | {("x", "a", 2, "1.7")}
    with pytest.raises(UsageError, match="would count twice"):
        import_table([first], tmp_path / "study", columns={"item": "item", "text": "item"})


def test_one_table_may_hold_each_configuration_in_a_column(tmp_path: Path, bench: Path) -> None:
    path = table(tmp_path, "item,left,right\na,1.5,2\nc,Paris,Rome\n")
    for number, name in enumerate(("left", "right")):
        import_table(
            [path],
            tmp_path / "study",
            benchmark=str(bench) if number == 0 else None,
            columns={"text": name},
            constants={"configuration": name},
        )
    assert stored(tmp_path / "study") == {
        ("left", "a", 0, "1.5"),
        ("left", "c", 0, "Paris"),
        ("right", "a", 0, "2"),
        ("right", "c", 0, "Rome"),
    }


def test_a_failed_call_gives_way_to_an_answer_in_whatever_order(tmp_path: Path, bench: Path) -> None:
    head = "item,configuration,sample,text,error\n"
    rows = ["a,x,0,,HTTP 503\n", "a,x,0,1.5,\n", "a,x,1,,\n", "b,x,0,,timeout\n"]
    for number, order in enumerate((rows, rows[::-1])):
        study = tmp_path / f"study{number}"
        done = import_table([table(tmp_path, head + "".join(order))], study, benchmark=str(bench))
        assert (done.failed, done.empty) == (2, 1)
        opened = open_study(study)
        with open_store(study, write=False) as store:
            frame = readings(opened, store).sort("item", "sample")
        assert frame.select("item", "sample", "state").rows() == [
            ("a", 0, "ok"),
            ("a", 1, "empty"),
            ("b", 0, "error"),
        ]


def test_values_of_other_types_become_the_text_that_says_them(tmp_path: Path, bench: Path) -> None:
    rows = [
        {"id": "a", "model": "m", "system": "x", "run": 0.0, "output": {"value": [1.50]}},
        {"id": "b", "model": "m", "system": "x", "run": "1", "output": {"value": [20.0, True]}},
        {"id": "c", "model": "m", "system": "x", "run": 2, "output": {"value": [None]}},
    ]
    path = table(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), "runs.jsonl")
    done = import_table(
        [path],
        tmp_path / "study",
        benchmark=str(bench),
        columns={"text": "output.value.0", "configuration": "system"},
    )
    assert done.configurations == (("m", "x"),) and done.empty == 1
    assert stored(tmp_path / "study") == {("x", "a", 0, "1.5"), ("x", "b", 1, "20.0"), ("x", "c", 2, "")}


def test_what_is_said_of_configurations_reaches_the_lenses(tmp_path: Path, bench: Path) -> None:
    path = table(tmp_path, "item,system,text,route\na,x,1.5,direct\na,y,2,routed\n")
    import_table([path], tmp_path / "study", benchmark=str(bench), columns={"serving": "route"})
    file = tmp_path / "study" / "study.yaml"
    file.write_text(file.read_text("utf-8") + "traits: {y: {label: The Y, family: w}}\n", "utf-8")
    opened = open_study(tmp_path / "study")
    with open_store(opened.folder, write=False) as store:
        found = protocol(opened, members(opened, store)).members
    assert [(one.label, one.serving, one.kin) for one in found] == [
        ("x", "direct", "x"),
        ("The Y", "routed", "w"),
    ]


# --- what is wrong ---

FAULTS = {
    "unknown item": (HEAD + "a,x,0,1\nA1,x,0,1\n", "runs.csv:3: three has no item 'A1'"),
    "conflict": (HEAD + "a,x,0,1\nb,x,0,1\na,x,0,2\n", "runs.csv:4: item 'a', sample 0 of recorded · x is"),
    "no number": (HEAD + "a,x,first,1\n", "runs.csv:2: item 'a': the sample, column 'sample', is 'first'"),
    "no sample": (HEAD + "a,x,,1\n", "runs.csv:2: item 'a': the sample, column 'sample', is empty"),
    "a date as sample": (
        HEAD + "a,x,20240101,1\n",
        "runs.csv:2: item 'a': a sample is a number up to 99,999",
    ),
    "negative": (HEAD + "a,x,-1,1\n", "runs.csv:2: item 'a': the sample"),
    "no item": (HEAD + ",x,0,1\n", "runs.csv:2: the row names no item: column 'item' is empty"),
    "no configuration": (HEAD + "a,,0,1\n", "runs.csv:2: the row names no configuration"),
    "escapes in a name": (
        HEAD + "a,x\x1b[31m,0,1\n",
        "runs.csv:2: 'x\\x1b[31m' is no name of a configuration",
    ),
    "a ragged row": (HEAD + "a,x,0\n", "runs.csv:2: the row has 3 cells, the first row has 4"),
    "a quote": (HEAD + 'a,x,0,"1\n', "runs.csv:2: broken CSV: a double quote is not closed"),
    "another encoding": (HEAD.encode() + b"a,x,0,\xe9t\xe9\n", "runs.csv:2"),
    "no row": (HEAD, "runs.csv: the table holds no row"),
    "nothing": ("", "runs.csv: the table holds no row"),
    "no column of items": ("question,x,text\n1,2,3\n", "runs.csv: no column says which item was asked"),
    "no column of texts": ("item,configuration,said\na,2,3\n", "runs.csv: no column holds the answers"),
    "no column of configurations": ("item,text\na,2\n", "runs.csv: no column says which configuration"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_one_line_with_its_place_and_leaves_nothing(
    tmp_path: Path, bench: Path, leadline: Leadline, name: str
) -> None:
    content, words = FAULTS[name]
    path = table(tmp_path, content)
    study = tmp_path / "study"
    ended = leadline("import", "table", path, "--study", study, "--benchmark", bench)
    assert words in ended.fault and "(" in ended.fault, "it also says what to do"
    assert not study.exists()


def test_a_fault_leaves_a_study_as_it_was(tmp_path: Path, bench: Path, leadline: Leadline) -> None:
    import_table([table(tmp_path, HEAD + "a,x,0,1.5\n")], tmp_path / "study", benchmark=str(bench))
    before = stored(tmp_path / "study")
    many = "".join(f"a,y,{sample},1.5\n" for sample in range(30_000))
    ended = leadline(
        "import", "table", table(tmp_path, HEAD + many + "d,y,0,1\n"), "--study", tmp_path / "study"
    )
    assert "runs.csv:30002: three has no item 'd'" in ended.fault
    assert stored(tmp_path / "study") == before
    with sqlite3.connect(tmp_path / "study" / "responses.sqlite") as database:
        assert database.execute("SELECT count(*) FROM runs").fetchone() == (1,)
    database.close()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--map", "item"], "--map 'item' is not WHAT=COLUMN"),
        (["--map", "itm=id"], "a row has no 'itm' (did you mean 'item'?)"),
        (["--map", "item=item", "--map", "item=text"], "says twice where the item is"),
        (["--map", "value=text", "--map", "text=text"], "says twice where the text is"),
        (["--map", "text=txt"], "no column is called 'txt' (did you mean 'text'?)"),
        (["--map", "configuration=item", "--configuration", "x"], "both say what the configuration is"),
        (["--baseline", "z"], "there are no answers of 'z' among these"),
        (["--benchmark", "nowhere"], "there is no benchmark 'nowhere'"),
    ],
)
def test_what_cannot_be_meant_is_said(
    tmp_path: Path, bench: Path, leadline: Leadline, arguments: list[str], words: str
) -> None:
    path = table(tmp_path, HEAD + "a,x,0,1\n")
    study = tmp_path / "study"
    ended = leadline("import", "table", path, "--study", study, "--benchmark", bench, *arguments)
    assert words in ended.fault
    assert not study.exists()


def test_a_study_goes_on_with_the_benchmark_that_it_has(
    tmp_path: Path, bench: Path, leadline: Leadline
) -> None:
    path = table(tmp_path, HEAD + "a,x,0,1\n")
    assert (
        "the benchmark that was asked must be named"
        in leadline("import", "table", path, "--study", tmp_path / "study").fault
    )
    import_table([path], tmp_path / "study", benchmark=str(bench))
    assert leadline("import", "table", path, "--study", tmp_path / "study", "--benchmark", bench).code == 0
    other = leadline("import", "table", path, "--study", tmp_path / "study", "--benchmark", "facts")
    assert "--benchmark: facts" in other.fault and "is not what this study asks" in other.fault
    named = leadline("import", "table", path, "--study", tmp_path / "study", "--baseline", "x")
    assert "--baseline: that of the study is none" in named.fault


def test_a_dry_run_says_what_would_be_and_leaves_nothing(
    tmp_path: Path, bench: Path, leadline: Leadline
) -> None:
    path = table(tmp_path, HEAD + "a,x,0,1\n")
    arguments = ("import", "table", path, "--study", tmp_path / "study", "--benchmark", bench)
    said = leadline(*arguments, "--dry-run")
    assert said.code == 0 and "would be stored: 1 answer of 1 configuration to 1 item" in said.out
    assert not (tmp_path / "study").exists()
    assert leadline(*arguments).code == 0
    before = stored(tmp_path / "study")
    more = table(tmp_path, HEAD + "a,x,1,2\n", "more.csv")
    again = leadline("import", "table", more, "--study", tmp_path / "study", "--dry-run", "--json")
    assert json.loads(again.out)["stored"] == 1
    assert stored(tmp_path / "study") == before


def test_a_study_without_models_asks_nothing_and_says_so(
    tmp_path: Path, bench: Path, leadline: Leadline
) -> None:
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "study.yaml").write_text(f"name: empty\nbenchmark: {bench}\nmodels: []\n", "utf-8")
    assert "study.yaml:3: there is nothing to ask" in leadline("run", folder).fault
    assert "leadline import table" in leadline("report", folder).fault
    import_table([table(tmp_path, HEAD + "a,x,0,1\n")], folder)
    assert "nothing to ask" in leadline("run", folder).fault
    assert leadline("report", folder).code == 0
    file = folder / "study.yaml"
    file.write_text(file.read_text("utf-8") + "baseline: y\n", "utf-8")
    fault = leadline("report", folder).fault
    assert "study.yaml:4: baseline: there are no recorded answers of 'y'" in fault
