"""Real processes of `leadline` that start in milliseconds, to be killed by the dozen.

`python -m tests.study.forks` imports everything once, then reads one JSON object a line. {"start": arguments,
"out": file, "err": file, "cwd": folder} is answered with the process id of a fork that runs the command line,
{"wait": pid} with how it ended: its exit code, or minus the signal. Other modules serve in the same way and
prepare a fork by what further keys say.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def serve(prepare: Callable[[Mapping[str, Any]], object] = lambda asked: None) -> None:
    """Answer what is asked on standard input; `prepare` is called in a fork, with what started it."""
    import polars  # noqa: F401
    import transformers.models.llama.modeling_llama  # noqa: F401

    from leadline.cli.app import main
    from leadline.cli.show import show_report  # noqa: F401
    from leadline.engine import decode  # noqa: F401
    from leadline.models import local, resolve  # noqa: F401
    from leadline.report import study_report  # noqa: F401
    from leadline.study import run  # noqa: F401

    print("ready", flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        if "wait" in asked:
            print(os.waitstatus_to_exitcode(os.waitpid(asked["wait"], 0)[1]), flush=True)
            continue
        pid = os.fork()
        if pid:
            print(pid, flush=True)
            continue
        for name, descriptor in (("out", 1), ("err", 2)):
            os.dup2(os.open(asked[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), descriptor)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.chdir(asked["cwd"])
        sys.argv = ["leadline", *asked["start"]]
        code = 70
        try:
            prepare(asked)
            main()
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    os._exit(0)  # taking apart all that was imported takes seconds


@dataclass
class Process:
    """A running `leadline`; its streams go to files."""

    pid: int
    out: Path
    err: Path
    server: Forks

    def kill(self, number: signal.Signals = signal.SIGKILL) -> None:
        os.kill(self.pid, number)

    def wait(self) -> int:
        """Exit code, or minus the signal that ended it."""
        return int(self.server.ask({"wait": self.pid}))


class Forks:
    """The other end of the server."""

    def __init__(self, scratch: Path, module: str = "tests.study.forks") -> None:
        self._scratch, self._count = scratch, 0
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "LEADLINE_CACHE": str(scratch / "cache"),
            "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", module],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._answer() == "ready"

    def ask(self, what: dict[str, object]) -> str:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def start(self, *arguments: str | Path, cwd: Path | None = None, **more: object) -> Process:
        """`leadline` with these arguments; `more` is what the server's own `prepare` reads."""
        self._count += 1
        out, err = (self._scratch / f"{self._count}.{name}" for name in ("out", "err"))
        asked = {
            "start": [str(one) for one in arguments],
            "out": str(out),
            "err": str(err),
            "cwd": str(cwd or ROOT),
            **more,
        }
        return Process(int(self.ask(asked)), out, err, self)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=10)


def wait_until(condition: object, seconds: float = 30.0) -> None:
    """Poll `condition()`."""
    assert callable(condition)
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.002)


if __name__ == "__main__":
    serve()
