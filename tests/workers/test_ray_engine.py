"""The engine on Ray: a real cluster of two workers on this machine."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from leadline.errors import LeadlineError, UsageError
from leadline.workers.choose import chosen_engine
from leadline.workers.in_process import InProcess
from leadline.workers.ray_engine import RayEngine
from tests.workers import engine_work as work

pytest.importorskip("ray", reason="needs leadline[ray]")


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayEngine]:
    with RayEngine(2) as engine:
        yield engine


def test_where_no_cluster_runs_the_error_is_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with (
        pytest.raises(LeadlineError, match=rf"no Ray cluster answers at '127.0.0.1:{port}': Conn") as told,
        chosen_engine("ray", 2, f"127.0.0.1:{port}"),
    ):
        pass
    assert "\n" not in str(told.value)
    for address in ("ray://host:10001", "host", "host:port"):
        with pytest.raises(UsageError, match="not the address of a Ray"), chosen_engine("ray", 2, address):
            pass


@pytest.mark.parametrize("address", ["user:secretpw123@127.0.0.1:9999", "ray://secretpw123@host:10001"])
def test_an_address_with_a_password_is_refused_without_repeating_it(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="has a name or a password in it") as told:
        chosen_engine("ray", 2, address).__enter__()
    assert "secret" not in str(told.value)
    monkeypatch.setenv("RAY_ADDRESS", address)
    with pytest.raises(UsageError, match="has a name or a password in it"):
        chosen_engine("ray", 2).__enter__()


def test_a_cluster_gives_what_one_process_gives_and_each_worker_prepares_once(
    cluster: RayEngine, tmp_path: Path
) -> None:
    outcomes = []
    for engine in (InProcess(), cluster):
        log = tmp_path / engine.name
        shared = {"size": 40, "log": str(log)}
        outcomes.append(sorted(engine.run(work.squared, range(40), shared, work.table)))
        prepared = log.read_text().split()
        assert len(prepared) == len(set(prepared)) <= engine.workers
    assert outcomes[0] == outcomes[1]


def test_a_worker_that_kills_itself_within_a_task_has_it_done_again_by_another(
    cluster: RayEngine, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    results = list(cluster.run(work.killed_once, range(12), str(tmp_path)))
    assert sorted(task for task, _ in results) == list(range(12))
    assert (tmp_path / "killed").exists()
    alone = tmp_path / "alone"
    alone.mkdir()
    list(InProcess().run(work.written, range(12), str(alone)))
    for part in alone.glob("*.txt"):
        assert (tmp_path / part.name).read_bytes() == part.read_bytes()
    assert capfd.readouterr().out == ""


def test_a_worker_that_is_killed_from_outside_in_mid_run_costs_no_result(
    cluster: RayEngine, tmp_path: Path
) -> None:
    killed, results = 0, []
    for task, pid in cluster.run(work.written, range(30), str(tmp_path)):
        results.append(task)
        if not killed:
            killed = pid
            os.kill(pid, signal.SIGKILL)
        elif len(results) > 12:  # another one has come in its place, or the other does it all
            assert pid != killed
    assert sorted(results) == list(range(30))
    assert len(list(tmp_path.glob("*.txt"))) == 30


def test_parts_that_came_before_a_worker_died_have_come(cluster: RayEngine, tmp_path: Path) -> None:
    results = [part for _, part in cluster.run(work.in_parts, range(5), str(tmp_path))]
    assert sorted(results) == sorted(
        [10 * number + part for number in range(5) for part in range(4)] + [30, 31]
    )


def test_a_task_that_kills_three_workers_ends_the_run_and_is_named(
    cluster: RayEngine, tmp_path: Path
) -> None:
    with pytest.raises(LeadlineError, match="no worker survives the task 2: ") as told:
        list(cluster.run(work.deadly, range(4), str(tmp_path)))
    assert (tmp_path / "lives").read_text() == "xxx"
    assert "\n" not in str(told.value)


def test_what_work_raises_is_raised_in_the_caller(cluster: RayEngine) -> None:
    with pytest.raises(UsageError) as told:
        list(cluster.run(work.failing, range(3), "usage"))
    assert str(told.value) == "shard-1.jsonl:7: the shard is odd (mend it)"
    with pytest.raises(IndexError) as bug:
        list(cluster.run(work.failing, range(3), "bug"))
    assert any("return [][number]" in note for note in bug.value.__notes__)
    with pytest.raises(LeadlineError, match=r"^the model is not there \(get it\)$"):
        list(cluster.run(work.same, range(3), prepare=work.unprepared))


def test_folders_that_a_node_does_not_see_are_named_before_any_work(
    cluster: RayEngine, tmp_path: Path
) -> None:
    with RayEngine(2, folder=tmp_path / "build") as engine:  # takes the cluster that is connected
        assert engine.workers == 2
        assert list((tmp_path / "build").iterdir()) == []
        (tmp_path / "shard.jsonl").touch()
        engine.check([tmp_path / "shard.jsonl"])
        # A path that means something in this process alone.
        with pytest.raises(UsageError, match=r"task/\d+: the Ray node .* does not see it"):
            engine.check([Path(f"/proc/self/task/{os.getpid()}")])
    handle = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with (
            pytest.raises(UsageError, match=r"/proc/self/fd/\d+: the Ray node .* does not see the build"),
            RayEngine(2, folder=Path(f"/proc/self/fd/{handle}")),
        ):
            pass
    finally:
        os.close(handle)
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith(".seen")] == []
    assert list(cluster.run(work.same, [1])) == [(1, 1)]  # the inner ones have not ended it


def test_without_ray_the_remedy_is_named() -> None:
    code = (
        "import sys; sys.modules['ray'] = None\n"
        "from leadline.workers.choose import chosen_engine\n"
        "try:\n  chosen_engine('ray').__enter__()\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.startswith("UsageError Ray cannot be loaded") and "pip install 'leadline[ray]'" in said
