"""A build on a real Ray cluster of two workers, of which one is killed in each of its stages over shards."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from leadline.build.plan_file import read_plan
from leadline.build.progress import Quiet
from leadline.build.run import run_build
from leadline.build.workspace import Workspace
from leadline.workers.engine import ResultT, TaskT
from leadline.workers.in_process import InProcess
from tests.build import real_inputs
from tests.workers.engine_work import told_by, with_pid

pytest.importorskip("ray", reason="needs leadline[ray]")

from leadline.workers.ray_engine import RayEngine

pytestmark = real_inputs.needs_data


class Killing:
    """A cluster of which the worker that brings the first result of a run is killed at once."""

    def __init__(self, cluster: RayEngine) -> None:
        self._cluster = cluster
        self.name, self.workers = cluster.name, cluster.workers
        self.killed: list[str] = []

    def check(self, paths: Sequence[Path]) -> None:
        self._cluster.check(paths)

    def run(
        self,
        work: Callable[[Any, TaskT], ResultT],
        tasks: Sequence[TaskT],
        shared: Any = None,
        prepare: Callable[[Any], Any] | None = None,
        *,
        devices: bool = False,
    ) -> Iterator[tuple[TaskT, ResultT]]:
        wrapped = (work, shared, prepare)
        killed = False
        for task, (pid, result) in self._cluster.run(with_pid, tasks, wrapped, told_by, devices=devices):
            if not killed and len(tasks) > 2:
                os.kill(pid, signal.SIGKILL)
                killed = True
                self.killed.append(work.__name__)
            yield task, result


@pytest.fixture(scope="module")
def plan_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    real_inputs.write_inputs(folder)
    real_inputs.write_corpus(folder / "corpus")
    lines = (folder / "abstracts.jsonl").read_text("utf-8").splitlines(keepends=True)
    for number in range(4):  # a file is a piece of work
        (folder / f"abstracts-{number}.jsonl").write_text("".join(lines[number::4]), "utf-8")
    articles = "articles:\n  jsonl: abstracts-*.jsonl\n  date: 2019-01\n  min_words: 20"
    return real_inputs.write_plan(folder, articles=articles)


def test_a_worker_killed_in_extraction_and_in_the_scan_costs_no_fact(plan_file: Path) -> None:
    plan = read_plan(plan_file)
    run_build(plan, InProcess(), Quiet())
    alone = Workspace(plan.work)
    other_file = plan_file.with_name("other.yaml")
    other_file.write_text(plan_file.read_text("utf-8") + "out: on-ray\n", "utf-8")
    other = read_plan(other_file)
    with RayEngine(2, folder=other.work) as cluster:
        killing = Killing(cluster)
        run_build(other, killing, Quiet())
    assert len(killing.killed) >= 3 and "scan_shard" in killing.killed
    assert any("extract" in name or "chunk" in name for name in killing.killed), killing.killed
    there = Workspace(other.work)
    for name in ("extract", "link", "presence"):
        assert there.stage(name).kept.read_bytes() == alone.stage(name).kept.read_bytes(), name
        assert there.stage(name).dropped.read_bytes() == alone.stage(name).dropped.read_bytes(), name
    assert (there.stage("scan").path / "found.json").read_bytes() == (
        alone.stage("scan").path / "found.json"
    ).read_bytes()
