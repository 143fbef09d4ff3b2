"""A stage whose facts are judged by a classifier."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from leadline.build.classify.entry import style_of
from leadline.build.classify.labels import UNSURE, Classifier
from leadline.build.classify.scopes import scope_of, scopes
from leadline.build.classify.study_files import Prompting, template_of, write_study
from leadline.build.classify.template import file_of
from leadline.build.classify.votes import ask, identity, verdicts
from leadline.build.plan import ClassifierSection, Plan
from leadline.build.plan_file import where_in
from leadline.build.records import Drop, Fact, Verdict
from leadline.build.stage import FactStage, Job
from leadline.build.workspace import StageFolder, Workspace
from leadline.errors import UsageError


def study_of(work: Workspace, classifier: str) -> Path:
    """The folder of a classifier's study. Beside the stages, since what was answered outlives their doing
    again: answers cost more than anything else in a build."""
    return work.folder / "studies" / classifier


class ClassifierStage(FactStage):
    """Asks the classifier about each fact several times; the label of most answers decides.

    Reasons: the classifier's own (`multiple`, `irrelevant`), `unsure`, `unstable` (no label has the share of
    the answers that the plan wants), `unanswered` (none of the answers is one of the labels). The fact keeps
    its verdict, also where it is dropped.
    """

    version: ClassVar[int] = 2
    classifier: ClassVar[Classifier]

    @abstractmethod
    def section(self, plan: Plan) -> ClassifierSection | None:
        """The plan's part about this classifier."""

    def chosen(self, fact: Fact) -> bool:
        """Whether the fact is asked about at all; others go on without a verdict."""
        return True

    def wanted(self, plan: Plan) -> bool:
        """If the plan names a model."""
        return self.section(plan) is not None

    def settings(self, plan: Plan) -> object:
        """What decides answers and verdicts; not where the model runs and what it may cost."""
        section = self._section(plan)
        decides = section.model_dump(
            mode="json", exclude={"device", "connections", "price", "budget", "prompt", "style"}
        )
        packaged = None if section.prompt else template_of(plan, self.classifier, section).text
        labels = {label: list(also) for label, also in self.classifier.labels.items()}
        return [decides, style_of(section), plan.seed, packaged, labels]

    def inputs(self, plan: Plan) -> tuple[Path, ...]:
        """The user's prompt, and his table of domains."""
        section = self._section(plan)
        found = [file_of(plan.folder / section.prompt, style_of(section))] if section.prompt else []
        domain = plan.filter.domain
        if domain and domain.table and template_of(plan, self.classifier, section).needs_domain:
            found.append(plan.folder / domain.table)
        return tuple(found)

    def check(self, plan: Plan) -> None:
        """The user's prompt is read; where it tells of domains, each domain of his table has a scope."""
        section = self._section(plan)
        try:
            shown = template_of(plan, self.classifier, section)
        except UsageError as error:
            if not section.prompt:
                raise
            line = where_in(plan, "filter", self.name, "prompt")
            raise UsageError(f"{error.where}: {error.what}", where=line, fix=error.fix) from None
        domain = plan.filter.domain
        if domain and domain.table and shown.needs_domain:
            table = plan.folder / Path(domain.table).expanduser()
            known = scopes(table)
            for name in known:
                scope_of(name, known, table)

    def run(self, job: Job, here: StageFolder, before: StageFolder | None) -> Mapping[str, Any]:
        """Ask first, with nothing open; then judge by what was answered."""
        if before is None:
            raise AssertionError(f"{self.name} has no stage before it")
        facts = [fact for fact in before.facts() if self.chosen(fact)]
        study = study_of(job.work, self.classifier.name)
        if facts:
            write_study(study, job.plan, self.classifier, self._section(job.plan), facts)
            ask(study, job.progress)
            job.progress.begin(self.name, None, "facts")
        counts = dict(super().run(job, here, before))
        model = identity(study) if facts else None
        return {**counts, **_counts(here, self.classifier.name), "model": model.digest if model else None}

    def judge(self, job: Job, facts: Iterable[Fact]) -> Iterator[Fact | Drop]:
        """By the answers that are stored in the study."""
        section = self._section(job.plan)
        listed = list(facts)
        asked = [fact for fact in listed if self.chosen(fact)]
        prompting = Prompting(job.plan, template_of(job.plan, self.classifier, section))
        study = study_of(job.work, self.classifier.name)
        found = verdicts(study, asked, self.classifier, prompting) if asked else {}
        for fact in listed:
            if fact.id not in found:
                yield fact
                continue
            said = found[fact.id]
            judged = fact.model_copy(update={"verdicts": {**fact.verdicts, self.classifier.name: said}})
            reason = verdict_reason(said, self.classifier, section)
            yield self.drop(judged, reason, _told(said)) if reason else judged

    def _section(self, plan: Plan) -> ClassifierSection:
        section = self.section(plan)
        if section is None:
            raise AssertionError(f"the plan asks for no {self.name}")
        return section


def verdict_reason(said: Verdict, classifier: Classifier, section: ClassifierSection) -> str:
    """Why a fact with this verdict is dropped; "" where it goes on.

    A fact that most answers are against is dropped whatever the plan keeps: `unsure: keep` is about facts of
    which most answers are unsure, `unstable: keep` about those without a steady label that no label against
    them leads.
    """
    if not said.votes:
        return "unanswered"
    if said.label == UNSURE:
        return "unsure" if section.unsure == "drop" else ""
    if said.label not in (None, classifier.keeps):
        return classifier.reason
    if said.label is not None and said.agreement >= section.agreement:
        return ""
    if section.unstable == "drop":
        return "unstable"
    return classifier.reason if _led_against(said, classifier) else ""


def _led_against(said: Verdict, classifier: Classifier) -> bool:
    """Whether a label against the fact has more votes than the one for it, and as many as any other."""
    kept, unsure = (said.votes.get(label, 0) for label in (classifier.keeps, UNSURE))
    against = max(
        (votes for label, votes in said.votes.items() if label not in (classifier.keeps, UNSURE)), default=0
    )
    return against > kept and against >= unsure


def _told(said: Verdict) -> str:
    """ "3 SINGLE, 1 MULTIPLE of 5 answers"."""
    votes = ", ".join(f"{number} {label}" for label, number in said.votes.items())
    return f"{votes or 'no vote'} of {said.asked} {'answer' if said.asked == 1 else 'answers'}"


def _counts(here: StageFolder, name: str) -> dict[str, Any]:
    """Votes and how steady they are, over the facts that were asked about, dropped ones as well.

    `no_vote` are answers that are none of the labels, or never came. `labels` counts facts by their label
    ("none": no label of most answers), `wobble` is the share of unsteady facts among those with two votes or
    more, `dispersion` the mean over these of 1 − (votes of the commonest label) / votes; None where there is
    no such fact.
    """
    facts = [*here.facts(), *(drop.fact for drop in here.drops())]
    said = [fact.verdicts[name] for fact in facts if name in fact.verdicts]
    votes: Counter[str] = Counter()
    for one in said:
        votes.update(one.votes)
    labels = Counter(one.label or "none" for one in said)
    repeated = [one.votes for one in said if sum(one.votes.values()) > 1]
    spread = [1 - max(one.values()) / sum(one.values()) for one in repeated]
    return {
        "judged": len(said),
        "answers": sum(one.asked for one in said),
        "votes": dict(sorted(votes.items())),
        "no_vote": sum(one.asked for one in said) - votes.total(),
        "labels": dict(sorted(labels.items())),
        "wobble": sum(len(one) > 1 for one in repeated) / len(repeated) if repeated else None,
        "dispersion": sum(spread) / len(spread) if spread else None,
    }
