"""The ledger of endurance fails where something was lost, and the page shows what it counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.endurance.ledger import CONTRACT, PAGE, RESULTS, Ledger, Tally, keep, table


@pytest.mark.parametrize("promise", CONTRACT)
def test_a_broken_promise_fails_the_test_and_is_counted(promise: str) -> None:
    tally = Tally("a kill")
    tally.fault(midway=True)
    tally.check(faults=1, midway=1)
    tally.broken(promise, "an answer", 2)
    with pytest.raises(AssertionError, match=f"{promise}: an answer"):
        tally.check()
    assert tally.row()[promise] == 2


def test_faults_that_missed_fail_the_test_too() -> None:
    tally = Tally("a kill")
    tally.fault()
    with pytest.raises(AssertionError, match="1 faults, 2 were meant"):
        tally.check(faults=2)
    with pytest.raises(AssertionError, match="0 in its midst, 1 were meant"):
        tally.check(midway=1)


def test_rows_are_kept_beside_those_of_other_kinds_and_take_the_place_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "results" / "endurance.json"
    ledger = Ledger()
    ledger.tally("a").fault()
    ledger.tally("b").fault()
    keep(ledger.rows(), path)
    ledger = Ledger()
    ledger.tally("b").faults = 5
    keep(ledger.rows(), path)
    kept = json.loads(path.read_text("utf-8"))
    assert [(row["kind"], row["faults"]) for row in kept["rows"]] == [("a", 1), ("b", 5)]
    assert kept["all"]["faults"] == 6


def test_the_page_shows_the_counts_that_were_kept() -> None:
    rows = json.loads(RESULTS.read_text("utf-8"))["rows"]
    assert table(rows) in PAGE.read_text("utf-8"), "python -m tests.endurance.ledger writes it"
    assert sum(row["faults"] for row in rows) >= 200
    assert all(row[promise] == 0 for row in rows for promise in CONTRACT)
