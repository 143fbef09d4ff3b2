"""A claim beside the table that it rests on, and what an interval and a p-value allow it to be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

from leadline.bundle.verifier.loading import Bundle

YES, NO, NEVER, UNKNOWN = "supported", "not supported", "unreachable by construction", "not estimable"
STATUSES = {YES, NO, NEVER, UNKNOWN}


AT_MOST = 0.05


Figures = dict[str, dict[str, Any]]


Rule = Callable[["Claimed"], Optional[set[str]]]


class Claimed:
    """A claim with the finding that it belongs to, and the rows that its words name."""

    def __init__(self, bundle: Bundle, finding: dict[str, Any], place: int) -> None:
        self.bundle, self.finding, self.place = bundle, finding, place
        self.claim: dict[str, Any] = finding["claims"][place]
        self.text: str = self.claim["text"]
        self.rows: list[dict[str, Any]] = finding["rows"]
        self._called = called_in(bundle.protocol)

    def row(self, **keys: str) -> Figures:
        """The figures of the first row with these keys; nothing where there is none."""
        for row in self.rows:
            if all(row["keys"].get(key) == value for key, value in keys.items()):
                return dict(row["figures"])
        return {}

    def told(self, key: str) -> Optional[dict[str, Any]]:
        """The row whose `key` the words begin with or speak of: the longest name counts."""
        best: Optional[dict[str, Any]] = None
        longest = (-1, -1)
        for row in self.rows:
            name = self._called.get(row["keys"][key], row["keys"][key])
            if name not in self.text:
                continue
            others = [value for other, value in row["keys"].items() if other != key]
            fit = sum(self._called.get(value, value) in self.text for value in others)
            if (len(name), fit) > longest:
                best, longest = row, (len(name), fit)
        return best


def called_in(protocol: dict[str, Any]) -> dict[str, str]:
    """What sentences call each configuration, by its name: methods first."""
    members = {one["configuration"]: one["label"] for one in protocol["members"] if one.get("label")}
    return members | {one["name"]: one.get("label") or one["name"] for one in protocol["methods"]}


def off_zero(figure: dict[str, Any]) -> bool:
    """The whole interval lies on one side of zero."""
    low, high = figure.get("low"), figure.get("high")
    return (low is not None and low > 0) or (high is not None and high < 0)


def is_small(figure: dict[str, Any]) -> bool:
    """A p-value that is there, and at most 0.05."""
    return figure.get("value") is not None and figure["value"] <= AT_MOST


def judged_by(figures: Figures, difference: str, p: str, direction: Optional[int] = None) -> set[str]:
    """Supported where the interval leaves out zero (on the side that is claimed) and p is small."""
    found = figures[difference]
    if found.get("value") is None:
        return {UNKNOWN, NO, NEVER}
    if not (off_zero(found) and is_small(figures[p])):
        return {NO, UNKNOWN, NEVER} if found.get("low") is None else {NO, NEVER}
    if direction is not None and (found["value"] > 0) != (direction > 0):
        return {NO}
    return {YES}
