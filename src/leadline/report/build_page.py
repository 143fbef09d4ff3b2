"""The page of a build: what is in the benchmark, and the funnel that led there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from leadline.bench.whole_file import whole_file
from leadline.report.page_frame import CSP, assets, environment

# Longer lists of bars are cut: the JSON beside the page holds the rest.
_MOST_BARS = 40


@dataclass(frozen=True)
class Bars:
    """One chart: names and counts, each a share of `total`; `about` says what is counted."""

    title: str
    about: str
    counts: Mapping[str, int]
    total: int

    @property
    def shown(self) -> list[tuple[str, int]]:
        """The first of them."""
        return list(self.counts.items())[:_MOST_BARS]

    @property
    def hidden(self) -> int:
        """How many are not shown."""
        return max(0, len(self.counts) - _MOST_BARS)


@dataclass(frozen=True)
class FunnelRow:
    """One stage of the funnel."""

    stage: str
    unit: str
    taken: int
    kept: int
    dropped: Mapping[str, int]


@dataclass(frozen=True)
class Cross:
    """A table of two groupings."""

    title: str
    rows: Mapping[str, Mapping[str, int]]
    columns: Sequence[str]


@dataclass(frozen=True)
class BuildPage:
    """Everything that the page shows."""

    name: str
    title: str
    version: str
    facts: Mapping[str, str]
    notes: Sequence[str]
    charts: Sequence[Bars]
    crosses: Sequence[Cross]
    funnel: Sequence[FunnelRow]


def write_build_page(page: BuildPage, path: Path) -> None:
    """Write the page, one HTML file that needs nothing else. Raises OSError."""
    template = environment().get_template("build.html.j2")
    text = template.render(page=page, csp=CSP, css=assets("report.css", "audit.css"))
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        file.write(text.encode())
