"""`leadline techniques fit` without the command line: load, fit, and tables of what was fitted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table
from rich.text import Text

from leadline.errors import UsageError
from leadline.models.probing import bench_for, loaded
from leadline.techniques.registry import techniques
from leadline.techniques.spelling import technique_from

# Rows of a table of heads or of settings that were tried; the rest is in about.json.
_SHOWN = 10


@dataclass(frozen=True)
class Fitted:
    """A technique as it was typed, the model, and by name of each fitted part what is told of it."""

    technique: str
    model: str
    about: Mapping[str, Mapping[str, Any]]


def fit(
    technique: str,
    reference: str,
    *,
    benchmark: str = "facts",
    refit: bool = False,
    dtype: str = "float32",
    device: str = "auto",
) -> Fitted:
    """Fit `technique` (NAME:key=value,...) to a model, or find it in the cache unless `refit`.

    Raises UsageError for a technique that has nothing to fit, before the model is loaded.
    """
    named = technique_from(technique)
    if not named.opens_the_model:
        fitted = ", ".join(name for name, kind in techniques().items() if kind.is_fitted)
        raise UsageError(f"{named.name} has nothing to fit", fix=f"what is fitted: {fitted}")
    model = loaded(reference, dtype, device)
    ready = named.prepare(model.lm, bench_for(model, benchmark, reuse=not refit))
    if not ready.about:
        raise UsageError(f"{named.name} has nothing to fit", fix="it is ready as it is")
    return Fitted(technique, model.identity.name, ready.about)


def tables(fitted: Fitted) -> Iterator[Table | Text]:
    """What was fitted, on what, how well it does, and where it is kept."""
    for name, about in fitted.about.items():
        on = about.get("fitted_on", {})
        what = f", on {on['items']} of {on['name']} (sha256 {on['hash'][:12]})" if "hash" in on else ""
        yield Text(f"{name}, fitted to {fitted.model}{what}")
        folds: Sequence[Mapping[str, Any]] = about.get("folds", ())
        if folds:
            yield _folds(folds)
        for key in dict.fromkeys(key for fold in folds for key in fold):
            values = [fold.get(key) for fold in folds]
            if all(isinstance(value, list) and value for value in values):
                yield _listed(key, values)  # type: ignore[arg-type]
        for key, value in about.items():
            if key in ("heads", "chosen") and value:
                yield Text(f"{key}: {'; '.join(_words(each) for each in value)}")
        if "folder" in about:
            yield Text(f"kept in {about['folder']}", overflow="fold")


def _folds(folds: Sequence[Mapping[str, Any]]) -> Table:
    keys = [key for key, value in folds[0].items() if not isinstance(value, list)]
    table = Table(box=None, padding=(0, 2, 0, 0))
    for key in keys:
        table.add_column(key.replace("_", " "), justify="right")
    for fold in folds:
        table.add_row(*(_words(fold[key]) for key in keys))
    return table


def _listed(key: str, folds: Sequence[list[Any]]) -> Table:
    """Numbers by layer, or entries with names of their own (best first), fold beside fold."""
    table = Table(title=key.replace("_", " "), title_justify="left", box=None, padding=(0, 2, 0, 0))
    if isinstance(folds[0][0], Mapping):
        if "delta_p" in folds[0][0]:
            folds = [sorted(fold, key=lambda each: -each["delta_p"]) for fold in folds]
        for number in range(len(folds)):
            for column in folds[0][0]:
                table.add_column(f"{column.replace('_', ' ')} ({number})", justify="right")
        for row in list(zip(*folds, strict=False))[:_SHOWN]:
            table.add_row(*(_words(value) for entry in row for value in entry.values()))
        return table
    table.add_column("layer", justify="right")
    for number in range(len(folds)):
        table.add_column(f"fold {number}", justify="right")
    for layer, row in enumerate(zip(*folds, strict=True)):
        table.add_row(str(layer), *(_words(value) for value in row))
    return table


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_words(each)}" for key, each in value.items())
    if isinstance(value, list):
        return ", ".join(map(_words, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)
