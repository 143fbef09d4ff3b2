from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from leadline.models import catalogue, gguf
from leadline.models.catalogue import EmbeddedModel
from tests.models import tiny

pytest.importorskip("torch", reason="local models need the 'local' extra")


@dataclass
class Told:
    """A progress that remembers what it was told."""

    lines: list[str] = field(default_factory=list)

    def step(self, line: str) -> None:
        self.lines.append(line)


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def model_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache; returns the folder that entries appear in."""
    monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "models"


@pytest.fixture(scope="session")
def tiny_gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.write_gguf(tmp_path_factory.mktemp("gguf") / "tiny.gguf")


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.write_folder(tmp_path_factory.mktemp("folder") / "tiny-llama")


@pytest.fixture
def tiny_model(
    model_cache: Path, tiny_gguf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> EmbeddedModel:
    """A catalogue with a tiny model, whose wheel pip finds in a folder and nowhere else."""
    index = tmp_path / "index"
    index.mkdir()
    tiny.write_wheel(index, tiny_gguf)
    # The user's own settings, in the strongest form that pip knows, so that no test goes to a network.
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    model = tiny.catalogue_entry(tiny_gguf)
    monkeypatch.setitem(catalogue.CATALOGUE, model.name, model)
    return model


@pytest.fixture
def quick_conversion(tiny_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the conversion is not what is tested: a finished model is copied in its place."""
    monkeypatch.setattr(
        gguf, "convert", lambda source, into: shutil.copytree(tiny_folder, into, dirs_exist_ok=True)
    )


@pytest.fixture
def wheel_by_hand(tiny_model: EmbeddedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where pip is not what is tested: its half second is saved."""
    monkeypatch.setenv(tiny_model.wheel_variable, str(next((tmp_path / "index").glob("*.whl"))))
