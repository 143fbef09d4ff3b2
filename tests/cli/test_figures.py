"""`leadline figures`: what is drawn is named, what is skipped says why, mistakes are one line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from leadline.report.document import write_findings
from tests.report.documents import small_frame, study_document
from tests.report.stability import stability_document
from tests.study.conftest import Leadline
from tests.study.small import small_study


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study's folder as `leadline figures` sees it, without an audit's findings."""
    document = stability_document()
    kept = tuple(finding for finding in document.findings if finding.lens != "contrast")
    place = tmp_path_factory.mktemp("study")
    write_findings(document.model_copy(update={"findings": kept}), place / "report" / "findings.json")
    return place


def test_figures_stand_beside_the_findings_and_the_absent_one_is_named(
    folder: Path, leadline: Leadline
) -> None:
    ended = leadline("figures", folder)
    figures = folder / "report" / "figures"
    assert ended.code == 0
    assert (
        f"figure    {figures / 'wobble.svg'}" in ended.out
        and f"captions  {figures / 'captions.md'}" in ended.out
    )
    assert (
        ended.err
        == "skipped   contrast: no audit groups the items into flagged and clean ones, and none was changed\n"
    )
    assert {path.name for path in figures.iterdir()} == {
        "wobble.svg", "observability.svg", "transfer.svg", "split-half.svg", "categories.svg", "captions.md",
    }  # fmt: skip


def test_a_findings_file_will_do_and_programs_get_json(
    folder: Path, leadline: Leadline, tmp_path: Path
) -> None:
    ended = leadline(
        "figures", folder / "report" / "findings.json", "--out", tmp_path, "--format", "svg", "--json"
    )
    told = json.loads(ended.out)
    assert all(Path(path).is_file() for path in told["figures"]) and list(told["skipped"]) == ["contrast"]


def test_mistakes_are_one_line(folder: Path, leadline: Leadline, tmp_path: Path) -> None:
    assert "no such format: gif" in leadline("figures", folder, "--format", "gif").fault
    assert "no such width: poster" in leadline("figures", folder, "--width", "poster").fault
    assert "no findings here" in leadline("figures", tmp_path).fault


def test_findings_without_anything_to_draw_draw_nothing(leadline: Leadline, tmp_path: Path) -> None:
    write_findings(study_document(small_frame(4), lenses=False), tmp_path / "findings.json")
    ended = leadline("figures", tmp_path / "findings.json")
    assert (ended.code, ended.out) == (0, "") and ended.err.count("skipped") == 6
    assert not (tmp_path / "figures").exists()


def test_without_matplotlib_the_way_to_it_is_named(
    folder: Path, leadline: Leadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith(("leadline.report.figures", "matplotlib"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "pip install 'leadline[figures]'" in leadline("figures", folder).fault


def test_matplotlib_is_imported_by_those_who_draw_alone() -> None:
    program = "import sys, leadline.cli.app, leadline.report.study_report; print('matplotlib' in sys.modules)"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout == "False\n"


def test_a_report_prints_its_claims_and_draws_its_figures_when_asked(
    tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    study = small_study(tmp_path / "study", model)
    assert leadline("run", study, "--quiet").code == 0
    ended = leadline("report", study, "--claims", "--figures")
    assert ended.code == 0
    assert "Conservative reading" in ended.out and "How steady the answers are" not in ended.out
    assert max(map(len, ended.out.split("\nreport ")[0].splitlines())) <= 120
    drawn = [line.split()[-1] for line in ended.out.splitlines() if line.startswith("figure ")]
    assert all(Path(path).is_file() for path in drawn)
    assert len(drawn) + ended.err.count("skipped") == 6
    assert not (study / "report" / "figures").exists() or drawn
