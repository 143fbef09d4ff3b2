"""Verdicts: what a configuration answers to an item by the majority of its first samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple, Optional

from leadline.bundle.verifier.loading import Answer, Bundle, Cells


class Verdict(NamedTuple):
    """A majority: right by either rule, decided by order (`tied`), over `voters` of the `answered`
    samples."""

    correct: bool
    strict: bool
    tied: bool


def verdict_over(answers: Iterable[Answer], vote: int) -> Optional[Verdict]:
    """The verdict over samples 0..vote-1; None where every call failed, or none was made."""
    first = [answer for answer in answers if answer.sample < vote and answer.state != "error"]
    if not first:
        return None
    voters = [answer for answer in first if answer.state == "ok"]
    if not voters:
        return Verdict(False, False, False)
    counts = Counter(answer.vote for answer in voters)
    most = max(counts.values())
    winners = [value for value, number in counts.items() if number == most]
    # A Counter keeps the order in which values were first seen.
    chosen = next(answer for answer in voters if answer.vote == winners[0])
    return Verdict(chosen.correct, chosen.strict, len(winners) > 1)


def verdicts(cells: Cells, vote: int) -> dict[str, Verdict]:
    """Item -> verdict, of the items that were answered."""
    found = {item: verdict_over(answers, vote) for item, answers in cells.items()}
    return {item: verdict for item, verdict in found.items() if verdict is not None}


class Parts:
    """One model's configurations in the parts that the protocol gives them."""

    def __init__(self, bundle: Bundle, model: str) -> None:
        self.bundle, self.model = bundle, model
        protocol: dict[str, Any] = bundle.protocol
        self.draws: int = protocol["bootstrap_draws"]
        self.baseline_name: str = protocol["baseline"]
        self.methods: list[dict[str, Any]] = [
            method for method in protocol["methods"] if (model, method["name"]) in bundle.cells
        ]
        self.partitions: list[dict[str, Any]] = [
            part for part in protocol["partitions"] if (model, part["configuration"]) in bundle.cells
        ]
        self.baseline_vote = int(protocol.get("baseline_vote", 1))
        self.baseline = verdicts(self.cells(self.baseline_name), self.baseline_vote)
        self._verdicts: dict[tuple[str, int], dict[str, Verdict]] = {}

    def cells(self, name: str) -> Cells:
        """The answers of a configuration, by item."""
        return self.bundle.cells.get((self.model, name), {})

    def verdicts(self, method: dict[str, Any], vote: Optional[int] = None) -> dict[str, Verdict]:
        """A method's verdicts over its own number of votes, or another."""
        key = (method["name"], vote or method["vote"])
        if key not in self._verdicts:
            self._verdicts[key] = verdicts(self.cells(method["name"]), key[1])
        return self._verdicts[key]

    def beyond(self, method: dict[str, Any]) -> dict[str, Verdict]:
        """A method's verdicts at the beyond-sampling level."""
        return self.verdicts(method, method.get("beyond_vote") or method["vote"])

    @property
    def compares(self) -> bool:
        """Something is compared with a baseline: of a model whose answers were all recorded there may be
        none."""
        kinds = [
            one.get("kind") == "recorded"
            for one in self.bundle.protocol["members"]
            if one["model"] == self.model
        ]
        return bool(self.baseline_name) and (
            bool(self.cells(self.baseline_name)) or not kinds or not all(kinds)
        )

    @property
    def failures(self) -> list[str]:
        """D0: the items that the baseline answers wrongly, sorted."""
        return sorted(item for item, verdict in self.baseline.items() if not verdict.correct)


def called(method: dict[str, Any]) -> str:
    """What sentences call a method."""
    return str(method.get("label") or method["name"])
