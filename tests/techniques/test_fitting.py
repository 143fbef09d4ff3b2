"""`leadline techniques fit` fits, tells what was fitted, and keeps it for studies."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="local models need the 'local' extra")

from leadline.cli.app import main


def _said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.MonkeyPatch.context() as patched, pytest.raises(SystemExit) as end:
        patched.setattr(sys, "argv", ["leadline", *arguments])
        main()
    out, err = capsys.readouterr()
    return int(end.value.code or 0), out, err


@pytest.mark.model
def test_what_is_fitted_is_told_and_kept(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from leadline.models.resolve import resolve

    files = resolve("smollm2")  # from the user's own cache; what is fitted goes into another
    monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path))
    command = ("techniques", "fit", "caa:pairs=6", "--model", str(files.folder))
    code, out, err = _said(capsys, *command)
    assert code == 0
    (kept,) = (tmp_path / "artefacts").iterdir()
    assert str(kept) in "".join(out.split("\n"))
    assert "on 700 of" in out
    assert "fold 1: tries 30 layers" in err
    assert (
        len([line for line in out.splitlines() if line.split()[:1] == ["29"]]) == 2
    )  # norms and Δp by layer
    about = json.loads((kept / "about.json").read_text())
    date = about["date"]
    code, out, err = _said(capsys, *command, "--json")
    found = json.loads(out)["caa"]
    assert (code, found["date"]) == (0, date)
    assert "reads" not in err
    assert found["folds"][0]["layer"] == about["folds"][0]["layer"]
    monkeypatch.setattr("leadline.techniques.artefacts._versions", lambda: {"leadline": "another"})
    code, out, err = _said(capsys, *command, "--json", "--refit")
    assert json.loads(out)["caa"]["versions"] == {"leadline": "another"}
    assert json.loads((kept / "about.json").read_text())["versions"] == {"leadline": "another"}


@pytest.mark.parametrize(
    ("technique", "said"),
    [
        ("greedy", "greedy has nothing to fit (what is fitted: caa, "),
        ("cca", "there is no technique 'cca'"),
        ("caa:multiplier=much", "caa: multiplier: "),
        ("iti:head=3", "iti has no setting 'head'"),
    ],
)
def test_what_cannot_be_fitted_is_said_before_a_model_is_loaded(
    capsys: pytest.CaptureFixture[str], technique: str, said: str
) -> None:
    code, _, err = _said(capsys, "techniques", "fit", technique, "--model", "nowhere/at-all")
    assert code == 2
    assert said in err
    assert err.strip().count("\n") == 0
