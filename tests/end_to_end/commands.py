"""Our command line in this process, and other tools' in processes of their own."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

# Nothing is looked for on the net, and a core is enough.
QUIET = {
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_OFFLINE": "1",
    "OMP_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}


@dataclass(frozen=True)
class Ended:
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def fault(self) -> str:
        """The one line that a command says when it cannot go on."""
        assert self.code in (2, 3) and "Traceback" not in self.err, (self.code, self.err)
        lines = [line for line in self.err.splitlines() if line.startswith("error: ")]
        assert len(lines) == 1 and self.err.splitlines()[-1] == lines[0], self.err
        return lines[0]


def leadline(*arguments: str | Path, **environment: str) -> Ended:
    """`leadline ...`: imports are paid for once."""
    from leadline.cli.app import main

    out, err, code = io.StringIO(), io.StringIO(), 0
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["leadline", *map(str, arguments)])
        for name, value in environment.items():
            patch.setenv(name, value)
        try:
            main()
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 0
    return Ended(code, out.getvalue(), err.getvalue())


def done(*arguments: str | Path, **environment: str) -> Ended:
    """As `leadline`, where nothing may go wrong."""
    ended = leadline(*arguments, **environment)
    assert ended.code == 0, ended.err
    return ended


def tool(*arguments: str | Path, folder: Path, **environment: str) -> str:
    """`python -m ...` in a process of its own, in `folder`; what it printed."""
    ran = subprocess.run(
        [sys.executable, "-m", *map(str, arguments)],
        cwd=folder, env={**os.environ, **QUIET, **environment},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout[-1000:] + ran.stderr[-3000:]
    return ran.stdout + ran.stderr
