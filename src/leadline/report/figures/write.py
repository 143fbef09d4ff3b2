"""Writes a study's figures: one file per figure and format, and a page of captions."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl

from leadline.errors import UsageError
from leadline.report.atomic import write_bytes, write_text
from leadline.report.document import FindingsDocument
from leadline.report.figures import categories, contrast, observability, split_half, transfer, wobble
from leadline.report.figures.fonts import families
from leadline.report.figures.plot import SETTINGS, WIDTHS, Plot, Skipped
from leadline.report.tables_markdown import escape

FORMATS = ("svg", "pdf", "png")
DRAWN: tuple[tuple[str, Callable[[FindingsDocument, float], Plot | Skipped]], ...] = (
    (wobble.NAME, wobble.draw),
    (contrast.NAME, contrast.draw),
    (observability.NAME, observability.draw),
    (transfer.NAME, transfer.draw),
    (split_half.NAME, split_half.draw),
    (categories.NAME, categories.draw),
)
_MISSING = r"Glyph (\d+) .* missing from"


@dataclass(frozen=True)
class Figures:
    """What was written, and per figure that was not, why."""

    paths: tuple[Path, ...]
    captions: Path | None
    skipped: tuple[tuple[str, str], ...]
    # Signs that no installed font has: a bitmap or a PDF shows boxes for them.
    missing: str = ""


def write_figures(
    document: FindingsDocument, out: Path, formats: Sequence[str] = ("svg",), width: str = "column"
) -> Figures:
    """Draw every figure that the findings hold into `out`, as NAME.FORMAT, with `captions.md` beside them.

    `width` is "column" (3.3 in) or "page" (7 in). The same findings give the same bytes, no file has a date.
    Raises UsageError for an unknown format or width, LeadlineError when the folder cannot be written.
    """
    if unknown := [each for each in formats if each not in FORMATS]:
        raise UsageError(f"no such format: {', '.join(unknown)}", fix=f"one of {', '.join(FORMATS)}")
    if width not in WIDTHS:
        raise UsageError(f"no such width: {width}", fix=f"one of {', '.join(WIDTHS)}")
    paths, skipped, captions = [], [], []
    with mpl.rc_context({**SETTINGS, "font.family": families(_words(document))}), _glyphs() as lacking:
        for name, draw in DRAWN:
            plot = draw(document, WIDTHS[width])
            if isinstance(plot, Skipped):
                skipped.append((name, plot.reason))
                continue
            plot.picture.draw_without_rendering()
            plot.picture.set_layout_engine("none")  # laid out once: each further time moves things a little
            captions.append(f"## {name}\n\n{escape(plot.caption)}")
            for each in dict.fromkeys(formats):
                path = out / f"{name}.{each}"
                write_bytes(path, _encoded(plot, name, each))
                paths.append(path)
    page = out / "captions.md" if captions else None
    if page is not None:
        title = f"# Figures of {escape(document.study)}"
        write_text(page, "\n\n".join([title, *captions]) + "\n")
    # An SVG holds words, and its reader may have what is missing here.
    boxes = "".join(sorted(lacking)) if set(formats) - {"svg"} else ""
    return Figures(tuple(paths), page, tuple(skipped), boxes)


@contextmanager
def _glyphs() -> Iterator[set[str]]:
    """The signs that matplotlib misses a glyph for, instead of a warning for each; other warnings stay."""
    lacking: set[str] = set()
    with warnings.catch_warnings(record=True) as told:
        warnings.filterwarnings("always", message=_MISSING)
        yield lacking
    for one in told:
        if found := re.match(_MISSING, str(one.message)):
            lacking.add(chr(int(found[1])))
        else:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


def _words(document: FindingsDocument) -> set[str]:
    """All signs that a figure's labels may hold."""
    labels = [one.label for one in document.configurations] + [one.name for one in document.models]
    keys = (word for finding in document.findings for row in finding.rows for word in row.keys.values())
    return set().union(*labels, *keys)


def _encoded(plot: Plot, name: str, kind: str) -> bytes:
    """The picture as bytes; what a reader cannot see is told in its description."""
    metadata: dict[str, dict[str, str | None]] = {
        "svg": {"Title": name, "Description": plot.caption, "Date": None, "Creator": "Leadline"},
        "pdf": {
            "Title": name,
            "Subject": plot.caption,
            "Creator": "Leadline",
            "Producer": None,
            "CreationDate": None,
        },
        "png": {"Title": name, "Description": plot.caption, "Software": "Leadline"},
    }
    sink = io.BytesIO()
    plot.picture.savefig(sink, format=kind, metadata=metadata[kind])
    return sink.getvalue()
