"""Cells, items under configurations side by side, and who the configurations are: what stability figures
rest on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import comb
from typing import Any

from leadline.bundle.verifier.loading import Answer, Bundle, value_under


class Cell:
    """One item under one configuration: how often each value was given, in the order they were first seen."""

    __slots__ = ("answers", "asked", "correct", "counts", "hits", "modal", "n", "top")

    def __init__(self, answers: Sequence[Answer], rule: str) -> None:
        read = [answer for answer in answers if answer.state == "ok"]
        counts = Counter(value_under(answer, rule) for answer in read)
        self.answers = read
        self.asked = len(answers)
        self.n = len(read)
        self.counts = counts
        self.top = max(counts.values()) if counts else 0
        self.hits = sum(answer.correct for answer in read)
        # Equally frequent: the one seen first, and a Counter keeps that order.
        self.modal = next((value for value, number in counts.items() if number == self.top), None)
        self.correct = bool(read) and next(
            answer.correct for answer in read if value_under(answer, rule) == self.modal
        )

    @property
    def unstable(self) -> bool:
        """Not all readings have the same value."""
        return self.top < self.n

    @property
    def dispersion(self) -> float:
        """The share of readings that differ from the most frequent value."""
        return 1 - self.top / self.n

    @property
    def p(self) -> float:
        """The share of correct readings."""
        return self.hits / self.n

    @property
    def disagreement(self) -> float:
        """The chance that two of its readings differ; for two readings or more."""
        return 1 - sum(count * (count - 1) for count in self.counts.values()) / (self.n * (self.n - 1))

    def rarefied(self, m: int) -> float:
        """The chance that m of its readings are not all the same; for m readings or more."""
        return 1 - sum(comb(count, m) for count in self.counts.values()) / comb(self.n, m)


# Of one configuration: item -> its cell, measured or not.
Side = dict[str, Cell]


class Sides:
    """The configurations that stability is told of, in order, with the names that tables call them by."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        protocol = bundle.protocol
        self.draws: int = protocol["bootstrap_draws"]
        self.stability: dict[str, Any] = protocol["stability"]
        self.rarefy: int = self.stability["rarefy"]
        listed = protocol["members"] or _without_list(bundle)
        self.members: list[dict[str, Any]] = [
            member for member in listed if (member["model"], member["configuration"]) in bundle.everyone
        ]
        self.labels = _labels(self.members, protocol)
        self._made: dict[tuple[str, bool], list[Side]] = {}
        self.repeated = [
            number
            for number, side in enumerate(self.sides("own"))
            if any(cell.n >= 2 for cell in side.values())
        ]

    def sides(self, rule: str = "study", everyone: bool = False) -> list[Side]:
        """The cells of each member under a rule; "study" is the study's own rule."""
        rule = self.stability["sameness"] if rule == "study" else rule
        key = (rule, everyone)
        if key not in self._made:
            whole = self.bundle.everyone if everyone else self.bundle.cells
            self._made[key] = [
                {
                    item: Cell(answers, rule)
                    for item, answers in sorted(
                        whole.get((member["model"], member["configuration"]), {}).items()
                    )
                }
                for member in self.members
            ]
        return self._made[key]

    def measured(self, rule: str = "study", everyone: bool = False) -> list[Side]:
        """Of each repeated member, the cells with two readings or more: in one nothing can differ."""
        found = self.sides(rule, everyone)
        return [
            {item: cell for item, cell in found[number].items() if cell.n > 1} for number in self.repeated
        ]

    @property
    def names(self) -> list[str]:
        """What tables call the repeated members."""
        return [self.labels[number] for number in self.repeated]

    @property
    def subsets(self) -> dict[str, list[int]]:
        """The study's own sets, as places among the repeated members; empty ones left out."""
        found = {}
        for name, wanted in self.stability["subsets"]:
            its = []
            for place, number in enumerate(self.repeated):
                member = self.members[number]
                if {self.labels[number], member["configuration"], member["model"]} & set(wanted):
                    its.append(place)
            if its:
                found[name] = its
        return found


def _without_list(bundle: Bundle) -> list[dict[str, Any]]:
    """Members of a protocol that lists none: baseline and methods, then whatever else has answers, by
    name."""
    protocol = bundle.protocol
    parts = {part["configuration"] for part in protocol["partitions"]}
    names = [protocol["baseline"]] + [method["name"] for method in protocol["methods"]]
    names += sorted({name for _, name in bundle.everyone} - parts - set(names))
    models = sorted({model for model, _ in bundle.everyone})
    return [
        {"model": model, "configuration": name, "label": "", "serving": "", "family": "", "kind": ""}
        for model in models
        for name in dict.fromkeys(names)
        if name and (model, name) in bundle.everyone
    ]


def _labels(members: Sequence[dict[str, Any]], protocol: dict[str, Any]) -> list[str]:
    """The shortest names that tell all members apart."""
    called = {method["name"]: method.get("label") or method["name"] for method in protocol["methods"]}
    names = [
        member.get("label") or called.get(member["configuration"], member["configuration"])
        for member in members
    ]
    models = [member["model"] for member in members]
    if len(set(names)) == len(names):
        return names
    if len(set(models)) == len(models):
        return models
    return [model + " · " + name for model, name in zip(models, names)]


def by_item(sides: Iterable[Side], number: Any) -> list[tuple[float, float]]:
    """Of each item: the sum of a number over its cells, and how many cells there are (those without one
    left out)."""
    sums: dict[str, list[float]] = {}
    for side in sides:
        for item, cell in side.items():
            found = number(item, cell)
            if found is not None:
                entry = sums.setdefault(item, [0.0, 0])
                entry[0] += found
                entry[1] += 1
    return [(above, below) for above, below in sums.values()]


def declares_precision(item: dict[str, Any]) -> bool:
    """Whether the item, or one of its parts, says to which precision numbers are compared."""
    return item.get("precision") is not None or any(
        part.get("precision") is not None for part in item.get("fields") or ()
    )
