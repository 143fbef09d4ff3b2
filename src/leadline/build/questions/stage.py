"""The stage that turns facts into questions with their valid answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from leadline.bench.benchmark import Benchmark
from leadline.bench.fact_rules import no_lexical_overlap
from leadline.bench.folding import normalise
from leadline.bench.item import Item
from leadline.build.link.open import open_titles
from leadline.build.plan import Plan
from leadline.build.plan_file import file_of
from leadline.build.questions.answers import Answer, answer_of, cleaned, stands_in
from leadline.build.questions.templates import SUBJECT, Templates, templates_of
from leadline.build.records import Drop, Fact
from leadline.build.stage import FactStage, Job
from leadline.build.subject import Entities, entities, subject_title, wiki_of
from leadline.study.judging import gold_fault


class QuestionsStage(FactStage):
    """A question for each fact, from its relation's template and its subject's name.

    It asks for all times where the values of all times were counted (`statement.ever`), else for today.
    """

    name: ClassVar[str] = "questions"
    version: ClassVar[int] = 2
    after: ClassVar[tuple[str, ...]] = ("cap",)

    def settings(self, plan: Plan) -> object:
        """The templates by name (their content is pinned as an input), and what counts as overlap."""
        return {**plan.questions.model_dump(mode="json"), "overlap": plan.filter.overlap}

    def inputs(self, plan: Plan) -> tuple[Path, ...]:
        """The file of templates, if the plan names one."""
        path = file_of(plan, "questions", "templates")
        return (path,) if path else ()

    def check(self, plan: Plan) -> None:
        """The user's templates are read."""
        templates_of(plan)

    def judge(self, job: Job, facts: Iterable[Fact]) -> Iterator[Fact | Drop]:
        """Reasons: no-template, answer-form, answer-in-question, overlap, same-question."""
        templates = templates_of(job.plan)
        store = entities(job.work)
        language = job.plan.articles.language
        wiki = wiki_of(language)
        stems = job.plan.filter.overlap == "stems"
        results: list[Fact | Drop] = []
        more = _redirects(job, store)
        for fact in facts:
            subject = store.get(fact.subject_id) if fact.subject_id else None
            name = asked_as(fact, subject_title(fact, store, wiki))
            classes = [one.entity for one in subject.best("P31") if one.entity] if subject else []
            answer = answer_of(fact, language, more(fact))
            results.append(self._asked(fact, answer, name, templates, classes, stems=stems))
        yield from self._asked_once(results)

    def _asked(
        self,
        fact: Fact,
        answer: Answer | None,
        name: str,
        templates: Templates,
        classes: Sequence[str],
        *,
        stems: bool,
    ) -> Fact | Drop:
        if answer is None:
            return self.drop(fact, "answer-form", f"{fact.kind}: {fact.object[:100]!r}")
        precision = {4: "year", 7: "month", 10: "day"}[len(answer.text)] if answer.type == "date" else None
        ever = fact.statement is not None and fact.statement.ever
        template = templates.question(fact.relation_id, fact.kind, precision, classes, ever=ever)
        if template is None:
            return self.drop(fact, "no-template", f"{fact.relation_id or fact.relation} ({fact.kind})")
        question = template.replace(SUBJECT, name)
        # An alias that the subject holds gives the answer away; one that the template's own words hold
        # ("IN" for India, "in which country") is only of no use.
        told = next((one for one in (answer.text, *answer.aliases) if stands_in(one, name)), None)
        if told is None and stands_in(answer.text, question):
            told = answer.text
        if told is not None:
            return self.drop(fact, "answer-in-question", f"{told!r} in {question!r}")
        aliases = tuple(one for one in answer.aliases if not stands_in(one, question))
        asked = fact.model_copy(
            update={
                "asked": name,
                "question": question,
                "answer": answer.text,
                "aliases": aliases,
                "answer_type": answer.type,
                "answer_unit": answer.unit or None,
            }
        )
        if fault := gold_fault(_item(asked)):
            return self.drop(asked, "answer-form", f"{answer.text!r}: {fault}")
        if stems and (shared := _overlap(asked)):
            return self.drop(asked, "overlap", shared)
        return asked

    def _asked_once(self, results: Sequence[Fact | Drop]) -> Iterator[Fact | Drop]:
        """Of questions that are the same, the first stays where answers are the same, and none otherwise."""
        line = list(results)
        for key in (_question, _subject_and_relation):
            groups: dict[str, list[int]] = defaultdict(list)
            for at, one in enumerate(line):
                if isinstance(one, Fact):
                    groups[key(one)].append(at)
            for places in groups.values():
                same = [one for one in (line[at] for at in places) if isinstance(one, Fact)]
                if len(same) < 2:
                    continue
                agree = len({normalise(one.answer or "") for one in same}) == 1
                for at, one in zip(places, same, strict=True):
                    if agree and one is same[0]:
                        continue
                    other = same[0] if one is not same[0] else same[1]
                    detail = f"{'asked' if agree else 'answered differently'} by {other.id}"
                    line[at] = self.drop(one, "same-question", detail)
        yield from line


def _redirects(job: Job, store: Entities) -> Callable[[Fact], Sequence[str]]:
    """Titles of redirects to a fact's object, if the plan asks for them: names alone, without demonyms."""
    if not job.plan.questions.redirects:
        return lambda _: ()
    index = open_titles(job.plan, job.work, job.progress.note)

    def titles(fact: Fact) -> Sequence[str]:
        if fact.object_id is None:
            return ()
        held = store.get(fact.object_id)
        demonyms = [one.value for one in held.claims.get("P1549", ())] if held is not None else []
        never = {normalise(getattr(one, "text", "")) for one in demonyms}
        names = (one for one in index.titles(fact.object_id) if not one.endswith(")"))
        return [one for one in names if normalise(one) not in never]

    return titles


def asked_as(fact: Fact, title: str | None) -> str:
    """What a question calls the subject: its label, or its page's title where that adds what tells it apart.

    "Mercury (planet)", "Paris, Texas": Wikipedia adds that where a name alone means something else, or
    nothing certain.
    """
    label = cleaned(fact.subject_names[0] if fact.subject_names else fact.subject)
    if title:
        name = cleaned(title.replace("_", " "))
        for sign in (" (", ", "):
            if name.casefold().startswith(label.casefold() + sign):
                return name
    return label


def _item(fact: Fact) -> Item:
    """The fact as the benchmark's rules see it."""
    said = {"answer": fact.answer, "answer_type": fact.answer_type, "unit": fact.answer_unit}
    return Item.model_validate({"id": fact.id, "question": fact.question, "subject": fact.asked, **said})


def _overlap(fact: Fact) -> str:
    """What the benchmark's own rule says of words that subject and answer share, "" if none."""
    found = no_lexical_overlap(Benchmark(name="one", version="1", items=(_item(fact),)))
    return next((breach.message for breach in found), "")


def _question(fact: Fact) -> str:
    return normalise(fact.question or "")


def _subject_and_relation(fact: Fact) -> str:
    return f"{normalise(fact.asked or '')}\x1f{fact.relation_id or normalise(fact.relation)}"
