"""The stages of a build, in order."""

from __future__ import annotations

from leadline.build.stage import Stage


def stages() -> tuple[Stage, ...]:
    """All stages in the order in which they run; a plan may leave some out (`Stage.wanted`)."""
    from leadline.build.articles.stage import ArticlesStage
    from leadline.build.cap import BalanceStage, CapStage
    from leadline.build.extract.stage import ExtractStage
    from leadline.build.filters.cardinality import CardinalityStage
    from leadline.build.filters.domain import DomainStage
    from leadline.build.filters.existence import ExistenceStage
    from leadline.build.filters.literals import LiteralsStage
    from leadline.build.filters.overlap import OverlapStage
    from leadline.build.filters.relations import RelationsStage
    from leadline.build.filters.relevance import RelevanceStage
    from leadline.build.filters.single import SingleStage
    from leadline.build.frequency.stage import FrequencyStage
    from leadline.build.link.stage import LinkStage
    from leadline.build.presence.scan_stage import ScanStage
    from leadline.build.presence.stage import PresenceStage
    from leadline.build.questions.stage import QuestionsStage
    from leadline.build.wikidata.stage import EntitiesStage

    return (
        ArticlesStage(),
        ExtractStage(),
        LinkStage(),
        EntitiesStage(),
        ExistenceStage(),
        DomainStage(),
        RelationsStage(),
        OverlapStage(),
        LiteralsStage(),
        SingleStage(),
        RelevanceStage(),
        CardinalityStage(),
        FrequencyStage(),
        CapStage(),
        QuestionsStage(),
        ScanStage(),
        PresenceStage(),
        BalanceStage(),
    )
