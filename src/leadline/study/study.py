"""A study, opened: its file read, its benchmark loaded, its configurations laid out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from leadline.bench import Benchmark, Item, bundled_names, is_bundled, load_benchmark
from leadline.bench.problem import did_you_mean
from leadline.bench.views import for_model
from leadline.errors import UsageError
from leadline.lenses.protocol import Protocol
from leadline.models.catalogue import CATALOGUE
from leadline.models.model import ModelIdentity
from leadline.study.config import Exclude, ModelEntry, StudyConfig
from leadline.study.config_file import STUDY_FILE, read_config, where_in
from leadline.study.configuration import Configuration, configuration_id, described
from leadline.study.decisions import NONE, read_decisions
from leadline.study.expand import configurations, protocol
from leadline.study.own_prompts import try_own_prompts
from leadline.study.population import Population, population
from leadline.study.rehearsal import rehearse
from leadline.study.served_entry import ServedEntry
from leadline.study.stability_names import check_groups
from leadline.techniques import Question, techniques
from leadline.techniques.prompts_library import Prompts, check_names


@dataclass(frozen=True)
class Study:
    """Everything about a study but its answers.

    `whole` is the benchmark as annotated. `benchmark` is the part of it that is asked, with labels as people
    corrected them; `population` says what was left out of it, and by whom.
    """

    folder: Path
    config: StudyConfig
    whole: Benchmark
    benchmark: Benchmark
    configurations: tuple[Configuration, ...]
    protocol: Protocol
    prompts: Prompts
    population: Population
    _asked: dict[str, str] = field(default_factory=dict, compare=False, repr=False)

    @property
    def file(self) -> Path:
        """study.yaml."""
        return self.folder / STUDY_FILE

    def model_reference(self, entry: ModelEntry) -> str:
        """`ref` as models are resolved from here: a catalogue's name, or a path from the study's folder.

        Raises UsageError for what would be found from the current folder only: a study means the same model
        wherever it is run from.
        """
        if entry.ref in CATALOGUE:
            return entry.ref
        near = self.folder / Path(entry.ref).expanduser()
        if near.exists():
            return str(near)
        if Path(entry.ref).exists():
            raise UsageError(
                f"there is no model {entry.ref!r} in the study's folder",
                where=self._where(entry),
                fix=f"paths start at the study's folder, or are whole: {Path(entry.ref).resolve()}",
            )
        return entry.ref

    def _where(self, entry: ModelEntry) -> str:
        """The line of study.yaml that names a model; the file, for a technique's second model."""
        models = self.config.models
        return (
            where_in(self.file, "models", models.index(entry), "ref") if entry in models else str(self.file)
        )

    def configuration_id(self, configuration: Configuration, model: ModelIdentity) -> str:
        """What the responses of this configuration are stored under."""
        return configuration_id(self.described(configuration, model))

    def described(self, configuration: Configuration, model: ModelIdentity) -> dict[str, Any]:
        """As `configuration.described`."""
        return described(configuration, model, self.prompts, self.whole.content_hash)

    def question(self, item: Item) -> Question:
        """The item as techniques see it."""
        asked = for_model(item)
        return Question(asked.id, asked.question, asked.window, item.valid_answers, asked.prompt)

    def asked(self, item: Item) -> str:
        """Hash of what the item shows to a model: answers to another wording are not answers to this item."""
        if item.id not in self._asked:
            shown = [item.question, item.window, *([item.prompt] if item.prompt else ())]
            text = json.dumps(shown, ensure_ascii=False).encode("utf-8", "surrogatepass")
            self._asked[item.id] = hashlib.sha256(text).hexdigest()[:16]
        return self._asked[item.id]


def open_study(
    place: Path,
    exclude: Exclude | None = None,
    audit: Path | None = None,
    adjudications: Path | None = None,
) -> Study:
    """The study in the folder `place` (or whose study.yaml it is). Raises UsageError with file and line.

    `exclude`, `audit` and `adjudications` (`Path("none")`: without) take the places of what study.yaml says;
    their paths start at the current folder.
    """
    folder = place.parent if place.name == STUDY_FILE else place
    file = folder / STUDY_FILE
    config = read_config(file)
    if exclude is not None:
        excluding = str(Path(exclude.audit).absolute()) if exclude.audit else None
        config = config.model_copy(update={"exclude": exclude.model_copy(update={"audit": excluding})})
    if audit is not None:
        config = config.model_copy(update={"audit": str(audit.absolute())})
    if adjudications is not None:
        place_of = NONE if adjudications == Path(NONE) else str(adjudications.absolute())
        config = config.model_copy(update={"adjudications": place_of})
    if config.baseline is not None and config.models:
        raise UsageError(
            "baseline: models are compared with their greedy answers",
            where=where_in(file, "baseline"),
            fix="it is for studies of recorded answers, without models",
        )
    reference = config.benchmark
    bundled = is_bundled(reference)
    if not bundled and not (folder / reference).exists():
        raise UsageError(
            f"there is no benchmark {reference!r}",
            where=where_in(file, "benchmark"),
            fix=did_you_mean(
                reference,
                bundled_names(),
                otherwise=f"a path from the study's folder, or one of: {', '.join(bundled_names())}",
            ),
        )
    whole = load_benchmark(reference if bundled else folder / reference)
    try:
        drawn = whole.subset(config.items.limit, config.items.seed, config.items.categories)
    except UsageError as error:
        raise UsageError(error.what, where=where_in(file, "items", "categories"), fix=error.fix) from None
    check_groups(config, whole, file)
    named = {"audit": where_in(file, "audit")} if audit is None else {}
    named |= {"exclude": where_in(file, "exclude", "audit")} if exclude is None else {}
    line = where_in(file, "adjudications") if adjudications is None and config.adjudications else None
    members = population(
        whole,
        drawn,
        config.exclude,
        folder,
        where_in(file, "exclude"),
        audit=config.audit,
        named=named,
        decisions=read_decisions(whole, drawn, config.adjudications, folder, line),
    )
    benchmark = members.benchmark
    prompts = Prompts(config.prompt, folder / config.prompts if config.prompts else None)
    if prompts.folder is not None and not prompts.folder.is_dir():
        raise UsageError(f"prompts: there is no folder {config.prompts!r}", where=where_in(file, "prompts"))
    if prompts.folder is not None:
        check_names(prompts.folder, {name for kind in techniques().values() for name in kind.prompt_names})
    try_own_prompts(benchmark, prompts)
    found = configurations(config, file)
    for configuration in found:
        rehearse(configuration, prompts)
        if configuration.technique.needs_context and not any(item.window for item in benchmark.items):
            name = configuration.technique.name
            raise UsageError(
                f"{configuration.name} contrasts questions with and without their text, and no item has one",
                where=str(file),
                fix=f"stack it: recite+{name} contrasts with and without the recitation",
            )
    _check_inside(config, found, file)
    parts = protocol(config, found, whole.category_name, whole.task_name)
    return Study(folder, config, whole, benchmark, tuple(found), parts, prompts, members)


def _check_inside(config: StudyConfig, found: Sequence[Configuration], file: Path) -> None:
    """Raise UsageError where a technique looks into models and one of them lies behind an API."""
    served = next((entry for entry in config.models if isinstance(entry, ServedEntry)), None)
    opening = next((one for one in found if one.technique.opens_the_model), None)
    if served is None or opening is None:
        return
    names = [one.name for one in found if one.role == "method"][-len(config.techniques) :]
    place = ("techniques", names.index(opening.name)) if opening.name in names else ("techniques",)
    raise UsageError(
        f"{opening.name} reads or changes what a model computes inside, and {served.label} is behind an API",
        where=where_in(file, *place),
        fix="leave it out, or ask the models on this machine in a study of their own",
    )
