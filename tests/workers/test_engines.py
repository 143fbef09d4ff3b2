"""Engines in processes: each task once, whatever happens to workers."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from leadline.errors import LeadlineError, UsageError
from leadline.workers.choose import chosen_engine
from leadline.workers.in_process import InProcess
from leadline.workers.processes import Processes
from tests.workers import engine_work as work

ROOT = Path(__file__).parents[2]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone(pids: list[int], within: float) -> bool:
    end = time.monotonic() + within
    while any(alive(pid) for pid in pids):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def test_several_processes_give_what_one_gives_and_each_prepares_once(tmp_path: Path) -> None:
    outcomes = []
    for engine in (InProcess(), Processes(2)):
        log = tmp_path / engine.name
        shared = {"size": 50, "log": str(log)}
        outcomes.append(sorted(engine.run(work.squared, range(50), shared, work.table)))
        prepared = log.read_text().split()
        assert len(prepared) == len(set(prepared)) <= engine.workers
    assert outcomes[0] == outcomes[1] == [(number, number * number) for number in range(50)]


def test_no_tasks_start_nobody() -> None:
    assert list(Processes(2).run(work.same, [], prepare=work.unprepared)) == []


def test_the_task_of_a_killed_worker_is_done_again_and_each_result_comes_once(tmp_path: Path) -> None:
    results = list(Processes(2).run(work.killed_once, range(8), str(tmp_path)))
    assert sorted(task for task, _ in results) == list(range(8))
    assert (tmp_path / "killed").exists()
    assert len(list(tmp_path.glob("0*.txt"))) == 8


def test_a_task_that_kills_three_workers_ends_the_run_and_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        LeadlineError, match=r"no worker survives the task 2: it was killed \(SIGKILL"
    ) as told:
        list(Processes(2).run(work.deadly, range(4), str(tmp_path)))
    assert (tmp_path / "lives").read_text() == "xxx"
    assert "\n" not in str(told.value)


def test_results_of_a_generator_come_one_by_one_and_those_that_came_stay_when_its_worker_dies(
    tmp_path: Path,
) -> None:
    results = [part for _, part in Processes(2).run(work.in_parts, range(5), str(tmp_path))]
    # What is done again gives its first parts again: whoever takes them knows what it has.
    assert sorted(results) == sorted(
        [10 * number + part for number in range(5) for part in range(4)] + [30, 31]
    )
    assert [part for _, part in InProcess().run(work.in_parts, range(2), str(tmp_path))] == [
        0, 1, 2, 3, 10, 11, 12, 13,
    ]  # fmt: skip


def test_what_work_raises_is_raised_in_the_caller() -> None:
    with pytest.raises(UsageError) as told:
        list(Processes(2).run(work.failing, range(3), "usage"))
    assert str(told.value) == "shard-1.jsonl:7: the shard is odd (mend it)"
    assert told.value.exit_code == 2
    with pytest.raises(IndexError) as bug:
        list(Processes(2).run(work.failing, range(3), "bug"))
    assert any("return [][number]" in note for note in bug.value.__notes__)
    with pytest.raises(RuntimeError, match="OddError: no pickle"):
        list(Processes(2).run(work.failing, range(3), "odd"))


def test_what_cannot_be_prepared_ends_the_run() -> None:
    with pytest.raises(LeadlineError, match=r"^the model is not there \(get it\)$"):
        list(Processes(2).run(work.same, range(3), prepare=work.unprepared))
    with pytest.raises(LeadlineError, match="end before they begin: it ended with exit code 7"):
        list(Processes(2).run(work.same, range(3), prepare=work.stillborn))


def test_whoever_stops_taking_results_ends_the_workers() -> None:
    started = time.monotonic()
    results = Processes(2).run(work.slow, range(8), 0.05)
    next(results)
    results.close()
    assert time.monotonic() - started < 10


DRIVER = """
    import sys
    from leadline.workers.processes import Processes
    from tests.workers import engine_work as work

    if __name__ == "__main__":
        list(Processes(2).run(work.noted, [0, 1], sys.argv[1]))
"""


def driver(tmp_path: Path) -> tuple[subprocess.Popen[bytes], list[int]]:
    script = tmp_path / "driver.py"
    script.write_text(textwrap.dedent(DRIVER))
    process = subprocess.Popen(
        [sys.executable, str(script), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    end = time.monotonic() + 30
    while len(pids := [int(path.name) for path in tmp_path.glob("[0-9]*")]) < 2:
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.05)
    return process, pids


def test_ctrl_c_ends_everybody_at_once(tmp_path: Path) -> None:
    process, pids = driver(tmp_path)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does it
    _, said = process.communicate(timeout=10)
    assert gone(pids, 3)
    assert said.decode().rstrip().endswith("KeyboardInterrupt")
    assert said.decode().count("Traceback") == 1  # none of the workers'


def test_no_worker_outlives_a_killed_parent(tmp_path: Path) -> None:
    process, pids = driver(tmp_path)
    process.kill()
    process.wait()
    assert gone(pids, 5)


def test_an_idle_worker_that_is_killed_is_no_fault() -> None:
    results = Processes(2).run(work.slow, [0, 1], 0.0)
    next(results)
    for child in multiprocessing.active_children():
        os.kill(child.pid or 0, signal.SIGKILL)
    assert len(list(results)) == 1


def test_the_engine_that_is_asked_for(tmp_path: Path) -> None:
    with chosen_engine("process", 1) as engine:
        assert isinstance(engine, InProcess)
    with chosen_engine("process", 3, None, tmp_path) as engine:
        assert isinstance(engine, Processes) and engine.workers == 3
    with (
        pytest.raises(UsageError, match=r"no engine is called 'rya' .did you mean 'ray'"),
        chosen_engine("rya"),
    ):
        pass
    with pytest.raises(UsageError, match="add --engine ray"), chosen_engine("process", 2, "auto"):
        pass
