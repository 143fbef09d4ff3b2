"""`make bench` in its quick form. What Leadline is set beside answers the same, or no ratio would count."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def benchmarks() -> Iterator[None]:
    """The folder whose files import each other by their names."""
    sys.path.insert(0, str(BENCHMARKS))
    yield
    sys.path.remove(str(BENCHMARKS))


def _module(name: str) -> ModuleType:
    return __import__(name)


@pytest.mark.usefixtures("benchmarks")
def test_a_goal_is_met_when_the_medians_reach_it_and_its_spread_holds_them() -> None:
    goals = _module("goals")
    ratio, low, high = goals.spread([10.0, 30.0, 20.0], [2.0, 5.0, 5.0])
    assert (ratio, low, high) == (4.0, 4.0, 6.0)
    goal = goals.Goal("1a", "this", "that", 4, ratio, low, high, "3 runs")
    assert goal.met
    assert goals.Goal("1a", "this", "that", 4.1, ratio, low, high, "3 runs").met is False
    assert goals.Goal("1a", "this", "that", None, ratio, low, high, "3 runs").met is None
    assert goals.document([goal])[0]["met"] is True


@pytest.mark.usefixtures("benchmarks")
def test_benchmarks_that_did_not_run_are_told_from_what_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, greedy = _module("run"), _module("against_lm_eval")
    row = {
        "items": 256,
        "lm_eval_batch_size": 8,
        "runs": {"leadline": [10.0, 10.0], "lm-eval": [40.0, 42.0]},
        "equal": 255,
        "unequal": [{"why": "two tokens are equally likely but for rounding"}],
    }
    kept = {"measured": "2026-01-01", "greedy": [row]}
    (tmp_path / "greedy.json").write_text(json.dumps(kept), "utf-8")
    (tmp_path / "sampling.json").write_text(json.dumps({"measured": "2026-01-01", "sampling": [{}]}), "utf-8")
    monkeypatch.setattr(run, "RESULTS", tmp_path)
    found = run._earlier(["greedy", "sampling", "protocol"], run.Console())
    assert found == greedy.goals([row])
    assert (found[0].ratio, found[0].low, found[0].high) == (4.1, 4.0, 4.2)
    assert "255 of 256 outputs equal" in found[0].how


@pytest.mark.model
@pytest.mark.usefixtures("benchmarks")
def test_a_script_without_our_engine_gives_the_same_greedy_answers_and_ranks() -> None:
    """Written from the papers' formulas: baseline, GenRead, five ways to decode, three ways to steer."""
    protocol = _module("protocol")
    row = protocol.measure(1, True, print)[0]
    assert row["unequal"] == []
    assert (
        row["equal"]
        == row["equal_ranks"]
        == dict.fromkeys(("greedy", "genread", *protocol.LOOPS, *protocol.STEERED), 1)
    )
    assert protocol.goals([row])[0].ratio > 0


@pytest.mark.model
@pytest.mark.usefixtures("benchmarks")
def test_the_harness_is_asked_the_same_and_answers_the_same() -> None:
    greedy = _module("against_lm_eval")
    row = greedy.measure(1, True, print)[0]
    assert (row["equal"], row["unequal"]) == (4, [])
    assert greedy.goals([row])[0].number == "3"


@pytest.mark.model
@pytest.mark.usefixtures("benchmarks")
def test_one_table_closes_make_bench(capsys: pytest.CaptureFixture[str]) -> None:
    goals = _module("run").main(["--quick", "--only", "sampling"])
    assert [goal.number for goal in goals] == ["1a", "1c"]
    said = capsys.readouterr().out
    assert "Against what people would use instead" in said and "measured" in said
