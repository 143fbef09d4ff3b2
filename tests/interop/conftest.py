from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Ended:
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def fault(self) -> str:
        """The one line that a command says when it cannot go on."""
        assert self.code in (2, 3), (self.code, self.err)
        assert self.err.count("\n") == 1 and self.err.startswith("error: "), self.err
        assert self.out == ""
        return self.err


Leadline = Callable[..., Ended]


@pytest.fixture
def leadline(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Leadline:
    """The command line, in this process."""
    from leadline.cli.app import main

    def run(*arguments: str | Path) -> Ended:
        monkeypatch.setattr(sys, "argv", ["leadline", *(str(one) for one in arguments)])
        capfd.readouterr()
        code = 0
        try:
            main()
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 0
        captured = capfd.readouterr()
        return Ended(code, captured.out, captured.err)

    return run
