"""The cache holds whole models or none: whatever is killed, full, locked or damaged."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from leadline.errors import LeadlineError
from leadline.models import cache, gguf
from leadline.models.catalogue import EmbeddedModel
from leadline.models.resolve import resolve
from tests.models.conftest import Told

ROOT = Path(__file__).parents[2]


def child(model: EmbeddedModel, script: str) -> subprocess.Popen[str]:
    """Another process that has `model` in its catalogue and runs `script`."""
    prelude = f"""
        import time
        from leadline.models import cache, catalogue, gguf
        from leadline.models.catalogue import EmbeddedModel
        from leadline.models.progress import PlainLines
        from leadline.models.resolve import resolve
        catalogue.CATALOGUE["tiny"] = {model!r}
        """
    code = textwrap.dedent(prelude) + textwrap.dedent(script)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize(
    "moment",
    [
        pytest.param("gguf.convert = stop", id="when the conversion begins"),
        pytest.param("gguf._check_saved = stop", id="when the weights are written"),
        pytest.param(
            "gguf.convert = copy; cache._flush = stop", id="when the manifest is about to be written"
        ),
    ],
)
def test_a_killed_maker_leaves_nothing_that_is_taken_for_a_model(
    tiny_model: EmbeddedModel, tiny_folder: Path, model_cache: Path, moment: str, told: Told
) -> None:
    stop = f"""
        import shutil
        def stop(*arguments):
            print("here", flush=True)
            time.sleep(60)
        def copy(source, into):
            shutil.copytree({str(tiny_folder)!r}, into, dirs_exist_ok=True)
        {moment}
        resolve("tiny")
        """
    victim = child(tiny_model, stop)
    assert victim.stdout is not None and victim.stdout.readline() == "here\n"
    victim.send_signal(signal.SIGKILL)
    victim.communicate()

    assert cache.look_up("tiny") is None
    assert len(list(model_cache.glob(".making-tiny~*"))) == 1

    files = resolve("tiny", progress=told)
    assert told.lines[0].startswith("fetching")
    assert cache.check_files(cache.Entry("tiny", files.folder, read_manifest(files.folder))) == []
    assert list(model_cache.glob(".making-*")) == []


def test_two_processes_at_once_convert_once(tiny_model: EmbeddedModel, model_cache: Path) -> None:
    both = [child(tiny_model, "print(resolve('tiny', progress=PlainLines()).digest)") for _ in range(2)]
    said = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert said[0][0] == said[1][0] != ""
    assert sum(stderr.count("converting") for _, stderr in said) == 1
    assert [path.name for path in model_cache.iterdir() if path.is_dir()] == ["tiny"]


@pytest.mark.parametrize("harm", ["cut", "delete", "no manifest", "bad manifest", "old format"])
def test_a_damaged_entry_is_made_again_and_said_to_be(
    tiny_model: EmbeddedModel, wheel_by_hand: None, quick_conversion: None, told: Told, harm: str
) -> None:
    files = resolve("tiny")
    weights, manifest = files.folder / "model.safetensors", files.folder / cache.MANIFEST
    if harm == "cut":
        os.truncate(weights, weights.stat().st_size - 1)
    elif harm == "delete":
        (files.folder / "tokenizer.json").unlink()
    elif harm == "no manifest":
        manifest.unlink()
    elif harm == "bad manifest":
        os.truncate(manifest, 100)
    else:
        manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"format": 0}))
    assert resolve("tiny", progress=told) == files
    assert told.lines[0].startswith("tiny in the cache is damaged (")
    assert cache.look_up("tiny") is not None


def test_check_finds_a_changed_byte_that_sizes_do_not_show(
    tiny_model: EmbeddedModel, wheel_by_hand: None, quick_conversion: None
) -> None:
    files = resolve("tiny")
    with (files.folder / "model.safetensors").open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        last = file.read(1)[0]
        file.seek(-1, os.SEEK_END)
        file.write(bytes([last ^ 1]))
    entry = cache.look_up("tiny")
    assert entry is not None
    assert cache.check_files(entry) == ["model.safetensors"]


def test_too_little_space_is_said_before_anything_is_fetched(
    tiny_model: EmbeddedModel, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    import shutil
    from collections import namedtuple

    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(10**9, 10**9 - 5_000_000, 5_000_000))
    with pytest.raises(
        LeadlineError, match=r"needs 20 MB of free disk space, and there are 5 MB .*LEADLINE_CACHE"
    ):
        resolve("tiny", progress=told)
    assert told.lines == []


def test_a_disk_that_fills_up_meanwhile_leaves_no_trace(
    tiny_model: EmbeddedModel, model_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(source: Path, into: Path) -> None:
        (into / "model.safetensors").write_bytes(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(gguf, "convert", full)
    with pytest.raises(LeadlineError, match=r"the disk is full .*LEADLINE_CACHE"):
        resolve("tiny")
    assert [path.name for path in model_cache.iterdir() if path.is_dir()] == []


def test_the_safetensors_writer_reports_a_full_disk_in_words_only(
    tiny_model: EmbeddedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    from safetensors import SafetensorError

    def full(source: Path, into: Path) -> None:
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    monkeypatch.setattr(gguf, "convert", full)
    with pytest.raises(LeadlineError, match="the disk is full"):
        resolve("tiny")


def test_a_bug_in_the_conversion_keeps_its_traceback(
    tiny_model: EmbeddedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gguf, "convert", lambda source, into: {}["bug"])
    with pytest.raises(KeyError, match="bug"):
        resolve("tiny")


def test_a_cache_that_cannot_be_a_folder_is_said_so(
    tiny_model: EmbeddedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (file := tmp_path / "file").write_text("")
    monkeypatch.setenv("LEADLINE_CACHE", str(file))
    with pytest.raises(LeadlineError, match=r"the cache cannot be written: Not a directory .*LEADLINE_CACHE"):
        resolve("tiny")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_cache_is_said_so(tiny_model: EmbeddedModel, model_cache: Path) -> None:
    model_cache.mkdir(parents=True)
    model_cache.chmod(0o500)
    with pytest.raises(LeadlineError, match="the cache cannot be written: Permission denied"):
        resolve("tiny")


def test_a_hash_is_remembered_until_the_file_changes(model_cache: Path, tmp_path: Path) -> None:
    (file := tmp_path / "big").write_bytes(b"one")
    calls = []

    def compute() -> str:
        calls.append(1)
        return cache.file_sha256(file)

    first = cache.remembered("sha256", file, [file], compute)
    assert cache.remembered("sha256", file, [file], compute) == first
    assert len(calls) == 1
    file.write_bytes(b"two")
    os.utime(file, ns=(1, 1))  # same size: the time alone must do
    assert cache.remembered("sha256", file, [file], compute) != first
    assert len(calls) == 2


def read_manifest(folder: Path) -> cache.Manifest:
    return cache.Manifest.model_validate_json((folder / cache.MANIFEST).read_bytes())
