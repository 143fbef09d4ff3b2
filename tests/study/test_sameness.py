"""What must not change the findings, and what must always hold in them: on answers of a real model."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

from tests.study import stored
from tests.study.conftest import Leadline
from tests.study.small import change, items, small_study, write_items


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sameness")


@pytest.fixture
def expected(place: Path, model: Path, leadline: Leadline) -> Path:
    """A study that was run once for this module: rows of 16."""
    folder = place / "expected"
    if not folder.exists():
        small_study(folder, model, 12)
        assert leadline("run", folder, "--quiet").code == 0
    return folder


@pytest.mark.parametrize("rows", [1, 7, 64])
def test_the_batch_size_changes_no_finding(
    expected: Path, tmp_path: Path, model: Path, leadline: Leadline, rows: int
) -> None:
    folder = small_study(tmp_path / "study", model, 12, batch_rows=rows)
    assert leadline("run", folder, "--quiet").code == 0
    assert stored.texts(folder) == stored.texts(expected)
    assert stored.findings(folder) == stored.findings(expected)


def test_the_order_of_the_file_changes_no_finding(
    expected: Path, tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    folder = small_study(tmp_path / "study", model, 12)
    entries = items(12)
    random.Random(1).shuffle(entries)
    write_items(folder / "items.jsonl", entries)
    assert leadline("run", folder, "--quiet").code == 0
    assert stored.texts(folder) == stored.texts(expected)
    assert stored.findings(folder) == stored.findings(expected)


def test_a_run_of_a_complete_study_asks_nothing_and_finds_the_same(
    expected: Path, leadline: Leadline
) -> None:
    before = stored.rows(expected)
    found = stored.findings(expected)
    assert leadline("run", expected, "--quiet").code == 0
    assert stored.rows(expected) == before
    assert stored.findings(expected) == found


def test_stricter_correctness_is_another_reading_of_the_same_answers(
    expected: Path, tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    folder = small_study(tmp_path / "study", model, 12, correctness="words")
    assert leadline("run", folder, "--quiet").code == 0
    loose, strict = (
        {
            row["keys"]["configuration"]: row["figures"]["acc"]["numerator"]
            for row in stored.table(stored.findings(one), "accuracy", "overall")
        }
        for one in (expected, folder)
    )
    assert all(strict[name] <= loose[name] for name in loose) and strict != loose
    both = stored.texts(folder).keys() & stored.texts(expected).keys()
    assert len(both) > 100
    assert all(stored.texts(folder)[one] == stored.texts(expected)[one] for one in list(both)[:50])


# --- what holds in the findings of any study ---


def identities_hold(document: dict[str, Any]) -> None:
    """The invariants of the measures, on findings.json alone."""
    accuracy = {
        row["keys"]["configuration"]: row["figures"]["acc"]
        for row in stored.table(document, "accuracy", "overall")
    }
    baseline = accuracy["greedy"]
    failures = baseline["denominator"] - baseline["numerator"]

    transitions = stored.table(document, "transitions", "overall")
    assert transitions
    for row in transitions:
        figures, method = row["figures"], row["keys"]["method"]
        gain, loss = figures["gain"], figures["loss"]
        assert gain["denominator"] == failures and loss["denominator"] == baseline["numerator"]
        assert accuracy[method]["numerator"] == baseline["numerator"] + gain["numerator"] - loss["numerator"]
        rates = (gain["value"] or 0) * failures - (loss["value"] or 0) * baseline["numerator"]
        assert accuracy[method]["value"] == pytest.approx(baseline["value"] + rates / baseline["denominator"])
        assert figures["net"]["value"] == gain["numerator"] - loss["numerator"]

    for row in stored.table(document, "rank_shift", "overall"):
        shares = [row["figures"][name] for name in ("improved", "tied", "worsened")]
        if shares[0]["denominator"]:
            assert sum(share["value"] for share in shares) == pytest.approx(1)
            assert sum(share["numerator"] for share in shares) == shares[0]["denominator"]

    partitions = stored.table(document, "beyond_sampling", "partition")
    assert {row["keys"]["temperature"] for row in partitions} == {"0.7", "1.2"}
    sizes = {}
    for row in partitions:
        shallow, deep = row["figures"]["shallow"], row["figures"]["deep"]
        assert shallow["numerator"] + deep["numerator"] == failures == shallow["denominator"]
        sizes[row["keys"]["temperature"]] = (shallow["numerator"], deep["numerator"])
    for row in stored.table(document, "beyond_sampling", "rates"):
        shallow, deep = sizes[row["keys"]["temperature"]]
        figures = row["figures"]
        assert (figures["sgr"]["denominator"], figures["dgr"]["denominator"]) == (shallow, deep)
        recovered = figures["sgr"]["numerator"] + figures["dgr"]["numerator"]
        if row["keys"]["method"] in ("recite", "genread"):  # temperatures are judged over other votes here
            (gain,) = (
                one["figures"]["gain"]
                for one in transitions
                if one["keys"]["method"] == row["keys"]["method"]
            )
            assert recovered == gain["numerator"]


def test_the_identities_of_the_measures_hold(expected: Path) -> None:
    document = stored.findings(expected)
    identities_hold(document)
    baseline = stored.table(document, "accuracy", "overall")[0]["figures"]["acc"]
    assert 0 < baseline["numerator"] < baseline["denominator"], "the small model is to be right and wrong"


def test_sentences_call_a_temperature_what_the_tables_call_it(expected: Path) -> None:
    document = stored.findings(expected)
    said = [claim["text"] for finding in document["findings"] for claim in finding["claims"]]
    said += [note for finding in document["findings"] for note in finding["notes"]]
    for finding in document["findings"]:
        for row in finding["rows"]:
            said += [figure[key] for figure in row["figures"].values() for key in ("note", "method")]
    assert any("τ = 0.7 recovers more than it breaks" in text for text in said)
    assert not [text for text in said if re.search("tau-[0-9]", text)]
    tables = (expected / "report" / "tables.md").read_text("utf-8")
    assert "| τ = 0.7 |" in tables and not re.search("tau-[0-9]", tables)


def test_an_item_that_the_model_cannot_take_in_is_no_failure_of_the_baseline(
    tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    """The call fails; it is kept as a failure, asked again by the next run, and counted in no measure."""
    folder = small_study(tmp_path / "study", model, 6)
    entries = items(6)
    entries[1]["question"] = "letters " * 200
    write_items(folder / "items.jsonl", entries)
    first = leadline("run", folder)
    assert "tiny · greedy: 1 call failed, the first: " in first.err and "1 calls" not in first.err
    assert first.code == 3 and "Traceback" not in first.err
    said = r"error: .*: [0-9]+ calls failed, the study is not complete \(run it again to ask these again\)"
    assert re.fullmatch(said, first.err.splitlines()[-1])
    assert "report.html" in first.out, "what is there is reported all the same"
    document = stored.findings(folder)
    identities_hold(document)
    assert stored.table(document, "accuracy", "overall")[0]["figures"]["acc"]["denominator"] == 5
    assert "i01" not in {identity[1] for identity in stored.rows(folder)}
    before = stored.rows(folder)
    again = leadline("run", folder)
    assert again.code == 3 and "calls failed" in again.err
    assert stored.rows(folder) == before
    assert stored.findings(folder) == document
    change(folder, items={"categories": ["even"]})
    without = leadline("run", folder)
    assert without.code == 0 and "failed" not in without.err


@pytest.mark.model
def test_the_identities_hold_for_the_real_model(tmp_path: Path, leadline: Leadline) -> None:
    folder = tmp_path / "study"
    assert leadline("init", folder, "--items", "5").code == 0
    change(
        folder,
        techniques=[
            {"technique": "recite", "paths": 2, "passage_tokens": 12},
            {"technique": "genread", "passage_tokens": 12},
        ],
        max_tokens=8,
        sampling={"temperatures": [0.7, 1.2], "vote": 2},
        beyond_sampling={"k": 2, "sweep": 3},
    )
    assert leadline("run", folder, "--quiet").code == 0
    identities_hold(stored.findings(folder))
