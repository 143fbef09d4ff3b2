"""Results on stdout, everything else on stderr; exit codes; bars on a terminal only."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.study import stored
from tests.study.conftest import Leadline
from tests.study.forks import ROOT
from tests.study.small import small_study


def test_run_writes_findings_to_stdout_and_plain_log_lines_to_stderr(
    tmp_path: Path, model: Path, leadline: Leadline
) -> None:
    folder = small_study(tmp_path / "study", model)
    ended = leadline("run", folder, "--json")
    assert ended.code == 0
    assert json.loads(ended.out) == json.loads((folder / "report" / "findings.json").read_text("utf-8"))
    lines = ended.err.splitlines()
    assert any(line.startswith("tiny · greedy: 6 answers in ") for line in lines)
    assert lines[-1].endswith(" s") and "answers drawn, 0 were there" in lines[-1]
    assert "\x1b" not in ended.err and "\r" not in ended.err and "━" not in ended.err


def test_quiet_says_nothing_on_stderr(tmp_path: Path, model: Path, leadline: Leadline) -> None:
    folder = small_study(tmp_path / "study", model)
    ended = leadline("run", folder, "--quiet")
    assert ended.err == "" and "report.html" in ended.out
    ended = leadline("run", folder, "-q", "--json", "--no-report")
    assert ended.err == ""
    assert json.loads(ended.out).keys() == {"drawn", "kept", "failed", "seconds"}


def test_report_prints_the_table_or_the_findings(study: Path, leadline: Leadline) -> None:
    ended = leadline("report", study)
    assert ended.code == 0 and ended.err == ""
    assert "recite" in ended.out and str(study / "report" / "report.html") in ended.out
    assert "\x1b" not in ended.out
    ended = leadline("report", study, "--json", "--out", study / "elsewhere")
    assert json.loads(ended.out)["study"] == "small" and ended.err == ""
    assert stored.findings(study, "elsewhere") == stored.findings(study)


@pytest.mark.parametrize(
    "command",
    [
        ["techniques", "list"],
        ["techniques", "show", "recite"],
        ["bench", "list"],
        ["bench", "show", "facts"],
        ["bench", "validate", "facts"],
        ["models", "list"],
    ],
    ids=" ".join,
)
def test_json_is_all_that_stdout_has(command: list[str], leadline: Leadline) -> None:
    ended = leadline(*command, "--json")
    assert ended.code == 0 and ended.err == ""
    assert json.loads(ended.out)
    plain = leadline(*command)
    assert plain.code == 0 and plain.out.strip() and not plain.out.startswith("{")


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["run", "no-such-place"], 2),
        (["run", "--no-such-flag"], 2),
        (["no-such-command"], 2),
        (["techniques", "show", "recitee"], 2),
        (["techniques", "show", "recite", "--style", "caht"], 2),
        (["bench", "show", "no-such-benchmark"], 2),
        (["init", "somewhere", "--items", "0"], 2),
        (["init", "somewhere", "--benchmark", "no-such"], 2),
        (["demo", "--items", "many"], 2),
        (["--version"], 0),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, list) else str(part),
)
def test_exit_codes(
    command: list[str], code: int, tmp_path: Path, leadline: Leadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = leadline(*command)
    assert ended.code == code
    assert (ended.err == "") == (code == 0) and "Traceback" not in ended.err
    assert list(tmp_path.iterdir()) == []


def test_a_bug_keeps_its_traceback(study: Path, leadline: Leadline, monkeypatch: pytest.MonkeyPatch) -> None:
    import leadline.report.study_report as room

    def broken(*_: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(room, "run_lenses", broken)
    with pytest.raises(ZeroDivisionError):
        leadline("report", study)


def _environment(**more: str) -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "src"), **more}


def test_on_a_terminal_there_are_bars_and_control_c_ends_them_tidily(tmp_path: Path, model: Path) -> None:
    folder = small_study(tmp_path / "study", model, 40, batch_rows=4)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "leadline.cli.app", "run", str(folder)],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=_environment(TERM="xterm-256color", COLUMNS="100"),
    )
    os.close(theirs)
    seen = b""
    deadline = time.monotonic() + 90
    while "━".encode() not in seen or b"tok/s" not in seen:
        assert time.monotonic() < deadline, seen.decode(errors="replace")
        seen += os.read(ours, 4096)
    process.send_signal(signal.SIGINT)
    try:
        while more := os.read(ours, 4096):
            seen += more
    except OSError:  # the other end is closed
        pass
    out, _ = process.communicate(timeout=60)
    os.close(ours)
    assert process.returncode == 130, seen.decode(errors="replace")
    assert out == b""
    assert b"\x1b[" in seen and b"Traceback" not in seen
    assert b"interrupted; what was answered is stored, run again to go on" in seen
    assert seen.rstrip().endswith(b"go on") and b"\x1b[?25h" in seen, "the cursor is shown again"
    assert stored.rows(folder)


def test_control_c_pressed_again_and_again_still_ends_as_one(tmp_path: Path, model: Path) -> None:
    folder = small_study(tmp_path / "study", model, 40, batch_rows=4)
    process = subprocess.Popen(
        [sys.executable, "-m", "leadline.cli.app", "run", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=_environment(),
    )
    assert process.stderr is not None
    while b"answers in" not in process.stderr.readline():
        assert process.poll() is None
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(0.01)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said.decode()
    assert said.splitlines()[-1] == b"interrupted; what was answered is stored, run again to go on"
    assert b"Traceback" not in said and stored.rows(folder)


@pytest.mark.parametrize("command", [["bench", "list"], ["techniques", "show", "recite"], ["--help"]])
def test_a_reader_that_goes_away_is_no_fault(command: list[str]) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    done = subprocess.run(
        [sys.executable, "-m", "leadline.cli.app", *command],
        stdout=theirs,
        stderr=subprocess.PIPE,
        env=_environment(),
        check=False,
    )
    os.close(theirs)
    assert (done.returncode, done.stderr) == (141, b""), "128 + SIGPIPE, as git ends"


def test_whoever_reads_the_beginning_of_a_report_only_sees_no_traceback(study: Path) -> None:
    done = subprocess.run(
        f"'{sys.executable}' -m leadline.cli.app report '{study}' --json | head -c 10",
        shell=True,
        capture_output=True,
        env=_environment(),
        check=False,
    )
    assert len(done.stdout) == 10 and b"Traceback" not in done.stderr and b"rror" not in done.stderr
