"""What a build came to, as the report's page shows it."""

from __future__ import annotations

from leadline.build.plan import Plan
from leadline.build.stats import BINS, Statistics
from leadline.report.build_page import Bars, BuildPage, Cross, FunnelRow


def page_of(plan: Plan, found: Statistics) -> BuildPage:
    """The page of a build's statistics."""
    facts = {
        "Holds": f"{found.facts:,} facts about {found.subjects:,} subjects, from {found.pages:,} pages",
        "Articles": f"{plan.articles.language}, {plan.articles.date or 'date not told'}",
        "Extracted by": plan.extract.method,
        "Counted after": f"the stage {found.last_stage}",
    }
    charts = [
        Bars("Domains", "Facts by the domain of their page.", found.domains, found.facts),
        Bars("Frequency", "Facts by the page views of their subject.", found.bins, found.facts),
        Bars("Relations", "Facts by relation.", found.relations, found.facts),
        Bars("Answers", "Facts by the kind of their answer.", found.answer_types, found.facts),
        Bars(
            "In the corpus",
            "Supporting sentences that stand in the training corpus, by the tier they were found in.",
            found.sentences,
            sum(found.sentences.values()),
        ),
    ]
    charts += [
        Bars(
            f"Classifier: {name}",
            f"Labels of most of {judged['asked']:,} answers; mean agreement {judged['agreement']:.3f}. "
            "All facts that it judged, those that it dropped included.",
            judged["labels"],
            judged["facts"],
        )
        for name, judged in found.classifiers.items()
    ]
    notes = []
    if found.occurrences:
        low, middle, high = found.occurrences
        notes.append(
            f"The sentences of a fact occur {low:,} to {high:,} times in the corpus, "
            f"{middle:,.0f} in the median. That a sentence stands in a corpus says that a model could have "
            "learned it, not that it did."
        )
    columns = [name for name in BINS if name in found.bins]
    crosses = [Cross("Domains by frequency", found.domains_by_bin, columns)] if found.domains_by_bin else []
    return BuildPage(
        name=found.name,
        title=plan.title,
        version=found.version,
        facts=facts,
        notes=notes,
        charts=[chart for chart in charts if chart.counts],
        crosses=crosses,
        funnel=[
            FunnelRow(step.stage, step.unit, step.taken, step.kept, step.dropped) for step in found.funnel
        ],
    )
