"""Each rule finds what it is for, and leaves sound facts alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from leadline.bench import bundled_names
from leadline.bench.validate import rules_for, validate
from tests.bench.folders import FACTS_HEADER, HEADER, fact, folder


def found(
    path: Path, items: list[dict[str, object]], header: str = FACTS_HEADER
) -> list[tuple[str, str, str]]:
    """(rule, severity, place) of every problem."""
    folder(path, items, header)
    return [(p.rule, p.severity, p.where.rpartition("items.jsonl")[2]) for p in validate(path)[1]]


def test_sound_facts_have_no_problem(tmp_path: Path) -> None:
    assert found(tmp_path, [fact("a"), fact("b")]) == []


HIDDEN = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029"


@pytest.mark.parametrize(
    ("rule", "severity", "changes"),
    [
        ("parts-present", "error", {"subject": None}),
        ("parts-present", "error", {"relation": None}),
        ("parts-present", "error", {"domain": ""}),
        ("asked-once", "error", {"subject": "LAND-Á", "question": "Of Land A, which is the capital?"}),
        ("no-lexical-overlap", "error", {"subject": "Mexico", "answer": "Ciudad de México"}),
        ("no-lexical-overlap", "error", {"subject": "Darwinism", "answer": "Charles Darwin"}),
        ("answer-not-in-question", "error", {"question": "Is Paris the capital of Land b?"}),
        ("answer-not-in-question", "error", {"question": "Which city of light is the capital?"}),
        ("answers-have-letters", "error", {"aliases": ["?!"]}),
        ("aliases-differ", "error", {"aliases": ["PARÍS"]}),
        ("aliases-differ", "error", {"aliases": ["U.K.", "UK"], "answer": "Britain"}),
        ("one-answer", "error", {"question": "What is the capital of Land a?", "answer": "Rome"}),
        ("answers-not-short", "warning", {"answer": "Au"}),
        ("no-control-characters", "error", {"question": "Which\0 city?"}),
        ("no-control-characters", "error", {"answer": "Rome\x1b[2J"}),
        ("no-control-characters", "error", {"aliases": ["Ro\x0bma"]}),
        *(("no-hidden-signs", "warning", {"question": f"Which{sign} city?"}) for sign in HIDDEN),
        ("no-hidden-signs", "warning", {"aliases": ["\u202eamoR"]}),
        ("questions-ask", "warning", {"question": "Name the capital of Land b."}),
    ],
)
def test_a_rule_finds_its_breach_on_its_line(
    tmp_path: Path, rule: str, severity: str, changes: dict[str, object]
) -> None:
    problems = found(tmp_path, [fact("a"), fact("b", **changes)])
    assert (rule, severity, ":2") in problems


def test_tabs_and_line_ends_are_text(tmp_path: Path) -> None:
    question = "Which city?\r\n\tA) Rome\n\tB) Paris"
    assert found(tmp_path, [fact("a"), fact("b", question=question, answer="Tirana")]) == []


def test_a_faulty_item_is_not_held_against_the_others(tmp_path: Path) -> None:
    """Two items of which one is broken are not "only one item", and shares of what is left mean nothing."""
    assert found(tmp_path / "two", [fact("a"), fact("b", answer=None)]) == [("format", "error", ":2")]
    relation = {"relation": "capital"}
    many = [fact(f"a{n}", subject=f"Land {n}", question=f"What is {n}?", **relation) for n in range(100)]
    assert ("no-relation-dominates", "error", "") in found(tmp_path / "whole", many)
    broken = [*many, fact("x", answer=None)]
    assert [rule for rule, _, _ in found(tmp_path / "broken", broken)] == ["format"]


def test_answer_types_without_a_reader_are_named_once(tmp_path: Path) -> None:
    items = [fact("a"), *(fact(f"n{at}", subject=f"S{at}", answer_type="number") for at in range(3))]
    path = folder(tmp_path, items, HEADER)
    (problem,) = [one for one in validate(path, ("text", "date"))[1] if one.rule == "answers-readable"]
    assert (problem.severity, problem.where.rpartition(":")[2]) == ("warning", "2")
    assert problem.message.startswith("answers of type 'number' cannot be read yet (3 items)")
    assert problem.fix == "types that can be read: date, text"
    assert not [one for one in validate(path, ("text", "number"))[1] if one.rule == "answers-readable"]


@pytest.mark.parametrize(
    ("subject", "answer"),
    [
        ("The Beatles", "The Cavern"),  # a function word
        ("Mars", "Marseille"),  # too short to be a stem
        ("Louis XIV of France", "Versailles of the kings"),
        ("Japan", "Tokyo"),
    ],
)
def test_words_shared_by_chance_are_no_overlap(tmp_path: Path, subject: str, answer: str) -> None:
    question = "Which place is meant here?"
    problems = found(tmp_path, [fact("a"), fact("b", subject=subject, answer=answer, question=question)])
    assert problems == []


def test_an_answer_inside_of_a_longer_word_of_the_question_is_allowed(tmp_path: Path) -> None:
    assert found(tmp_path, [fact("a"), fact("b", question="Which Parisian city is meant?")]) == []


def test_no_relation_dominates_a_large_set(tmp_path: Path) -> None:
    items = [fact(str(n), relation=f"r{n % 20}" if n >= 9 else "capital") for n in range(100)]
    assert found(tmp_path, items) == [("no-relation-dominates", "error", "")]
    assert found(tmp_path, [*items[:8], *items[9:], fact("z", relation="r0", subject="Z")]) == []
    assert found(tmp_path, items[:99]) == []  # shares of fewer items say nothing


def test_a_single_item_is_not_enough(tmp_path: Path) -> None:
    assert found(tmp_path, [fact("a")]) == [("enough-items", "error", "")]


def test_general_benchmarks_are_free_of_the_rules_for_facts(tmp_path: Path) -> None:
    items = [fact("a", subject=None), fact("b", question="Is Paris the capital?")]
    assert found(tmp_path, items, HEADER) == []


def test_the_same_question_about_two_windows_may_have_two_answers(tmp_path: Path) -> None:
    same = {"question": "What is the capital?", "subject": None}
    items = [fact("a", window="W1", **same), fact("b", window="W2", answer="Rome", **same)]
    assert found(tmp_path, items, HEADER) == []


def test_problems_come_in_the_order_of_the_lines(tmp_path: Path) -> None:
    items = [
        fact("a", question="x"),
        fact("b", answer=None),
        fact("c", subject=None, question="y"),
        fact("d"),
    ]
    places = [place for _, _, place in found(tmp_path, items)]
    assert places == [":1", ":2", ":3", ":3"]


def test_rules_have_names_of_their_own() -> None:
    names = [rule.name for rule in rules_for("facts")]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", bundled_names())
def test_bundled_benchmarks_keep_all_the_rules(name: str) -> None:
    errors = [problem.line() for problem in validate(name)[1] if problem.severity == "error"]
    assert errors == []
