from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.study import small
from tests.study.forks import Forks

pytest.importorskip("torch", reason="local models need the 'local' extra")


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
        assert "Traceback" not in self.err
        lines = [line for line in self.err.splitlines() if line.startswith("error: ")]
        assert len(lines) == 1 and self.err.splitlines()[-1] == lines[0], self.err
        assert self.out == ""
        return lines[0]


Leadline = Callable[..., Ended]


@pytest.fixture(autouse=True)
def one_thread(request: pytest.FixtureRequest) -> Iterator[None]:
    """Matrices of 32 by 32 are not shared out: on a busy machine the threads would wait for each other."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(before if "model" in request.keywords else 1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def leadline(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Leadline:
    """The command line, in this process: imports are paid for once."""
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


@pytest.fixture(autouse=True)
def own_cache(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is remembered of the small models goes away with them; the real model stays where it is."""
    if "model" not in request.keywords:
        monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random model."""
    return small.write_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def other_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Other random weights of the same shape."""
    return small.write_model(tmp_path_factory.mktemp("models") / "other", seed=1)


@pytest.fixture(scope="session")
def place_of_one_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("run-once") / "study"


@pytest.fixture
def study(place_of_one_run: Path, tmp_path: Path, model: Path, leadline: Leadline) -> Path:
    """A copy of a study that was run; it is run once for all who ask for it."""
    if not place_of_one_run.exists():
        small.small_study(place_of_one_run, model)
        assert leadline("run", place_of_one_run, "--quiet").code == 0
    return shutil.copytree(place_of_one_run, tmp_path / "study")


@pytest.fixture(scope="session")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    server = Forks(tmp_path_factory.mktemp("streams"))
    yield server
    server.close()
