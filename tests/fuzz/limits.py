"""What every reader of files is held to: no traceback, at most ten seconds, at most two gigabytes.

`held` calls a reader in this process: thousands of small broken files a minute. `held_apart` and `command`
run it in a process of its own: for bombs, whose memory must be measured, and for what may hang. How many
examples there are is said here alone: `examples(40)` is 40 in `make test`, and thousands with `--long`.
"""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import ParamSpec, TypeVar

import pytest
from hypothesis import HealthCheck, settings

from leadline.errors import LeadlineError

SECONDS = 10
BYTES = 2 * 1024**3
# A busy machine is no fault of the reader: its own ten seconds are of processor time. What waits uses none.
WAITING_SECONDS = 60
# A reader that used next to no processor time for so many ticks of the clock waits.
_TICK, _IDLE_TICKS, _IDLE = 1.0, 30, 0.01
# Beyond this a process is stopped; what it really used is measured, and held to BYTES.
_ADDRESS_SPACE = 12 * 1024**3
_LONG_FACTOR = 50
_TRACEBACK = "Traceback (most recent call last)"

P = ParamSpec("P")
T = TypeVar("T")


class TooSlow(BaseException):
    """The reader took more than its time. Not an Exception, which a reader might catch."""


def examples(short: int, *, factor: int = _LONG_FACTOR) -> settings:
    """Settings for a fuzz test: `short` examples in `make test`, `factor` times as many with `--long`.

    >>> examples(40).max_examples in (40, 2000)
    True
    """
    is_long = settings.get_current_profile_name() == "long"
    return settings(
        max_examples=short * factor if is_long else short,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


def held(reader: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | LeadlineError:
    """What the reader gives, or the LeadlineError that it raises; any other exception is the test's failure.

    Runs in this process, in its main thread. Raises TooSlow past `SECONDS` of processor time; MemoryError
    where the reader wants `BYTES` more than the process has.
    """
    with _watched(), _less_memory():
        try:
            return reader(*args, **kwargs)
        except LeadlineError as error:
            assert_one_line(str(error))
            return error


def assert_one_line(message: str) -> None:
    """An error has words, of bearable length. What a terminal would obey, the command line writes out."""
    assert message, "an error without words"
    assert len(message) <= 2_000, f"{len(message)} characters: {message[:200]!r}"


@dataclass(frozen=True)
class Ended:
    """How a process ended: exit code, its two outputs, the most memory that it had, in bytes."""

    code: int
    out: str
    err: str
    peak: int


def command(*arguments: str | Path, env: Mapping[str, str] | None = None) -> Ended:
    """`leadline ARGUMENTS` in a process of its own, held to the limits; it says how it ended."""
    return _held_process(["-m", "leadline", *map(str, arguments)], env)


def held_apart(reader: str, *arguments: str | Path) -> Ended:
    """`reader` ("package.module:function") called with these texts, in a process of its own.

    Exit code 0 where it returned, 2 or 3 with one line on stderr where it raised a LeadlineError.

    >>> held_apart("leadline.bench.loading:load_benchmark", "facts").code
    0
    """
    return _held_process(["-m", "tests.fuzz.apart", reader, *map(str, arguments)], None)


def _held_process(arguments: list[str], env: Mapping[str, str] | None) -> Ended:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd=Path(__file__).parents[2],
            env={**os.environ, "OMP_NUM_THREADS": "1", **(env or {})},
        )
        _limit(process.pid)
        code, peak = _reap(process)
        out.seek(0)
        err.seek(0)
        # Of a log that runs away, its beginning is enough.
        texts = [file.read(4_000_000).decode("utf-8", "backslashreplace") for file in (out, err)]
    ended = Ended(code, texts[0], texts[1], peak)
    assert _TRACEBACK not in ended.err, ended.err[-3000:]
    assert code in (0, 1, 2, 3), f"ended with {code}: {ended.err[-3000:]}"
    assert peak <= BYTES, f"{peak / 1e9:.2f} GB of memory: {ended.err[-300:]}"
    if code in (2, 3):
        last = ended.err.strip().splitlines()[-1]
        assert_one_line(last)
        assert last.isprintable(), f"a file draws on the terminal: {last[:300]!r}"
    return ended


def _reap(process: subprocess.Popen[bytes]) -> tuple[int, int]:
    """The exit code and the most memory it had, in bytes; the test fails where it does not end."""
    deadline, peak = time.monotonic() + WAITING_SECONDS, 0
    # A child begins with what its parent had at most: only more than that is its own.
    inherited = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = code = os.waitstatus_to_exitcode(status)
            if code == -signal.SIGXCPU:
                pytest.fail(f"more than {SECONDS} s of processor time: {process.args!r}")
            own = usage.ru_maxrss * 1024 if usage.ru_maxrss > inherited else 0
            return code, max(peak, own)
        peak = max(peak, _peak_so_far(process.pid))
        if time.monotonic() > deadline:
            process.kill()
            process.wait()
            pytest.fail(f"still running after {WAITING_SECONDS} s: {process.args!r}")
        time.sleep(0.02)


def _peak_so_far(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    found = re.search(r"^VmHWM:\s*(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def _limit(pid: int) -> None:
    """Of a process that was just started: its start takes a second or two of the time."""
    if sys.platform == "linux":
        resource.prlimit(pid, resource.RLIMIT_CPU, (SECONDS + 2, SECONDS + 4))
        resource.prlimit(pid, resource.RLIMIT_AS, (_ADDRESS_SPACE, _ADDRESS_SPACE))


@contextmanager
def _watched() -> Iterator[None]:
    began = time.process_time()
    used = [began] * _IDLE_TICKS

    def stop(signum: int, frame: FrameType | None) -> None:
        now = time.process_time()
        if now - began > SECONDS:
            raise TooSlow(f"more than {SECONDS} s of processor time")
        if now - used.pop(0) < _IDLE:
            raise TooSlow("it waits for something that does not come")
        used.append(now)

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, _TICK, _TICK)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    # Code outside Python hears no signal before it returns.
    took = time.process_time() - began
    assert took <= SECONDS + 1, f"{took:.1f} s of processor time"


@contextmanager
def _less_memory() -> Iterator[None]:
    pages = (
        int(Path("/proc/self/statm").read_text().split()[0]) if Path("/proc/self/statm").exists() else None
    )
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if pages is None:
        yield
        return
    limit = pages * resource.getpagesize() + BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit if soft == -1 else min(limit, soft), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
