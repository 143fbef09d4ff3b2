"""A study that asks its techniques again: what is run, what it is called, and that nothing else changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from leadline.lenses.protocol import Again
from leadline.report.document import load_findings
from leadline.study.expand import kind_of
from leadline.study.readings import readings
from leadline.study.store import open_store
from leadline.study.study import open_study
from tests.study import recorded, stored
from tests.study.conftest import Leadline
from tests.study.small import STUDY, change, items, small_study
from tests.study.test_population import FAILURES, audit_of

TECHNIQUES = [*STUDY["techniques"], "dola", {"technique": "dola", "relative_top": 0.5, "name": "strict"}]


@pytest.fixture
def asked(tmp_path: Path, model: Path, leadline: Leadline) -> Path:
    """A study that was run."""
    folder = small_study(
        tmp_path / "study", model, techniques=TECHNIQUES, again={"times": 3, "temperature": 0.7}
    )
    assert leadline("run", folder, "--quiet").code == 0
    return folder


def test_deterministic_techniques_are_asked_again_and_others_are_not(asked: Path) -> None:
    study = open_study(asked)
    again = {one.name: one for one in study.configurations if one.role == "again"}
    assert list(again) == ["genread-again", "dola-again", "strict-again"]
    assert {one.samples for one in again.values()} == {3}
    assert again["strict-again"].label == "strict, again at τ = 0.7"
    assert not {method.name for method in study.protocol.methods} & set(again)
    assert study.protocol.again == (
        Again("recite", "recite", 0.7, "tau-0.7"),  # it has several paths: they are what is looked at
        Again("genread-again", "genread", 0.7, "tau-0.7"),
        Again("dola-again", "dola", 0.7, "tau-0.7"),
        Again("strict-again", "strict", 0.7, "tau-0.7"),
    )


def test_asked_again_a_technique_is_grouped_as_before(tmp_path: Path, model: Path) -> None:
    techniques = ["genread", "dola", {"technique": "genread+dola", "name": "both"}]
    study = open_study(small_study(tmp_path / "study", model, techniques=techniques, again={}))
    kinds = {one.name: kind_of(one.technique) for one in study.configurations}
    for name in ("genread", "dola", "both"):
        assert kinds[f"{name}-again"] == kinds[name]
    assert kinds["both-again"] == "stack"


def test_every_item_has_all_its_answers_under_its_own_configuration(asked: Path) -> None:
    study = open_study(asked)
    with open_store(asked, write=False) as store:
        frame = readings(study, store)
    for name in ("genread-again", "dola-again", "strict-again"):
        rows = frame.filter(frame["configuration"] == name)
        assert rows.height == 3 * len(study.benchmark.items)
        assert set(rows["sample"]) == {0, 1, 2}
    ids = {
        entry["id"] for entry in json.loads((asked / "manifest.json").read_text())["configurations"].values()
    }
    assert len(ids) == len(study.configurations)
    document = json.loads((asked / "report" / "findings.json").read_text())
    roles = {entry["name"]: entry["role"] for entry in document["configurations"]}
    assert roles["dola-again"] == "again" and roles["dola"] == "method"


def test_asking_again_draws_only_that_and_changes_no_other_answer(
    tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    folder = small_study(tmp_path / "study", model, techniques=TECHNIQUES)
    assert leadline("run", folder, "--quiet", "--no-report").code == 0
    before = stored.rows(folder)
    change(folder, again={"times": 2, "temperature": 0.7})
    assert leadline("run", folder, "--quiet", "--no-report").code == 0
    once = stored.rows(folder)
    assert once.items() >= before.items()
    assert len(once) - len(before) == 3 * 2 * 6
    change(folder, again={"times": 4, "temperature": 0.7})  # more often: what is there is kept
    assert leadline("run", folder, "--quiet", "--no-report").code == 0
    more = stored.rows(folder)
    assert more.items() >= once.items()
    assert len(more) - len(once) == 3 * 2 * 6


def test_without_a_plain_temperature_like_it_there_is_none_to_set_it_against(
    tmp_path: Path, model: Path
) -> None:
    folder = small_study(tmp_path / "study", model, again={"temperature": 0.9})
    recite, genread = open_study(folder).protocol.again
    assert genread.plain == ""
    assert recite.plain == "tau-0.7"
    change(folder, sampling={"temperatures": [1.2]})
    assert open_study(folder).protocol.again[0].plain == "tau-1.2"  # paths at another temperature: the first


def test_a_name_that_asking_again_takes_is_refused_with_its_line(
    tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    taken = ["dola", {"technique": "genread", "name": "dola-again"}]
    folder = small_study(tmp_path / "study", model, techniques=taken, again={})
    ended = leadline("run", folder)
    assert "two configurations are called 'dola-again'" in ended.fault
    lines = (folder / "study.yaml").read_text().splitlines()
    assert f"study.yaml:{lines.index('  name: dola-again') + 1}" in ended.fault


def test_an_audits_verdicts_tell_where_a_gain_lies(tmp_path: Path, model: Path, leadline: Leadline) -> None:
    """GenRead is right on the two flagged items alone, whether the audit leaves them out or only groups."""
    folder = small_study(tmp_path / "study", model, techniques=["genread"], beyond_sampling=None)
    gold = {item["id"]: item["answer"] for item in items()}

    def says(configuration: str, item: str, sample: int) -> str:
        return gold[item] if configuration == "genread" and item in FAILURES else "?"

    recorded.answer(folder, says)
    audit = audit_of(folder)
    for flags in (("--exclude", "none"), ("--exclude", "flagged")):
        ended = leadline("report", folder, "--audit", audit, *flags)
        assert ended.code == 0, ended.err
        document = load_findings(folder / "report" / "findings.json")
        finding = document.finding("steadiness", "gain by audit", document.models[0].name)
        assert finding is not None
        (row,) = [row for row in finding.rows if row.keys == {"method": "genread"}]
        gained = row.figures["gain_flagged"], row.figures["gain_clean"]
        assert [(one.numerator, one.denominator) for one in gained] == [(2, 2), (0, 4)]
