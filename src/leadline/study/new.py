"""Makes a study's folder: a commented study.yaml, and the schema that editors check it with."""

from __future__ import annotations

import json
import os
import re
from importlib.resources import files
from pathlib import Path

import yaml
from pydantic import ValidationError

from leadline.bench import is_bundled, load_benchmark
from leadline.errors import LeadlineError, UsageError
from leadline.models.catalogue import CATALOGUE
from leadline.models.resolve import check_reference
from leadline.models.served.reference import is_served
from leadline.study.config import study_schema
from leadline.study.config_file import STUDY_FILE
from leadline.study.served_entry import ServedEntry

SCHEMA_FILE = "study.schema.json"


def new_study(
    folder: Path, benchmark: str, model: str, items: int | None, base_url: str | None = None
) -> Path:
    """A study of `model` on `benchmark`; returns its study.yaml. `base_url`: of a model behind an API.

    Raises UsageError when there is a study already, no such benchmark, or what can be no model; LeadlineError
    when the folder cannot be written.
    """
    load_benchmark(benchmark)  # say what is wrong with it now
    if is_served(model):
        return _served_study(folder, benchmark, model, items, base_url)
    if base_url is not None:
        raise UsageError(
            "--base-url is for models behind an API", fix="those are named --model inspect:PROVIDER/MODEL"
        )
    check_reference(model)
    benchmark = _from(folder, benchmark)
    if model not in CATALOGUE and Path(model).expanduser().exists():
        model = str(Path(model).expanduser().resolve())
    return _make(folder, "study.yaml", benchmark=benchmark, model=model, items=items)


def _served_study(folder: Path, benchmark: str, model: str, items: int | None, base_url: str | None) -> Path:
    try:
        ServedEntry(ref=model, base_url=base_url)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        what = first["msg"].removeprefix("Value error, ")
        raise UsageError(what, where="--base-url" if "base_url" in first["loc"] else model) from None
    said = f"base_url: {_scalar(base_url)}" if base_url else "# base_url: http://127.0.0.1:8000/v1"
    return _make(
        folder,
        "served.yaml",
        benchmark=_from(folder, benchmark),
        model=model,
        items=items,
        base_url=said,
    )


def recorded_study(folder: Path, benchmark: str, baseline: str | None = None) -> Path:
    """A study without models, for answers to `benchmark` that were given elsewhere; as `new_study`."""
    load_benchmark(benchmark)
    said = f"baseline: {_scalar(baseline)}" if baseline else "# baseline: NAME"
    return _make(folder, "recorded.yaml", benchmark=_from(folder, benchmark), baseline=said)


def demo_study(folder: Path, items: int | None = None, full: bool = False) -> Path:
    """The study that `leadline demo` runs: prompting on 48 facts, or all kinds of techniques on 200."""
    template, number = ("demo-full.yaml", 200) if full else ("demo.yaml", 48)
    return _make(folder, template, benchmark="facts", model="smollm2", items=items or number)


def documents_demo_study(folder: Path, items: int | None = None) -> Path:
    """The study of the demo's second part: the items of `licences` that its audit (audit.json, in the same
    folder) does not flag."""
    return _make(folder, "demo-documents.yaml", benchmark="licences", model="smollm2", items=items)


def _from(folder: Path, benchmark: str) -> str:
    """A benchmark as study.yaml names it: from the study's folder, so that both can be moved together."""
    if is_bundled(benchmark):
        return benchmark
    return Path(os.path.relpath(Path(benchmark).resolve(), folder.resolve())).as_posix()


def _make(
    folder: Path,
    template: str,
    *,
    benchmark: str,
    model: str = "",
    items: int | None = None,
    baseline: str = "",
    base_url: str = "",
) -> Path:
    text = files("leadline.study").joinpath("templates", template).read_text(encoding="utf-8")
    values = {
        "name": _scalar(re.sub(r"[^A-Za-z0-9._+-]+", "-", folder.resolve().name).strip("-._+") or "study"),
        "benchmark": _scalar(benchmark),
        "model": _scalar(model),
        "baseline": baseline,
        "base_url": base_url,
        "items": "# items: 48" if items is None else f"items: {items}",
    }
    for key, value in values.items():
        text = text.replace(f"<{key}>", value)
    file = folder / STUDY_FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as out:
            out.write(text)
        (folder / SCHEMA_FILE).write_text(json.dumps(study_schema(), indent=1) + "\n", encoding="utf-8")
    except FileExistsError:
        if not folder.is_dir():
            raise UsageError("is a file, not a folder", where=str(folder)) from None
        raise UsageError("there is a study already", where=str(file), fix=f"leadline run {folder}") from None
    except OSError as error:
        raise LeadlineError(f"cannot be written: {error.strerror}", where=str(folder)) from error
    return file


def _scalar(text: str) -> str:
    """`text` as YAML writes it."""
    return yaml.safe_dump(text, allow_unicode=True, width=10_000).removesuffix("\n").removesuffix("\n...")
