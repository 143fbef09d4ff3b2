"""Lets go facts of which a classifier says that they do not belong to their article's domain."""

from __future__ import annotations

from typing import ClassVar

from leadline.build.classify.labels import UNSURE, Classifier
from leadline.build.classify.stage import ClassifierStage
from leadline.build.plan import ClassifierSection, Plan
from leadline.build.records import Fact

RELEVANCE = Classifier(
    name="relevance",
    labels={
        "RELEVANT": (),
        "IRRELEVANT": ("not relevant", "unrelevant", "non-relevant"),
        UNSURE: ("not sure", "uncertain"),
    },
    keeps="RELEVANT",
    reason="irrelevant",
    held=lambda fact: "RELEVANT",
    holder="the table of domains, by the class of the article,",
)


class RelevanceStage(ClassifierStage):
    """Reason `irrelevant`, and those of `ClassifierStage`. A fact without a domain is not asked about."""

    name: ClassVar[str] = "relevance"
    classifier: ClassVar[Classifier] = RELEVANCE

    def section(self, plan: Plan) -> ClassifierSection | None:
        """filter.relevance."""
        return plan.filter.relevance

    def chosen(self, fact: Fact) -> bool:
        """Only a fact that has a domain."""
        return fact.domain is not None
