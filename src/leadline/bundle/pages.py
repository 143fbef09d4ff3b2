"""What verify.py cannot read: responses.parquet against responses.jsonl, the page against the findings."""

from __future__ import annotations

import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from leadline.errors import LeadlineError

_PERCENT = re.compile(r"(?<![\d.])(\d{1,3}\.\d) %")
# So many of the page's percentages may come of no figure: captions and explanations name some.
_TOLD = 5


def check_parquet(folder: Path) -> list[str]:
    """Disagreements between the two files of responses: none where they hold the same rows in order."""
    import polars as pl

    try:
        table = pl.read_parquet(folder / "responses.parquet")
    # A panic of the library's is no Exception.
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        why = next(iter(str(error).splitlines()), "")[:200]
        return [f"parquet: responses.parquet cannot be read: {why}"]
    if not (folder / "responses.jsonl").is_file():  # packed: no release is written so
        return ["parquet: there is no responses.jsonl to compare responses.parquet with"]
    rows = table.iter_rows(named=True)
    with (folder / "responses.jsonl").open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            row = next(rows, None)
            if row is None:
                return [f"parquet: responses.parquet ends before responses.jsonl:{number}"]
            if {key: value for key, value in row.items() if value is not None} != json.loads(line):
                return [f"parquet: row {number} of responses.parquet is not responses.jsonl:{number}"]
    return (
        [] if next(rows, None) is None else ["parquet: responses.parquet has more rows than responses.jsonl"]
    )


class _Cells(HTMLParser):
    """The texts of the cells of all tables."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.cells: list[str] = []
        self._inside = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("td", "th"):
            self._inside += 1
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th") and self._inside:
            self._inside -= 1

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.cells[-1] += data


def check_page(folder: Path) -> list[str]:
    """Percentages in the cells of the page's tables that no figure of findings.json is."""
    try:
        text = (folder / "report.html").read_text(encoding="utf-8")
        document = json.loads((folder / "findings.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise LeadlineError(f"the report cannot be read: {error}", where=str(folder)) from None
    known = _percentages(document)
    parser = _Cells()
    parser.feed(text)
    strange = Counter(
        found for cell in parser.cells for found in _PERCENT.findall(cell) if float(found) not in known
    )
    return [
        f"page: report.html shows {found} %, no figure of findings.json is that"
        for found in list(strange)[:_TOLD]
    ]


def _percentages(document: dict[str, Any]) -> set[float]:
    """What every value, end and claim of the findings is in per cent, to one decimal, rounded either way."""
    found: set[float] = set()
    for finding in document["findings"]:
        for row in finding["rows"]:
            for figure in row["figures"].values():
                for name in ("value", "low", "high"):
                    number = figure.get(name)
                    if number is not None and abs(number) <= 10:
                        tenths = abs(1000 * number)
                        found |= {int(tenths) / 10, (int(tenths) + 1) / 10, round(tenths) / 10}
        texts = [str(part) for claim in finding["claims"] for part in claim.values()]
        texts += [
            *finding["notes"],
            finding["definition"],
            *(value for row in finding["rows"] for value in row["keys"].values()),
        ]
        texts += [figure.get("note", "") for row in finding["rows"] for figure in row["figures"].values()]
        found |= {float(one) for text in texts for one in _PERCENT.findall(text)}
    return found
