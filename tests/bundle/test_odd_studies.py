"""Whatever small study is drawn, its release is verified: nobody's honest figures are refused."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from leadline.bundle import release
from leadline.bundle.release import bundle_study
from leadline.bundle.running import Verification
from leadline.bundle.verifier import resampling
from leadline.bundle.verifier.program import as_json, verify
from leadline.errors import LeadlineError
from leadline.study.study import open_study
from tests.bundle.odd_studies import decide, odd_study

# LEADLINE_ODD_STUDIES=400 tries so many.
NUMBER = int(os.environ.get("LEADLINE_ODD_STUDIES", "30"))
_AT_ONCE = 5
# What each of these draws is seldom drawn.
SELDOM = {
    93: "a change that is found in just 80 % of simulations or far fewer, as the null's next distance has it",
    105: "a task with an item that nobody could read",
    109: "a configuration with samples, but not the one that votes",
    116: "three tasks, of which two were read",
    129: "random halves of which few have a reliability, and that a negative one",
    195: "two runs, and no item that both were asked",
    231: "a number of samples that tells shallow from deep, and that no figure is",
    282: "an audit that leaves hardly any item",
    334: "configurations that have no item in common",
    352: "a single item, and an audit",
}


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The verifier is called as a function, and draws less: an end may then lie farther off."""

    def verified(folder: Path) -> Verification:
        book = verify(folder)
        return Verification(book.is_sound, json.loads(as_json(book, 0.0)), is_own_copy=True)

    monkeypatch.setattr(release, "verify_bundle", verified)
    monkeypatch.setattr(resampling, "DRAWS", 400)


@pytest.mark.parametrize("first", range(0, NUMBER, _AT_ONCE))
def test_odd_studies_are_released(first: int, tmp_path: Path) -> None:
    _released(range(first, min(NUMBER, first + _AT_ONCE)), tmp_path)


@pytest.mark.parametrize("seed", SELDOM)
def test_what_is_seldom_drawn_is_released(seed: int, tmp_path: Path) -> None:
    _released([seed], tmp_path)


@pytest.mark.parametrize("first", range(1000, 1000 + NUMBER // 2, _AT_ONCE))
def test_odd_studies_that_people_decided_on_are_released(first: int, tmp_path: Path) -> None:
    _released(range(first, first + _AT_ONCE), tmp_path, decided=True)


def _released(seeds: Iterable[int], tmp_path: Path, *, decided: bool = False) -> None:
    model = tmp_path / "tiny"
    model.mkdir()
    (model / "config.json").write_text("{}")
    for seed in seeds:
        study = odd_study(tmp_path / str(seed), model, seed)
        if decided:
            decide(study, seed)
        try:
            made = bundle_study(open_study(study), tmp_path / f"{seed}-out", say=lambda step: None)
        except LeadlineError as error:
            pytest.fail(f"seed {seed}: {error}")
        assert sum(per["exactly"] for per in made.verification.report["figures"].values()) > 0
