"""What a lens over a whole study looks at: all configurations of all models side by side."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from leadline.lenses.frame import pieces
from leadline.lenses.panel import Panel, make_panel
from leadline.lenses.protocol import Member, Protocol, Sameness


@dataclass(frozen=True)
class Whole:
    """A study's readings (columns of `READINGS`) and its protocol.

    `readings` are those of the population, `everyone` also those of items that were left out of it. `before`
    are readings of items as they were before a change, by configurations of the same names.
    """

    readings: pl.DataFrame
    everyone: pl.DataFrame
    protocol: Protocol
    before: pl.DataFrame | None = None
    _panels: dict[tuple[str, bool], Panel] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """The configurations that have readings, in the protocol's order; partitions are not among them."""
        who = ("model", "configuration")
        there = {one for piece in pieces(self.everyone) for one in piece.select(who).unique().iter_rows()}
        listed = self.protocol.members or _found(self.protocol, there)
        return tuple(one for one in listed if (one.model, one.configuration) in there)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """What tables and sentences call each member: the shortest name that tells them all apart."""
        names = [one.label or self.protocol.label(one.configuration) for one in self.members]
        if max(Counter(names).values(), default=1) == 1:
            return tuple(names)
        models = [one.model for one in self.members]
        if max(Counter(models).values()) == 1:
            return tuple(models)
        return tuple(f"{model} · {name}" for model, name in zip(models, names, strict=True))

    @property
    def panel(self) -> Panel:
        """The population under the study's own rule of sameness; all members."""
        return self.panel_by(self.protocol.stability.sameness)

    def panel_by(self, rule: Sameness, everyone: bool = False) -> Panel:
        """The panel under another rule, or with the items that were left out of the population as well."""
        # Where nothing was left out, both are one panel, computed once.
        everyone = everyone and self.everyone.height > self.readings.height
        key = (rule, everyone)
        if key not in self._panels:
            readings = self.everyone if everyone else self.readings
            self._panels[key] = make_panel(readings, self.members, rule)
        return self._panels[key]

    @cached_property
    def repeated(self) -> tuple[int, ...]:
        """The members (their numbers) that some item was read twice of: what wobble can be told for."""
        return tuple(int(number) for number in np.flatnonzero((self.panel.n >= 2).any(axis=1)))

    @cached_property
    def subsets(self) -> dict[str, tuple[int, ...]]:
        """The study's named sets as numbers of repeated members, smallest number first; empty ones left out.

        A member is in a set that names its label, its configuration or its model.
        """
        found = {}
        for name, wanted in self.protocol.stability.subsets:
            its = tuple(
                number
                for number in self.repeated
                if {self.labels[number], self.members[number].configuration, self.members[number].model}
                & set(wanted)
            )
            if its:
                found[name] = its
        return found


def _found(protocol: Protocol, there: set[tuple[str, str]]) -> tuple[Member, ...]:
    """Members of a protocol that lists none: baseline and methods first, then what else there is, by name."""
    parts = {part.configuration for part in protocol.partitions}
    names = dict.fromkeys([protocol.baseline, *(method.name for method in protocol.methods)])
    names |= dict.fromkeys(sorted({name for _, name in there} - parts))
    kinds = {method.name: method.kind for method in protocol.methods}
    return tuple(
        Member(model, name, kind=kinds.get(name, ""))
        for model in sorted({model for model, _ in there})
        for name in names
        if name and (model, name) in there
    )
