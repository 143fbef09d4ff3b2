"""What is taken off a response before it is read, and what is left alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.answers.peel import peel


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        # reasoning
        ("<think>It is Rome?</think>Paris", "Paris"),
        ("<THINK>\nIt is Rome?\n</THINK>\n\nParis\n", "Paris"),
        ("It is Rome?</think>Paris", "Paris"),  # templates that open the block in the prompt
        ("Paris<think>or Rome", "Paris"),
        ("◁think▷Rome?◁/think▷Paris", "Paris"),
        ("[THINK]Rome?[/THINK]Paris", "Paris"),
        ("<|channel|>analysis<|message|>Rome?<|end|><|channel|>final<|message|>Paris<|return|>", "Paris"),
        ("analysisIs it Rome?assistantfinalParis", "Paris"),
        ("analysis shows Paris", "analysis shows Paris"),
        ("Paris <think>or Rome</think>", "Paris"),
        ("<think>a</think>Paris<think>but", "Paris"),
        # fences and JSON
        ("```\nParis\n```", "Paris"),
        ("```text\nParis", "Paris"),
        ("```Paris```", "Paris"),
        ('{"answer": "Paris"}', "Paris"),
        ('{"reasoning": "big city", "final_answer": "Paris", "answer": "Rome"}', "Paris"),
        ('```json\n{"answer": ["Paris"]}\n```', "Paris"),
        ('Here you are:\n{"Answer": "Paris"}', "Paris"),
        ('{"answer": 1969}', "1969"),
        ('{"answer": true}', "true"),
        ('{"answer": "Pa\\u0072is"}', "Paris"),
        ('{"answer": "Paris', "Paris"),  # cut off
        ("{'answer': 'Paris'}", "Paris"),  # Python's
        ('{"answer": "Paris",}', "Paris"),
        ('{"answer": "Paris"} {"answer": "Lyon"}', '{"answer": "Paris"} {"answer": "Lyon"}'),  # two answers
        ('{"city": "Paris"}', '{"city": "Paris"}'),
        # lead-ins and self-asked questions
        ("A: Paris", "Paris"),
        ("Answer: Paris", "Paris"),
        ("**Answer:** Paris", "Paris"),
        ("**Answer**: Paris", "Paris"),
        ("The answer is Paris.", "Paris."),
        ("The correct answer is: Paris", "Paris"),
        ("France is in Europe.\nIts capital is old.\nFinal answer: Paris", "Paris"),
        ("Answer: Rome? No.\nFinal answer: Paris", "Paris"),
        ("Paris\n\nQ: Capital of Spain?\nA: Madrid", "Paris"),
        ("Paris\nQuestion: Capital of Spain?\nAnswer: Madrid", "Paris"),
        ("Sure! Here is the answer:\n\nParis", "Paris"),
        ("Paris\nIt lies on the Seine.", "Paris"),
        ("Paris<|im_end|>\n<|im_start|>user", "Paris"),
        # markup and quotes
        ("- **Paris**", "Paris"),
        ("## Paris", "Paris"),
        ("> “Paris”", "Paris"),
        ("*'Paris'*.", "Paris"),
        ("`Paris`", "Paris"),
        ("$\\boxed{\\text{Paris}}$", "Paris"),
        ('"Hamlet" is by "Shakespeare"', '"Hamlet" is by "Shakespeare"'),
        # not lead-ins
        ("A Clockwork Orange", "A Clockwork Orange"),
        ("Answered Prayers", "Answered Prayers"),
        ("1. FC Köln", "1. FC Köln"),
        ("-40", "-40"),
        ("*", "*"),
    ],
)
def test_peel(raw: str, expected: str) -> None:
    assert peel(raw).text == expected


def test_reasoning_that_never_ends_holds_no_answer() -> None:
    assert peel("<think>Paris, or").text == ""
    assert peel("<think>Paris, or").reason == "the reasoning never ends"


@given(st.from_regex(r"[A-Z][a-z]{2,8}( [A-Z][a-z]{2,8}){0,3}", fullmatch=True))
def test_a_bare_name_is_left_as_it_is(name: str) -> None:
    assert peel(name).text == name
    assert peel(f"**{name}**").text == name
    assert peel(f"<think>{name} or not</think>\n{name}\n").text == name
