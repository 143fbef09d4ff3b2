"""What a lens looks at: the readings of one model and the parts that its configurations play."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import polars as pl

from leadline.lenses.audited import ADJUDICATED, NAMED
from leadline.lenses.protocol import Method, Protocol
from leadline.lenses.verdicts import paired, verdicts


@dataclass(frozen=True)
class View:
    """One model's readings (columns of `READINGS`) and the protocol; verdicts are made once, when needed.

    `left_out` are its readings of items that are not in the population.
    """

    model: str
    readings: pl.DataFrame
    protocol: Protocol
    left_out: pl.DataFrame | None = None

    @cached_property
    def everyone(self) -> View:
        """The population and what an audit left out of it; what was left out by name, or by a person's
        decision, is in neither."""
        if self.left_out is None or self.left_out.is_empty():
            return self
        audited = self.left_out.filter(~pl.col("excluded").is_in([NAMED, *ADJUDICATED]))
        return View(self.model, pl.concat([self.readings, audited]), self.protocol)

    @cached_property
    def compares(self) -> bool:
        """Whether there is a baseline to compare with: of a model whose answers were recorded there may be
        none."""
        baseline = self.protocol.baseline
        recorded = [one.kind == "recorded" for one in self.protocol.members if one.model == self.model]
        return bool(baseline) and (self.has(baseline) or not recorded or not all(recorded))

    @cached_property
    def votes(self) -> dict[str, int]:
        """The configurations that have a verdict, baseline first: over how many of its first samples each.

        In a study without a baseline these are all of them, each over all of its samples.
        """
        protocol = self.protocol
        if protocol.baseline:
            methods = {method.name: method.vote for method in protocol.methods}
            return {protocol.baseline: protocol.baseline_vote, **methods}
        samples = self.readings.group_by("configuration").agg(pl.col("sample").max() + 1)
        found = dict(samples.sort("configuration").iter_rows())
        listed = [one.configuration for one in protocol.members if one.configuration in found]
        return {name: found[name] for name in dict.fromkeys([*listed, *found])}

    @cached_property
    def verdicts(self) -> pl.DataFrame:
        """Verdicts of baseline and methods at the surface level, over as many samples as `votes` says."""
        return verdicts(self.readings, self.votes)

    @cached_property
    def beyond_verdicts(self) -> pl.DataFrame:
        """Verdicts at the beyond-sampling level, over `beyond_vote` samples where a method has it."""
        votes = {method.name: beyond_vote(method) for method in self.protocol.methods}
        return verdicts(self.readings, votes)

    @cached_property
    def items(self) -> int:
        """How many items any configuration of this model was asked."""
        return self.readings["item"].n_unique()

    @cached_property
    def baseline_failures(self) -> list[str]:
        """D0: the items that the baseline answered, and incorrectly; in order."""
        baseline = self.verdicts.filter(
            (pl.col("configuration") == self.protocol.baseline) & (pl.col("answered") > 0)
        )
        return baseline.filter(~pl.col("correct"))["item"].sort().to_list()

    def paired(self, method: Method) -> pl.DataFrame:
        """Items that both the baseline and `method` answered, with both verdicts (see `verdicts.paired`)."""
        return paired(self.verdicts, self.protocol.baseline, method.name)

    def has(self, configuration: str) -> bool:
        """Whether this model has any reading of the configuration."""
        return bool((self.readings["configuration"] == configuration).any())


def beyond_vote(method: Method) -> int:
    """How many samples the method votes over at the beyond-sampling level."""
    return method.beyond_vote or method.vote
