from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from leadline.bundle.release import Bundled, bundle_study
from leadline.study.study import open_study
from tests.bundle.studies import make_study


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that holds something of everything."""
    return make_study(tmp_path_factory.mktemp("everything") / "study", items=36, samples=6)


@pytest.fixture(scope="session")
def bundled(study: Path) -> Bundled:
    """Its release, verified."""
    return bundle_study(open_study(study), study.parent / "release", say=lambda step: None)


@pytest.fixture
def copy(bundled: Bundled, tmp_path: Path) -> Path:
    """A copy of the release, to be tampered with."""
    return Path(shutil.copytree(bundled.path, tmp_path / "copy"))


def seal(folder: Path) -> None:
    """Write the checksums anew, as whoever tampers with care does."""
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder).as_posix()}\n"
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "CHECKSUMS.sha256"
    ]
    (folder / "CHECKSUMS.sha256").write_text("".join(lines), encoding="utf-8")


Tamper = Callable[[Path], None]
