"""What a safetensors file says about itself, read without torch: names, dtypes, shapes, and a digest.

Format: 8 bytes little-endian header length, a JSON header {name: {dtype, shape, data_offsets}}, then the
tensors' bytes. Reading the header tells at once whether a file is whole.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path

from leadline.bench.problem import shortened
from leadline.errors import LeadlineError

# The format's own ceiling: a longer header means that this is another kind of file.
_LONGEST_HEADER = 100_000_000
_CHUNK = 1 << 22

_DTYPE_NAMES = {
    "F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16",
    "I64": "int64", "I32": "int32", "I16": "int16", "I8": "int8", "U8": "uint8", "BOOL": "bool",
}  # fmt: skip


@dataclass(frozen=True)
class Tensor:
    """One tensor's place: `shape`, `dtype` ("float32"), and its bytes [start, end) in `file`."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    file: Path
    start: int
    end: int

    @property
    def size(self) -> int:
        return math.prod(self.shape)


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files that hold the weights of the model in `folder`; empty if there are none.

    Raises LeadlineError when an index names a file that is not there.
    """
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        try:
            names = sorted(set(json.loads(index.read_text("utf-8"))["weight_map"].values()))
            outside = any(Path(name).name != name for name in names)
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
            raise LeadlineError(
                "not an index of weight files", where=str(index), fix="fetch the model again"
            ) from error
        # An index is data from elsewhere: only files beside it count.
        if outside:
            raise LeadlineError("names weight files outside its own folder", where=str(index))
        missing = [name for name in names if not (folder / name).is_file()]
        if missing:
            raise LeadlineError(
                f"{len(missing)} of {len(names)} weight files are missing, first {shortened(missing[0])}",
                where=str(folder),
                fix="fetch the model again",
            )
        return [folder / name for name in names]
    single = folder / "model.safetensors"
    return [single] if single.is_file() else []


def read_tensors(path: Path) -> list[Tensor]:
    """The tensors of one safetensors file, in name order; raises LeadlineError if the file is not whole."""
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if not 2 <= length <= min(_LONGEST_HEADER, size - 8):
            raise LeadlineError("not a safetensors file", where=str(path), fix="fetch the model again")
        try:
            header = json.loads(file.read(length))
            header.pop("__metadata__", None)
            tensors = [
                Tensor(
                    name,
                    _DTYPE_NAMES.get(entry["dtype"], entry["dtype"].lower()),
                    tuple(entry["shape"]),
                    path,
                    8 + length + entry["data_offsets"][0],
                    8 + length + entry["data_offsets"][1],
                )
                for name, entry in sorted(header.items())
            ]
            if not all(_is_sound(tensor, 8 + length) for tensor in tensors):
                raise ValueError("a tensor without a place")
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
            raise LeadlineError(
                "not a safetensors file: unreadable header", where=str(path), fix="fetch the model again"
            ) from error
    end = max((tensor.end for tensor in tensors), default=8 + length)
    if end != size:
        raise LeadlineError(
            f"incomplete: {size:,} bytes where its header tells of {end:,}",
            where=str(path),
            fix="fetch the model again",
        )
    return tensors


def _is_sound(tensor: Tensor, first: int) -> bool:
    """A shape of whole numbers, and a place after the header that does not end before it begins."""
    numbers = (*tensor.shape, tensor.start, tensor.end)
    are_counts = all(type(number) is int and number >= 0 for number in numbers)
    return are_counts and first <= tensor.start <= tensor.end


def all_tensors(folder: Path) -> list[Tensor]:
    """The tensors of every weight file of a model, in name order."""
    return sorted(
        (tensor for path in weight_files(folder) for tensor in read_tensors(path)), key=lambda t: t.name
    )


def tensor_digest(folder: Path) -> str:
    """ "sha256:..." over the model's tensors: name, dtype, shape and bytes of each, in name order.

    How the tensors are spread over files, their order and the files' metadata do not matter, so a model
    saved again by another library version keeps its digest, and a changed weight never does.
    """
    digest = hashlib.sha256()
    for tensor in all_tensors(folder):
        digest.update(f"{tensor.name}\0{tensor.dtype}\0{list(tensor.shape)}\0".encode())
        with tensor.file.open("rb") as file:
            file.seek(tensor.start)
            left = tensor.end - tensor.start
            while left:
                block = file.read(min(_CHUNK, left))
                if not block:
                    raise LeadlineError("shrank while it was read", where=str(tensor.file))
                digest.update(block)
                left -= len(block)
    return f"sha256:{digest.hexdigest()}"
