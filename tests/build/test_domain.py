"""Which domain a page is of, by what Wikidata says that it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.build.filters.domain import DomainStage
from leadline.build.records import Drop, Fact
from leadline.build.wikidata.domains import MOST_STEPS, read_domains
from leadline.build.wikidata.entity import Entity, is_entity_id
from leadline.errors import UsageError
from tests.build.entity_work import (
    entity,
    fact,
    job_in,
    judged,
    made,
    needs_wikidata,
    plan_in,
    real,
    statement,
)


def test_the_packaged_table_has_ten_domains_with_a_scope_and_well_formed_ids() -> None:
    table = read_domains()
    assert len(table.names) == 10
    assert all(len(table.scopes[name]) > 20 for name in table.names)
    rules = [rule for rules in table.rules.values() for rule in rules.values()]
    assert all(is_entity_id(rule.id) and rule.id.startswith("Q") and rule.name for rule in rules)
    assert {rule.domain for rule in rules} == set(table.names)
    assert len(rules) > 300


# The real entities at hand, and what a reader would say that they are. No class above another is held.
REAL = [
    ("Q58978", "science", "P106 Q169470 physicist"),  # Max Born: physicist, university teacher and so on
    ("Q42", "literature", "P106 Q214917 playwright"),  # six occupations of his seven are in the table
    ("Q58921", "science", "P31 Q16521 taxon"),  # Temminck's Stint
    ("Q58942", "geography", "P31 Q55488 railway station"),
    ("Q58984", "geography", "P31 Q31615 cove"),
    ("Q58992", "geography", "P31 Q39594 bay"),
    ("Q59064", "sports", "P106 Q937857 association football player"),
    ("Q59055", "film and media", "P31 Q1110794 daily newspaper"),  # a newspaper twice, and a company
    ("Q59038", "politics", "P31 Q15221623 bilateral relation"),
    ("Q59054", "literature", None),  # Boris Strugatsky: writer and astronomer
    ("Q2112", "geography", "P31 Q1549591 big city"),
    ("Q4132785", "literature", "P31 Q571 book"),
    ("Q328212", "literature", "P106 Q36180 writer"),
    ("Q59047", None, None),  # ristretto is an instance of nothing
    ("Q217447", None, None),  # a mill: factories are in no domain
]


@needs_wikidata
@pytest.mark.parametrize(("name", "domain", "rule"), REAL)
def test_real_entities_are_of_the_domain_that_a_reader_would_name(
    name: str, domain: str | None, rule: str | None
) -> None:
    decision = read_domains().decide(real(name), lambda _: ())
    assert (decision and decision.rule.domain) == domain
    if rule is not None:
        assert str(decision) == rule


TABLE = """
domains:
  - name: places
    classes: {Q1: place, Q2: town}
  - name: arts
    classes: {Q3: painting}
    occupations: {Q30: painter}
  - name: science
    occupations: {Q31: chemist}
"""


def _decide(folder: Path, said: Entity, **above: list[str]) -> str | None:
    path = folder / "domains.yaml"
    path.write_text(TABLE, encoding="utf-8")
    decision = read_domains(path).decide(said, lambda one: above.get(one, ()))
    return None if decision is None else f"{decision.rule.domain}: {decision}"


def test_the_rule_with_the_fewest_steps_decides(tmp_path: Path) -> None:
    near = made(entity("Q9", P31=["Q50", "Q60"]))
    above = {"Q50": ["Q51"], "Q51": ["Q1"], "Q60": ["Q3", "Q4"]}
    assert _decide(tmp_path, near, **above) == "arts: P31 Q3 painting, 1 above Q60"


def test_of_rules_equally_near_the_domain_that_most_classes_name_decides_then_the_tables_order(
    tmp_path: Path,
) -> None:
    assert _decide(tmp_path, made(entity("Q9", P31=["Q3", "Q1"]))) == "places: P31 Q1 place"
    votes = {"Q50": ["Q3"], "Q60": ["Q3"], "Q70": ["Q1"]}
    several = made(entity("Q9", P31=["Q70", "Q50", "Q60"]))
    assert _decide(tmp_path, several, **votes) == "arts: P31 Q3 painting, 1 above Q50"


def test_a_human_is_what_it_does_and_not_where_it_is_listed(tmp_path: Path) -> None:
    person = made(entity("Q9", P31=["Q5", "Q1"], P106=["Q31", "Q30", "Q99"]))
    assert _decide(tmp_path, person, Q99=["Q31"]) == "arts: P106 Q30 painter"
    assert _decide(tmp_path, made(entity("Q9", P31=["Q5"], P106=["Q99"]))) is None
    # What is no human may have an occupation of its own: it does not count.
    assert _decide(tmp_path, made(entity("Q9", P31=["Q2"], P106=["Q30"]))) == "places: P31 Q2 town"


def test_deprecated_classes_do_not_count_and_preferred_ones_come_alone(tmp_path: Path) -> None:
    ranked = made(entity("Q9", P31=[statement("Q1", "deprecated"), "Q1", statement("Q3", "preferred")]))
    assert _decide(tmp_path, ranked) == "arts: P31 Q3 painting"


def test_classes_that_are_above_each_other_in_a_circle_end(tmp_path: Path) -> None:
    assert _decide(tmp_path, made(entity("Q9", P31=["Q50"])), Q50=["Q51"], Q51=["Q50"]) is None


def test_a_class_too_far_above_says_nothing(tmp_path: Path) -> None:
    chain = {f"Q{100 + step}": [f"Q{101 + step}"] for step in range(MOST_STEPS)}
    chain[f"Q{100 + MOST_STEPS - 1}"] = ["Q1"]
    assert _decide(tmp_path, made(entity("Q9", P31=["Q100"])), **chain) is not None
    further = {**chain, "Q99": ["Q100"]}
    assert _decide(tmp_path, made(entity("Q9", P31=["Q99"])), **further) is None


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("domains: []", ":1: domains"),
        ("domains:\n  - name: a\n    classes: {P31: x}", ":3: a class is the id of an item, not 'P31'"),
        (
            "domains:\n  - name: a\n    classes: {Q1: x}\n  - name: b\n    classes:\n      Q1: x",
            ":6: Q1 is in",
        ),
        ("domains:\n  - name: a\n  - name: a", ":3: 'a' stands there twice"),
        ("domains:\n  - name: a\n    clases: {}", ":3: domains.0.clases"),
        ("domains: [\n", "domains.yaml:"),
        ("3", "domains.yaml:1"),
    ],
)
def test_a_mistake_in_a_table_is_told_with_its_line(table: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "domains.yaml"
    path.write_text(table, encoding="utf-8")
    with pytest.raises(UsageError) as error:
        read_domains(path)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@given(st.permutations(["Q1", "Q2", "Q3", "Q50"]), st.integers(1, 4))
def test_the_domain_does_not_depend_on_the_order_of_classes(order: list[str], number: int) -> None:
    chosen = sorted(order)[:number]
    table = read_domains()
    fields = ["Q11424", "Q5", "Q515", "Q8261"][:number]
    one = table.decide(
        made(entity("Q9", P31=[fields[sorted(order).index(name)] for name in chosen])), lambda _: ()
    )
    shuffled = [name for name in order if name in chosen]
    other = table.decide(
        made(entity("Q9", P31=[fields[sorted(order).index(name)] for name in shuffled])), lambda _: ()
    )
    assert (one and one.rule.domain) == (other and other.rule.domain)


# The stage


def _stage(folder: Path, *facts: Fact, **domain: Any) -> list[Fact | Drop]:
    entities = [
        made(entity("Q10", P31=["Q515"])),
        made(entity("Q11", P31=["Q700"])),
        made(entity("Q700", P279=["Q11424"])),
        made(entity("Q12")),
        made(entity("Q13", P31=["Q701"])),
    ]
    job = job_in(folder, entities, filter={"domain": domain})
    return judged(DomainStage(), job, *facts)


def test_the_page_decides_and_not_the_subject_and_the_rule_is_recorded(tmp_path: Path) -> None:
    one, other, without = _stage(
        tmp_path,
        fact("Q10", "P1", "Q2", article_id="Q11"),
        fact("Q11", "P1", "Q2", article_id="Q10"),
        fact("Q10", "P1", "Q2"),
    )
    assert isinstance(one, Fact)
    assert (one.domain, one.domain_rule) == ("film and media", "P31 Q11424 film, 1 above Q700")
    assert isinstance(other, Fact)
    assert (other.domain, other.domain_rule) == ("geography", "P31 Q515 city")
    assert isinstance(without, Fact)
    assert without.domain == "geography"


def test_pages_of_no_domain_are_dropped_with_what_they_are_or_kept_if_asked_for(tmp_path: Path) -> None:
    facts = (fact("Q12", "P1", "Q2"), fact("Q13", "P1", "Q2"), fact("Q99", "P1", "Q2"))
    dropped = [(one.reason, one.detail) for one in _stage(tmp_path, *facts) if isinstance(one, Drop)]
    assert dropped == [("no-class", "Q12"), ("unmapped", "Q701"), ("no-class", "Q99")]
    assert _stage(tmp_path, *facts, unmapped="keep") == list(facts)


def test_a_table_of_ones_own_takes_the_place_of_the_packaged_one(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(
        "domains:\n  - name: mine\n    classes: {Q701: x}\n", encoding="utf-8"
    )
    (found,) = _stage(tmp_path, fact("Q13", "P1", "Q2"), table="mine.yaml")
    assert isinstance(found, Fact)
    assert found.domain == "mine"
    plan = plan_in(tmp_path, filter={"domain": {"table": "mine.yaml"}})
    assert DomainStage().inputs(plan) == (tmp_path / "mine.yaml",)
    with pytest.raises(UsageError, match=r"filter.domain.table: no file is called other.yaml"):
        DomainStage().inputs(plan_in(tmp_path, filter={"domain": {"table": "other.yaml"}}))


def test_a_plan_without_domains_leaves_them_out(tmp_path: Path) -> None:
    assert not DomainStage().wanted(plan_in(tmp_path, filter={"domain": None}))
    assert DomainStage().wanted(plan_in(tmp_path))
