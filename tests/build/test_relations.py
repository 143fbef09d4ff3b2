"""Relations that make no short question are let go, by the packaged list or the user's."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from leadline.build.filters.relations import RelationsStage, uninformative
from leadline.build.plan import Plan
from leadline.build.progress import Quiet
from leadline.build.records import Drop, Fact
from leadline.build.stage import Job
from leadline.build.workspace import Workspace
from leadline.errors import UsageError
from leadline.workers.in_process import InProcess

REBEL = Path(__file__).parents[3] / "shared" / "data" / "build" / "rebel" / "sample.jsonl"


def _job(tmp_path: Path, **rules: object) -> Job:
    plan = Plan.model_validate(
        {
            "name": "small",
            "articles": {"jsonl": "articles.jsonl"},
            "extract": {"method": "distant"},
            "filter": rules,
        }
    )
    plan._file = tmp_path / "plan.yaml"
    return Job(plan, Workspace(tmp_path), InProcess(), Quiet())


def _fact(relation: str, relation_id: str | None) -> Fact:
    return Fact(
        id="f-1",
        article="1",
        title="Hot",
        subject="hot",
        relation=relation,
        object="cold",
        extractor="recorded",
        relation_id=relation_id,
    )


def _reasons(job: Job, *facts: Fact) -> list[str]:
    results = RelationsStage().judge(job, facts)
    return [one.detail if isinstance(one, Drop) else "kept" for one in results]


def test_opposite_of_is_let_go_and_the_drop_says_why(tmp_path: Path) -> None:
    said, other = _reasons(_job(tmp_path), _fact("opposite of", "P461"), _fact("capital", "P36"))
    assert said.startswith("P461 opposite of (") and other == "kept"


def test_a_relation_without_an_id_is_compared_by_its_label_and_one_with_an_id_is_not(tmp_path: Path) -> None:
    job = _job(tmp_path)
    assert _reasons(job, _fact(" Different From", None))[0].startswith("P1889")
    assert _reasons(job, _fact("different from", "P36")) == ["kept"]


def test_a_file_of_the_users_takes_the_packaged_lists_place(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("# mine\n\nP36 capital # everybody knows\nP17\n", "utf-8")
    job = _job(tmp_path, relations="mine.txt")
    facts = (_fact("capital", "P36"), _fact("country", "P17"), _fact("opposite of", "P461"))
    assert _reasons(job, *facts) == ["P36 capital (everybody knows)", "P17", "kept"]
    assert RelationsStage().inputs(job.plan) == (tmp_path / "mine.txt",)


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("P36\nopposite of\n", 2, "begins with the id"),
        ("P36\n\nP36 capital\n", 3, "twice"),
        ("Q36", 1, "Q36"),
    ],
)
def test_a_fault_in_the_users_file_is_named_with_its_line(
    tmp_path: Path, text: str, line: int, what: str
) -> None:
    file = tmp_path / "mine.txt"
    file.write_text(text, "utf-8")
    with pytest.raises(UsageError, match=what) as caught:
        uninformative(file)
    assert str(caught.value.where) == f"{file}:{line}"


def test_a_list_that_is_not_there_or_no_text_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        uninformative(tmp_path / "nowhere.txt")
    (tmp_path / "bytes.txt").write_bytes(b"P36 \xff")
    with pytest.raises(UsageError, match="UTF-8"):
        uninformative(tmp_path / "bytes.txt")


def test_every_relation_of_the_packaged_list_has_a_label_and_a_reason() -> None:
    listed = uninformative()
    assert {"P461", "P1889", "P460"} <= set(listed)
    assert all(one.label and one.why for one in listed.values())


def test_of_the_rebel_sample_a_tenth_goes() -> None:
    if not REBEL.exists():
        pytest.skip(f"needs {REBEL}")
    listed = uninformative()
    found: Counter[bool] = Counter()
    for line in REBEL.read_text("utf-8").splitlines():
        found.update(triple["predicate"]["uri"] in listed for triple in json.loads(line)["triples"])
    assert found == {True: 296, False: 2572}
