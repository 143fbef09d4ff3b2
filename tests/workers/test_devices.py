"""Accelerators: one worker each, which sees its own alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from leadline.workers.devices import cores, devices_here
from leadline.workers.processes import Processes
from tests.workers import engine_work as work


@pytest.fixture
def three(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that lists three devices, as `nvidia-smi -L` does."""
    tool = tmp_path / "nvidia-smi"
    tool.write_text('#!/bin/sh\nfor i in 0 1 2; do echo "GPU $i: NVIDIA H200 (UUID: GPU-$i)"; done\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


@pytest.mark.usefixtures("three")
def test_devices_are_those_that_the_driver_lists_and_the_environment_allows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert devices_here() == ("0", "1", "2")
    for said, names in {"2,0": ("2", "0"), "": (), "-1": (), "1,-1,2": ("1",), "GPU-1": ("GPU-1",)}.items():
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", said)
        assert devices_here() == names


@pytest.mark.usefixtures("three")
def test_each_device_has_one_worker_which_sees_it_alone() -> None:
    seen = dict(Processes(8).run(work.device, range(9), 0.4, devices=True))
    assert set(seen.values()) == {"0", "1", "2"}


def test_without_devices_workers_share_the_cores(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert devices_here() == ()
    seen = dict(Processes(2).run(work.threads, range(2), devices=True))
    assert set(seen.values()) == {str(max(1, cores() // 2))}
