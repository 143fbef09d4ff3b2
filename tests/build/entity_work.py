"""Real entities, and a build's folder in which they lie as its stage leaves them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from leadline.build.parts import writing
from leadline.build.plan import Plan
from leadline.build.progress import Quiet
from leadline.build.records import Drop, Fact
from leadline.build.stage import FactStage, Job
from leadline.build.wikidata.dump import Reading
from leadline.build.wikidata.entity import Entity
from leadline.build.wikidata.entity_files import read_files
from leadline.build.wikidata.json_form import Found
from leadline.build.wikidata.store import ENTITIES, writing_store
from leadline.build.workspace import StageFolder, Workspace
from leadline.workers.in_process import InProcess

WIKIDATA = Path(__file__).parents[3] / "shared" / "data" / "build" / "wikidata"
TWENTY = WIKIDATA / "twenty_entities.json.bz2"

needs_wikidata = pytest.mark.skipif(not TWENTY.exists(), reason=f"needs the real entities in {WIKIDATA}")


def found_in(name: str, languages: tuple[str, ...] = ("en",)) -> list[Found]:
    """All entities of a file of real ones."""
    return list(read_files(WIKIDATA / name, languages, Reading()))


def real(name: str) -> Entity:
    """The real entity of that id."""
    files = [WIKIDATA / f"{name}.json", TWENTY]
    for file in files:
        if file.exists():
            for found in found_in(file.name):
                if found.id == name and found.entity is not None:
                    return found.entity
    raise LookupError(name)


def snak(value: Any, kind: str | None = None) -> dict[str, Any]:
    """A snak in the form of Wikidata's JSON: an item's id, or the parts of a time, or novalue, somevalue."""
    if value in ("novalue", "somevalue"):
        return {"snaktype": value, "property": "P1", "datatype": kind or "wikibase-item"}
    if isinstance(value, dict) and "time" in value:
        value = {"calendarmodel": "http://www.wikidata.org/entity/Q1985727", **value}
        data, datatype = {"type": "time", "value": value}, "time"
    elif isinstance(value, dict):
        data, datatype = {"type": "quantity", "value": value}, "quantity"
    elif value[:1] == "Q" and value[1:].isdigit():
        data = {"type": "wikibase-entityid", "value": {"entity-type": "item", "id": value}}
        datatype = "wikibase-item"
    else:
        data, datatype = {"type": "string", "value": value}, "string"
    return {"snaktype": "value", "property": "P1", "datavalue": data, "datatype": kind or datatype}


def statement(value: Any, rank: str = "normal", **qualifiers: Any) -> dict[str, Any]:
    """A statement, with qualifiers by property."""
    listed = {name: [snak(one)] for name, one in qualifiers.items()}
    return {"mainsnak": snak(value), "type": "statement", "rank": rank, "qualifiers": listed}


def entity(name: str, label: str = "", aliases: Iterable[str] = (), **claims: list[Any]) -> dict[str, Any]:
    """An entity in the form of Wikidata's JSON; values of claims are statements, or what `snak` takes."""
    return {
        "type": "item",
        "id": name,
        "labels": {"en": {"language": "en", "value": label or f"label of {name}"}},
        "aliases": {"en": [{"language": "en", "value": one} for one in aliases]},
        "claims": {
            key: [one if isinstance(one, dict) and "mainsnak" in one else statement(one) for one in several]
            for key, several in claims.items()
        },
        "sitelinks": {},
    }


def made(said: Mapping[str, Any]) -> Entity:
    """An entity out of its JSON."""
    from leadline.build.wikidata.json_form import entity_from

    return entity_from(said, ("en",))


def plan_in(folder: Path, **sections: Any) -> Plan:
    """A plan whose folder is `folder`."""
    said = {"name": "small", "articles": {"jsonl": "a.jsonl"}, "extract": {"method": "recorded"}, **sections}
    plan = Plan.model_validate(said)
    folder.mkdir(parents=True, exist_ok=True)
    plan._file = folder / "plan.yaml"
    plan._file.write_text(json.dumps(said), encoding="utf-8")
    return plan


def job_in(
    folder: Path,
    entities: Iterable[Entity] = (),
    redirects: Mapping[str, str] | None = None,
    gone: Iterable[str] = (),
    **sections: Any,
) -> Job:
    """A job whose stage `entities` has left these."""
    plan = plan_in(folder, **sections)
    work = Workspace(plan.work)
    with writing_store(work.stage("entities").path / ENTITIES) as store:
        for one in entities:
            store.add(Found(one.id, one))
        for old, new in (redirects or {}).items():
            store.redirect(old, new)
        for one in gone:
            store.add(Found(one, None))
    return Job(plan, work, InProcess(), Quiet())


def fact(subject: str, relation: str, object_: str | None, **changes: Any) -> Fact:
    """A fact of ids; `said` is what the text calls the object."""
    said = changes.pop("said", object_ or "")
    name = changes.pop("id", f"{subject}-{relation}-{said}")
    kind = changes.pop("kind", "entity" if object_ else "string")
    return Fact(
        id=name,
        article="1",
        title=subject,
        subject=subject,
        relation=relation,
        object=said,
        extractor="recorded",
        subject_id=subject,
        relation_id=relation,
        object_id=object_,
        kind=kind,
        **changes,
    )


def judged(stage: FactStage, job: Job, *facts: Fact) -> list[Fact | Drop]:
    """What a stage makes of facts."""
    return list(stage.judge(job, facts))


def reasons(results: Iterable[Fact | Drop]) -> list[str]:
    """The reasons of drops, "" for what is kept."""
    return [one.reason if isinstance(one, Drop) else "" for one in results]


def left_by(job: Job, name: str, *facts: Fact) -> StageFolder:
    """A stage's folder with these facts as what it kept."""
    folder = job.work.stage(name)
    with writing(folder.kept) as keep:
        for one in facts:
            keep(one)
    folder.finish("", {"kept": len(facts)})
    return folder
