"""Weights are known by their tensors, not by how these are spread over files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.errors import LeadlineError
from leadline.models import weights

save_file = pytest.importorskip("safetensors.numpy").save_file

Tensors = dict[str, np.ndarray]
tensor_sets = st.dictionaries(
    st.text("abc.", min_size=1, max_size=6),
    st.tuples(st.integers(0, 4), st.integers(1, 3), st.sampled_from(["float32", "float16", "int8"])),
    min_size=1,
    max_size=6,
).map(
    lambda shapes: {
        name: np.arange(rows * columns).reshape(rows, columns).astype(dtype)
        for name, (rows, columns, dtype) in shapes.items()
    }
)


def write(folder: Path, tensors: Tensors, parts: list[int], metadata: dict[str, str] | None = None) -> Path:
    """`tensors` over as many files as `parts` has distinct numbers (its n-th entry for the n-th tensor)."""
    folder.mkdir()
    files = {name: f"part-{parts[i % len(parts)]}.safetensors" for i, name in enumerate(tensors)}
    for file in set(files.values()):
        save_file({n: t for n, t in tensors.items() if files[n] == file}, folder / file, metadata)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": files}))
    return folder


@settings(max_examples=40, deadline=None)
@given(tensors=tensor_sets, parts=st.lists(st.integers(0, 3), min_size=1, max_size=6), data=st.data())
def test_the_digest_does_not_depend_on_files_order_or_metadata(
    tensors: Tensors, parts: list[int], data: st.DataObject
) -> None:
    shuffled = dict(data.draw(st.permutations(list(tensors.items()))))
    with TemporaryDirectory() as temporary:
        one = write(Path(temporary) / "one", tensors, [0])
        many = write(Path(temporary) / "many", shuffled, parts, {"format": "pt"})
        assert weights.tensor_digest(one) == weights.tensor_digest(many)


@settings(max_examples=40, deadline=None)
@given(tensors=tensor_sets, data=st.data())
def test_the_digest_changes_with_any_name_shape_type_or_value(tensors: Tensors, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(tensors)))
    old = tensors[name]
    changes: list[Tensors] = [
        {("z" if n == name else n): t for n, t in tensors.items()},
        tensors | {name: old.reshape(old.shape[1], old.shape[0], 1)},
        tensors | {name: old.astype("float64")},
    ]
    if old.size:
        changes.append(tensors | {name: np.concatenate([old[:-1], old[-1:] + 1])})
    changed = data.draw(st.sampled_from(changes))
    with TemporaryDirectory() as temporary:
        before = write(Path(temporary) / "before", tensors, [0])
        after = write(Path(temporary) / "after", changed, [0])
        assert weights.tensor_digest(before) != weights.tensor_digest(after)


def test_a_file_cut_anywhere_is_called_incomplete_or_no_safetensors(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_file({"a": np.ones((8, 8), np.float32)}, path)
    assert [tensor.size for tensor in weights.read_tensors(path)] == [64]
    for size in (path.stat().st_size - 1, 100, 20, 8, 3, 0):
        os.truncate(path, size)
        with pytest.raises(LeadlineError, match=r"model.safetensors: (incomplete|not a safetensors file)"):
            weights.read_tensors(path)


@pytest.mark.parametrize(
    "header", [b"[]", b'{"a": 1}', b'{"a": {"dtype": "F32"}}', b"\xff\xfe", b'{"a": {"dtype": 3}}']
)
def test_a_header_of_another_making_is_refused(tmp_path: Path, header: bytes) -> None:
    (tmp_path / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(LeadlineError, match="unreadable header"):
        weights.read_tensors(tmp_path / "model.safetensors")


def test_an_index_may_not_point_out_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors.index.json").write_text('{"weight_map": {"a": "../secret.safetensors"}}')
    with pytest.raises(LeadlineError, match="outside its own folder"):
        weights.weight_files(tmp_path)


def test_a_missing_part_is_named(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors.index.json").write_text('{"weight_map": {"a": "1.st", "b": "2.st"}}')
    (tmp_path / "1.st").write_bytes(b"")
    with pytest.raises(LeadlineError, match=r"1 of 2 weight files are missing, first '2.st'"):
        weights.weight_files(tmp_path)


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "F32", "shape": [1], "data_offsets": [8, 4]},
        {"dtype": "F32", "shape": ["1"], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]},
        {"dtype": "F32", "shape": [1], "data_offsets": [0.0, 4.0]},
        {"dtype": "F32", "shape": [1], "data_offsets": [-9, 4]},
    ],
)
def test_a_tensor_that_has_no_place_is_refused(tmp_path: Path, entry: object) -> None:
    sound = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
    header = json.dumps({"a": entry, "b": sound}).encode()
    path = tmp_path / "model.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(8))
    with pytest.raises(LeadlineError, match="not a safetensors file"):
        weights.tensor_digest(tmp_path)


def test_a_header_nested_thousands_deep_is_refused(tmp_path: Path) -> None:
    header = b'{"a":' * 20_000 + b"1" + b"}" * 20_000
    (tmp_path / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(LeadlineError, match="unreadable header"):
        weights.all_tensors(tmp_path)
    (tmp_path / "model.safetensors.index.json").write_bytes(header)
    with pytest.raises(LeadlineError, match="not an index of weight files"):
        weights.weight_files(tmp_path)


def test_an_index_that_names_numbers_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors.index.json").write_text('{"weight_map": {"a": 1}}')
    with pytest.raises(LeadlineError, match="not an index of weight files"):
        weights.weight_files(tmp_path)
