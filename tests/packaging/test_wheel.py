"""What is published: the wheel carries everything that the code reads, and works away from the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from leadline import __version__

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source archive, built with the tools that are installed here."""
    pytest.importorskip("build", reason="needs the extra 'dev'")
    pytest.importorskip("hatchling", reason="needs the extra 'dev'")
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--sdist", "--outdir", str(out)]
    ran = subprocess.run([*command, str(ROOT)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return out


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (found,) = built.glob("leadline-*.whl")
    return found


def test_the_wheel_carries_every_file_of_the_package(wheel: Path) -> None:
    """Prompts, templates, benchmarks and the mark of a typed package are files that no import would miss."""
    ours = {
        path.relative_to(SOURCE).as_posix()
        for path in (SOURCE / "leadline").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    carried = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("leadline/")}
    assert carried == ours
    assert {
        "leadline/py.typed",
        "leadline/bench/data/facts/items.jsonl",
        "leadline/techniques/prompts/recite/recite.chat.txt",
        "leadline/report/templates/report.html.j2",
        "leadline/study/templates/demo.yaml",
    } <= carried


def test_the_wheel_holds_nothing_but_the_package(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert tops == {"leadline", f"leadline-{__version__}.dist-info"}


def test_the_source_archive_can_be_worked_in(built: Path) -> None:
    (archive,) = built.glob("leadline-*.tar.gz")
    with tarfile.open(archive) as tar:
        names = {name.partition("/")[2] for name in tar.getnames()}
    assert {
        "Makefile",
        "constraints.txt",
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "checks/audit_pins.py",
    } <= names
    assert {"tests/packaging/test_wheel.py", "docs/design.md", "examples/quickstart/study.yaml"} <= names
    assert not [name for name in names if ".venv" in name or name.endswith((".sqlite", ".pyc"))]


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel in it, and a folder to stand in that is not the checkout."""

    programs: Path
    elsewhere: Path

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment with nothing of ours in the process environment."""
        clean = {
            key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "LEADLINE"))
        }
        program = str(self.programs / command[0])
        return subprocess.run(
            [program, *command[1:]],
            cwd=self.elsewhere,
            env=clean,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel in a fresh environment. Its dependencies are those of this one, put behind it on the path.

    A .pth file inside a folder that was named by a .pth file is not read, so an editable checkout stays out.
    """
    place = tmp_path_factory.mktemp("installed")
    venv.create(place / "venv", with_pip=False)
    programs = place / "venv" / ("Scripts" if os.name == "nt" else "bin")
    python = programs / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check", "--quiet"]
    ran = subprocess.run(
        [*pip, "install", "--no-deps", "--no-index", str(wheel)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    purelib = subprocess.run(
        [str(python), "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    ours = sysconfig.get_paths()
    behind = "\n".join(dict.fromkeys((ours["purelib"], ours["platlib"])))
    (Path(purelib) / "behind.pth").write_text(behind + "\n", encoding="utf-8")
    elsewhere = place / "elsewhere"
    elsewhere.mkdir()
    return Installed(programs, elsewhere)


def test_what_runs_is_the_wheel_and_not_the_checkout(installed: Installed) -> None:
    ran = installed.run("python", "-c", "import leadline; print(leadline.__file__)")
    assert Path(ran.stdout.strip()).is_relative_to(installed.programs.parent), ran.stdout + ran.stderr


def test_the_command_is_there(installed: Installed) -> None:
    ran = installed.run("leadline", "--version")
    assert (ran.returncode, ran.stdout) == (0, f"leadline {__version__}\n"), ran.stderr


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["bench", "list"], "facts"),
        (["bench", "validate", "facts"], "700 items"),
        (["techniques", "list"], "genread"),
        (["techniques", "show", "recite", "--style", "chat"], "=== user ==="),
        (["init", "study"], "study.yaml"),
    ],
    ids=" ".join,
)
def test_it_finds_its_own_files(installed: Installed, command: list[str], expected: str) -> None:
    ran = installed.run("leadline", *command)
    assert ran.returncode == 0, ran.stderr
    assert expected in ran.stdout
