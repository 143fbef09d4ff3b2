"""Fitted things, kept: directions, heads, layers, and how well they did.

Each lies in `<cache>/artefacts/<technique>-<key>/`: `tensors.safetensors`, and `about.json` for people. The
key is a hash of the model's weights, of the settings that decide the fit, and of what was fitted on; change
any of them and it is fitted anew. All of it can be made again, so nothing here ends a run: a damaged entry is
made again, and where the cache cannot be written the fit is used and not kept, each with a note.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leadline.places import cache_home

if TYPE_CHECKING:
    from torch import Tensor

    from leadline.bench import Item
    from leadline.engine.lm import CausalLM
    from leadline.techniques.prepared import Bench

# Part of every key: raise it when what is fitted, or what the tensors mean, changes.
_FORMAT = 1
_TENSORS, _ABOUT = "tensors.safetensors", "about.json"


@dataclass(frozen=True)
class Key:
    """What a fit depends on.

    technique: its name. model: the digest of the weights, and the dtype that they compute in. settings: those
    that decide the fit, as JSON has them. data: the hash of what it is fitted on.
    """

    technique: str
    model: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    data: str = ""

    @property
    def folder(self) -> Path:
        """Where the artefact lies, if it has been made."""
        known = [_FORMAT, self.technique, self.model, dict(self.settings), self.data]
        return cache_home() / "artefacts" / f"{self.technique}-{hash_of(known)[:16]}"


@dataclass(frozen=True)
class Artefact:
    """What was fitted: tensors by name, on the CPU; `about`, as in `about.json`."""

    tensors: Mapping[str, Tensor]
    about: Mapping[str, Any]


def key_for(technique: str, lm: CausalLM, bench: Bench, settings: Mapping[str, Any], data: str = "") -> Key:
    """The key of a fit of `technique` to `lm`."""
    dtype = str(next(lm.model.parameters()).dtype).removeprefix("torch.")
    return Key(technique, f"{bench.digest_of(lm)}-{dtype}", settings, data)


def hash_of(value: Any) -> str:
    """sha256 of what JSON can say, whatever the order of its keys."""
    written = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()


def hash_of_items(items: Iterable[Item]) -> str:
    """Names a set of questions with their answers, in whatever order."""
    return hash_of(sorted([item.id, item.question, *item.valid_answers, item.task] for item in items))


def load(key: Key, say: Callable[[str], None] = lambda line: None) -> Artefact | None:
    """The artefact, or None where there is none. One that is damaged counts as none, with a note to `say`."""
    folder = key.folder
    if not folder.is_dir():
        return None
    try:
        from safetensors.torch import load as read

        about = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
        content = (folder / _TENSORS).read_bytes()
        if hashlib.sha256(content).hexdigest() != about["tensors_sha256"]:
            raise ValueError("the tensors are not those that were written")
        return Artefact(read(content), about)
    except Exception as error:  # whatever a damaged file makes a reader stumble over
        say(f"{key.technique}: {folder} is damaged ({_line(error)}) and is made again")
        return None


def save(
    key: Key,
    tensors: Mapping[str, Tensor],
    about: Mapping[str, Any],
    say: Callable[[str], None] = lambda line: None,
) -> Artefact:
    """Keep what was fitted, in place of what was there, and return it as `load` would.

    `about` is what people want to read, as JSON has it; technique, model, settings, versions and date are
    added. A reader sees a whole artefact or none. Where it cannot be written, `say` gets a note.
    """
    from safetensors.torch import save as written

    whole = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    content = written(whole)
    full = {
        "technique": key.technique,
        "model": {"digest": key.model},
        "settings": dict(key.settings),
        "data": key.data,
        **about,
        "versions": _versions(),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "tensors_sha256": hashlib.sha256(content).hexdigest(),
    }
    try:
        _put(key.folder, content, json.dumps(full, indent=1, ensure_ascii=False))
    except OSError as error:
        say(f"{key.technique}: what was fitted is used but not kept: {key.folder}: {_line(error)}")
    return Artefact(whole, full)


def kept_or_made(
    key: Key, lm: CausalLM, bench: Bench, make: Callable[[], tuple[Mapping[str, Tensor], Mapping[str, Any]]]
) -> Artefact:
    """The artefact of `key` (see `key_for`) from the cache, or what `make` fits, which is then kept.

    `make` gives tensors and about (see `save`). The cache is not asked where `bench.reuse` is False.
    """
    name = key.folder.name
    found = _brought.get(name) or load(key, bench.say) if bench.reuse else None
    if found is None:
        tensors, about = make()
        digest, _, dtype = key.model.rpartition("-")
        model = {"name": lm.name, "digest": digest, "dtype": dtype}
        found = save(key, tensors, {"model": model, **about}, bench.say)
    for notes in _noting:
        notes[name] = found
    return found


# Artefacts that another worker fitted, by the names of their folders; and who notes what is used.
_brought: dict[str, Artefact] = {}
_noting: list[dict[str, Artefact]] = []


@contextmanager
def noted() -> Iterator[dict[str, Artefact]]:
    """Within it, what is fitted or found fitted is noted, for `bring` in another process."""
    notes: dict[str, Artefact] = {}
    _noting.append(notes)
    try:
        yield notes
    finally:
        _noting.remove(notes)


def bring(artefacts: Mapping[str, Artefact]) -> None:
    """Use these from now on in this process, before any cache is asked: several workers then compute with one
    fit, to the bit, also on machines that would fit a little otherwise."""
    _brought.update(artefacts)


def _put(folder: Path, tensors: bytes, about: str) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    try:
        (part / _TENSORS).write_bytes(tensors)
        (part / _ABOUT).write_text(about + "\n", encoding="utf-8")
        part.chmod(0o755)
        if folder.exists():  # a folder can only take the place of an empty one
            old = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
            try:
                folder.replace(old)
            finally:
                shutil.rmtree(old, ignore_errors=True)
        try:
            part.replace(folder)
        except OSError:
            if not folder.is_dir():  # else somebody who fitted the same was faster
                raise
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _versions() -> dict[str, str]:
    found = {}
    for name in ("leadline", "torch", "transformers", "scikit-learn"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _line(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return " ".join(str(error).split()) or type(error).__name__
