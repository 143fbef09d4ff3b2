"""PLAN.yaml: what a fact benchmark is built from, and by which rules."""

from __future__ import annotations

import re
from pathlib import Path
from string import Formatter
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationInfo,
    field_validator,
    model_validator,
)

from leadline.bench.problem import shortened
from leadline.build.plan_dates import Date, Month


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, (str, dict)) else value


def _language(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]{0,39}", value):
        raise ValueError(f"{shortened(value)} is no language code: letters, digits and hyphens, such as en")
    return value


Paths = Annotated[tuple[str, ...], BeforeValidator(_as_list)]
"""Files or patterns (`*.xml.bz2`), relative to the plan's folder; one may stand without a list."""


class Section(BaseModel):
    """A part of the plan: unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ArticlesSection(Section):
    """Where pages come from: MediaWiki XML dumps, JSON lines or Parquet with id, title and text.

    `source`, `url` and `licence` (of the text) are known of a dump, which is Wikipedia's unless `source` says
    otherwise; of JSON lines and Parquet nothing is known that is not said. `url` is an address with {title},
    {id} or {revision} in it. Pages without an address are their own stored text.
    """

    dump: Paths = ()
    jsonl: Paths = ()
    parquet: Paths = ()
    date: Date = ""  # of the dump, for the manifest, the data statement and Wikipedia's licence
    source: str = ""
    url: str = ""
    licence: str = ""
    # Of a Wikipedia: it becomes a part of addresses.
    language: Annotated[str, AfterValidator(_language)] = "en"
    min_words: int = Field(default=100, ge=0)
    limit: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _something(self) -> ArticlesSection:
        if not (self.dump or self.jsonl or self.parquet):
            raise ValueError("names no input: dump, jsonl or parquet")
        return self

    @field_validator("url")
    @classmethod
    def _address_of_pages(cls, url: str) -> str:
        if not url:
            return url
        wrong = "is no address of pages: write one such as https://example.org/pages/{title}"
        try:
            parts = list(Formatter().parse(url))
        except ValueError:
            raise ValueError(f"{wrong}, with each brace closed") from None
        names = {name for _, name, _, _ in parts if name is not None}
        if any(form or turned for _, _, form, turned in parts) or names - {"title", "id", "revision"}:
            raise ValueError(f"{wrong}; only {{title}}, {{id}} and {{revision}} are filled in")
        if not url.startswith(("http://", "https://")) or not names:
            raise ValueError(wrong)
        return url


class ExtractSection(Section):
    """How triplets are read off sentences.

    `method`: `rebel` (a seq2seq checkpoint, `model`), `distant` (links and Wikidata's statements), `chat`
    (any model of Leadline, `model`), `recorded` (REBEL's linearised output kept in `recorded` files).
    """

    method: Literal["rebel", "distant", "chat", "recorded"]
    model: str | None = None
    base_url: str | None = None  # of a chat model behind an API
    recorded: Paths = ()
    batch: int = Field(default=16, ge=1)
    beams: int = Field(default=3, ge=1)
    max_source: int = Field(default=256, ge=8)  # tokens, as REBEL was trained
    max_target: int = Field(default=128, ge=8)
    device: str = "auto"
    # Of a chat model: the longest answer, a folder whose prompt takes the packaged one's place, and whether a
    # server is given the JSON schema of the answer, for those that take one.
    max_tokens: int = Field(default=512, ge=16)
    prompt: str | None = None
    structured: bool = True


class LinkSection(Section):
    """How names become Wikidata ids: SQL dumps of the same date as the articles, or a wikimapper index."""

    page: Paths = ()
    page_props: Paths = ()
    redirect: Paths = ()
    wikimapper: str | None = None
    titles: Paths = ()  # TSV: title, id; for small builds
    relations: str | None = None  # TSV: label, property id; the packaged table without it


class WikidataSection(Section):
    """Where entities come from: files of single entities, a JSON dump, and the API for what is in neither.

    `redirects`: a table of merged ids, old and new, which a dump does not tell. `date` is that of the dump.
    """

    dump: Paths = ()
    entities: Paths = ()
    redirects: Paths = ()
    api: str | None = None  # such as https://www.wikidata.org/w/api.php
    user_agent: str | None = None
    date: Date = ""


class DomainSection(Section):
    """Domains of pages: a table from P31 classes to domains; the packaged one without a file."""

    table: str | None = None
    unmapped: Literal["drop", "keep"] = "drop"


class ClassifierSection(Section):
    """A classifier: any model of Leadline, asked several times.

    `prompt` is a folder that takes the place of the packaged prompt. `style` is how the model is asked:
    few-shot (a text to go on with) or chat; without it, chat for models behind an API.
    """

    model: str
    base_url: str | None = None
    samples: int = Field(default=5, ge=1, le=10_000)
    temperature: float = Field(default=0.7, gt=0, le=10)  # not used for one sample, which is greedy
    agreement: float = Field(default=0.8, ge=0, le=1)  # less than this share of one label is unstable
    unstable: Literal["drop", "keep"] = "drop"
    unsure: Literal["drop", "keep"] = "drop"
    prompt: str | None = None
    style: Literal["few-shot", "chat"] | None = None
    max_tokens: int = Field(default=64, ge=1, le=4096)
    dtype: Literal["float32", "bfloat16", "float16"] = "float32"  # of a model on this machine
    device: str = "auto"
    connections: int = Field(default=16, ge=1, le=1000)  # to a model behind an API
    options: dict[str, Any] = {}  # of inspect-ai, as in study.yaml
    price: dict[str, float] | None = None  # of a million tokens: input, output
    budget: dict[str, float] = {}  # requests, tokens, money: as in study.yaml

    @model_validator(mode="after")
    def _can_be_asked(self) -> ClassifierSection:
        from leadline.build.classify.entry import model_entry, study_budget

        model_entry(self, self.model)
        study_budget(self)
        return self


class FilterSection(Section):
    """What facts must be: see docs/building.md."""

    domain: DomainSection | None = DomainSection()
    relations: str | None = None  # a file of relation ids to let go; the packaged list without it
    overlap: Literal["tokens", "stems", "off"] = "stems"
    overlap_aliases: bool = False  # an alias of the object counts as well
    literals: Annotated[tuple[Literal["date", "quantity", "string"], ...], BeforeValidator(_as_list)] = ()
    single: bool = True
    ended: Literal["out", "count"] = "out"  # "count": ask who it ever was, of the living too
    relevance: ClassifierSection | None = None
    cardinality: ClassifierSection | None = None

    @model_validator(mode="after")
    def _relevance_is_to_a_domain(self) -> FilterSection:
        if self.relevance is not None and self.domain is None:
            raise ValueError("relevance is to a domain, and domain is off")
        return self


class FrequencySection(Section):
    """Page views of subjects over a window, and the percentile bins."""

    pageviews: Paths = ()
    api: str | None = None
    user_agent: str | None = None
    start: Month = ""  # first and last month of the window: 2021-03
    end: Month = ""
    project: str = "en.wikipedia"
    head: float = Field(default=10, gt=0, lt=100)  # per cent of entities, from the top
    torso: float = Field(default=40, gt=0, lt=100)
    tail: float = Field(default=10, gt=0, lt=100)
    buffer: float = Field(default=20, ge=0, lt=100)
    keep_buffer: bool = False

    @field_validator("end")
    @classmethod
    def _not_before_it_begins(cls, end: str, info: ValidationInfo) -> str:
        start = info.data.get("start", "")
        if end and start and end < start:
            raise ValueError(f"is before the start, {start}")
        return end

    @model_validator(mode="after")
    def _hundred(self) -> FrequencySection:
        if abs(self.head + self.torso + self.tail + 2 * self.buffer - 100) > 1e-9:
            raise ValueError("head, torso, tail and two buffers must make 100 per cent")
        return self


class CapSection(Section):
    """At most so many facts of a relation, stratified by bin and domain; and of the whole.

    `share`: no relation is more than this part of the finished set (0.08 is what `bench validate` allows).
    """

    per_relation: int = Field(default=300, ge=1)
    total: int | None = Field(default=None, ge=1)
    share: float | None = Field(default=None, gt=0, le=1)


class QuestionsSection(Section):
    """Question templates: a YAML file, property id to template; the packaged one without it.

    `redirects`: titles of redirects to the object's page are valid answers too, as far as the index of titles
    knows them. Misspellings and parts of a thing are among them.
    """

    templates: str | None = None
    redirects: bool = False


class PresenceSection(Section):
    """The training corpus in which the supporting sentences are looked for."""

    corpus: Paths = ()
    infini_gram: str | None = None  # an index's folder, or the name of an index of `api`
    api: str | None = None  # such as https://api.infini-gram.io/
    tokenizer: str | None = None  # tokenizer.json of that index
    user_agent: str | None = None
    tiers: Annotated[
        tuple[Literal["exact", "normalised", "stripped"], ...],
        BeforeValidator(_as_list),
        Field(min_length=1),
    ] = ("exact", "normalised", "stripped")
    keep: Literal["exact", "normalised", "stripped"] = "exact"  # the loosest tier that keeps a fact
    again: bool = True  # the same triplet must be extracted again from the sentence
    locations: int = Field(default=5, ge=0)  # documents named per sentence
    engine: Literal["grams", "hyperscan", "ahocorasick"] = "grams"  # each finds the same
    checksums: bool = False  # of shards: their bytes, besides size and date; reads each shard twice


class Plan(Section):
    """The whole plan. Paths in it are relative to the plan's folder."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,99}$")
    version: str = "0.1.0"
    title: str = ""
    licence: str = ""  # of the whole; without it that of the pages' text
    seed: int = 0
    out: str | None = None
    articles: ArticlesSection
    extract: ExtractSection
    link: LinkSection = LinkSection()
    wikidata: WikidataSection = WikidataSection()
    filter: FilterSection = FilterSection()
    frequency: FrequencySection | None = None
    cap: CapSection = CapSection()
    questions: QuestionsSection = QuestionsSection()
    presence: PresenceSection | None = None

    _file: Path = PrivateAttr(default=Path("plan.yaml"))
    _source: bytes | None = PrivateAttr(default=None)

    @property
    def file(self) -> Path:
        """Where it was read from."""
        return self._file

    @property
    def source(self) -> bytes | None:
        """What the file held when it was read, whatever is done to it since; None for a plan made in code."""
        return self._source

    @property
    def folder(self) -> Path:
        """What its paths are relative to."""
        return self._file.parent

    @property
    def work(self) -> Path:
        """The build's folder: `out`, or NAME-build beside the plan."""
        return self.folder / Path(self.out or f"{self.name}-build").expanduser()
