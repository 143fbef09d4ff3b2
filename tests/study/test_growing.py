"""What makes a new question to the model, and what does not: only the missing is ever asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.study import stored
from tests.study.conftest import Leadline
from tests.study.small import STUDY, change, items, small_study, write_items


def answers(folder: Path, leadline: Leadline, *flags: str) -> tuple[int, int]:
    """Run the study; how many answers were drawn, and how many were there."""
    ended = leadline("run", folder, "--quiet", "--no-report", "--json", *flags)
    assert ended.code == 0, ended.err
    outcome = json.loads(ended.out)
    return outcome["drawn"], outcome["kept"]


@pytest.fixture
def study(tmp_path: Path, model: Path, leadline: Leadline) -> Path:
    """A study that was run."""
    folder = small_study(tmp_path / "study", model)
    drawn, kept = answers(folder, leadline)
    assert kept == 0 and drawn == len(stored.rows(folder)) > 50
    return folder


def configurations(folder: Path) -> set[str]:
    return {identity[0] for identity in stored.rows(folder)}


@pytest.mark.parametrize(
    "changes",
    [
        {"sampling": {"temperatures": [0.7, 1.2], "vote": 5}},
        {"beyond_sampling": {"k": 3, "sweep": 7}},
        {"beyond_sampling": {"k": 4, "sweep": 4}},
        {"techniques": [{**STUDY["techniques"][0], "paths": 4}, STUDY["techniques"][1]]},
    ],
    ids=["vote", "sweep", "k", "paths"],
)
def test_more_samples_draw_only_the_further_ones(
    study: Path, leadline: Leadline, changes: dict[str, Any]
) -> None:
    before = stored.rows(study)
    change(study, **changes)
    drawn, kept = answers(study, leadline)
    after = stored.rows(study)
    assert after.items() >= before.items()
    assert drawn == len(after) - len(before) > 0 and kept == len(before)
    assert configurations(study) == {identity[0] for identity in before}


def test_samples_drawn_later_are_the_ones_that_would_have_been_drawn_at_once(
    study: Path, tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    more = {"beyond_sampling": {"k": 5, "sweep": 6}}
    change(study, **more)
    answers(study, leadline)
    at_once = small_study(tmp_path / "at-once", model, **more)
    answers(at_once, leadline)
    assert stored.texts(study) == stored.texts(at_once)


def test_a_larger_limit_asks_only_the_further_items(tmp_path: Path, model: Path, leadline: Leadline) -> None:
    folder = small_study(tmp_path / "study", model, 12, items=5)
    answers(folder, leadline)
    before = stored.rows(folder)
    change(folder, items=9)
    drawn, kept = answers(folder, leadline)
    after = stored.rows(folder)
    assert after.items() >= before.items() and kept == len(before)
    new = {identity[1] for identity in after} - {identity[1] for identity in before}
    assert len(new) == 4 and {identity[1] for identity in after.keys() - before.keys()} == new
    assert drawn == len(after) - len(before)


def test_fewer_samples_or_items_ask_nothing_and_report_only_these(
    study: Path, tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    less = {"items": 4, "beyond_sampling": {"k": 2, "sweep": 3}}
    change(study, **less)
    assert answers(study, leadline)[0] == 0
    assert leadline("report", study).code == 0
    small = small_study(tmp_path / "small", model, **less)
    assert leadline("run", small).code == 0
    assert stored.findings(study) == stored.findings(small)


def test_another_technique_asks_only_its_own(study: Path, leadline: Leadline) -> None:
    before = stored.rows(study)
    change(
        study,
        techniques=[*STUDY["techniques"], {**STUDY["techniques"][0], "name": "hot", "temperature": 1.5}],
    )
    drawn, kept = answers(study, leadline)
    assert (drawn, kept) == (6 * 2, len(before))
    assert len(configurations(study)) == len({identity[0] for identity in before}) + 1
    assert stored.rows(study).items() >= before.items()


def _other_prompt(folder: Path) -> None:
    (folder / "prompts" / "genread" / "answer.txt").write_text("{{ passage }} {{ question }}", "utf-8")


@pytest.mark.parametrize(
    ("make", "new"),
    [
        (_other_prompt, 1),
        (lambda folder: change(folder, sampling={"temperatures": [0.7, 1.3], "vote": 3}), 2),
        (lambda folder: change(folder, beyond_sampling={"k": 3, "sweep": 4, "partition_seed": 43}), 2),
        (lambda folder: change(folder, beyond_sampling={"k": 3, "sweep": 4, "fresh_seed": 1}), 2),
        (lambda folder: change(folder, max_tokens=5), 5),
        (lambda folder: change(folder, prompt="chat"), 7),
    ],
    ids=["prompt", "temperature", "seed A", "seed B", "length", "style"],
)
def test_what_reaches_the_model_makes_a_new_configuration_and_old_answers_stay(
    study: Path, leadline: Leadline, make: Any, new: int
) -> None:
    before = stored.rows(study)
    make(study)
    drawn, kept = answers(study, leadline)
    after = stored.rows(study)
    assert after.items() >= before.items()
    assert drawn == len(after) - len(before) > 0
    # Partitions ask only where the baseline fails, which another style may change: not all need be asked.
    assert len(configurations(study)) == len({identity[0] for identity in before}) + new
    assert (kept == 0) == (new == 7)


def test_another_dtype_and_other_weights_are_other_configurations(
    study: Path, model: Path, other_model: Path, leadline: Leadline
) -> None:
    before = stored.rows(study)
    change(study, models=[{"ref": str(model), "dtype": "bfloat16"}])
    assert answers(study, leadline, "--accept-changes")[1] == 0
    change(study, models=[{"ref": str(other_model), "name": model.name}])
    assert answers(study, leadline, "--accept-changes")[1] == 0
    assert stored.rows(study).items() >= before.items()
    change(study, models=[str(model)])
    assert answers(study, leadline) == (0, len(before))


def test_the_same_weights_elsewhere_under_another_name_are_the_same_configuration(
    study: Path, tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    import shutil

    moved = shutil.copytree(model, tmp_path / "moved")
    number = len(stored.rows(study))
    change(study, models=[{"ref": str(moved), "name": "renamed"}])
    assert answers(study, leadline) == (0, number)


def test_names_and_batch_size_do_not_ask_again(study: Path, leadline: Leadline) -> None:
    number = len(stored.rows(study))
    change(
        study,
        name="renamed",
        batch_rows=3,
        correctness="words",
        techniques=[{**one, "name": f"my-{one['technique']}"} for one in STUDY["techniques"]],
    )
    drawn, kept = answers(study, leadline)
    # Stricter correctness fails more baselines; only their partition samples are new.
    assert kept == number and drawn % 4 == 0


def test_a_reworded_question_is_asked_again_and_answers_to_the_old_wording_stay(
    study: Path, tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    before = stored.rows(study)
    entries = items()
    entries[2]["question"] = "Which letters, then?"
    write_items(study / "items.jsonl", entries)
    drawn, _ = answers(study, leadline, "--accept-changes")
    after = stored.rows(study)
    assert after.items() >= before.items()
    assert {identity[1] for identity in after.keys() - before.keys()} == {"i02"}
    assert drawn == len(after) - len(before)
    assert leadline("report", study).code == 0
    fresh = small_study(tmp_path / "fresh", model)
    write_items(fresh / "items.jsonl", entries)
    assert leadline("run", fresh).code == 0
    found, at_once = stored.findings(study), stored.findings(fresh)
    assert (len(found.pop("changes")), at_once.pop("changes")) == (1, [])
    assert found == at_once, "old answers count for nothing"
    write_items(study / "items.jsonl", items())
    assert answers(study, leadline)[0] == 0, "the old wording's answers are taken up again"


def test_another_gold_answer_asks_nothing_again_and_changes_what_is_found(
    study: Path, leadline: Leadline
) -> None:
    assert leadline("report", study).code == 0
    before = stored.findings(study)
    baseline = {
        identity[1]: row["text"]
        for identity, row in stored.rows(study).items()
        if identity[0] == next(each["id"] for each in before["configurations"] if each["role"] == "baseline")
    }
    entries = items()
    for entry in entries:  # all right now, so that no further failure wants partition samples
        entry["aliases"] = [next(letter for letter in baseline[entry["id"]] if letter.isalnum())]
    write_items(study / "items.jsonl", entries)
    assert answers(study, leadline)[0] == 0
    assert leadline("report", study).code == 0
    after = stored.findings(study)
    accuracy = {
        row["keys"]["configuration"]: row["figures"]["acc"]["value"]
        for row in stored.table(after, "accuracy", "overall")
    }
    assert accuracy["greedy"] == 1.0
    assert after != before
