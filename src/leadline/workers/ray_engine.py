"""Work on a Ray cluster: one that is there, or one of this machine's own."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import socket
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from leadline.errors import LeadlineError, UsageError
from leadline.workers.devices import cores
from leadline.workers.engine import ResultT, TaskT
from leadline.workers.handing_out import hand_out
from leadline.workers.ray_crew import RayCrew, first_line
from leadline.workers.seats import seats
from leadline.workers.source import Source, as_source

# What a cluster of this machine's own keeps for sharing, in bytes: patterns take some tens of MB, and the
# shared memory of a container is often small (Ray then takes the disk, and says nothing worse).
_STORE = 200 * 2**20
# Sockets lie in Ray's folder, under some 60 characters of its own; a socket's path has room for 107.
_LONGEST_FOLDER = 40
# So long a host may take to answer, in seconds, before Ray tries for minutes.
_ANSWER = 10.0
_CONNECTING = (
    "run this on a node of it; one that asks for a token wants RAY_AUTH_MODE=token and its RAY_AUTH_TOKEN; "
    "without --ray-address one is started here"
)


class RayEngine:
    """See `Engine`. One actor is one worker: it prepares once, and is given a task when it has done one.

    `shared` lies once in each node's object store. A context manager: within it the cluster is connected.
    Workers see files under the same paths as this process: `folder`, the build's, is looked for on each node.
    """

    name = "ray"

    def __init__(
        self,
        workers: int | None,
        address: str | None = None,
        folder: Path | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self._asked, self._address, self._folder = workers, address, folder
        self._tell = tell or (lambda line: None)
        self.workers = workers or 0
        self._own: str | None = None
        self._ours = False
        self._seen: set[str] = set()

    def __enter__(self) -> Self:
        ray = _library()
        if not ray.is_initialized():  # within a program that uses Ray itself, its cluster is ours
            self._connect(ray)
            self._ours = True
            # On standard output, where results are to be, it would tell of each worker that dies.
            ray._private.worker._worker_logs_enabled = False
        try:
            self.workers = self._asked or max(1, int(ray.cluster_resources().get("CPU", 1)))
            if self._folder is not None:
                self._folder_is_shared(self._folder)
        except BaseException:
            self._leave(ray)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave(_library())

    def run(
        self,
        work: Callable[[Any, TaskT], ResultT | Iterator[ResultT]],
        tasks: Sequence[TaskT] | Source[TaskT],
        shared: Any = None,
        prepare: Callable[[Any], Any] | None = None,
        *,
        devices: bool = False,
    ) -> Iterator[tuple[TaskT, ResultT]]:
        """Each actor is given the next task when it has done one."""
        source = as_source(tasks)
        if not source.is_open():
            return
        ray = _library()
        count, needs, threads = self.workers, {"num_cpus": 1}, None
        if devices:
            found = seats([node["Resources"] for node in ray.nodes() if node["Alive"]], self._asked)
            count, needs = found.workers, {"num_cpus": found.cores, "num_gpus": found.accelerators}
            threads = max(1, found.cores)
        crew = RayCrew(ray, needs, ray.put((work, shared, prepare)), threads)
        yield from hand_out(crew, source, count)

    def check(self, paths: Iterable[Path]) -> None:
        """Look on each node for the files of a stage: each folder once, and a file of it."""
        if self._own is not None:
            return
        first: dict[str, str] = {}
        for path in paths:
            here = path.absolute()
            first.setdefault(str(here.parent), str(here))
        new = sorted(set(first.values()) - self._seen)
        self._seen.update(new)
        for node, missing in self._on_each_node(_missing, new) if new else ():
            if missing:
                raise UsageError(
                    f"the Ray node {node} does not see it",
                    where=missing[0],
                    fix="inputs must lie under the same path on every node: a shared file system",
                )

    def _connect(self, ray: Any) -> None:
        logging.getLogger("ray").setLevel(logging.ERROR)
        quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
        if address := self._address or os.environ.get("RAY_ADDRESS"):  # the latter within a job of a cluster
            _somebody_listens(address)
            self._tell("connecting to the Ray cluster …")
            try:
                with _own_sigterm():
                    ray.init(address=address, **quiet)
            except (ConnectionError, ValueError, RuntimeError) as error:
                raise LeadlineError(
                    f"no Ray cluster answers at {address!r}: {first_line(error)}", fix=_CONNECTING
                ) from None
            return
        self._tell("starting Ray on this machine …")
        self._own = _short_folder()
        try:
            with _own_sigterm():
                ray.init(
                    address="local",
                    num_cpus=max(self._asked or 0, cores()),
                    include_dashboard=False,
                    object_store_memory=_STORE,
                    _temp_dir=self._own,
                    **quiet,
                )
        except (ConnectionError, ValueError, RuntimeError, OSError) as error:
            shutil.rmtree(self._own, ignore_errors=True)
            raise LeadlineError(f"Ray does not start on this machine: {first_line(error)}") from None

    def _leave(self, ray: Any) -> None:
        if self._ours:
            ray.shutdown()
            self._ours = False
        if self._own is not None:
            shutil.rmtree(self._own, ignore_errors=True)

    def _folder_is_shared(self, folder: Path) -> None:
        """Write a token into the build's folder and have each node read it."""
        if self._own is not None:
            return
        token = folder.absolute() / f".seen-{uuid.uuid4().hex}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            token.write_text(token.name, "utf-8")
        except OSError as error:
            raise LeadlineError(
                f"cannot be written: {error.strerror}", where=str(folder), fix="make it writable"
            ) from error
        try:
            for node, said in self._on_each_node(_content, str(token)):
                if said != token.name:
                    raise UsageError(
                        f"the Ray node {node} does not see the build's folder",
                        where=str(folder),
                        fix="it must lie under the same path on every node, on a shared file system",
                    )
        finally:
            token.unlink(missing_ok=True)

    def _on_each_node(self, look: Callable[[Any], Any], at: object) -> list[tuple[str, Any]]:
        """What `look` says on each node that has processors to work with."""
        ray = _library()
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        there = ray.remote(look)
        nodes = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) > 0]
        asked = [
            there.options(
                num_cpus=0,
                scheduling_strategy=NodeAffinitySchedulingStrategy(node_id=node["NodeID"], soft=False),
            ).remote(at)
            for node in nodes
        ]
        try:
            said = ray.get(asked)
        except ray.exceptions.RayError as error:
            raise LeadlineError(
                f"a Ray node cannot work: {first_line(error)}",
                fix="each node needs the same Python, and leadline[build,ray] in it",
            ) from None
        names = [str(node.get("NodeManagerAddress") or node["NodeID"]) for node in nodes]
        return list(zip(names, said, strict=True))


@contextmanager
def _own_sigterm() -> Iterator[None]:
    """Ray takes SIGTERM for itself; where this process had its own way with it, that comes back."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if callable(before) and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


def _library() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError as error:
        raise UsageError(
            f"Ray cannot be loaded: {error}", fix="pip install 'leadline[ray]', or --engine process"
        ) from None
    return ray


def _somebody_listens(address: str) -> None:
    """Raises an error of one line where nobody does, or where the address is none of a cluster's own."""
    if address in ("auto", "local"):
        return
    if "@" in address:  # not repeated: what stands before it may be a password
        raise UsageError(
            "the address of the Ray cluster has a name or a password in it",
            fix="auto, or HOST:PORT of its head; its token comes from the environment only, RAY_AUTH_TOKEN",
        )
    host, colon, port = address.rpartition(":")
    if "//" in address or not (host and colon and port.isdigit() and int(port) < 1 << 16):
        raise UsageError(
            f"not the address of a Ray cluster: {address!r}",
            fix="auto, or HOST:PORT of its head; on a node of it, not by a Ray client",
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_ANSWER).close()
    except OSError as error:
        raise LeadlineError(
            f"no Ray cluster answers at {address!r}: {error.strerror or error}", fix=_CONNECTING
        ) from None


def _short_folder() -> str:
    made = tempfile.mkdtemp(prefix="leadline-ray-")
    if len(made) > _LONGEST_FOLDER:
        Path(made).rmdir()
        made = tempfile.mkdtemp(prefix="leadline-ray-", dir="/tmp")
    return made


def _missing(paths: list[str]) -> list[str]:
    return [path for path in paths if not Path(path).exists()]


def _content(path: str) -> str | None:
    try:
        return Path(path).read_text("utf-8")
    except OSError:
        return None
