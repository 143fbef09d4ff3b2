"""What was fitted is kept whole or not at all, and found again only for the same fit."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="local models need the 'local' extra")

from leadline.bench import Item  # noqa: E402
from leadline.engine.lm import CausalLM  # noqa: E402
from leadline.techniques.artefacts import (  # noqa: E402
    Key,
    hash_of_items,
    kept_or_made,
    key_for,
    load,
    save,
)
from leadline.techniques.prepared import Bench  # noqa: E402
from tests.engine.tiny import BLOCKS, NumberTokenizer, model  # noqa: E402

KEY = Key("caa", "model-1", {"layer": 3, "share": 0.8}, "items-1")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEADLINE_CACHE", str(tmp_path / "cache"))


def _tensors() -> dict[str, torch.Tensor]:
    return {"a": torch.arange(6.0).reshape(2, 3), "b": torch.ones(2, dtype=torch.bfloat16)}


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    assert load(KEY) is None
    save(KEY, _tensors(), {"layer": 3})
    found = load(KEY)
    assert found is not None
    assert torch.equal(found.tensors["a"], _tensors()["a"])
    assert found.tensors["b"].dtype is torch.bfloat16
    assert KEY.folder.parent == tmp_path / "cache" / "artefacts"
    assert KEY.folder.name.startswith("caa-")
    about = json.loads((KEY.folder / "about.json").read_text())
    assert about["layer"] == 3
    assert (about["technique"], about["settings"]) == ("caa", {"layer": 3, "share": 0.8})
    assert {"versions", "date", "model", "data"} <= set(about)
    assert [path.name for path in KEY.folder.parent.iterdir()] == [KEY.folder.name]  # no leavings


@pytest.mark.parametrize(
    "other",
    [
        Key("mean-centring", "model-1", {"layer": 3, "share": 0.8}, "items-1"),
        Key("caa", "model-2", {"layer": 3, "share": 0.8}, "items-1"),
        Key("caa", "model-1", {"layer": 4, "share": 0.8}, "items-1"),
        Key("caa", "model-1", {"layer": 3, "share": 0.8}, "items-2"),
    ],
)
def test_another_fit_is_another_artefact(other: Key) -> None:
    save(KEY, _tensors(), {})
    assert load(other) is None
    assert load(Key("caa", "model-1", {"share": 0.8, "layer": 3}, "items-1")) is not None  # the order is none


def test_items_are_named_by_what_they_ask_and_not_by_their_order() -> None:
    one = Item(id="1", question="Q?", answer="A", task="t")
    two = Item(id="2", question="R?", answer="B", task="t")
    assert hash_of_items([one, two]) == hash_of_items([two, one])
    assert hash_of_items([one]) != hash_of_items([one.model_copy(update={"answer": "C"})])
    assert hash_of_items([one]) != hash_of_items([one.model_copy(update={"aliases": ("C",)})])


@pytest.mark.parametrize("harm", ["cut", "flip", "no about", "not json", "no tensors"])
def test_a_damaged_entry_is_made_again_with_one_note(harm: str) -> None:
    lm = CausalLM(model(BLOCKS["llama"]), NumberTokenizer())
    notes: list[str] = []
    bench = Bench(digest="d", say=notes.append)
    key = key_for("iti", lm, bench, {})
    made: list[int] = []

    def make() -> tuple[dict[str, torch.Tensor], dict[str, int]]:
        made.append(1)
        return _tensors(), {"made": len(made)}

    assert kept_or_made(key, lm, bench, make).about["made"] == 1
    assert kept_or_made(key, lm, bench, make).about["made"] == 1  # from the cache
    tensors, about = key.folder / "tensors.safetensors", key.folder / "about.json"
    content = tensors.read_bytes()
    if harm == "cut":
        tensors.write_bytes(content[:-3])
    elif harm == "flip":
        tensors.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    elif harm == "no about":
        about.unlink()
    elif harm == "not json":
        about.write_text("{")
    else:
        tensors.unlink()
    again = kept_or_made(key, lm, bench, make)
    assert again.about["made"] == 2
    assert torch.equal(again.tensors["a"], _tensors()["a"])
    assert len(notes) == 1
    assert str(key.folder) in notes[0]
    assert "\n" not in notes[0]
    assert kept_or_made(key, lm, bench, make).about["made"] == 2
    refit = Bench(digest="d", say=notes.append, reuse=False)
    assert kept_or_made(key, lm, refit, make).about["made"] == 3
    found = load(key)
    assert found is not None
    assert found.about["made"] == 3
    assert len(notes) == 1


def test_a_cache_that_cannot_be_written_is_a_note(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setenv("LEADLINE_CACHE", str(file))  # a file where a folder is needed, so also for root
    notes: list[str] = []
    found = save(KEY, _tensors(), {"layer": 3}, notes.append)
    assert found.about["layer"] == 3
    assert torch.equal(found.tensors["a"], _tensors()["a"])
    assert len(notes) == 1
    assert "not kept" in notes[0]


def test_a_reader_never_sees_half_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that ends while it writes leaves the old artefact, or none."""

    def dies(self: Path, *args: object, **options: object) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", dies)
        with pytest.raises(KeyboardInterrupt):
            save(KEY, _tensors(), {})
    assert load(KEY) is None
    assert os.listdir(KEY.folder.parent) == []  # noqa: PTH208
    save(KEY, _tensors(), {"made": 1})
    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", dies)
        with pytest.raises(KeyboardInterrupt):
            save(KEY, _tensors(), {"made": 2})
    found = load(KEY)
    assert found is not None
    assert found.about["made"] == 1
