"""The engine that a user asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, get_args

from leadline.bench.problem import did_you_mean
from leadline.errors import UsageError
from leadline.workers.devices import cores, devices_here
from leadline.workers.engine import Engine
from leadline.workers.in_process import InProcess
from leadline.workers.processes import Processes
from leadline.workers.seats import CORES

EngineName = Literal["process", "ray"]


@contextmanager
def engine_for_models(
    name: EngineName | str,
    workers: int | None = None,
    address: str | None = None,
    tell: Callable[[str], None] | None = None,
) -> Iterator[Engine]:
    """As `chosen_engine`, for workers that run models: by default one for each accelerator, else one for some
    cores (see `seats.py`)."""
    if name == "process" and workers is None:
        workers = len(devices_here()) or max(1, cores() // CORES)
    with chosen_engine(name, workers, address, tell=tell) as engine:
        yield engine


@contextmanager
def chosen_engine(
    name: EngineName | str,
    workers: int | None = None,
    address: str | None = None,
    folder: Path | None = None,
    tell: Callable[[str], None] | None = None,
) -> Iterator[Engine]:
    """`process`: this machine, one worker per core if `workers` is None; `ray`: a Ray cluster.

    `address` is that of a running cluster (`auto`, HOST:PORT); without it one of this machine's own is
    started, and ended afterwards. `folder` is the build's, which every node must see. `tell`
    is given a line for the user before something that takes long. Raises UsageError for a
    name that is none, an address without Ray, where Ray is not installed, and where a node does not see the
    folder; LeadlineError where no cluster answers.
    """
    if name not in get_args(EngineName):
        known = did_you_mean(name, get_args(EngineName), otherwise="engines: process, ray")
        raise UsageError(f"no engine is called {name!r}", fix=known)
    if name == "ray":
        from leadline.workers.ray_engine import RayEngine

        with RayEngine(workers, address, folder, tell) as engine:
            yield engine
        return
    if address is not None:
        raise UsageError("an address of a Ray cluster is given", fix="add --engine ray")
    count = workers or cores()
    yield InProcess() if count == 1 else Processes(count)
