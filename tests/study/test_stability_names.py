"""A name in `stability` or `traits` that means nothing is refused; a configuration has one name."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from leadline.study.recording import record
from tests.study import stored
from tests.study.conftest import Leadline
from tests.study.small import change
from tests.study.test_members import answers
from tests.study.test_population import audit_of

# What stands in study.yaml, and what is said of it.
FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "a set of an unknown configuration": (
        {"stability": {"subsets": {"x": ["first", "secnd"]}}},
        "there is no configuration or model 'secnd' (did you mean 'second'?)",
    ),
    "a set of nothing": (
        {"stability": {"subsets": {"x": []}}},
        "stability.subsets.x: is empty (name at least one)",
    ),
    "a set called as all are": (
        {"stability": {"subsets": {"all configurations": ["first"]}}},
        "a set cannot be called 'all configurations'",
    ),
    "a run that is not there": (
        {"stability": {"equivalence": [["first", "thrid"]]}},
        "there is no configuration or model 'thrid'",
    ),
    "a run and itself": (
        {"stability": {"equivalence": [["first", "first"]]}},
        "equivalence: 'first' is compared with itself",
    ),
    "a run and itself by its label": (
        {"stability": {"equivalence": [["first", "The first"]]}, "traits": {"first": {"label": "The first"}}},
        "first and The first are the same configuration",
    ),
    "two runs twice": (
        {"stability": {"equivalence": [["first", "second"], ["second", "first"]]}},
        "equivalence: 'second' and 'first' stand there twice",
    ),
    "two runs twice by a label": (
        {
            "stability": {"equivalence": [["first", "second"], ["second", "The first"]]},
            "traits": {"first": {"label": "The first"}},
        },
        "second and The first stands there already, as first and second",
    ),
    "three runs": (
        {"stability": {"equivalence": [["first", "second", "third"]]}},
        "stability.equivalence: must be two configurations, such as [first-run, second-run], not a list of 3",
    ),
    "runs without pairs": (
        {"stability": {"equivalence": ["first", "second"]}},
        "stability.equivalence: must be two configurations, such as [first-run, second-run], not 'first'",
    ),
    "traits of nobody": (
        {"traits": {"frist": {"serving": "local"}}},
        "traits: there is no configuration or model 'frist' (did you mean 'first'?)",
    ),
    "another's name as label": (
        {"traits": {"first": {"label": "second"}}},
        "traits: the label 'second' of 'first' is what 'second' is called",
    ),
    "an asked configuration's label as label": (
        {"traits": {"first": {"label": "τ = 0.7"}}},
        "traits: the label 'τ = 0.7' of 'first' is what 'tau-0.7' is called",
    ),
    "one label twice": (
        {"traits": {"first": {"label": "It"}, "second": {"label": "It"}}},
        "traits: the label 'It' of 'first' is what 'second' is called",
    ),
    "the label of all": (
        {"traits": {"first": {"label": "all configurations"}}},
        "'all configurations' is what reports call all configurations together",
    ),
    "no label": ({"traits": {"first": {"label": ""}}}, "traits.first.label: is empty"),
    "an unknown trait": (
        {"traits": {"first": {"familie": "A"}}},
        "traits.first: unknown key 'familie' (did you mean 'family'?)",
    ),
    "an unknown key of stability": (
        {"stability": {"rarefy": 3, "bootstrap": 5}},
        "stability: unknown key 'bootstrap' (known keys: sameness, rarefy, top, subsets, contrasts, ",
    ),
    "an unknown key of a group": (
        {"stability": {"contrasts": [{"name": "x", "of": {"task": ["a"]}, "against": "others"}]}},
        "stability.contrasts.of: unknown key 'task' (did you mean 'tasks'?)",
    ),
    "one number twice": ({"stability": {"top": [3, 3]}}, "top: 3 stands there twice"),
    "one configuration twice in a set": (
        {"stability": {"subsets": {"x": ["first", "second", "first"]}}},
        "subsets: 'first' stands there twice",
    ),
    "one configuration twice in a set, by its label": (
        {
            "stability": {"subsets": {"x": ["first", "second", "The first"]}},
            "traits": {"first": {"label": "The first"}},
        },
        "subsets: 'first' and 'The first' are the same configuration",
    ),
    "a set of one configuration": (
        {"stability": {"subsets": {"x": ["first"]}}},
        "subsets: 'x' holds one configuration",
    ),
    "one category twice": (
        {
            "stability": {
                "contrasts": [{"name": "x", "of": {"categories": ["odd", "odd"]}, "against": "others"}]
            }
        },
        "categories: 'odd' stands there twice",
    ),
    "one item left out twice": (
        {"exclude": {"items": ["i00", "i00"]}},
        "exclude.items: 'i00' stands there twice",
    ),
    "a group of nothing": (
        {"stability": {"contrasts": [{"name": "x", "of": {}, "against": {"categories": ["odd"]}}]}},
        "stability.contrasts.of: is empty: name its items by audit, stated, categories",
    ),
    "a second group of nothing": (
        {"stability": {"contrasts": [{"name": "x", "of": {"categories": ["odd"]}, "against": {}}]}},
        "stability.contrasts.against: is empty: name its items, or write others",
    ),
    "a group of no categories": (
        {"stability": {"contrasts": [{"name": "x", "of": {"categories": []}, "against": "others"}]}},
        "stability.contrasts.of.categories: is empty (name at least one)",
    ),
    "a group that nothing is in": (
        {
            "stability": {
                "contrasts": [
                    {"name": "x", "of": {"categories": "odd", "items": ["i00"]}, "against": "others"}
                ]
            }
        },
        "contrast 'x': no item meets all of the conditions of of",
    ),
    "a group and itself": (
        {
            "stability": {
                "contrasts": [{"name": "x", "of": {"categories": "odd"}, "against": {"categories": "odd"}}]
            }
        },
        "contrast 'x': both groups are the same items",
    ),
    "a group and a part of it": (
        {
            "stability": {
                "contrasts": [{"name": "x", "of": {"categories": "odd"}, "against": {"items": ["i01"]}}]
            }
        },
        "contrast 'x': every item of against is also in of",
    ),
    "an audit that is not there": ({"audit": "nope.json"}, "audit nope.json: no audit here"),
    "an audit to exclude by that is none": (
        {"exclude": {"audit": "items.jsonl"}},
        "audit items.jsonl:2: not an audit: no JSON",
    ),
    "a model's label": (
        {"traits": {"hosted": {"label": "Hosted"}}},
        "traits: 'hosted' is a model, and labels are for configurations",
    ),
}
# One side of a contrast, and what is said of it.
GROUPS: dict[str, tuple[dict[str, Any], str]] = {
    "category": ({"categories": ["evne"]}, "has no category 'evne' (did you mean 'even'?)"),
    "task": ({"tasks": ["any"]}, "has no task 'any' (there are none)"),
    "answer type": ({"answer_types": ["txt"]}, "has no item of type 'txt' (did you mean 'text'?)"),
    "item": ({"items": ["i00", "i99"]}, "has no item 'i99' (one of: i00, i01"),
    "verdict": ({"audit": ["flaged"]}, "an audit has no verdict 'flaged' (did you mean 'flagged'?)"),
}


@pytest.fixture
def recorded(study: Path) -> Path:
    """A study that also holds two recorded configurations."""
    for name in ("first", "second"):
        record(study, "hosted", name, {}, answers("e"))
    return study


def line_of(study: Path, fault: str) -> str:
    """The line of study.yaml that a fault names."""
    found = re.match(rf"error: {re.escape(str(study))}/study\.yaml:(\d+): ", fault)
    assert found, fault
    return (study / "study.yaml").read_text("utf-8").splitlines()[int(found[1]) - 1]


@pytest.mark.parametrize("case", FAULTS)
def test_a_name_that_means_nothing_is_refused_with_its_line(
    recorded: Path, leadline: Leadline, case: str
) -> None:
    changes, said = FAULTS[case]
    change(recorded, **changes)
    fault = leadline("report", recorded).fault
    assert said in fault and "\n" not in fault
    assert line_of(recorded, fault).strip() not in ("", "stability:", "traits:"), fault


@pytest.mark.parametrize("case", GROUPS)
@pytest.mark.parametrize("side", ["of", "against"])
def test_a_group_of_items_that_do_not_exist_is_refused(
    study: Path, leadline: Leadline, case: str, side: str
) -> None:
    group, said = GROUPS[case]
    contrast = {"name": "a", "of": {"categories": ["even"]}, "against": "others"} | {side: group}
    change(study, stability={"contrasts": [contrast]})
    for command in ("report", "run"):
        fault = leadline(command, study).fault
        assert "contrast 'a': " in fault and said in fault
    assert next(iter(group.values()))[-1] in line_of(study, fault)


def test_two_contrasts_have_two_names(study: Path, leadline: Leadline) -> None:
    one, other = (
        {"name": "b", "of": {"categories": [word]}, "against": "others"} for word in ("even", "odd")
    )
    change(study, stability={"contrasts": [one, other]})
    assert "two contrasts are called 'b': give one of them another name" in leadline("report", study).fault


def test_groups_of_an_audit_need_one(study: Path, leadline: Leadline) -> None:
    sides = {"of": {"audit": ["flagged"]}, "against": {"audit": ["clean"]}}
    change(study, stability={"contrasts": [{"name": "a", **sides}]})
    fault = leadline("report", study).fault
    assert "contrast 'a': its items are grouped by an audit, and there is none" in fault
    assert "audit:" in line_of(study, fault)
    assert leadline("report", study, "--audit", audit_of(study), "--exclude", "none").code == 0
    assert stored.table(stored.findings(study), "contrast", "chosen")


def test_names_of_all_kinds_are_found(recorded: Path, leadline: Leadline) -> None:
    change(
        recorded,
        stability={
            "subsets": {
                "x": ["The first", "second", "hosted", "tiny"],
                "y": ["hosted · second", "tiny · τ = 0.7"],
            },
            "equivalence": [["The first", "second"], ["tau-0.7", "tau-1.2"]],
        },
        traits={"first": {"label": "The first"}, "hosted": {"serving": "routed"}, "tau-0.7": {"family": "f"}},
    )
    assert leadline("report", recorded).code == 0


def test_a_label_is_what_every_table_and_sentence_says(recorded: Path, leadline: Leadline) -> None:
    change(
        recorded,
        models=[],
        sampling={"temperatures": [0.5]},
        techniques=[],
        baseline="first",
        traits={"first": {"label": "Plain one"}, "second": {"label": "Other one"}},
    )
    assert leadline("report", recorded).code == 0
    page = (recorded / "report" / "report.html").read_text("utf-8")
    tables = (recorded / "report" / "tables.md").read_text("utf-8")
    findings = json.loads((recorded / "report" / "findings.json").read_text("utf-8"))
    said = [claim["text"] for one in findings["findings"] for claim in one["claims"]]
    assert "Plain one" in tables and "Other one" in tables and any("Other one" in text for text in said)
    assert not re.search(r"\b(first|second) (answers|recovers|breaks|is right)", "\n".join(said))
    assert "| second |" not in tables and "| first |" not in tables
    assert '"label":"Plain one"' in page and "baseline Plain one" in page
