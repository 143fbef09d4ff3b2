"""Writes a study's figures: one file per figure and format, and a page of captions."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl

from leadline.errors import UsageError
from leadline.report.atomic import write_bytes, write_text
from leadline.report.document import FindingsDocument
from leadline.report.figures import categories, contrast, observability, split_half, transfer, wobble
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


@dataclass(frozen=True)
class Figures:
    """What was written, and per figure that was not, why."""

    paths: tuple[Path, ...]
    captions: Path | None
    skipped: tuple[tuple[str, str], ...]


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
    with mpl.rc_context(SETTINGS), warnings.catch_warnings():
        # A script that the font lacks: an SVG's reader has it, a bitmap shows boxes.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
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
    return Figures(tuple(paths), page, tuple(skipped))


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
