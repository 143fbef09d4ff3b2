"""Real inputs for a whole build: Wikipedia, recorded extractions, entities and a corpus made of real text.

All of it comes from files beside the project (see `DATA`); what tests make of them lies in temporary folders.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

DATA = Path(__file__).parents[3] / "shared" / "data" / "build"
SLICE = DATA / "wikipedia" / "enwiki-2016-p10-p30302-shortened.xml.bz2"
TWENTY = DATA / "wikidata" / "twenty_entities.json.bz2"
ABSTRACTS = DATA / "rebel" / "sample.jsonl"

# What a model would have said of sentences of the slice.
ALBERTA = (
    "Alberta's capital Edmonton is near the geographic centre of the province and is the primary supply and "
    "service hub for Canada's crude oil, oil sands (Athabasca oil sands) and other northern resource "
    "industries."
)
ALGERIA = "Its capital and most populous city is Algiers, located in the country's far north."
EINSTEIN = (
    "Albert Einstein was born in Ulm, in the Kingdom of Württemberg in the German Empire on 14 March 1879."
)
HUXLEY = "Aldous Huxley was born in Godalming, Surrey, England, in 1894."
SAID = (  # page, sentence, relation, object; the page is the subject
    ("Alabama", "The capital of Alabama is Montgomery.", "capital", "Montgomery"),
    ("Alberta", ALBERTA, "capital", "Edmonton"),
    ("Angola", "The capital and largest city of Angola is Luanda.", "capital", "Luanda"),
    ("Algeria", ALGERIA, "capital", "Algiers"),
    ("Albert Einstein", EINSTEIN, "place of birth", "Ulm"),
    ("Aldous Huxley", HUXLEY, "place of birth", "Godalming"),
    ("Aldous Huxley", HUXLEY, "place of birth", "Surrey"),
)
EXAMPLE = Path(__file__).parents[2] / "examples" / "building"
ENTITIES = EXAMPLE / "entities.json"

needs_data = pytest.mark.skipif(not SLICE.exists(), reason=f"needs the real inputs in {DATA}")


def abstracts() -> Iterator[dict[str, Any]]:
    """1,000 abstracts of Wikipedia with their triples and Wikidata ids."""
    with ABSTRACTS.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def linearised(abstract: dict[str, Any]) -> str:
    """The triples of an abstract in the form in which REBEL says them: grouped by subject."""
    grouped: dict[str, list[tuple[str, str]]] = {}
    for triple in abstract["triples"]:
        said = (triple["object"]["surfaceform"], triple["predicate"]["surfaceform"])
        grouped.setdefault(triple["subject"]["surfaceform"], []).append(said)
    return " ".join(
        f"<triplet> {subject} " + " ".join(f"<subj> {object_} <obj> {relation}" for object_, relation in said)
        for subject, said in grouped.items()
    )


def _entity(name: str, labels: Counter[str], claims: dict[str, list[str]]) -> dict[str, Any]:
    """An entity in the form of Wikidata's dump, of what the abstracts say about it."""
    said = [label for label, _ in labels.most_common()]
    return {
        "type": "item",
        "id": name,
        "labels": {"en": {"language": "en", "value": said[0]}},
        "aliases": {"en": [{"language": "en", "value": label} for label in said[1:]]},
        "claims": {
            relation: [_statement(name, relation, number, value) for number, value in enumerate(values)]
            for relation, values in claims.items()
        },
        "sitelinks": {},
    }


def _statement(subject: str, relation: str, number: int, value: str) -> dict[str, Any]:
    if value.startswith("Q"):
        kind = "wikibase-item"
        data = {"type": "wikibase-entityid", "value": {"entity-type": "item", "id": value}}
    else:
        kind = "time"
        day = value.partition("T")[0].lstrip("-")
        precision = 9 if day.endswith("-01-01") else 11  # year-only dates are given as 1 January
        time = {"time": f"+{day}T00:00:00Z", "precision": precision, "calendarmodel": "Q1985727"}
        data = {"type": "time", "value": {**time, "timezone": 0, "before": 0, "after": 0}}
    snak = {"snaktype": "value", "property": relation, "datatype": kind, "datavalue": data}
    return {"id": f"{subject}${relation}-{number}", "type": "statement", "rank": "normal", "mainsnak": snak}


def write_inputs(folder: Path) -> None:
    """Articles, recorded extractions, titles and entities of the abstracts, into `folder`."""
    labels: dict[str, Counter[str]] = {}
    claims: dict[str, dict[str, list[str]]] = {}
    titles: dict[str, str] = {}
    with (
        (folder / "abstracts.jsonl").open("w", encoding="utf-8") as articles,
        (folder / "recorded.jsonl").open("w", encoding="utf-8") as recorded,
    ):
        for abstract in abstracts():
            title, text = abstract["title"], abstract["text"]
            titles[title] = abstract["uri"]
            labels.setdefault(abstract["uri"], Counter())[title] += 1000  # a page's title is its name
            article = {"id": abstract["docid"], "title": title, "text": text, "entity": abstract["uri"]}
            articles.write(json.dumps(article, ensure_ascii=False) + "\n")
            ids = {}
            relations = {}
            for triple in abstract["triples"]:
                subject, relation = triple["subject"]["uri"], triple["predicate"]["uri"]
                value = triple["object"]["uri"].partition("^^")[0]
                relations[triple["predicate"]["surfaceform"]] = relation
                ids[triple["subject"]["surfaceform"]] = subject
                held = claims.setdefault(subject, {}).setdefault(relation, [])
                if value.startswith("Q"):
                    ids[triple["object"]["surfaceform"]] = value
                if value not in held and (value.startswith("Q") or value[:1].isdigit()):
                    held.append(value)
            for entity in abstract["entities"]:
                if entity["uri"].startswith("Q"):
                    labels.setdefault(entity["uri"], Counter())[entity["surfaceform"]] += 1
            for triple in abstract["triples"]:
                for part in ("subject", "object"):
                    if triple[part]["uri"].startswith("Q"):
                        labels.setdefault(triple[part]["uri"], Counter())[triple[part]["surfaceform"]] += 1
            said = {"title": title, "text": text, "output": linearised(abstract)}
            said |= {"ids": ids, "relations": relations}
            recorded.write(json.dumps(said, ensure_ascii=False) + "\n")
        for page, sentence, relation, object_ in SAID:
            output = f"<triplet> {page} <subj> {object_} <obj> {relation}"
            recorded.write(json.dumps({"title": page, "text": sentence, "output": output}) + "\n")
    with (folder / "titles.tsv").open("w", encoding="utf-8") as file:
        file.write((EXAMPLE / "titles.tsv").read_text(encoding="utf-8"))
        file.writelines(f"{title}\t{name}\n" for title, name in titles.items())
    with gzip.open(folder / "entities.json.gz", "wt", encoding="utf-8") as dump:
        dump.write("[\n")
        dump.writelines(
            json.dumps(_entity(name, said, claims.get(name, {})), ensure_ascii=False) + ",\n"
            for name, said in sorted(labels.items())
        )
        dump.write("]\n")


def passages() -> Iterator[tuple[str, str]]:
    """Passages of Wikipedia (2018), with their titles."""
    with gzip.open(DATA / "qa" / "nq-open-oracle.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            for context in json.loads(line)["ctxs"]:
                yield context["title"], context["text"]


def in_the_corpus(text: str) -> bool:
    """Whether an abstract is put into the corpus: seven of ten."""
    return hashlib.sha256(text.encode()).digest()[0] < 180


def sentences_put_in() -> list[str]:
    """The sentences of the slice that stand in the corpus: all with something said but Alabama's."""
    return list(dict.fromkeys(sentence for _, sentence, *_ in SAID[1:]))


def write_corpus(folder: Path) -> None:
    """Dolma-style shards of real text, with all that goes wrong with shards in between."""
    folder.mkdir()
    texts = [abstract["text"] for abstract in abstracts() if in_the_corpus(abstract["text"])]
    around = [text for _, text in passages()]
    lines = []
    for number, text in enumerate(texts):
        before, after = around[2 * number % len(around)], around[(2 * number + 1) % len(around)]
        document = {"id": f"doc-{number}", "text": f"{before}\n{text}\n{after}", "source": "real text"}
        lines.append(json.dumps(document, ensure_ascii=bool(number % 2)) + "\n")  # both ways to write é
    said = " ".join(sentences_put_in())
    lines.append(json.dumps({"id": "doc-slice", "text": said}, ensure_ascii=False) + "\n")
    third = len(lines) // 3
    zstd = zstandard.ZstdCompressor()
    (folder / "part-00.jsonl.zst").write_bytes(zstd.compress("".join(lines[:third]).encode()))
    middle = "".join(lines[third : 2 * third]).encode()
    (folder / "part-01.jsonl.gz").write_bytes(gzip.compress(middle, mtime=0))
    odd = ['{"id": "no text"}\n', "[1, 2]\n", "not JSON\n", "\n", '{"id": 1, "text": null}\n']
    (folder / "part-02.jsonl").write_text("".join([*odd, *lines[2 * third :]]), encoding="utf-8")
    whole = zstd.compress("".join(lines[:third]).encode())
    (folder / "part-03.jsonl.zst").write_bytes(whole[: len(whole) // 2])
    (folder / "part-04.jsonl.zst").write_bytes(b"")
    (folder / "part-05.jsonl.gz").write_bytes((DATA / "dolma" / "sample-0000.warc.gz").read_bytes())
    for name in ("000.json.gz", "cc_en_head-0091.jsonl.gz", "test.jsonl.zst"):
        (folder / name).write_bytes((DATA / "dolma" / name).read_bytes())
    second = io.StringIO()
    for number, (title, text) in enumerate(passages()):
        second.write(json.dumps({"id": f"nq-{number}", "title": title, "text": text}) + "\n")
    (folder / "wikipedia-2018.jsonl.gz").write_bytes(gzip.compress(second.getvalue().encode(), mtime=0))


def write_plan(folder: Path, **changes: str) -> Path:
    """A plan over all of it. `changes` are further top-level sections, or others in their place, as YAML."""
    sections = {
        "name": "name: real-slice",
        "seed": "seed: 7",
        "articles": f"articles:\n  dump: {SLICE}\n  jsonl: abstracts.jsonl\n  date: 2016-10\n  min_words: 20",
        "extract": "extract:\n  method: recorded\n  recorded: recorded.jsonl",
        "link": "link:\n  titles: titles.tsv",
        "wikidata": f"wikidata:\n  dump: [entities.json.gz, {TWENTY}]\n  entities: {ENTITIES}",
        "filter": "filter:\n  domain: {unmapped: keep}",
        "cap": "cap:\n  per_relation: 20",
        "presence": "presence:\n  corpus: corpus/*\n  keep: normalised",
    }
    sections |= changes
    path = folder / "plan.yaml"
    path.write_text("\n".join(sections.values()) + "\n", encoding="utf-8")
    return path
