"""The public artefact as a study: the real sample of one task, and its irregularities by hand."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from leadline.errors import UsageError
from leadline.interop.probity_release import import_release
from leadline.report.study_report import report_study
from leadline.study.readings import readings
from leadline.study.store import open_store
from leadline.study.study import open_study

SAMPLE = Path(__file__).parents[3] / "shared" / "data" / "probity" / "release-sample"
needs_sample = pytest.mark.skipif(not SAMPLE.is_dir(), reason="the artefact's sample is not here")


def frame(folder: Path) -> pl.DataFrame:
    study = open_study(folder)
    with open_store(folder, write=False) as store:
        return readings(study, store)


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    folder = tmp_path_factory.mktemp("release") / "study"
    done = import_release(SAMPLE, folder)
    return folder, done


@needs_sample
def test_the_sample_becomes_a_study_of_all_its_answers(sample):
    folder, done = sample
    assert (done.tasks, done.items, len(done.configurations)) == (1, 4, 12)
    assert (done.stored, done.failed, done.known) == (960, 44, 0)
    table = frame(folder)
    assert table.height == 960
    assert table.filter(pl.col("state") == "ok").height == 916
    assert import_release(SAMPLE, folder).known == 960


@needs_sample
def test_its_report_has_the_published_counts_and_the_same_under_rounding(sample):
    folder, _ = sample
    document = report_study(open_study(folder)).document
    overall = document.finding("wobble", "overall", "all models")
    assert overall is not None
    pooled = overall.rows[-1].figures
    assert (pooled["wobble"].numerator, pooled["wobble"].denominator) == (32, 48)
    assert (pooled["wobble_exact"].numerator, pooled["wobble_rounding"].numerator) == (32, 26)
    # Published: the majority of 10, 7, 2 and 5 configurations equals the label of the four items.
    assert (pooled["acc"].numerator, pooled["acc"].denominator) == (24, 48)
    unstable = {row.keys["configuration"]: row.figures["wobble"].numerator for row in overall.rows[:-1]}
    assert sum(unstable.values()) == 32
    assert unstable["haiku-4.5-direct"] == 4
    flips = document.finding("sameness", "flips", "all models")
    assert flips is not None and len(flips.rows) == 6


@needs_sample
def test_serving_paths_and_families_come_with_the_configurations(sample):
    folder, _ = sample
    members = report_study(open_study(folder)).document.protocol.members
    paths = {one.configuration: (one.serving, one.family) for one in members}
    assert paths["gemma3-1b-qat"] == ("local", "gemma3-1b")
    assert sum(serving == "routed" for serving, _ in paths.values()) == 7
    assert sum(serving == "direct" for serving, _ in paths.values()) == 3


def release(root: Path, lines: list[dict[str, object]], label: str = "a", **more: object) -> Path:
    """An artefact of one task of two items."""
    task = root / "leaves" / "round_size"
    (task / "corpus" / "questions").mkdir(parents=True, exist_ok=True)
    oracle = [
        {
            "id": "one",
            "round_size": "2,366,532",
            "validating_quote": "raised 2,366,532",
            "url": "https://e.x/1",
        },
        {"id": "two", "round_size": 12.5, "validating_quote": "12.5"},
    ]
    (task / "oracle.jsonl").write_text("".join(json.dumps(line) + "\n" for line in oracle), "utf-8")
    (task / "corpus" / "questions" / "one.txt").write_text("They raised 2,366,532 in all.", "utf-8")
    (task / f"runs_{label}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return root


def line(position: int, run: int, value: object = None, **more: object) -> dict[str, object]:
    parsed = None if value is None else {"round_size": value}
    found: dict[str, object] = {
        "instance_idx": position,
        "run_idx": run,
        "parsed": parsed,
        "normalized": parsed,
    }
    found.update(more)
    return {key: one for key, one in found.items() if one != "-"}


def states(folder: Path) -> dict[tuple[str, int], tuple[str, str | None]]:
    table = frame(folder)
    return {
        (item.rsplit("/", 1)[1], sample): (state, value)
        for item, sample, state, value in table.select("item", "sample", "state", "value").iter_rows()
    }


IRREGULAR = [
    line(0, 1, 2366532.0),  # not in order of run_idx, no item_id: the line of the oracle
    line(0, 0, 2366532, item_id="one"),
    line(1, 0, 12.5, item_id="two", normalized={}),  # a mis-spelt key
    line(1, 1, "twelve", item_id="two", normalized={"round_size": None}),  # parsed, not readable
    line(1, 2, item_id="two", normalized="-", error="HTTP Error 503: Service Unavailable"),
    line(1, 3, item_id="two", normalized="-", raw_output=""),
    line(1, 4, item_id="two", normalized=None, error="no answer parsed", raw_output="about 12.5, I think"),
]


def test_its_irregularities_count_as_published(tmp_path):
    import_release(release(tmp_path / "r", IRREGULAR), tmp_path / "s")
    found = states(tmp_path / "s")
    assert found["one", 0][0] == found["one", 1][0] == "ok"
    assert found["one", 0][1] == found["one", 1][1]  # 2366532 and 2366532.0 are one answer
    assert [found["two", run][0] for run in range(5)] == ["error", "error", "error", "empty", "error"]


def test_or_are_read_again_by_our_readers(tmp_path):
    import_release(release(tmp_path / "r", IRREGULAR), tmp_path / "s", read_again=True)
    found = states(tmp_path / "s")
    assert [found["two", run][0] for run in range(5)] == ["ok", "ok", "error", "empty", "ok"]
    assert found["two", 4][1] == "12.5"


def test_other_arms_are_files_of_their_own(tmp_path):
    root = release(tmp_path / "r", [line(0, 0, 1)])
    release(root, [line(0, 0, 3)], label="t01_a")
    assert import_release(root, tmp_path / "s").configurations == ("a",)
    assert states(tmp_path / "s")["one", 0] == ("ok", "1")
    assert import_release(root, tmp_path / "t", arm="t01").configurations == ("a",)
    assert states(tmp_path / "t")["one", 0] == ("ok", "3")


def test_the_index_says_which_labels_belong_to_the_study(tmp_path):
    root = release(tmp_path / "r", [line(0, 0, 1)])
    release(root, [line(0, 0, 3)], label="tuned-v4")
    (root / "dump").mkdir()
    (root / "dump" / "INDEX.json").write_text(json.dumps({"lineup": ["a", "b"]}), "utf-8")
    done = import_release(root, tmp_path / "s")
    assert done.configurations == ("a", "b")
    assert done.missing == ("b, round_size",)


def test_words_are_compared_without_a_vocabulary_as_published(tmp_path):
    task = tmp_path / "r" / "leaves" / "seniority"
    task.mkdir(parents=True)
    oracle = [{"id": "x", "seniority": "pari-passu", "validating_quote": "q"}]
    (task / "oracle.jsonl").write_text(json.dumps(oracle[0]) + "\n", "utf-8")
    given = ["pari-passu", "Pari-Passu", "stacked", "something else"]
    runs = [
        {"instance_idx": 0, "run_idx": run, "parsed": {"seniority": word}, "normalized": {"seniority": word}}
        for run, word in enumerate(given)
    ]
    (task / "runs_a.jsonl").write_text("".join(json.dumps(run) + "\n" for run in runs), "utf-8")
    import_release(tmp_path / "r", tmp_path / "s")
    values = [value for _, (_, value) in sorted(states(tmp_path / "s").items())]
    assert values == ["pari-passu", "pari-passu", "stacked", "something else"]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda task: (task / "oracle.jsonl").unlink(), "holds no task"),
        (lambda task: (task / "oracle.jsonl").write_text("{", "utf-8"), "oracle.jsonl:1: not JSON"),
        (lambda task: (task / "oracle.jsonl").write_text('{"id": "one"}\n', "utf-8"), "which key"),
        (lambda task: (task / "runs_a.jsonl").write_text("[1]\n", "utf-8"), "runs_a.jsonl:1: expected"),
        (
            lambda task: (task / "runs_a.jsonl").write_text(json.dumps(line(7, 0, 1)) + "\n", "utf-8"),
            "runs_a.jsonl:1: belongs to no item",
        ),
        (
            lambda task: (task / "runs_a.jsonl").write_text(
                json.dumps(line(0, 0, 1, item_id="three")) + "\n", "utf-8"
            ),
            "has no item 'three'",
        ),
        (
            lambda task: (task / "runs_a.jsonl").write_text(json.dumps(line(0, -1, 1)) + "\n", "utf-8"),
            "'run_idx' is no whole number",
        ),
        (lambda task: (task / "runs_a.jsonl").write_bytes(b"\xff\xfe\x00"), "not UTF-8"),
    ],
)
def test_another_layout_is_one_line(tmp_path, spoil, said):
    root = release(tmp_path / "r", [line(0, 0, 1)])
    spoil(root / "leaves" / "round_size")
    with pytest.raises(UsageError, match=said):
        import_release(root, tmp_path / "s")


def test_a_folder_that_is_no_release_is_one_line(tmp_path):
    with pytest.raises(UsageError, match="no folder 'leaves'"):
        import_release(tmp_path, tmp_path / "s")


def test_a_fault_in_one_file_leaves_no_study_behind(tmp_path):
    root = release(tmp_path / "r", [line(0, 0, 1)])
    release(root, [line(0, 0, 1), line(7, 0, 1)], label="b")
    with pytest.raises(UsageError, match=r"runs_b.jsonl:2"):
        import_release(root, tmp_path / "s")
    assert not (tmp_path / "s").exists()
    (tmp_path / "s" / "benchmark").mkdir(parents=True)
    with pytest.raises(UsageError, match="is in the way"):
        import_release(root, tmp_path / "s")


def test_a_file_without_answers_is_named_like_one_that_is_not_there(tmp_path):
    root = release(tmp_path / "r", [line(0, 0, 1)])
    release(root, [], label="b")
    assert import_release(root, tmp_path / "s").missing == ("b, round_size",)


def test_an_odd_gold_answer_among_numbers_is_one_line_and_no_vocabulary_of_numbers(tmp_path):
    root = release(tmp_path / "r", [line(0, 0, 1)])
    oracle = root / "leaves" / "round_size" / "oracle.jsonl"
    oracle.write_text(oracle.read_text("utf-8") + '{"id": "x", "round_size": NaN}\n', "utf-8")
    with pytest.raises(UsageError, match=r"oracle.jsonl:3: the gold answer of x"):
        import_release(root, tmp_path / "s")


def test_ids_are_told_apart_and_can_be_printed(tmp_path):
    root = release(tmp_path / "r", [line(0, 0, 1)])
    oracle = root / "leaves" / "round_size" / "oracle.jsonl"
    text = oracle.read_text("utf-8")
    oracle.write_text(text.replace('"two"', '"one"'), "utf-8")
    with pytest.raises(UsageError, match=r"oracle.jsonl:2: the id .*one.* is also that of line 1"):
        import_release(root, tmp_path / "s")
    oracle.write_text(text.replace('"two"', '"t\u202ewo"'), "utf-8")
    with pytest.raises(UsageError, match=r"oracle.jsonl:2: an id that cannot be printed"):
        import_release(root, tmp_path / "s")


def test_a_value_of_thousands_of_digits_is_an_answer_like_any_other(tmp_path):
    root = release(tmp_path / "r", [line(0, 0, 1)])
    runs = root / "leaves" / "round_size" / "runs_a.jsonl"
    runs.write_text(runs.read_text("utf-8").replace(": 1}", ": " + "9" * 5000 + "}"), "utf-8")
    import_release(root, tmp_path / "s")
    assert states(tmp_path / "s")["one", 0][0] in ("ok", "unreadable")


def test_a_line_with_nothing_but_its_key_belongs_to_its_item(tmp_path):
    root = release(
        tmp_path / "r", [{"_key": [1, 4], "parsed": {"round_size": 3}, "normalized": {"round_size": 3}}]
    )
    import_release(root, tmp_path / "s")
    assert states(tmp_path / "s") == {("two", 4): ("ok", "3")}


def test_names_that_disagree_with_places_are_noted(tmp_path):
    root = release(tmp_path / "r", [line(0, 0, 1, item_id="two")])
    done = import_release(root, tmp_path / "s")
    assert states(tmp_path / "s").keys() == {("two", 0)}
    assert done.notes and "round_size: 1 answers" in done.notes[0]


def test_what_cannot_be_an_item_is_named_with_its_line(tmp_path):
    root = release(tmp_path / "r", [line(0, 0, 1)])
    oracle = root / "leaves" / "round_size" / "oracle.jsonl"
    oracle.write_text(oracle.read_text("utf-8").replace('"raised 2,366,532"', '"\\ud800"'), "utf-8")
    with pytest.raises(UsageError, match=r"oracle.jsonl:1: "):
        import_release(root, tmp_path / "s")


@pytest.mark.parametrize("key", [{"a": 1}, "one", 7, []])
def test_a_key_that_is_no_list_numbers_no_run(tmp_path, key):
    root = release(tmp_path / "r", [{"_key": key, "instance_idx": 0, "parsed": {"round_size": 3}}])
    with pytest.raises(UsageError, match="'run_idx' is no whole number from 0"):
        import_release(root, tmp_path / "s")


def test_the_index_names_no_file_elsewhere(tmp_path):
    root = release(tmp_path / "r", [line(0, 0, 1)])
    (root / "dump").mkdir()
    (root / "dump" / "INDEX.json").write_text(json.dumps({"lineup": ["/../../../secret"]}), "utf-8")
    with pytest.raises(UsageError, match=r"'lineup' names .*, no configuration"):
        import_release(root, tmp_path / "s")
