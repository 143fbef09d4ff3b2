"""findings.json: everything that a report says, in a form that other programs can read.

The document is the contract between a study and whoever reads its results: the HTML page, the Markdown and
LaTeX tables and the terminal's summary are all made from it. `docs/findings-schema.md` describes it for
people, `docs/findings.schema.json` for machines; the latter is what `findings_schema()` returns.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
)

from leadline.errors import UsageError
from leadline.lenses.finding import Figure, Finding
from leadline.lenses.protocol import Protocol
from leadline.ordinary_file import content
from leadline.report.atomic import write_text

SCHEMA = "leadline.findings/1"
_MOST_BYTES = 2**30


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class BenchmarkEntry(_Frozen):
    """What was asked: the benchmark by name and by the hash of its content, and how much of it."""

    name: str
    version: str
    title: str
    content_hash: str
    items_asked: int
    items_total: int
    items_answered: int | None = None  # of those asked, how many the baseline has answered by now
    licence: str = ""
    category_name: str = "category"
    task_name: str = "task"
    population: str = ""  # which items this is about: how many were left out, and why
    audit: str = ""  # sha256 of the audit that decided it
    adjudications: str = ""  # sha256 of people's decisions on labels that it is read with


class ModelEntry(_Frozen):
    """Who answered: the study's name for the model, a description, and the digest of its weights."""

    name: str
    description: str = ""
    digest: str = ""


class ServedModelEntry(_Frozen):
    """What asking a model behind an API took, over all runs, and who answered.

    Counts of requests by what the provider said: which of its models and set-ups answered, how requests
    ended, why answers did. `money` is None without a price. `without_usage`: answers of which nobody told the
    tokens. `never_ended`: requests under way when a run was killed. `identical_repeats`: configurations whose
    repeated answers are the same text for every item, though they were drawn.
    """

    model: str
    provider: str
    host: str
    answered_by: dict[str, int]
    fingerprints: dict[str, int]
    requests: int
    retries: int
    outcomes: dict[str, int]
    finishes: dict[str, int]
    cached: int
    never_ended: int
    tokens_in: int
    tokens_out: int
    without_usage: int
    money: float | None
    identical_repeats: tuple[str, ...]
    remarks: tuple[str, ...]


class ConfigurationEntry(_Frozen):
    """How the answers were drawn. `id` is the hash of everything in `settings`; `label` is for people."""

    name: str
    model: str
    label: str
    technique: str
    settings: dict[str, JsonValue] = Field(default_factory=dict)
    id: str
    samples: int  # answers asked for per item
    responses: int  # answers that are stored, over all items
    role: Literal["baseline", "method", "partition", "again"]


class FindingsDocument(_Frozen):
    """A study's findings with all that is needed to read them without the study."""

    schema_id: Literal["leadline.findings/1"] = Field(default="leadline.findings/1", alias="schema")
    study: str
    leadline_version: str
    created: AwareDatetime
    benchmark: BenchmarkEntry
    models: tuple[ModelEntry, ...]
    configurations: tuple[ConfigurationEntry, ...]
    protocol: Protocol  # which configuration plays which part, and over how many samples it votes
    prompt: str  # how the question is put to the model
    correctness: str  # the rule by which an answer counts as correct
    findings: tuple[Finding, ...]
    # What the study asks for and lacked when this was made, a sentence each; empty when it was complete.
    incomplete: tuple[str, ...] = ()
    # What changed between the runs that drew the answers, a sentence for each run that went on all the same.
    changes: tuple[str, ...] = ()
    # Of models behind an API, and answers that were asked again: counts, and a sentence for each thing that a
    # reader should know. Left out where there is nothing to say.
    served: tuple[ServedModelEntry, ...] = ()
    remarks: tuple[str, ...] = ()

    @model_serializer(mode="wrap")
    def _without_silence(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = handler(self)
        return {key: value for key, value in written.items() if value or key not in ("served", "remarks")}

    def finding(self, lens: str, table: str, model: str) -> Finding | None:
        """The finding of this lens, table and model, or None when the study has none."""
        for finding in self.findings:
            if (finding.lens, finding.table, finding.model) == (lens, table, model):
                return finding
        return None

    def label(self, configuration: str) -> str:
        """What people call a configuration; its own name when the document does not list it."""
        return next((c.label for c in self.configurations if c.name == configuration), configuration)


def row_figures(finding: Finding | None, **keys: str) -> dict[str, Figure]:
    """The figures of the first row of `finding` that has all these keys; empty when there is none."""
    for row in finding.rows if finding else ():
        if all(row.keys.get(key) == value for key, value in keys.items()):
            return row.figures
    return {}


def to_json(document: FindingsDocument) -> str:
    """The document as JSON text; figures without a finite value are null."""
    return document.model_dump_json(by_alias=True, indent=1) + "\n"


def write_findings(document: FindingsDocument, path: Path) -> None:
    """Write findings.json, whole or not at all. Raises LeadlineError when it cannot be written."""
    write_text(path, to_json(document))


def load_findings(path: Path) -> FindingsDocument:
    """Read findings.json. Raises UsageError for a missing file, broken JSON or another schema."""
    try:
        raw = json.loads(content(path, _MOST_BYTES))
    except FileNotFoundError as error:
        raise UsageError("no findings here", where=str(path), fix="run the study first") from error
    except OSError as error:
        raise UsageError(f"cannot read it: {error.strerror or error}", where=str(path)) from error
    except json.JSONDecodeError as error:
        raise UsageError(f"not JSON: {error.msg}", where=f"{path}:{error.lineno}") from error
    except UnicodeDecodeError as error:
        raise UsageError("not UTF-8 text", where=str(path)) from error
    found = raw.get("schema") if isinstance(raw, dict) else None
    if found != SCHEMA:
        raise UsageError(
            f"schema is {found!r}, this version reads {SCHEMA!r}",
            where=str(path),
            fix="make the report again with this version of leadline",
        )
    try:
        return FindingsDocument.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UsageError(
            f"{place}: {first['msg']}", where=str(path), fix="see docs/findings-schema.md"
        ) from None


def findings_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of findings.json."""
    schema = FindingsDocument.model_json_schema(by_alias=True, mode="validation")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:leadline:findings:1",
        **schema,
        "title": "Leadline findings",
    }
