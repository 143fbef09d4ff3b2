"""Three views of an item, and who is shown which: models, people who label, and those who read results."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import leadline
from leadline.bench import Benchmark, Evidence, Item, load_benchmark
from leadline.bench.answer_form import AnswerForm
from leadline.bench.views import Key, LabellerView, ModelView, for_labeller, for_model, key_of

ROOM = Path(leadline.__file__).parent

# What is in no view: names that group items tell something of the answer, and a source is shown as a text.
HELD_BACK = {"category", "task", "subject", "source"}

# Commands that show labels and models' answers side by side. All of them need answers that were given before,
# so what they show can reach no model; and none is a step of labelling, annotating or of a reading.
AFTER_THE_FACT = {
    "run": "writes the report when all answers are there",
    "report": "labels, answers and evidence, to those who read a study",
    "demo": "runs and reports",
    "compare": "the items on which two configurations differ, with the label",
    "bundle": "what is published: readers check answers against labels",
    "verify": "names what does not agree in a bundle",
    "export answers": "a row an answer, with whether it is right",
    "export dataset": "with a study, its answers beside the items",
    "export inspect-log": "logs of answers that were given",
    "review flags": "with --blind it lists questions alone, which is what a reader is given",
    "review decisions": "what was decided, after a reading",
    "review score": "a second reading against the label, when the whole sheet is filled",
    "verdict": "counts of a registered prediction, when it is decided",
    "probe": "tokens of a prompt beside the gold answer that its user wrote into the file",
    "read": "how given texts are read, beside the gold answer that its user names",
}
# Commands for people who label, annotate or read: no model's answer before the label is given.
LABELLER = {
    "review pack": "questions and texts; neither labels nor answers (tests of the pack look for them)",
    "review serve": "label and annotate hold no answers; adjudicate reveals them after the reading",
    "review items": "makes items of what people labelled",
    "review decide": "writes down what was decided; it prints no model's answer",
}
# Commands that show labels and no model's answer.
LABELS = {
    "audit", "bench copy", "bench fetch-sources", "bench import", "bench list", "bench show",
    "bench validate", "export inspect-task", "export lm-eval-task", "repair",
}  # fmt: skip
# Commands that show neither, or no more than counts of either.
NEITHER = {
    "figures", "init", "prereg", "recover", "serve", "techniques fit", "techniques list", "techniques show",
    "import inspect", "import lm-eval", "import openai-batch", "import probity-release", "import table",
    "models check", "models get", "models info", "models list", "models remove",
}  # fmt: skip


def item(**changes: Any) -> Item:
    known = {
        "id": "x-1",
        "question": "What is the rate?",
        "window": "The rate is eight percent.",
        "answer": "8",
        "answer_type": "number",
        "unit": "percent",
        "precision": "0.1",
    }
    return Item.model_validate({**known, **changes})


OTHER_KEYS: dict[str, Any] = {
    "answer": "77.5",
    "aliases": ("78", "about 78"),
    "evidence": (Evidence(quote="rate is eight", source="b.txt"),),
    "source": "a.txt",
    "category": "high rates",
    "task": "rates of eight",
    "subject": "Eight",
}


@pytest.mark.parametrize("field", OTHER_KEYS)
def test_neither_a_model_nor_a_labeller_is_shown_what_tells_the_label(field: str) -> None:
    changed = item(**{field: OTHER_KEYS[field]})
    assert for_model(changed) == for_model(item())
    assert for_labeller(changed) == for_labeller(item())


@pytest.mark.parametrize("field", ["id", "prompt"])
def test_a_labeller_is_not_shown_an_items_name_nor_what_is_written_for_models(field: str) -> None:
    assert for_labeller(item(**{field: "{{ question }} (eight)"})) == for_labeller(item())


@pytest.mark.parametrize("field", ["question", "window", "unit", "precision", "answer_type", "locale"])
def test_a_labeller_is_shown_what_tells_how_to_answer(field: str) -> None:
    changes = {"answer_type": "text", "precision": "5", "locale": "de-DE"}
    changed = item(**{field: changes.get(field, "something else")})
    assert for_labeller(changed) != for_labeller(item())


def test_every_field_of_an_item_is_in_a_view_or_held_back() -> None:
    in_views = {field.name for view in (ModelView, LabellerView, Key) for field in fields(view)}
    assert set(Item.model_fields) == in_views | HELD_BACK
    key = {field.name for field in fields(Key)}
    shown = {field.name for view in (ModelView, LabellerView) for field in fields(view)}
    assert not key & shown
    assert set(AnswerForm.model_fields) < {field.name for field in fields(LabellerView)}


def test_no_view_holds_an_item_or_another_view() -> None:
    views = (ModelView, LabellerView, Key)
    for view in views:
        assert is_dataclass(view) and view.__dataclass_params__.frozen  # type: ignore[attr-defined]
        for hint in get_type_hints(view).values():
            assert not any(one.__name__ in str(hint) for one in (*views, Item, Benchmark)), hint


def test_the_views_of_a_real_benchmark_together_are_its_items() -> None:
    for one in load_benchmark("licences").items:
        key, shown, asked = key_of(one), for_labeller(one), for_model(one)
        assert (key.answer, key.aliases, key.evidence) == (one.answer, one.aliases, one.evidence)
        assert (shown.question, shown.window) == (asked.question, asked.window) == (one.question, one.window)
        if shown.choices:
            assert set(shown.choices) >= {one.answer}


@pytest.mark.parametrize(
    ("declared", "how"),
    [
        ({}, "a number in percent, to a precision of 0.1"),
        ({"unit": None, "precision": None}, "a number"),
        ({"unit": "day"}, "a number of days, to a precision of 0.1"),
        ({"unit": "mg/dL", "precision": None}, "a number in mg/dL"),
        ({"answer_type": "boolean"}, "yes or no"),
        ({"answer_type": "text"}, "a short text"),
        ({"answer_type": "enum"}, "a short text"),
        ({"answer_type": "enum", "vocabulary": {"MIT": ["Expat"], "ISC": []}}, "one of: MIT | ISC"),
        ({"answer_type": "date"}, "a date (YYYY-MM-DD is always read)"),
        (
            {"answer_type": "date", "date_order": "dmy"},
            "a date, written in the order d-m-y (YYYY-MM-DD is always read)",
        ),
        (
            {"answer_type": "parts", "fields": ({"name": "cap", "answer_type": "boolean"}, {"name": "sum"})},
            "each part as NAME: VALUE (cap: yes or no; sum: a short text)",
        ),
    ],
)  # fmt: skip
def test_how_to_answer_is_said_in_words(declared: dict[str, Any], how: str) -> None:
    assert for_labeller(item(**declared)).how == how


def commands() -> Iterator[str]:
    """All commands of the command line by their whole names, without those that build facts."""
    import typer

    from leadline.cli.app import app

    def below(group: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
        for name, command in group.commands.items():
            if hasattr(command, "commands"):
                yield from below(command, (*path, name))
            else:
                yield " ".join((*path, name))

    return (name for name in below(typer.main.get_command(app)) if not name.startswith("build "))


def test_of_every_command_it_is_known_whom_it_shows_what() -> None:
    known = [*AFTER_THE_FACT, *LABELLER, *LABELS, *NEITHER]
    assert len(known) == len(set(known))
    assert sorted(commands()) == sorted(known)


@pytest.mark.parametrize("name", ["pack", "pack_files", "pack_pages", "sheet", "annotating"])
def test_what_makes_blind_pages_touches_neither_key_nor_answers(name: str) -> None:
    tree = ast.parse((ROOM / "review" / f"{name}.py").read_text("utf-8"))
    touched = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not touched & {"aliases", "evidence", "valid_answers"}
    imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    # `study.judging` reads the reader's own answer by its type, and sees no other.
    imported.discard("leadline.study.judging")
    closed = ("leadline.study", "leadline.lenses", "leadline.report.study_report", "leadline.review.revealed")
    assert not [one for one in imported if one.startswith(closed)]
    taken = {
        alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert not taken & {"key_of", "Key", "open_study", "readings"}
