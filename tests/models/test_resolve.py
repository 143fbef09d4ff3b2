"""A reference means one thing, and one that means nothing is answered with what to write instead."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from leadline.errors import LeadlineError, UsageError
from leadline.models import gguf, weights
from leadline.models.describe import describe
from leadline.models.resolve import resolve
from tests.models import tiny
from tests.models.conftest import Told


@pytest.fixture
def own_folder(tiny_folder: Path, tmp_path: Path, model_cache: Path) -> Path:
    """A copy that a test may harm."""
    return Path(shutil.copytree(tiny_folder, tmp_path / "my-model"))


def test_a_folder_is_taken_as_it_is(own_folder: Path, told: Told) -> None:
    before = sorted(path.name for path in own_folder.iterdir())
    files = resolve(str(own_folder), progress=told)
    assert (files.name, files.kind, files.folder) == ("my-model", "folder", own_folder)
    assert files.digest == weights.tensor_digest(own_folder)
    assert sorted(path.name for path in own_folder.iterdir()) == before, "nothing is written into it"
    assert told.lines == ["hashing the weights of my-model (once)"]
    assert resolve(str(own_folder), progress=told) == files
    assert len(told.lines) == 1, "the digest is remembered"


def test_a_changed_weight_gives_a_new_digest(own_folder: Path) -> None:
    first = resolve(str(own_folder)).digest
    path = own_folder / "model.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(1, 1))
    assert resolve(str(own_folder)).digest != first


def test_a_relative_folder_is_found(own_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(own_folder.parent)
    assert resolve("my-model").folder == own_folder
    assert resolve("./my-model").folder == own_folder


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda f: (f / "config.json").unlink(), "no config.json"),
        (lambda f: (f / "config.json").write_text("{"), "config.json is not readable"),
        (lambda f: (f / "config.json").write_text("[]"), "config.json is not readable"),
        (lambda f: [p.unlink() for p in f.glob("tokenizer*")], "no tokenizer files"),
        (
            lambda f: (f / "model.safetensors").rename(f / "pytorch_model.bin"),
            r"no safetensors weights .*\.bin",
        ),
        (lambda f: os.truncate(f / "model.safetensors", 5000), "model.safetensors: incomplete"),
    ],
)
def test_a_folder_that_is_no_model_is_refused_with_the_reason(own_folder: Path, harm, said: str) -> None:
    harm(own_folder)
    with pytest.raises(LeadlineError, match=said) as caught:
        resolve(str(own_folder))
    assert str(own_folder) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_around_a_gguf_file_points_to_the_file(tmp_path: Path, tiny_gguf: Path) -> None:
    shutil.copy(tiny_gguf, tmp_path / "some.gguf")
    with pytest.raises(UsageError, match=r"name the file itself: .*some.gguf"):
        resolve(str(tmp_path))


@pytest.mark.parametrize(
    ("ref", "said"),
    [
        ("smolm2", r"no model is called 'smolm2' \(did you mean smollm2\?"),
        ("gpt2", r"no model is called 'gpt2' \(by name there is smollm2; .*hf://name"),
        ("", "no model is named"),
        ("./missing", r"\./missing: no such file or folder"),
        ("/missing/model", r"/missing/model: no such file or folder"),
        ("missing.gguf", r"missing\.gguf: no such file or folder"),
        ("a/b/c", r"a/b/c: no such file or folder"),
        ("org/na me", "no model is called"),
    ],
)
def test_a_reference_to_nothing_is_a_usage_error(
    ref: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=said):
        resolve(ref)


def test_a_gguf_file_is_converted_once_whatever_it_is_called(
    tiny_gguf: Path, tmp_path: Path, model_cache: Path, told: Told
) -> None:
    files = resolve(str(tiny_gguf), progress=told)
    assert (files.name, files.kind) == ("tiny", "gguf")
    assert files.folder.parent == model_cache
    copy = shutil.copy(tiny_gguf, tmp_path / "renamed.gguf")
    assert resolve(str(copy), progress=told).folder == files.folder
    assert told.lines == ["converting tiny.gguf to safetensors (once)"]

    other = resolve(str(tiny.write_gguf(tmp_path / "other.gguf", seed=1)))
    assert other.digest != files.digest


def test_what_is_no_gguf_file_is_refused(tmp_path: Path, model_cache: Path) -> None:
    for name, content in {"text.gguf": b"hello", "empty.gguf": b"", "weights.bin": b"PK\x03\x04"}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(UsageError, match=f"{name}: not a GGUF file"):
            resolve(str(tmp_path / name))


def test_a_gguf_file_cut_short_is_one_line(tiny_gguf: Path, tmp_path: Path, model_cache: Path) -> None:
    whole = tiny_gguf.read_bytes()
    (cut := tmp_path / "cut.gguf").write_bytes(whole[: len(whole) * 2 // 3])
    with pytest.raises(UsageError, match=r"cut.gguf: not a whole GGUF file: a tensor lies beyond its end"):
        resolve(str(cut))
    cut.write_bytes(whole[:-64])  # its header is sound
    with pytest.raises(LeadlineError, match=r"cut.gguf: cannot be converted: ") as caught:
        resolve(str(cut))
    assert "\n" not in str(caught.value)
    assert not [path for path in model_cache.iterdir() if path.is_dir()]


def test_conversion_leaves_the_callers_stderr_alone(
    tiny_gguf: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (into := tmp_path / "converted").mkdir()
    gguf.convert(tiny_gguf, into)
    assert capfd.readouterr() == ("", "")


def test_the_card_reads_the_models_figures_from_its_files(own_folder: Path) -> None:
    (own_folder / "README.md").write_text("---\nlicense: mit\ntags: [x]\n---\n# A model\n")
    card = describe(resolve(str(own_folder)))
    assert (card.architecture, card.layers, card.heads, card.key_value_heads) == ("LlamaForCausalLM", 2, 4, 2)
    assert (card.vocabulary, card.context_length, card.dtype, card.licence) == (99, 128, "float32", "mit")
    # 99×32 embeddings (tied: once); a layer: q, o of 32², k, v of 16×32, three of 64×32, two norms; one norm.
    assert card.parameters == 99 * 32 + 2 * (2 * 32**2 + 2 * 16 * 32 + 3 * 64 * 32 + 2 * 32) + 32
    assert not card.chat_template
    assert not card.own_code


def test_the_card_knows_older_names_and_models_with_code_of_their_own(own_folder: Path) -> None:
    config = {"model_type": "gpt2", "n_layer": 3, "n_head": 2, "n_embd": 8, "n_positions": 64, "auto_map": {}}
    (own_folder / "config.json").write_text(json.dumps(config))
    (own_folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": "{{ x }}"}))
    card = describe(resolve(str(own_folder)))
    assert (card.architecture, card.layers, card.heads, card.key_value_heads) == ("gpt2", 3, 2, 2)
    assert (card.hidden_size, card.context_length, card.vocabulary) == (8, 64, None)
    assert card.chat_template
    assert card.own_code
    assert card.licence is None
