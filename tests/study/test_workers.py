"""A study that workers ask has the answers of one that this process asks, whatever becomes of them."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import psutil
import pytest
import yaml

from leadline.errors import LeadlineError, UsageError
from leadline.study import worker
from leadline.study.changes import code
from leadline.study.progress import Quiet
from leadline.study.run import run_study
from leadline.study.study import open_study
from leadline.workers.choose import engine_for_models
from leadline.workers.in_process import InProcess
from leadline.workers.processes import Processes
from tests.study import small, stored
from tests.study.conftest import Leadline
from tests.study.provider import provider, say, served_study
from tests.study.watched import another, watched

ROOT = Path(__file__).parents[2]
TECHNIQUES = [*small.STUDY["techniques"], {"technique": "caa"}, {"technique": "iti", "heads": 4}]


class Notes(Quiet):
    """What a run tells."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, line: str) -> None:
        self.lines.append(line)


def answers(folder: Path) -> dict[stored.Identity, tuple[object, ...]]:
    """All that is stored of answers, ranks of gold answers included; not when, and by which run."""
    kept = ("text", "finish", "tokens_in", "tokens_out", "stages", "probes")
    return {key: tuple(row[name] for name in kept) for key, row in stored.rows(folder).items()}


@pytest.fixture(scope="module")
def alone(
    tmp_path_factory: pytest.TempPathFactory, model: Path, other_model: Path
) -> Iterator[tuple[Path, Path]]:
    """A study of two models with fitted techniques, not yet run; and a copy that one process has run."""
    folder = tmp_path_factory.mktemp("workers")
    fresh = small.small_study(
        folder / "fresh",
        model,
        24,
        models=[str(model), str(other_model)],
        techniques=TECHNIQUES,
        sampling={"temperatures": [0.7], "vote": 2},
        beyond_sampling={"k": 2, "sweep": 2},
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEADLINE_CACHE", str(folder / "cache"))
        run = shutil.copytree(fresh, folder / "alone")
        run_study(open_study(run), Quiet())
    yield fresh, run


def test_on_a_cluster_with_a_worker_killed_in_mid_run_answers_are_those_of_one_process(
    alone: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    leadline: Leadline,
    capfd: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("ray", reason="needs leadline[ray]")
    fresh, run = alone
    study = shutil.copytree(fresh, tmp_path / "study")
    monkeypatch.setattr("leadline.study.sharing.FLUSH_SECONDS", 0.01)
    # Workers can keep nothing that they fit: the one that has fitted it gives it to the others.
    monkeypatch.setenv("LEADLINE_CACHE", "/proc/no-cache")
    notes = Notes()
    with engine_for_models("ray", 2) as cluster:
        monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path / "cache"))
        watch, workers = watched(cluster, tmp_path / "log", kill=True)
        outcome = run_study(open_study(study), notes, workers=workers)
    assert capfd.readouterr().out == ""
    assert answers(study) == answers(run)
    assert outcome.drawn == len(answers(run)) and outcome.kept == outcome.failed == 0
    # By the workers' own account: what the killed one owed was asked once more, and nothing else.
    chunks = watch.chunks()
    (_, cut, _, owed) = [each for each in chunks if each[0] == watch.killed][-1]
    arrived = {one for chunk, one in watch.came if chunk.number == cut}
    twice = {one for one, times in watch.asked().items() if times == 2}
    assert twice == set(owed) - arrived
    assert 0 < len(arrived) < len(owed)
    assert set(watch.asked().values()) == {1, 2} and len(watch.asked()) == outcome.drawn
    # Who takes the place of the killed one may come when all is given out.
    assert len({pid for pid, *_ in chunks}) in (2, 3)
    assert {threads for _, _, threads, _ in chunks} == {max(1, len(os.sched_getaffinity(0)) // 2)}
    # Each model's techniques were fitted once, though several workers asked them.
    for line in ("caa: fold 0 of 0 and 1: reads 11 items", "iti: reads the answers to 14 questions"):
        assert sum(note.startswith(line) for note in notes.lines) == 2, notes.lines
    assert leadline("run", study, "--quiet").code == leadline("report", run).code == 0
    assert stored.findings(study) == stored.findings(run)
    manifest = (study / "manifest.json").read_text()
    assert '"engine": "ray"' in manifest and '"number": 2' in manifest and '"device": "cpu"' in manifest
    # Who died is told, and what is asked again of others.
    assert notes.lines.count("2 workers load tiny and 1 other model …") == 1
    (death,) = [line for line in notes.lines if " died: " in line]
    owing = len(owed) - len(arrived)
    assert death.startswith(f"the worker in process {watch.killed} on {socket.gethostname()} died: ")
    assert death.endswith(
        f"(killed, out of memory?); {owing} answer{'s are' if owing > 1 else ' is'} asked again"
    )
    assert '"died": 1' in manifest


def test_a_run_whose_process_is_killed_goes_on_with_workers_or_without(
    alone: tuple[Path, Path], tmp_path: Path, leadline: Leadline
) -> None:
    fresh, run = alone
    study = shutil.copytree(fresh, tmp_path / "study")
    command = [sys.executable, "-m", "leadline", "run", str(study), "--engine", "process", "--workers", "2"]
    process = subprocess.Popen([*command, "--no-report"], cwd=ROOT, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 120
    while len(stored.rows(study)) < 30:
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = stored.rows(study)
    assert len(before) < len(stored.rows(run))
    ended = leadline("run", study, "--no-report")
    assert ended.code == 0, ended.err
    assert stored.rows(study).items() >= before.items()
    assert answers(study) == answers(run)
    assert set(stored.drawn_per_run(study)) == {1, 2}
    # Nothing is lacking: no worker is started.
    watch, workers = watched(Processes(2), tmp_path / "log")
    assert run_study(open_study(study), Quiet(), workers=workers).drawn == 0
    assert not watch.folder.exists()


def test_a_worker_that_dies_is_told_with_its_process_its_signal_and_what_it_owed(
    tmp_path: Path, model: Path
) -> None:
    study = small.small_study(tmp_path / "study", model, 12)
    notes = Notes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("leadline.study.sharing.FLUSH_SECONDS", 0.01)
        watch, workers = watched(Processes(2), tmp_path / "log", kill=True)
        run_study(open_study(study), notes, workers=workers)
    (death,) = [line for line in notes.lines if " died: " in line]
    killed = r"it was killed \(SIGKILL, out of memory\?\)"
    told = re.match(
        rf"the worker in process (\d+) died: {killed}; (\d+) answers? (is|are) asked again", death
    )
    assert told and int(told[1]) == watch.killed
    assert int(told[2]) == sum(times == 2 for times in watch.asked().values()) > 0
    assert notes.lines.index("2 workers load tiny …") < notes.lines.index(death)
    runs = json.loads((study / "manifest.json").read_text())["runs"]
    assert runs[0]["workers"] == {"engine": "process", "number": 2, "died": 1}


@pytest.mark.parametrize("engine", [None, "process", "ray"])
def test_sigterm_ends_a_run_as_ctrl_c_does_and_leaves_no_process(
    tmp_path: Path, model: Path, engine: str | None
) -> None:
    if engine == "ray":
        pytest.importorskip("ray", reason="needs leadline[ray]")
    study = small.small_study(tmp_path / "study", model, 600)
    command = [sys.executable, "-m", "leadline", "run", str(study), "--no-report"]
    command += ["--engine", engine, "--workers", "1" if engine == "ray" else "2"] if engine else []
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 400
    while len(stored.rows(study)) < 30:
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.1)
    children = psutil.Process(process.pid).children(recursive=True)
    assert bool(children) == (engine is not None)
    process.terminate()
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted; what was answered is stored, run again to go on" in said.splitlines()
    assert not re.search(r"SIGTERM|Traceback|\*\*\*", said)
    if engine == "ray":
        assert said.splitlines().index("starting Ray on this machine …") < said.splitlines().index(
            "1 worker loads tiny …"
        )
    assert psutil.wait_procs(children, timeout=10)[1] == []
    assert len(stored.rows(study)) >= 30


def shared(tmp_path: Path, study: Path, engine: Any = None, **more: Any) -> Any:
    """A run of `study` by workers that are watched."""
    _, workers = watched(engine or InProcess(), tmp_path / "log", **more)
    return run_study(open_study(study), Quiet(), workers=workers)


def test_one_model_under_two_labels_is_asked_once(tmp_path: Path, model: Path) -> None:
    labels = [{"ref": str(model), "name": "one"}, {"ref": str(model), "name": "two"}]
    study = small.small_study(tmp_path / "study", model, models=labels)
    calm = small.small_study(tmp_path / "calm", model, models=labels)
    shared(tmp_path, study)

    class Notes(Quiet):
        lines: ClassVar[list[str]] = []

        def note(self, line: str) -> None:
            self.lines.append(line)

    run_study(open_study(calm), Notes())
    assert "two is one under another name: reports count the same answers twice" in Notes.lines
    assert stored.texts(study) == stored.texts(calm) != {}


def test_a_worker_that_finds_another_model_is_refused(tmp_path: Path, model: Path, other_model: Path) -> None:
    study = small.small_study(tmp_path / "study", model)
    with pytest.raises(
        UsageError, match=r"the worker on .*: tiny is another model there: [0-9a-f]{12}…; the study asks"
    ) as told:
        shared(tmp_path, study, change=another(other_model))
    assert "\n" not in str(told.value) and str(other_model) in str(told.value)
    shutil.rmtree(tmp_path / "log")
    with pytest.raises(UsageError, match=r"there is no model /nowhere.*same path on every node"):
        shared(tmp_path, study, change=another(Path("/nowhere")))
    assert stored.rows(study) == {}


def test_a_worker_with_other_code_is_refused(tmp_path: Path, model: Path) -> None:
    study = small.small_study(tmp_path / "study", model)

    def older(order: worker.Order) -> worker.Order:
        return replace(order, code={**code(), "torch": "2.0.0"})

    with pytest.raises(UsageError, match=r"worker on .*: torch is 2.* here and 2.0.0 where the run was star"):
        shared(tmp_path, study, change=older)


def test_what_breaks_in_a_worker_breaks_the_run_with_the_workers_traceback(
    tmp_path: Path, model: Path
) -> None:
    study = small.small_study(tmp_path / "study", model)

    def broken(order: worker.Order) -> worker.Order:
        return replace(order, models=())

    with pytest.raises(IndexError) as bug:
        shared(tmp_path, study, Processes(1), change=broken)
    assert any("desk.order.models[" in note for note in bug.value.__notes__)


def test_memory_that_runs_out_in_a_worker_is_one_line(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = small.small_study(tmp_path / "study", model)

    def full(*given: Any, **more: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr("leadline.study.worker.converse", full)
    with pytest.raises(LeadlineError, match=r"^tiny · greedy: out of memory \(lower batch_rows"):
        shared(tmp_path, study)


def test_served_models_are_asked_by_this_process(tmp_path: Path, model: Path) -> None:
    with provider(say("a")) as served:
        study = served_study(tmp_path / "study", served.url, 3)
        entry = yaml.safe_load((study / "study.yaml").read_text("utf-8"))["models"][0]
        small.change(study, models=[entry, str(model)])
        watch, workers = watched(InProcess(), tmp_path / "log")
        run_study(open_study(study), Quiet(), workers=workers)
    assert {one[0] for one in watch.asked()} == {0}  # of the local models, the first
    assert len(served.requests) == len(watch.asked()) == 3 * (1 + 2)
    manifest = (study / "manifest.json").read_text()
    assert manifest.index('"house": {') < manifest.index('"tiny": {')  # in the study's order


def test_where_workers_are_is_said_in_full(tmp_path: Path, model: Path, leadline: Leadline) -> None:
    study = small.small_study(tmp_path / "study", model)
    assert "add --engine process, or --engine ray" in leadline("run", study, "--workers", "2").fault
    assert "did you mean 'ray'?" in leadline("run", study, "--engine", "rya").fault
    fault = leadline("run", study, "--engine", "process", "--ray-address", "auto").fault
    assert "add --engine ray" in fault
    assert stored.rows(study) == {}
