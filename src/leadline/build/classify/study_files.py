"""The study of a classifier: a benchmark of triplets and a study.yaml, as a user could have written them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from leadline.bench import Benchmark, Item
from leadline.bench.answer_form import Term
from leadline.bench.task import TaskDeclaration
from leadline.bench.whole_file import whole_file
from leadline.bench.writing import write_benchmark
from leadline.build.classify.entry import model_entry, study_budget, style_of
from leadline.build.classify.labels import Classifier, one_line, triplet
from leadline.build.classify.scopes import scope_of, scopes
from leadline.build.classify.template import Template, template
from leadline.build.plan import ClassifierSection, Plan
from leadline.build.provenance import provenance
from leadline.build.records import Fact
from leadline.models.catalogue import CATALOGUE
from leadline.models.served.reference import is_served
from leadline.study.config_file import STUDY_FILE
from leadline.techniques.prompts_library import Style

# What the study calls the answers that are voted over; greedy ones where there is one answer each.
VOTES = "votes"
_NOWHERE = "no domain"
_ABOUT = """\
# Written by `leadline build`, and written again by its next run: what it asks is decided in the plan.
# The answers stay. To look at them: leadline report FOLDER
"""


def template_of(plan: Plan, classifier: Classifier, section: ClassifierSection) -> Template:
    """The prompt of the plan."""
    folder = plan.folder / section.prompt if section.prompt else None
    return template(classifier.name, style_of(section), folder)


def item_id(fact: Fact, prompt: str) -> str:
    """The fact's id and a hash of what is shown.

    Where a name or the prompt has changed since, the item is another one, and asked anew; the answers to the
    old one stay in the study's database.
    """
    shown = json.dumps([triplet(fact), prompt], ensure_ascii=False).encode("utf-8", "surrogatepass")
    return f"{fact.id}.{hashlib.sha256(shown).hexdigest()[:8]}"


class Prompting:
    """The prompt of each domain, filled when it is first asked for."""

    def __init__(self, plan: Plan, found: Template) -> None:
        domain = plan.filter.domain
        self._table = plan.folder / domain.table if domain and domain.table else None
        self._template = found
        self._scopes = scopes(self._table) if found.needs_domain else {}
        self._filled: dict[str | None, str] = {}

    def of(self, fact: Fact) -> str:
        """The template for this fact. Raises UsageError where its domain has no scope and one is needed."""
        if fact.domain not in self._filled:
            domain = fact.domain or ""
            scope = scope_of(domain, self._scopes, self._table) if self._template.needs_domain else ""
            self._filled[fact.domain] = self._template.filled(domain, scope)
        return self._filled[fact.domain]

    def items(self, facts: Sequence[Fact], classifier: Classifier) -> Iterator[Item]:
        """An item for each fact, in order."""
        vocabulary = tuple(Term(value=label, synonyms=also) for label, also in classifier.labels.items())
        for fact in facts:
            prompt = self.of(fact)
            yield Item(
                id=item_id(fact, prompt),
                question=triplet(fact),
                answer=classifier.held(fact),
                answer_type="enum",
                vocabulary=vocabulary,
                category=one_line(fact.relation, 200),
                task=fact.domain or _NOWHERE,
                prompt=prompt,
            )

    def tasks(self, facts: Sequence[Fact], classifier: Classifier) -> tuple[TaskDeclaration, ...]:
        """What the items of a domain have in common, said once."""
        first = {fact.domain or _NOWHERE: fact for fact in facts}
        vocabulary = tuple(Term(value=label, synonyms=also) for label, also in classifier.labels.items())
        return tuple(
            TaskDeclaration(name=name, answer_type="enum", vocabulary=vocabulary, prompt=self.of(first[name]))
            for name in sorted(first)
        )


def write_study(
    folder: Path, plan: Plan, classifier: Classifier, section: ClassifierSection, facts: Sequence[Fact]
) -> None:
    """Write the benchmark and study.yaml; answers that are there stay. `facts` is not empty."""
    prompting = Prompting(plan, template_of(plan, classifier, section))
    folder.mkdir(parents=True, exist_ok=True)
    benchmark = Benchmark(
        name=f"{plan.name}-{classifier.name}",
        version=plan.version,
        title=f"{plan.name}: {classifier.name}",
        description=_description(classifier),
        licence=provenance(plan).licence,
        category_name="relation",
        task_name="domain",
        tasks=prompting.tasks(facts, classifier),
        items=tuple(prompting.items(facts, classifier)),
    )
    write_benchmark(benchmark, folder / "benchmark")
    asked = _study(folder, plan, classifier, section, style_of(section))
    text = _ABOUT + yaml.safe_dump(asked, sort_keys=False, allow_unicode=True, width=100)
    with whole_file(folder / STUDY_FILE) as file:
        file.write(text.encode())


def _description(classifier: Classifier) -> str:
    labels = ", ".join(classifier.labels)
    return (
        f"Candidate facts, as they were shown to the {classifier.name} classifier ({labels}). No person has "
        f"labelled them: the answer that an item declares is what {classifier.holder} says. So a right "
        "answer is one that agrees with it, and accuracy is agreement."
    )


def _study(
    folder: Path, plan: Plan, classifier: Classifier, section: ClassifierSection, style: Style
) -> dict[str, Any]:
    entry = model_entry(section, reference(section.model, plan.folder, folder))
    budget = study_budget(section).model_dump(mode="json", exclude_none=True)
    found: dict[str, Any] = {
        "name": classifier.name,
        "benchmark": "benchmark",
        "models": [entry.model_dump(mode="json", exclude_defaults=True, exclude_none=True)],
        **({"budget": budget} if budget else {}),
        "prompt": style,
        "max_tokens": section.max_tokens,
        "techniques": [],
        "sampling": {"temperatures": []},
        "beyond_sampling": None,
    }
    if section.samples > 1:
        voting = {
            "technique": "sampling",
            "name": VOTES,
            "temperature": section.temperature,
            "draws": section.samples,
            "votes": section.samples,
            "max_tokens": section.max_tokens,
            "seed": plan.seed,
        }
        found["techniques"] = [voting]
    return found


def reference(model: str, here: Path, folder: Path) -> str:
    """A model of the plan as the study's folder calls it: places are relative to where they are named."""
    if model in CATALOGUE or is_served(model):
        return model
    near = here / Path(model).expanduser()
    if not near.exists():
        return model
    return Path(os.path.relpath(near.resolve(), folder.resolve())).as_posix()
