"""Samples as other versions of lm-evaluation-harness wrote them, damaged ones, and what documents hold."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from leadline.bench.item import Item
from leadline.errors import UsageError
from leadline.interop.lm_eval_files import lm_eval_logs
from leadline.interop.lm_eval_samples import LmEvalSamples
from leadline.interop.log_import import import_logs
from leadline.study.readings import readings
from leadline.study.store import open_store
from leadline.study.study import open_study

TIME = "2026-02-03T04-05-06.789"
Row = dict[str, Any]


def generated(at: int, country: str, answers: list[str], target: str, filter: str = "none") -> Row:
    """A row as version 0.4.13 writes it."""
    doc = {"country": country, "id": f"c{at}"}
    prompt = f"The capital of {country} is"
    return {
        "doc_id": at,
        "doc": doc,
        "target": target,
        "arguments": {"gen_args_0": {"arg_0": prompt, "arg_1": {"until": ["\n"], "do_sample": False}}},
        "resps": [answers],
        "filtered_resps": answers[:1],
        "filter": filter,
        "metrics": ["exact_match"],
        "doc_hash": f"{at:064x}"[::-1],
        "exact_match": float(answers[0].strip() == target),
    }


def weighed(at: int, options: list[str], likelihoods: list[float], target: str, **doc: Any) -> Row:
    """A row of a multiple choice."""
    return {
        "doc_id": at,
        "doc": {"beginning": f"Question {at}", **doc},
        "target": target,
        "arguments": {
            f"gen_args_{n}": {"arg_0": f"Question {at}", "arg_1": f" {text}"}
            for n, text in enumerate(options)
        },
        "resps": [[[str(value), "False"]] for value in likelihoods],
        "filtered_resps": [[str(value), "False"] for value in likelihoods],
        "filter": "none",
        "metrics": ["acc"],
        "doc_hash": f"{at:064x}"[::-1],
        "acc": 0.0,
    }


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Samples of one task, with the results of their run beside them."""

    def written(rows: list[Row], task: str = "capitals", end: str = "\n", **settings: Any) -> Path:
        folder = tmp_path / "out" / "my__model"
        folder.mkdir(parents=True, exist_ok=True)
        said: Row = {
            "results": {task: {"alias": task}},
            "configs": {task: settings},
            "n-shot": {task: 0},
            "model_name": "my/model",
            "model_source": "hf",
        }
        (folder / f"results_{TIME}.json").write_text(json.dumps(said))
        file = folder / f"samples_{task}_{TIME}.jsonl"
        file.write_text("\n".join(json.dumps(row) for row in rows) + end)
        return file

    return written


def only(file: Path, **options: Any) -> LmEvalSamples:
    (log,) = lm_eval_logs([file], **options)
    return log


def said(log: LmEvalSamples) -> list[tuple[str, int, str | None]]:
    return [(one.item, one.sample, one.text) for one in log.answers()]


ROWS = [generated(1, "France", [" Paris", " Lyon"], "Paris"), generated(2, "Peru", [" Lima", ""], "Lima")]


@pytest.mark.parametrize(
    "older",
    [
        lambda row: {**row, "resps": str(row["resps"])},
        lambda row: {**row, "arguments": [list(row["arguments"]["gen_args_0"].values())]},
        lambda row: {key: value for key, value in row.items() if key not in ("filter", "metrics")},
        lambda row: {**row, "target": row["target"], "filtered_resps": None},
    ],
    ids=["answers as a text", "arguments in lists", "no filter named", "no filtered answers"],
)
def test_other_shapes_of_rows_say_the_same(write: Callable[..., Path], older: Callable[[Row], Row]) -> None:
    as_now = said(only(write(ROWS)))
    assert as_now[:2] == [("capitals/100000000000", 0, " Paris"), ("capitals/100000000000", 1, " Lyon")]
    assert said(only(write([older(row) for row in ROWS]))) == as_now


def test_without_a_hash_the_document_is_hashed_as_the_harness_does(write: Callable[..., Path]) -> None:
    """The hash is one that version 0.4.13 wrote of this document."""
    row = {**ROWS[0], "doc": {"country": "France", "names": ["Paris"]}}
    del row["doc_hash"]
    assert said(only(write([row])))[0][0] == "capitals/e6627946d38d"


def test_early_versions_doubled_rows_without_saying_for_which_filter(write: Callable[..., Path]) -> None:
    rows = [{key: value for key, value in row.items() if key != "filter"} for row in (*ROWS, *ROWS)]
    assert len(said(only(write(rows)))) == 4


def test_a_document_that_stands_twice_under_one_filter_is_a_fault_with_both_lines(
    write: Callable[..., Path],
) -> None:
    file = write([*ROWS, ROWS[0]])
    with pytest.raises(UsageError, match="line 1 stands here once more") as fault:
        only(file)
    assert str(fault.value).startswith(f"{file}:3: ")


def test_rows_of_one_document_that_hold_different_answers_are_a_fault(write: Callable[..., Path]) -> None:
    other = {**ROWS[0], "filter": "strict", "resps": [[" Lyon"]]}
    with pytest.raises(UsageError, match="different answers: line 1 and this one"):
        only(write([*ROWS, other]))


def test_documents_with_the_same_content_are_items_of_their_own(write: Callable[..., Path]) -> None:
    twin = {**ROWS[0], "doc_id": 9, "resps": [[" Nice"]]}
    log = only(write([*ROWS, twin]))
    assert said(log)[-1] == ("capitals/100000000000-2", 0, " Nice")
    assert len(list(log.items())) == 3
    assert any("content of another document" in note for note in log.notes())


def test_a_file_that_was_being_written_counts_as_far_as_it_goes(write: Callable[..., Path]) -> None:
    file = write(ROWS)
    whole = file.read_bytes()
    file.write_bytes(whole[:-30])
    log = only(file)
    assert [text for _, _, text in said(log)] == [" Paris", " Lyon"]
    assert log.about["status"] == "broken off"
    assert log.notes() == ["the file breaks off: what is whole counts, 1 document"]
    file.write_bytes(whole[:40] + b"\n" + whole)
    with pytest.raises(UsageError, match=r":1: broken JSON"):
        only(file)


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ({"question": "?"}, "is no row of samples"),
        ({**ROWS[0], "resps": "[[1, 2"}, "resps is no list"),
        ({**ROWS[0], "resps": []}, "resps is no list"),
        ({**ROWS[0], "resps": [["a"], ["b"]]}, "1 requests were made and 2 answered"),
        ({**ROWS[0], "arguments": 3}, "arguments is no list"),
    ],
)
def test_what_is_no_row_is_one_line(write: Callable[..., Path], row: Row, fault: str) -> None:
    file = write([ROWS[1], row])
    with pytest.raises(UsageError, match=fault) as raised:
        only(file)
    assert str(raised.value).startswith(f"{file}:2: ") and "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("options", "target", "settings", "golds"),
    [
        (["red", "blue"], "1", {}, ("B",)),
        (["red", "blue"], "blue", {}, ("B",)),
        (["3", "2", "1"], "2", {}, ("C",)),
        (["3", "2", "1"], "2", {"doc_to_target": "held"}, ("B",)),
        (["red", "blue", "green"], "[0, 2]", {}, ("A", "C")),
        (["no", "yes"], "True", {"doc_to_target": "truth"}, ("B",)),
    ],
    ids=["a place", "a text", "a place among numbers", "a text among numbers", "several", "a truth"],
)
def test_targets_of_a_choice_are_places_or_texts(
    write: Callable[..., Path], options: list[str], target: str, settings: Row, golds: tuple[str, ...]
) -> None:
    row = weighed(1, options, [-1.0, -2.0, -3.0][: len(options)], target, held="2", truth=True)
    (item,) = only(write([row], "colours", **settings)).items()
    assert item.golds == golds


def test_a_target_may_be_the_place_of_an_option_where_answers_are_generated(
    write: Callable[..., Path],
) -> None:
    row = {**generated(1, "France", [" Paris"], "1"), "doc": {"wrong": "Lyon", "right": "Paris"}}
    for said in ("{{ [wrong, right] }}", ["Lyon", "Paris"], {"a": "Lyon", "b": "Paris"}):
        (item,) = only(write([row], doc_to_choice=said)).items()
        assert item.golds == ("Paris",)


def test_any_of_several_right_options_is_right(write: Callable[..., Path], tmp_path: Path) -> None:
    options = ["red", "blue", "green"]
    rows = [
        weighed(at, options, likelihoods, "[0, 2]")
        for at, likelihoods in enumerate(
            ([-1.0, -2.0, -3.0], [-3.0, -1.0, -2.0], [-3.0, -2.0, -1.0]), start=1
        )
    ]
    import_logs([only(write(rows, "colours"))], tmp_path / "study")
    study = open_study(tmp_path / "study")
    with open_store(study.folder, write=False) as store:
        table = readings(study, store).sort("item")
    assert table["correct"].to_list() == [True, False, True]


def test_a_target_that_is_no_option_is_a_fault(write: Callable[..., Path]) -> None:
    with pytest.raises(UsageError, match="'purple' is none of the 2 options"):
        list(only(write([weighed(1, ["red", "blue"], [-1.0, -2.0], "purple")], "colours")).items())


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (("p=0.8", "p=0.4"), {"model p=0.8", "model p=0.4"}),
        (("p=1,device=cpu,pretrained=x", "p=1,device=cuda,pretrained=y"), {"model", "model #2"}),
    ],
)
def test_runs_are_named_by_arguments_of_the_model_that_may_change_answers(
    tmp_path: Path, arguments: tuple[str, str], names: set[str]
) -> None:
    for day, said in enumerate(arguments, 1):
        folder = tmp_path / "out" / "my__model"
        folder.mkdir(parents=True, exist_ok=True)
        time = f"2026-02-0{day}T04-05-06.789"
        rows = [json.dumps(row) for row in ROWS]
        (folder / f"samples_capitals_{time}.jsonl").write_text("\n".join(rows), "utf-8")
        results = {"model_name": "my/model", "config": {"model_args": said}}
        (folder / f"results_{time}.json").write_text(json.dumps(results), "utf-8")
    done = import_logs(lm_eval_logs([tmp_path / "out"]), tmp_path / "study")
    assert {name for _, name in done.configurations} == names


def test_a_choice_is_taken_to_the_letters_that_a_named_benchmark_has(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    log = only(write([weighed(1, ["red", "blue"], [-1.0, -2.0], "0", id="c")], "colours"), id_field="id")
    item = {"id": "c", "question": "Question 1\nA) blue\nB) red", "answer": "B", "answer_type": "enum"}
    file = tmp_path / "colours.jsonl"
    file.write_text(json.dumps({**item, "vocabulary": ["A", "B"]}), "utf-8")
    done = import_logs([log], tmp_path / "study", benchmark=str(file))
    assert not any("worded otherwise" in note for note in done.notes), done.notes
    study = open_study(tmp_path / "study")
    with open_store(study.folder, write=False) as store:
        table = readings(study, store)
    assert (table["value"].to_list(), table["correct"].to_list()) == (["B"], [True])


def test_a_likelihood_that_is_no_number_is_a_failed_call(write: Callable[..., Path]) -> None:
    log = only(write([weighed(1, ["red", "blue"], [float("nan"), -2.0], "0")], "colours"))
    (answer,) = log.answers()
    assert (answer.text, answer.failure) == (None, "bad_response")


def test_a_likelihood_of_one_text_is_no_choice(write: Callable[..., Path]) -> None:
    with pytest.raises(UsageError, match="nothing was answered"):
        only(write([weighed(1, ["red"], [-1.0], "red")], "last-word"))


def test_ids_may_be_a_field_of_the_documents(write: Callable[..., Path], tmp_path: Path) -> None:
    file = write(ROWS)
    assert [item.id for item in only(file, id_field="id").items()] == ["c1", "c2"]
    with pytest.raises(UsageError, match="no id in its field 'idd'") as fault:
        list(only(file, id_field="idd").items())
    assert "did you mean 'id'" in str(fault.value)
    with pytest.raises(UsageError, match="--id FIELD"):
        import_logs([only(file)], tmp_path / "study", benchmark="facts")


def test_items_of_ours_come_back_as_they_were(write: Callable[..., Path], tmp_path: Path) -> None:
    """As `leadline export` writes them into the documents of a task."""
    ours = Item(
        id="eu/danube", question="How long is it?", answer="2,850 km", answer_type="number", unit="km",
        task="rivers", category="europe", window="The Danube is 2,850 km long.",
    )  # fmt: skip
    dumped = ours.model_dump(mode="json", exclude_defaults=True)
    for at, form in enumerate((dumped, json.dumps(dumped))):
        row = {**ROWS[0], "doc": {"prompt": "?", "leadline": form}}
        import_logs([only(write([row], "rivers"))], tmp_path / f"study-{at}")
        (item,) = open_study(tmp_path / f"study-{at}").whole.items
        assert item == ours


def test_a_template_of_a_task_reaches_nothing(write: Callable[..., Path]) -> None:
    """What cannot be filled is no question: what the model was shown is."""
    for template in ("{{ country.__class__.__mro__ }}", "{{ 'a' * 10**9 }}", "{{ missing }}", "{% for"):
        (item, _) = only(write(ROWS, doc_to_text=template)).items()
        assert item.question == "The capital of France is"


def test_conversations_are_asked_by_their_last_turn(write: Callable[..., Path]) -> None:
    turns = [{"role": "user", "content": "Old?"}, {"role": "assistant", "content": "Yes."}]
    turns.append({"role": "user", "content": "The capital of France is"})
    chat = {"gen_args_0": {"arg_0": [json.dumps(turns)], "arg_1": {}}}
    (item,) = only(write([{**ROWS[0], "arguments": chat}])).items()
    assert item.question == "The capital of France is"


def test_groups_that_hold_one_another_twice_or_in_a_circle_are_gone_through_once(
    write: Callable[..., Path],
) -> None:
    file = write(ROWS)
    results = file.parent / f"results_{TIME}.json"
    groups = {f"g{at}": [f"g{at + 1}", f"g{at + 1}", f"h{at}"] for at in range(60)}
    groups |= {f"h{at}": [f"g{at + 1}"] for at in range(60)}
    groups |= {"g60": ["capitals", "g0"], "none": True}
    results.write_text(json.dumps({**json.loads(results.read_text()), "group_subtasks": groups}))
    (item, _) = only(file).items()
    assert item.metadata["category"] in groups
