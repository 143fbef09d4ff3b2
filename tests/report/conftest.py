"""Shared by the report's tests: one written report, and a browser that opens it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

from leadline.report.document import FindingsDocument
from leadline.report.items import ItemText
from leadline.report.write import ReportPaths, write_report
from tests.lenses.frames import study_frame
from tests.report.documents import item_texts, study_document

BROWSER_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@dataclass(frozen=True)
class Written:
    """A report with all that it was made from."""

    paths: ReportPaths
    document: FindingsDocument
    readings: pl.DataFrame
    items: dict[str, ItemText]


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """The report on the fabricated study: two models, sixty items, the first four of them hostile."""
    readings = study_frame()
    document, items = study_document(readings), item_texts(readings)
    out = tmp_path_factory.mktemp("report")
    return Written(write_report(document, readings, items, out), document, readings, items)


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    """Headless Chromium: $LEADLINE_CHROMIUM, or `chromium` on the path; skipped where there is none.

    Playwright keeps an event loop running in this thread for as long as it is there, and nobody else may run
    one: so it goes away with the file.
    """
    sync_api = pytest.importorskip("playwright.sync_api")
    program = os.environ.get("LEADLINE_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
    if not Path(program).exists():
        pytest.skip("no Chromium here: set LEADLINE_CHROMIUM to its program")
    with sync_api.sync_playwright() as play:
        running = play.chromium.launch(executable_path=program, args=BROWSER_FLAGS)
        yield running
        running.close()
