"""Linking gives facts their ids, says why some have none, and makes one of those that say the same."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from leadline.build.link.index import open_index
from leadline.build.link.open import open_titles
from leadline.build.link.stage import LinkStage
from leadline.build.parts import writing
from leadline.build.plan import Plan
from leadline.build.progress import Quiet
from leadline.build.records import Drop, Fact, Support, fact_id
from leadline.build.stage import Job
from leadline.build.workspace import StageFolder, Workspace
from leadline.errors import UsageError
from leadline.workers.in_process import InProcess
from tests.build.sql_dumps import write_dump

DATA = Path(__file__).parents[3] / "shared" / "data" / "build"
needs_data = pytest.mark.skipif(not DATA.exists(), reason=f"needs the real inputs in {DATA}")
PAIRS = "Zürich\tQ72\nSwitzerland\tQ39\nAda Lovelace\tQ7259\nLondon\tQ84\n1815\tQ7621\nLord Byron\tQ5679\n"


class _Notes(Quiet):
    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, line: str) -> None:
        self.lines.append(line)


def _job(folder: Path, **link: Any) -> Job:
    said = {
        "name": "small",
        "articles": {"jsonl": "articles.jsonl"},
        "extract": {"method": "recorded", "recorded": "recorded.jsonl"},
        "link": link,
    }
    plan = Plan.model_validate(said)
    plan._file = folder / "plan.yaml"
    plan._file.write_text(json.dumps(said), "utf-8")
    plan._source = plan._file.read_bytes()
    return Job(plan, Workspace(folder), InProcess(), _Notes())


def _fact(subject: str, relation: str, object_: str, page: str = "Zürich", **more: Any) -> Fact:
    more.setdefault("support", (Support(sentence=f"{subject} ... {object_}.", start=0),))
    return Fact(
        id=fact_id(page, subject, relation, object_),
        article=page,
        title=page,
        subject=subject,
        relation=relation,
        object=object_,
        extractor="recorded",
        **more,
    )


def _judged(folder: Path, facts: Iterable[Fact], **link: Any) -> list[Fact | Drop]:
    (folder / "titles.tsv").write_text(PAIRS, "utf-8")
    return list(LinkStage().judge(_job(folder, **(link or {"titles": "titles.tsv"})), list(facts)))


def test_names_become_ids(tmp_path: Path) -> None:
    (fact,) = _judged(tmp_path, [_fact("zürich", "located in country", "switzerland")])
    assert isinstance(fact, Fact)
    assert (fact.subject_id, fact.relation_id, fact.object_id) == ("Q72", "P17", "Q39")
    assert (fact.article_id, fact.kind) == ("Q72", "entity")


@pytest.mark.parametrize(
    ("fact", "reason", "detail"),
    [
        (_fact("Zurichberg", "country", "Switzerland"), "subject-unknown", "Zurichberg"),
        (_fact("Zürich", "country", "Helvetia"), "object-unknown", "Helvetia"),
        (_fact("Zürich", "is fond of", "Switzerland"), "relation-unknown", "is fond of"),
        (_fact("Zürich", "inception", "long ago"), "object-unknown", "long ago"),
        (_fact("Zürich", "population", "many"), "object-unknown", "many"),
        (_fact("Zürich", "coordinate location", "47.37, 8.54"), "object-unknown", "47.37, 8.54"),
    ],
)
def test_what_is_not_known_is_dropped_with_its_name(
    tmp_path: Path, fact: Fact, reason: str, detail: str
) -> None:
    (drop,) = _judged(tmp_path, [fact])
    assert isinstance(drop, Drop)
    assert (drop.stage, drop.reason, drop.detail) == ("link", reason, detail)
    assert drop.fact.id == fact.id


@pytest.mark.parametrize(
    ("relation", "object_", "kind", "object_id", "precision"),
    [
        ("date of birth", "10 December 1815", "date", None, "day"),
        ("date of birth", "December 1815", "date", None, "month"),
        ("inception", "1815", "date", None, "year"),  # a page too, but the relation's values are times
        ("country", "1815", "entity", "Q7621", None),
        ("population", "434,335", "quantity", None, None),
        ("area", "87.88 km²", "quantity", None, None),
        ("nickname", "the limmat city", "string", None, None),
        ("official website", "https://www.stadt-zuerich.ch", "string", None, None),
        ("P99999", "1815", "date", None, "year"),  # a property that no table knows: by its look
        ("P99999", "Switzerland", "entity", "Q39", None),
    ],
)
def test_the_relation_says_whether_an_object_is_an_entity_or_a_literal(
    tmp_path: Path, relation: str, object_: str, kind: str, object_id: str | None, precision: str | None
) -> None:
    (fact,) = _judged(tmp_path, [_fact("Zürich", relation, object_)])
    assert isinstance(fact, Fact)
    assert (fact.kind, fact.object_id, fact.precision) == (kind, object_id, precision)


def test_ids_that_the_extractor_gave_stay(tmp_path: Path) -> None:
    given = {"subject_id": "Q1", "relation_id": "P1", "object_id": "Q2", "article_id": "Q3"}
    (fact,) = _judged(tmp_path, [_fact("Zürich", "country", "Switzerland", **given)])
    assert isinstance(fact, Fact)
    assert fact.model_dump(include=set(given)) == given
    date = "1815-12-10T00:00:00Z^^http://www.w3.org/2001/XMLSchema#dateTime"
    (fact,) = _judged(tmp_path, [_fact("Zürich", "date of birth", "1815", object_id=date)])
    assert isinstance(fact, Fact)
    assert (fact.object_id, fact.kind) == (None, "date")


def test_the_pages_own_id_is_its_subjects(tmp_path: Path) -> None:
    (fact,) = _judged(
        tmp_path, [_fact("unlisted page", "country", "Switzerland", "Unlisted page", article_id="Q9")]
    )
    assert isinstance(fact, Fact)
    assert fact.subject_id == "Q9"


def test_facts_that_say_the_same_are_one_with_all_sentences(tmp_path: Path) -> None:
    one, two, three = (Support(sentence=f"Sentence {n}.", start=n) for n in range(3))
    facts = [
        _fact("Zürich", "country", "Switzerland", support=(one, two)),
        _fact("Zürich", "continent", "Switzerland", support=(one,)),
        _fact("zürich", "country", "Switzerland", "Switzerland", support=(two, three)),
        _fact("Zürich", "located in country", "switzerland", support=(three,)),
    ]
    first, other, *again = _judged(tmp_path, facts)
    assert isinstance(first, Fact)
    assert isinstance(other, Fact)
    assert [support.sentence for support in first.support] == ["Sentence 0.", "Sentence 1.", "Sentence 2."]
    assert [support.title for support in first.support] == ["", "", "Switzerland"]  # where it stands
    assert other.support == (one,)
    for drop, fact in zip(again, facts[2:], strict=True):
        assert isinstance(drop, Drop)
        assert (drop.reason, drop.detail, drop.fact.id) == ("duplicate", first.id, fact.id)


@pytest.mark.parametrize(
    ("relation", "one", "two", "same"),
    [
        ("date of birth", "10 December 1815", "December 10, 1815", True),
        ("date of birth", "10 December 1815", "1815", False),
        ("population", "434,335", "434335", True),
        ("area", "88 km²", "88", False),
        ("nickname", "Limmat city", "Limmat  City", True),
        ("nickname", "Limmat city", "Limmatstadt", False),
    ],
)
def test_literals_are_the_same_if_they_mean_the_same(
    tmp_path: Path, relation: str, one: str, two: str, same: bool
) -> None:
    results = _judged(tmp_path, [_fact("Zürich", relation, one), _fact("Zürich", relation, two)])
    assert isinstance(results[1], Drop) is same


def test_without_titles_only_given_ids_count_and_the_drop_says_why(tmp_path: Path) -> None:
    job = _job(tmp_path)
    facts = [
        _fact("Zürich", "country", "Switzerland"),
        _fact("Zürich", "country", "Bern", subject_id="Q72", object_id="Q70"),
    ]
    drop, fact = LinkStage().judge(job, facts)
    assert isinstance(drop, Drop)
    assert drop.detail == "Zürich: the plan names no titles (link: page, wikimapper or titles)"
    assert isinstance(fact, Fact)


def _run(folder: Path, facts: list[Fact], **link: Any) -> tuple[StageFolder, Any]:
    (folder / "titles.tsv").write_text(PAIRS, "utf-8")
    job = _job(folder, **(link or {"titles": "titles.tsv"}))
    before, here = job.work.stage("extract"), job.work.stage("link")
    with writing(before.kept) as write:
        for fact in facts:
            write(fact)
    here.path.mkdir(parents=True, exist_ok=True)
    return here, LinkStage().run(job, here, before)


def test_a_run_leaves_its_two_files_and_nothing_else(tmp_path: Path) -> None:
    facts = [_fact("Zürich", "country", name) for name in ("Switzerland", "switzerland", "Helvetia")]
    here, counts = _run(tmp_path, facts)
    assert counts == {"kept": 1, "dropped": {"duplicate": 1, "object-unknown": 1}}
    assert sorted(path.name for path in here.path.iterdir()) == ["dropped.jsonl.zst", "kept.jsonl.zst"]
    bytes_before = here.kept.read_bytes(), here.dropped.read_bytes()
    (here.path / "merging").mkdir()
    (here.path / "merging" / "facts.jsonl.zst").write_bytes(b"of a run that was killed")
    _run(tmp_path, facts)
    assert (here.kept.read_bytes(), here.dropped.read_bytes()) == bytes_before


def _dumps(folder: Path, name: bytes = b"Z\xc3\xbcrich") -> dict[str, str]:
    rows: dict[str, list[Any]] = {
        "page": [(1, 0, name, 0, 0.5), (2, 0, b"Turicum", 1, 0.5)],
        "page_props": [(1, b"wikibase_item", b"Q72", None)],
        "redirect": [(2, 0, name, b"", b"")],
    }
    return {table: write_dump(folder, table, of).name for table, of in rows.items()}


def test_the_index_of_dumps_is_built_once_and_again_when_a_dump_changes(tmp_path: Path) -> None:
    job = _job(tmp_path, **_dumps(tmp_path))
    notes: list[str] = []
    with open_titles(job.plan, job.work, notes.append) as titles:
        assert titles.entity("turicum") == "Q72"
    assert notes[-1] == "titles: 1 articles (0 without an item), 1 of 1 redirects lead to one"
    said = len(notes)
    open_titles(job.plan, job.work, notes.append).close()
    assert len(notes) == said
    _dumps(tmp_path, b"Zurich")
    with open_titles(job.plan, job.work, notes.append) as titles:
        assert titles.entity("Zurich") == "Q72"
        assert titles.entity("Zürich") is None
    assert len(notes) == 2 * said
    assert len(list((tmp_path / "indexes").glob("*.sqlite"))) == 1


def test_a_run_counts_what_the_dumps_hold(tmp_path: Path) -> None:
    _, counts = _run(tmp_path, [_fact("Turicum", "country", "Zürich")], **_dumps(tmp_path))
    assert counts["kept"] == 1
    held = {name: count for name, count in counts["titles"].items() if count}
    assert held == {"pages": 2, "articles": 1, "redirects": 1, "resolved": 1}


def test_pairs_go_before_dumps_and_dumps_before_a_wikimapper_index(tmp_path: Path) -> None:
    job = _job(tmp_path, **_dumps(tmp_path))
    open_titles(job.plan, job.work).close()
    (made,) = (tmp_path / "indexes").glob("*.sqlite")
    (tmp_path / "elsewhere.db").write_bytes(made.read_bytes())
    (tmp_path / "titles.tsv").write_text("Turicum\tQ1\n", "utf-8")
    (tmp_path / "only").mkdir()
    job = _job(tmp_path, **_dumps(tmp_path, b"Zurich"), titles="titles.tsv", wikimapper="elsewhere.db")
    with open_titles(job.plan, job.work) as titles:
        found = [titles.entity(title) for title in ("Turicum", "Zurich", "Zürich", "Bern")]
    assert found == ["Q1", "Q72", "Q72", None]
    assert {path.name for path in LinkStage().inputs(job.plan)} >= {"titles.tsv", "elsewhere.db"}
    with open_index(tmp_path / "elsewhere.db") as titles:
        assert titles.entity("Zurich") is None


def test_page_without_page_props_is_a_mistake_of_the_plan(tmp_path: Path) -> None:
    named = _dumps(tmp_path)
    job = _job(tmp_path, page=named["page"])
    with pytest.raises(UsageError, match=r"plan\.yaml:\d+: link\.page_props is missing"):
        open_titles(job.plan, job.work)


@needs_data
def test_the_samples_own_ids_are_found_again_by_name(tmp_path: Path) -> None:
    """Titles are the 1,000 pages of the sample; its triples between them must get the ids that it gives."""
    abstracts = [json.loads(line) for line in (DATA / "rebel" / "sample.jsonl").open(encoding="utf-8")]
    pairs = {abstract["title"]: abstract["uri"] for abstract in abstracts}
    (tmp_path / "titles.tsv").write_text(
        "".join(f"{title}\t{item}\n" for title, item in pairs.items()), "utf-8"
    )
    facts, gold = [], {}
    for abstract in abstracts:
        for triple in abstract["triples"]:
            subject, object_ = triple["subject"], triple["object"]
            if subject["uri"] != abstract["uri"]:
                continue
            relation = triple["predicate"]["surfaceform"]
            item = object_["uri"] if object_["uri"].startswith("Q") else None
            fact = _fact(
                abstract["title"], relation, object_["surfaceform"], abstract["title"], object_id=item
            )
            facts.append(fact)
            gold[fact.id] = (subject["uri"], triple["predicate"]["uri"], item)
    results = list(LinkStage().judge(_job(tmp_path, titles="titles.tsv"), facts))
    kept = [fact for fact in results if isinstance(fact, Fact)]
    assert all((fact.subject_id, fact.relation_id, fact.object_id) == gold[fact.id] for fact in kept)
    assert Counter(fact.kind for fact in kept)["date"] > 400
    reasons = Counter(drop.reason for drop in results if isinstance(drop, Drop))
    assert set(reasons) <= {"duplicate", "object-unknown"}
    assert reasons["object-unknown"] <= 5
    assert len(kept) > 1000
