"""Numbers in a study: read as people read them, and counted under three rules of sameness."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.study import stored
from tests.study.conftest import Leadline
from tests.study.recorded import answer
from tests.study.small import small_study, write_items

SAMPLES = 4


def numbers_study(folder: Path, model: Path, said: dict[str, list[str]], **fields: Any) -> Path:
    """A study at τ = 0.7 whose items were answered as `said` has it: id → the texts of its samples."""
    small_study(
        folder, model, techniques=[], beyond_sampling=None, sampling={"temperatures": [0.7], "vote": SAMPLES}
    )
    entries = [
        {"id": item, "question": "How much is it?", "answer": "0.909", "answer_type": "number", **fields}
        for item in said
    ]
    write_items(folder / "items.jsonl", entries)
    answer(folder, lambda _, item, sample: said[item][sample])
    return folder


def wobbles(folder: Path) -> dict[str, tuple[float | None, float | None]]:
    (row,) = stored.table(stored.findings(folder), "sameness", "overall")
    return {
        name: (figure["numerator"], figure["denominator"])
        for name, figure in row["figures"].items()
        if name.startswith("wobble")
    }


@pytest.mark.parametrize(
    ("texts", "fields", "exact", "declared", "rounding"),
    [
        (["0.909", "0.9090909090909091", "0.909", "0.90909"], {}, 1, None, 0),
        (["0.909", "0.9096", "0.909", "0.909"], {}, 1, None, 1),
        (["0.909", "$0.91", "0.9094", "0.908"], {"precision": 0.01}, 1, 0, 1),
        (["2.40%", "2.4", "2.4 percent", "2.4%"], {}, 0, None, 0),
        (["123456", "123457", "123456", "123456"], {}, 1, None, 1),
    ],
)
def test_wobble_stands_under_three_rules(
    tmp_path: Path,
    model: Path,
    leadline: Leadline,
    texts: list[str],
    fields: dict[str, Any],
    exact: int,
    declared: int | None,
    rounding: int,
) -> None:
    folder = numbers_study(tmp_path, model, {"i0": texts}, **fields)
    assert leadline("report", folder).code == 0
    assert wobbles(folder) == {
        "wobble_exact": (exact, 1),
        "wobble_declared": (None, 0) if declared is None else (declared, 1),
        "wobble_rounding": (rounding, 1),
    }
    own = next(iter(stored.table(stored.findings(folder), "wobble", "overall")))["figures"]["wobble"]
    assert own["numerator"] == (rounding if declared is None else declared)


def test_a_vote_is_counted_over_what_is_the_same(tmp_path: Path, model: Path, leadline: Leadline) -> None:
    """0.7 has two votes as text; 0.909 has none, but three as a number, and 0.909 is right."""
    texts = {"i0": ["0.70", "0.70", "0.909", "0.9091"], "i1": ["0.70", "0.909", "0.9091", "0.90909"]}
    folder = numbers_study(tmp_path, model, texts)
    assert leadline("report", folder).code == 0
    rows = stored.table(stored.findings(folder), "wobble", "overall")
    figures = next(row["figures"] for row in rows if row["keys"]["configuration"] == "τ = 0.7")
    assert (figures["acc"]["numerator"], figures["acc"]["denominator"]) == (1, 2)
