"""The stage that fetches entities, and those that judge facts by them: existence and single answers."""

from __future__ import annotations

import bz2
import gzip
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leadline.build.filters.existence import ExistenceStage
from leadline.build.filters.single import SingleStage
from leadline.build.parts import reading
from leadline.build.records import Drop, Fact
from leadline.build.stage import Job
from leadline.build.wikidata.open import open_entities
from leadline.build.wikidata.stage import EntitiesStage
from leadline.build.wikidata.store import EntityStore, entities_of
from leadline.errors import LeadlineError, UsageError
from leadline.workers.in_process import InProcess
from leadline.workers.processes import Processes
from tests.build.entity_work import (
    TWENTY,
    WIKIDATA,
    entity,
    fact,
    job_in,
    judged,
    left_by,
    made,
    needs_wikidata,
    real,
    reasons,
    statement,
)


def run_entities(job: Job, *facts: Fact) -> dict[str, Any]:
    """The stage's counts."""
    before = left_by(job, "link", *facts)
    here = job.work.stage("entities")
    return dict(EntitiesStage().run(job, here, before))


@needs_wikidata
def test_entities_come_from_files_and_dumps_and_what_nobody_has_is_counted(tmp_path: Path) -> None:
    said = {
        "entities": [str(WIKIDATA / "Q[24]*.json"), str(WIKIDATA / "wbgetentities_response.json")],
        "dump": str(TWENTY),
    }
    job = job_in(tmp_path, wikidata=said)
    counts = run_entities(
        job,
        fact("Q42", "P26", "Q14623681", article_id="Q42"),
        fact("Q58978", "P19", "Q1799", article_id="Q58978"),
        fact("Q3235026", "P123", "Q2112"),
    )
    assert counts == {
        "wanted": 6,
        "found": 4,
        "redirected": 0,
        "gone": 0,
        "missing": 2,
        "sources": {"files": 3, "dump": 1},
    }
    store = entities_of(job.work)
    assert set(store.ids()) == {"Q42", "Q2112", "Q3235026", "Q58978"}
    assert store.get("Q58978") == real("Q58978")
    # The parts are gone, and nothing else is left.
    assert [path.name for path in (job.work.stage("entities").path).rglob("*") if path.is_file()] == [
        "entities.sqlite"
    ]


def _dumps(folder: Path, number: int) -> list[str]:
    """A dump in several files, each packed in its way, with a class hierarchy and a broken line."""
    names = []
    for part in range(number):
        held = [entity(f"Q{one}", P31=[f"Q{900 + one}"]) for one in range(part + 1, 60, number)]
        held += [entity(f"Q{900 + part}", P279=["Q990"])]
        lines = [json.dumps(one, separators=(",", ":")) for one in held]
        if part == 1:
            lines.insert(3, '{"type":"item","id":"Q2"')
        content = ("[\n" + ",\n".join(lines) + "\n]\n").encode()
        pack = [lambda data: data, bz2.compress, lambda data: gzip.compress(data, mtime=0)][part % 3]
        (folder / f"dump-{part}").write_bytes(pack(content))
        names.append(f"dump-{part}")
    return names


def test_the_same_store_comes_out_after_an_interruption_and_whatever_the_order_of_facts(
    tmp_path: Path,
) -> None:
    facts = [fact(f"Q{one}", "P1", f"Q{one % 59 + 1}") for one in range(1, 60)]
    stores = []
    for run in range(3):
        folder = tmp_path / str(run)
        folder.mkdir()
        names = _dumps(folder, 3)
        job = job_in(folder, wikidata={"dump": names, "redirects": "r.tsv"})
        (folder / "r.tsv").write_text("Q70\tQ7\n")
        if run == 1:
            random.Random(3).shuffle(facts)
        if run == 2:  # the third dump cannot be read at first: the parts of the others stay
            third = folder / "dump-2"
            content = third.read_bytes()
            third.unlink()
            third.symlink_to("/proc/self/mem")  # a file whose first byte cannot be read
            with pytest.raises(LeadlineError, match="dump-2: cannot be read: Input/output error"):
                run_entities(job, *facts, fact("Q70", "P1", "Q3"))
            parts = sorted(path.name for path in (job.work.stage("entities").path / "parts").iterdir())
            assert parts == ["00000.json", "00000.sqlite", "00001.json", "00001.sqlite"]
            third.unlink()
            third.write_bytes(content)
            (folder / "dump-0").write_bytes(b"not read again")
        counts = run_entities(job, *facts, fact("Q70", "P1", "Q3"))
        assert (counts["wanted"], counts["found"], counts["redirected"], counts["missing"]) == (60, 60, 1, 0)
        assert counts["broken"]["dump-1"][0][0] == 5
        stores.append((job.work.stage("entities").path / "entities.sqlite").read_bytes())
    assert stores[0] == stores[1] == stores[2]
    store = EntityStore(tmp_path / "0" / "small-build" / "stages" / "entities" / "entities.sqlite")
    assert (store.resolve("Q70"), store.above("Q901")) == ("Q7", ("Q990",))


def test_several_processes_go_through_several_dumps_to_the_same_store(tmp_path: Path) -> None:
    stores = []
    for number, engine in enumerate((InProcess(), Processes(2))):
        folder = tmp_path / str(number)
        folder.mkdir()
        job = replace(job_in(folder, wikidata={"dump": _dumps(folder, 3)}), engine=engine)
        run_entities(job, *(fact(f"Q{one}", "P1", "Q3") for one in range(1, 60)))
        stores.append((job.work.stage("entities").path / "entities.sqlite").read_bytes())
    assert stores[0] == stores[1]


def test_a_plan_without_a_source_and_a_source_of_another_wikibase_are_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="wikidata names no source"):
        EntitiesStage().check(job_in(tmp_path / "1").plan)
    job = job_in(tmp_path / "2", wikidata={"entities": "e.json"})
    (tmp_path / "2" / "e.json").write_text(json.dumps(entity("Q7")))
    with pytest.raises(LeadlineError, match=r"none of the 2 entities wanted is there: Q1, Q2"):
        run_entities(job, fact("Q1", "P1", "Q2"))


def test_a_stage_that_needs_entities_early_gets_them_and_they_are_not_gathered_twice(tmp_path: Path) -> None:
    job = job_in(tmp_path, wikidata={"entities": "e.json"})
    (tmp_path / "e.json").write_text("\n".join(json.dumps(entity(f"Q{one}")) for one in (1, 2, 3)))
    store = open_entities(job.plan, job.work, ["Q1", "Q3", "Q9", "not an id"])
    assert list(store.ids()) == ["Q1", "Q3"]
    made_at = [path.stat().st_mtime_ns for path in (tmp_path / "small-build" / "cache").rglob("*.sqlite")]
    open_entities(job.plan, job.work, ["Q9", "Q3", "Q1"])
    again = [path.stat().st_mtime_ns for path in (tmp_path / "small-build" / "cache").rglob("*.sqlite")]
    assert len(made_at) == 1
    assert made_at == again


# Existence


def test_names_are_filled_in_and_merged_ids_replaced(tmp_path: Path) -> None:
    known = [made(entity("Q1", "Bielefeld", ["City of Bielefeld"])), made(entity("Q2", "Germany"))]
    job = job_in(tmp_path, known, {"Q20": "Q2", "Q10": "Q1"})
    (found,) = judged(ExistenceStage(), job, fact("Q10", "P17", "Q20", article_id="Q10"))
    assert isinstance(found, Fact)
    assert (found.subject_id, found.object_id, found.article_id) == ("Q1", "Q2", "Q1")
    assert found.subject_names == ("Bielefeld", "City of Bielefeld")
    assert found.object_names == ("Germany",)


def test_what_is_deleted_or_in_no_source_is_let_go_and_says_which(tmp_path: Path) -> None:
    job = job_in(tmp_path, [made(entity("Q1")), made(entity("Q2"))], {"Q3": "Q1", "Q4": "Q2"}, ["Q7"])
    facts = (
        fact("Q7", "P1", "Q1"),
        fact("Q1", "P1", "Q8"),
        fact("Q1", "P1", "Q3"),
        fact("Q1", "P1", "Q2"),
        fact("Q3", "P1", "Q4"),
        fact("Q1", "P1", None, said="1913"),
        fact("Q1", "P1", "Q1").model_copy(update={"subject_id": None}),
    )
    results = judged(ExistenceStage(), job, *facts)
    expected = [
        ("subject-missing", "Q7 does not exist any more"),
        ("object-missing", "Q8 is in no source"),
        ("self", "both are Q1"),
        ("", ""),
        ("duplicate", facts[3].id),
        ("", ""),
        ("subject-missing", "Q1 has no id"),
    ]
    assert [(one.reason, one.detail) if isinstance(one, Drop) else ("", "") for one in results] == expected
    assert isinstance(results[5], Fact)
    assert results[5].object_names == ("1913",)


def test_an_entity_without_a_name_in_the_language_is_called_as_in_the_article(tmp_path: Path) -> None:
    nameless = {**entity("Q1"), "labels": {"de": {"language": "de", "value": "Bielefeld"}}}
    job = job_in(tmp_path, [made(nameless), made(entity("Q2"))])
    (found,) = judged(ExistenceStage(), job, fact("Q1", "P17", "Q2"))
    assert isinstance(found, Fact)
    assert found.subject_names == ("Q1",)


# Single answers


@needs_wikidata
def test_real_facts_are_kept_or_let_go_with_the_reason_and_the_values(tmp_path: Path) -> None:
    names = ("Q2112", "Q42", "Q970917", "Q58984", "Q22002395", "Q646148")
    job = job_in(tmp_path, [real(name) for name in names])
    cases = [
        (fact("Q2112", "P6", "Q2097128"), "", ""),
        (fact("Q2112", "P6", "Q1278930"), "ended", "ended +2009-00-00 (precision 9)"),
        (fact("Q2112", "P17", "Q183"), "", ""),
        (fact("Q2112", "P1082", None, said="334,002", kind="quantity"), "", ""),
        (
            fact("Q2112", "P1082", None, said="328,864", kind="quantity"),
            "disagrees",
            "+334002; the object is of lower rank",
        ),
        (
            fact("Q2112", "P31", "Q515"),
            "several-values",
            "5: Q1549591, Q1187811, Q42744322, Q707813, Q85635630",
        ),
        # Douglas Adams is dead: asked for is whom he was ever married to, one person.
        (fact("Q42", "P26", "Q14623681"), "", ""),
        (fact("Q42", "P26", "Q1"), "disagrees", "Q14623681"),
        (fact("Q42", "P69", "Q691283"), "several-values", "2: Q691283, Q4961791"),
        (fact("Q42", "P19", "Q350"), "", ""),
        (fact("Q42", "P19", "Q84"), "disagrees", "Q350"),
        (fact("Q42", "P569", None, said="11 March 1952", kind="date"), "", ""),
        (fact("Q42", "P569", None, said="1952", kind="date"), "", ""),
        (fact("Q42", "P569", None, said="1953", kind="date"), "disagrees", "+1952-03-11 (precision 11)"),
        (
            fact("Q970917", "P569", None, said="1990", kind="date"),
            "several-values",
            "2: +1869-11-01 (precision 10), +1990-11-00 (precision 10)",
        ),
        (fact("Q58984", "P17", "Q33"), "novalue", ""),
        (
            fact("Q22002395", "P50", "Q1128109"),
            "several-values",
            "5: Q1128109, Q1181545, somevalue, Q1747747, somevalue",
        ),
        # Dead too, and of two positions one has ended: both are right answers.
        (fact("Q646148", "P39", "Q5449541"), "several-values", "2: Q5449541, Q6866144"),
        (fact("Q42", "P6", "Q350"), "no-statement", ""),
        (fact("Q999", "P6", "Q350"), "no-statement", ""),
    ]
    results = judged(SingleStage(), job, *(one for one, _, _ in cases))
    found = [(one.reason, one.detail) if isinstance(one, Drop) else ("", "") for one in results]
    assert found == [(reason, detail) for _, reason, detail in cases]
    for one in results:
        judged_fact = one.fact if isinstance(one, Drop) else one
        assert judged_fact.statement is not None


@needs_wikidata
def test_if_the_plan_says_so_all_values_that_ever_were_count_of_the_living_too(tmp_path: Path) -> None:
    job = job_in(tmp_path, [real("Q42"), real("Q2112")], filter={"ended": "count"})
    facts = (
        fact("Q42", "P26", "Q14623681"),
        fact("Q2112", "P6", "Q2097128"),  # the mayor of today, of four
        fact("Q2112", "P17", "Q183"),  # Germany, of three
        fact("Q2112", "P706", "Q677337"),  # one landform
    )
    results = judged(SingleStage(), job, *facts)
    assert reasons(results) == ["", "several-values", "several-values", ""]


def test_what_is_counted_is_what_the_template_asks_for(tmp_path: Path) -> None:
    """Of a living subject and a dead one, with a value of today and one that has ended."""
    ended = {"time": "+2009-05-01T00:00:00Z", "precision": 11}
    values = [statement("Q5", "preferred"), statement("Q6", P582=ended)]
    claims = {"P54": values, "P69": values, "P19": values}
    job = job_in(tmp_path, [made(entity("Q1", **claims)), made(entity("Q2", P570=["somevalue"], **claims))])
    facts = [fact(who, relation, "Q5") for relation in claims for who in ("Q1", "Q2")]
    results = judged(SingleStage(), job, *facts)
    assert reasons(results) == [
        "",  # which team does she play for?
        "several-values",  # which team does or did he play for?
        "several-values",  # at which institution was she educated?
        "several-values",
        "",  # in which place were they born? The lower rank is the less sure source.
        "",
    ]
    held = [one.fact.statement if isinstance(one, Drop) else one.statement for one in results]
    assert [one.ever for one in held if one is not None] == [False, True, True, True, False, False]


def test_a_users_template_for_today_alone_never_counts_what_has_ended(tmp_path: Path) -> None:
    ended = {"time": "+2009-05-01T00:00:00Z", "precision": 11}
    dead = made(entity("Q1", P570=["somevalue"], P54=[statement("Q5", P582=ended)]))
    job = job_in(tmp_path, [dead], questions={"templates": "t.yaml"})
    file = job.plan.folder / "t.yaml"
    file.write_text('P54: "Which team does [X] play for?"\n')
    assert reasons(judged(SingleStage(), job, fact("Q1", "P54", "Q5"))) == ["ended"]
    file.write_text('P54: {ever: "Which team did [X] play for?"}\n')
    assert reasons(judged(SingleStage(), job, fact("Q1", "P54", "Q5"))) == [""]
    assert SingleStage().inputs(job.plan) == (file,)


def test_who_once_had_a_spouse_and_has_none_today_had_one(tmp_path: Path) -> None:
    ended = {"time": "+2009-05-01T00:00:00Z", "precision": 11}
    claims = {"P26": [statement("Q5", P582=ended), statement("novalue", "preferred")]}
    job = job_in(tmp_path, [made(entity("Q1", **claims)), made(entity("Q2", P570=["somevalue"], **claims))])
    facts = (fact("Q1", "P26", "Q5"), fact("Q2", "P26", "Q5"))
    assert reasons(judged(SingleStage(), job, *facts)) == ["novalue", ""]


def test_the_date_of_the_dump_says_what_has_ended(tmp_path: Path) -> None:
    term = statement("Q5", P582={"time": "+2023-06-30T00:00:00Z", "precision": 11})
    known = [made(entity("Q1", P6=[term]))]
    for number, (date, reason) in enumerate(
        (("2022-03-01", ""), ("20220301", ""), ("2024-01-01", "ended"), ("", "ended"))
    ):
        job = job_in(tmp_path / str(number), known, wikidata={"date": date, "entities": "e.json"})
        assert reasons(judged(SingleStage(), job, fact("Q1", "P6", "Q5"))) == [reason]


def test_a_statement_of_a_merged_entity_agrees_with_the_fact(tmp_path: Path) -> None:
    job = job_in(tmp_path, [made(entity("Q1", P17=["Q20"])), made(entity("Q2"))], {"Q20": "Q2"})
    assert reasons(judged(SingleStage(), job, fact("Q1", "P17", "Q2"))) == [""]


def test_a_plan_may_leave_single_answers_out(tmp_path: Path) -> None:
    assert SingleStage().wanted(job_in(tmp_path / "1").plan)
    assert not SingleStage().wanted(job_in(tmp_path / "2", filter={"single": False}).plan)


def test_stages_write_what_they_kept_and_dropped(tmp_path: Path) -> None:
    job = job_in(tmp_path, [made(entity("Q1", P17=["Q2"])), made(entity("Q2"))])
    before = left_by(job, "link", fact("Q1", "P17", "Q2"), fact("Q1", "P17", "Q3"))
    here = job.work.stage("existence")
    assert ExistenceStage().run(job, here, before) == {"kept": 1, "dropped": {"object-missing": 1}}
    assert [one.object_names for one in reading(here.kept, Fact)] == [("label of Q2",)]
    assert [one.reason for one in reading(here.dropped, Drop)] == ["object-missing"]
