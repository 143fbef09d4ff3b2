"""The charts that answer one question, as a section of the page."""

from __future__ import annotations

from dataclasses import dataclass

from leadline.report.charts.svg import Chart, Legend


@dataclass(frozen=True)
class ChartGroup:
    """A question, the charts that answer it, and what to keep in mind."""

    anchor: str
    short: str  # its name in the line of contents
    title: str
    lead: str
    charts: tuple[Chart, ...]
    leads: bool = False  # stands before the headline
    titled: bool = False  # its charts need titles of their own

    @property
    def legend(self) -> tuple[Legend, ...]:
        """The legends of all its charts, each line once."""
        return tuple(dict.fromkeys(entry for chart in self.charts for entry in chart.legend))
