"""A classifier asks a real model through a study; its verdicts are those of the stored answers."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from leadline.build.records import Fact
from leadline.build.workspace import Workspace
from leadline.cli.app import main
from tests.build.classified import answers, build, outputs, write_plan

pytest.importorskip("torch", reason="local models need the 'local' extra")
pytestmark = pytest.mark.model

ROOT = Path(__file__).parents[2]
ASKED = {"model": "smollm2", "samples": 5, "agreement": 0.6}
LABELS = ("SINGLE", "MULTIPLE", "UNSURE")


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A build that nothing disturbed."""
    return build(write_plan(tmp_path_factory.mktemp("calm"), cardinality=ASKED))


def _judged(work: Workspace) -> dict[str, tuple[Fact, str]]:
    """Facts by id, with the reason of their drop."""
    here = work.stage("cardinality")
    return {
        **{fact.id: (fact, "") for fact in here.facts()},
        **{drop.fact.id: (drop.fact, drop.reason) for drop in here.drops()},
    }


def _by_hand(work: Workspace) -> dict[str, Counter[str]]:
    """Votes by fact, counted from the texts themselves: each names one label, or none."""
    rows = answers(work.folder / "studies" / "cardinality")
    drawn = [configuration for configuration, number in Counter(row[0] for row in rows).items() if number > 6]
    votes: dict[str, Counter[str]] = {}
    for configuration, item, _, text in rows:
        if configuration not in drawn:  # the greedy answers are there as well
            continue
        named = {word for word in re.findall(r"[A-Za-z]+", text) if word in LABELS}
        votes.setdefault(item.partition(".")[0], Counter()).update(named if len(named) == 1 else ())
    return votes


def test_verdicts_are_what_one_counts_by_hand_from_the_stored_answers(calm: Workspace) -> None:
    by_hand, judged = _by_hand(calm), _judged(calm)
    assert len(judged) == 6 and set(judged) == set(by_hand)
    for name, (fact, reason) in judged.items():
        said, votes = fact.verdicts["cardinality"], by_hand[name]
        assert said.votes == dict(votes) and said.asked == 5
        top = next((label for label, number in votes.items() if number >= 3), None)
        assert said.label == top
        expected = {"SINGLE": "", "MULTIPLE": "multiple", "UNSURE": "unsure", None: "unstable"}[top]
        assert reason == (expected if votes else "unanswered")


def test_done_json_counts_votes_and_labels_and_names_the_model(calm: Workspace) -> None:
    counts = calm.stage("cardinality").counts()
    by_hand = _by_hand(calm)
    total = sum((votes for votes in by_hand.values()), Counter())
    assert counts["votes"] == dict(sorted(total.items())) and total
    assert (counts["judged"], counts["answers"]) == (6, 30)
    repeated = [votes for votes in by_hand.values() if votes.total() > 1]
    assert counts["wobble"] == sum(len(votes) > 1 for votes in repeated) / len(repeated)
    assert counts["model"].startswith("sha256:")
    assert counts["kept"] + sum(counts["dropped"].values()) == 6


def test_a_build_killed_while_it_asks_and_run_again_leaves_the_same_bytes(
    calm: Workspace, tmp_path: Path
) -> None:
    plan = write_plan(tmp_path / "killed", cardinality=ASKED)
    study = tmp_path / "killed" / "small-build" / "studies" / "cardinality"
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.build.classified", str(plan)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
    )
    end = time.monotonic() + 300
    while not (there := answers(study)):
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.01)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert 0 < len(answers(study)) < 36, "it was killed in the middle"
    work = build(plan)
    assert outputs(work, "cardinality") == outputs(calm, "cardinality")
    after = answers(study)
    assert len(after) == 36 and set(there) <= set(after)


def test_the_study_is_one_that_leadline_reports_on(
    calm: Workspace, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    study = calm.folder / "studies" / "cardinality"
    for command in (["report", study], ["bench", "validate", study / "benchmark"]):
        monkeypatch.setattr(sys, "argv", ["leadline", *map(str, command)])
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code
    told = capfd.readouterr()
    assert "votes" in told.out and " 0 errors" in told.out + told.err
    assert (study / "report" / "report.html").exists()
    header = (study / "benchmark" / "benchmark.yaml").read_text("utf-8")
    assert "accuracy is agreement" in " ".join(header.split())
