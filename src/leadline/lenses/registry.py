"""Finds the lenses and runs them all: a new lens is one new file here that defines `LENS`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import polars as pl

import leadline.lenses
from leadline.lenses.finding import Finding
from leadline.lenses.frame import READINGS, pieces
from leadline.lenses.protocol import Protocol, Sameness
from leadline.lenses.view import View
from leadline.lenses.whole import Whole

# The model of findings that are taken over all models of a study.
ALL_MODELS = "all models"


@dataclass(frozen=True)
class Lens:
    """A question asked of readings. `order` is its place in the report.

    `look` is asked of each model by itself. `across` makes findings over all models out of those that `look`
    made for each; it is asked only when a study has more than one model. `whole` is asked once, of all
    configurations of all models side by side.
    """

    name: str
    order: int
    look: Callable[[View], list[Finding]] | None = None
    across: Callable[[Sequence[Finding]], list[Finding]] | None = None
    whole: Callable[[Whole], list[Finding]] | None = None


def all_lenses() -> list[Lens]:
    """The lenses of this package, in the order of the report."""
    modules = [
        importlib.import_module(f"{leadline.lenses.__name__}.{found.name}")
        for found in pkgutil.iter_modules(leadline.lenses.__path__)
    ]
    lenses = [module.LENS for module in modules if isinstance(getattr(module, "LENS", None), Lens)]
    return sorted(lenses, key=lambda lens: (lens.order, lens.name))


def run_lenses(
    readings: pl.DataFrame, protocol: Protocol, before: pl.DataFrame | None = None
) -> list[Finding]:
    """All findings on a readings frame: model by model in order of name, then those over all models.

    `before` are readings of the same items before they were changed, where there are such.

    The same readings give the same findings in the same order, whatever the order of the rows. Readings of
    items that were left out of the population are seen by the lenses that ask what leaving them out changes.
    Numbers are the same answer by the study's rule. Raises ValueError when a column of `READINGS` is missing.
    """
    lenses = all_lenses()
    rule = protocol.stability.sameness
    readings = compared(readings, rule)
    everyone = readings
    is_out = pl.col("excluded").fill_null("") != ""
    left_out = pl.concat([piece.filter(is_out) for piece in pieces(everyone)])
    if left_out.height:  # otherwise millions of rows are not copied
        readings = everyone.filter(~is_out)
    models = sorted({model for piece in pieces(readings) for model in piece["model"].unique()})
    findings: list[Finding] = []
    made: dict[str, list[Finding]] = {lens.name: [] for lens in lenses}
    for model in models:
        own = pl.col("model") == model
        view = View(model, readings.filter(own), _of_model(protocol, model), left_out.filter(own))
        for lens in lenses:
            found = lens.look(view) if lens.look else []
            findings += found
            made[lens.name] += found
    if len(models) > 1:
        for lens in lenses:
            if lens.across:
                findings += lens.across(made[lens.name])
    whole = Whole(readings, everyone, protocol, None if before is None else compared(before, rule))
    for lens in lenses:
        if lens.whole:
            findings += lens.whole(whole)
    return findings


def compared(readings: pl.DataFrame, rule: Sameness) -> pl.DataFrame:
    """A readings frame with numbers compared by the study's rule. Raises ValueError where a column lacks."""
    if missing := [column for column in READINGS if column not in readings.columns]:
        raise ValueError(f"not a readings frame, it lacks: {', '.join(missing)}")
    if rule == "own":
        return readings
    return readings.with_columns(pl.coalesce(f"value_{rule}", "value").alias("value"))


def _of_model(protocol: Protocol, model: str) -> Protocol:
    """Without the methods that are recorded answers of other models: this one was never to have them."""
    there = {one.configuration for one in protocol.members if one.model == model}
    methods = [one for one in protocol.methods if one.kind != "recorded" or one.name in there]
    return replace(protocol, methods=tuple(methods))
