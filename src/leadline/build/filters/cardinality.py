"""Lets go facts of which a classifier says that they have several right answers."""

from __future__ import annotations

from typing import ClassVar

from leadline.build.classify.labels import UNSURE, Classifier
from leadline.build.classify.stage import ClassifierStage
from leadline.build.plan import ClassifierSection, Plan
from leadline.build.records import Fact


def _held(fact: Fact) -> str:
    """SINGLE by Wikidata's count, which let the fact come here; where it did not count, it is assumed."""
    return "MULTIPLE" if fact.statement is not None and fact.statement.values > 1 else "SINGLE"


CARDINALITY = Classifier(
    name="cardinality",
    labels={
        "SINGLE": (),
        "MULTIPLE": (),
        UNSURE: ("not sure", "uncertain"),
    },
    keeps="SINGLE",
    reason="multiple",
    held=_held,
    holder="the number of Wikidata's statements",
)


class CardinalityStage(ClassifierStage):
    """Reason `multiple`, and those of `ClassifierStage`: only SINGLE stays."""

    name: ClassVar[str] = "cardinality"
    classifier: ClassVar[Classifier] = CARDINALITY

    def section(self, plan: Plan) -> ClassifierSection | None:
        """filter.cardinality."""
        return plan.filter.cardinality
