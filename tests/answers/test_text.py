"""Reading text answers: the two correctness rules on answers as models write them, and what always holds."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.answers import State, read_answer
from leadline.bench import Item
from leadline.bench.folding import normalise

CAPITAL = Item(id="fr", question="What is the capital of France?", answer="Paris", aliases=("City of Light",))
OTTAWA = Item(id="ca", question="What is the capital of Canada?", answer="Ottawa")
HAMLET = Item(id="h", question="Who wrote Hamlet?", answer="William Shakespeare", aliases=("Shakespeare",))
MOON = Item(id="m", question="In which year did people first walk on the Moon?", answer="1969")
IRAN = Item(id="i", question="Where is the city of Shiraz?", answer="Iran")
FLUTE = Item(
    id="f", question="Who composed The Magic Flute?", answer="Wolfgang Amadeus Mozart", aliases=("Mozart",)
)
STATES = Item(
    id="us", question="In which country is Boston?", answer="United States", aliases=("U.S.", "USA")
)
MOVIE = Item(id="nc", question="Which film won Best Picture in 2008?", answer="No Country for Old Men")
SYMPHONY = Item(
    id="s", question="Which symphony has the Ode to Joy?", answer="Symphony No. 9", aliases=("9",)
)
CITY = Item(
    id="pe", question="What was Istanbul called in 1000?", answer="Constantinople", aliases=("Byzantium",)
)
TOKYO = Item(id="jp", question="日本の首都はどこですか?", answer="東京")
GARFUNKEL = Item(
    id="sg", question="Who sang The Boxer?", answer="Simon & Garfunkel", aliases=("Simon and Garfunkel",)
)

RIVER = Item(id="ri", question="Which river flows through Warsaw?", answer="Vistula")
CHANCELLOR = Item(id="ch", question="Who was the Chancellor of West Germany in 1971?", answer="Willy Brandt")
WARSAW = Item(id="wa", question="In which city is the Warsaw office?", answer="Warsaw")
GLAND = Item(id="gl", question="Which gland produces growth hormone?", answer="pituitary gland")
GAMES = Item(id="ga", question="Which city hosted the 1984 Winter Olympics?", answer="Sarajevo")

BOTH, MAPLE_ONLY, NEITHER = (True, True), (True, False), (False, False)

ANSWERS = [
    # plain, and wrapped
    (CAPITAL, "Paris", BOTH),
    (CAPITAL, " paris.", BOTH),
    (CAPITAL, "**Paris**", BOTH),
    (CAPITAL, "- Paris", BOTH),
    (CAPITAL, 'Answer: "Paris"', BOTH),
    (CAPITAL, "The capital of France is Paris.", BOTH),
    (CAPITAL, "The capital of France is **Paris**, on the Seine.", BOTH),
    (CAPITAL, "London", NEITHER),
    (CAPITAL, "It's the city of Paris", BOTH),
    # a name and what it belongs to is one candidate
    (CAPITAL, "Paris, France", BOTH),
    (CAPITAL, "Paris (France)", BOTH),
    (OTTAWA, "Ottawa, Ontario, Canada", BOTH),
    (HAMLET, "William Shakespeare, the English playwright", BOTH),
    (HAMLET, "William Shakespeare, an English playwright, poet, and actor", BOTH),
    (HAMLET, "Shakespeare wrote Hamlet between 1599 and 1601.", BOTH),
    (HAMLET, "Hamlet was written by William Shakespeare and first performed around 1600.", BOTH),
    (FLUTE, "Wolfgang Amadeus Mozart, who also composed Don Giovanni and Figaro", BOTH),
    (FLUTE, "W. A. Mozart", BOTH),
    (FLUTE, "Mozart and his librettist", BOTH),
    (GARFUNKEL, "Simon and Garfunkel", BOTH),
    # inside of another word
    (CAPITAL, "Parisian cafés", MAPLE_ONLY),
    (IRAN, "It is an Iranian city", MAPLE_ONLY),
    (IRAN, "Iran", BOTH),
    (MOON, "1969", BOTH),
    (MOON, "July 20, 1969", BOTH),
    (MOON, "in 1969.", BOTH),
    (MOON, "19690", MAPLE_ONLY),
    (MOON, "the 1969s", MAPLE_ONLY),
    (MOON, "1,969", BOTH),
    (STATES, "The US", BOTH),
    (STATES, "U.S.A.", BOTH),
    (STATES, "Russia", MAPLE_ONLY),  # r-us-sia
    # denied
    (CAPITAL, "not Paris", MAPLE_ONLY),
    (CAPITAL, "It isn't Paris.", MAPLE_ONLY),
    (CAPITAL, "It isn’t Paris.", MAPLE_ONLY),
    (CAPITAL, "It is not the city of Paris", MAPLE_ONLY),
    (CAPITAL, "Paris is not the capital", MAPLE_ONLY),
    (CAPITAL, "London, not Paris", MAPLE_ONLY),
    (CAPITAL, "London rather than Paris", MAPLE_ONLY),
    (CAPITAL, "Paris, not London", BOTH),
    (CAPITAL, "Not London but Paris", BOTH),
    (CAPITAL, "No, it is Paris", BOTH),
    (MOON, "not until 1969", BOTH),
    (MOVIE, "No Country for Old Men", BOTH),
    (SYMPHONY, "Symphony no 9", BOTH),
    # several candidates
    (CAPITAL, "Paris or London", MAPLE_ONLY),
    (CAPITAL, "London or Paris", MAPLE_ONLY),
    (CAPITAL, "either Paris or Lyon", MAPLE_ONLY),
    (CAPITAL, "Lyon, or maybe Paris", MAPLE_ONLY),
    (CAPITAL, "Paris/London", MAPLE_ONLY),
    (CAPITAL, "Lyon / Paris", MAPLE_ONLY),
    (CAPITAL, "Paris, London, Rome", MAPLE_ONLY),
    (CAPITAL, "London, Paris and Rome", MAPLE_ONLY),
    (CAPITAL, "paris and london", MAPLE_ONLY),
    (CAPITAL, "Paris & London", MAPLE_ONLY),
    (HAMLET, "William Shakespeare or Christopher Marlowe", MAPLE_ONLY),
    (HAMLET, "Christopher Marlowe or William Shakespeare", MAPLE_ONLY),
    (MOON, "1968 or 1969", MAPLE_ONLY),
    (MOON, "1969 or so", BOTH),
    (CITY, "Constantinople or Byzantium", BOTH),
    (CITY, "Constantinople (Byzantium)", BOTH),
    (CAPITAL, "Paris, or the City of Light", BOTH),
    # other spellings and scripts
    (CAPITAL, "PARÍS", BOTH),
    (CAPITAL, "Ｐａｒｉｓ", BOTH),
    (TOKYO, "日本の首都は東京です。", BOTH),
    (TOKYO, "大阪", NEITHER),
]


@pytest.mark.parametrize(("item", "raw", "expected"), ANSWERS, ids=[raw for _, raw, _ in ANSWERS])
def test_both_rules_judge_real_looking_answers(item: Item, raw: str, expected: tuple[bool, bool]) -> None:
    reading = read_answer(item, raw)
    assert reading.state is State.OK
    assert (reading.correct, reading.correct_strict) == expected


@pytest.mark.parametrize(
    ("item", "raw", "value", "leads"),
    [
        (CAPITAL, "Paris", "paris", True),
        (CAPITAL, "  **Paris**.", "paris", True),
        (CAPITAL, "Paris is the capital of France.", "paris", True),
        (CAPITAL, "The capital of France is Paris.", "paris", False),
        (CAPITAL, "The capital of France is London.", "london", False),
        (CAPITAL, "It's London.", "london", False),
        (CAPITAL, "London is the capital of France", "london", True),
        (CAPITAL, "Answer: London", "london", False),
        (CAPITAL, "I think it may be Paris", "ithinkitmaybeparis", False),
        (HAMLET, "Hamlet was written by Thomas Kyd.", "thomaskyd", False),
        (HAMLET, "Thomas Kyd wrote Hamlet.", "thomaskyd", True),
        (FLUTE, "The Magic Flute was composed by Salieri", "salieri", False),
        (FLUTE, "Salieri composed The Magic Flute.", "salieri", True),
        # an article, a remark, a further sentence
        (RIVER, "The Danube", "danube", False),
        (RIVER, "Danube (Donau)", "danube", True),
        (HAMLET, "A. A. Milne", "aamilne", True),
        (HAMLET, "Thomas Kyd, an English playwright who died in 1594", "thomaskyd", True),
        (HAMLET, "Mrs. Dalloway", "mrsdalloway", True),
        (CAPITAL, "Lyon, France", "lyonfrance", True),
        (CAPITAL, "The capital of France is Lyon. It is a large city on the Rhône.", "lyon", False),
        (CAPITAL, "Lyon. The capital of Spain is Madrid.", "lyon", True),
        # as a small model wrote them, sense or nonsense
        (
            CHANCELLOR,
            "The Chancellor of West Germany in 1971 was Chancellor Helmut Kanz. He was",
            "chancellorhelmutkanz",
            False,
        ),
        (
            WARSAW,
            "The Warsaw office is currently located in Cape Town, South Africa.",
            "capetownsouthafrica",
            False,
        ),
        (GLAND, "The pituitary gland", "pituitarygland", False),
        (GLAND, "The organ that produces growth hormone is the liver", "liver", False),
        (GAMES, "The 1984 Winter Olympics took place in Vancouver", "vancouver", False),
        (GAMES, "The 1984 Winter Olympics", "1984winterolympics", False),
        (GAMES, "1984 Winter Olympics happened there", "1984winterolympicshappenedthere", False),
        (CAPITAL, "London\nQ: What is the capital of Spain?\nA: Madrid", "london", True),
    ],
)
def test_the_value_is_the_answer_without_the_question_said_again(
    item: Item, raw: str, value: str, leads: bool
) -> None:
    reading = read_answer(item, raw)
    assert (reading.value, reading.leads) == (value, leads)


def test_the_value_does_not_know_the_gold_answer() -> None:
    """Else right answers would gather votes that wrong ones lose."""
    for raw in ("The capital of France is Lyon", "I'd say Lyon, France", "Lyon or Nice", "Lyon"):
        right = read_answer(CAPITAL.model_copy(update={"answer": "Lyon"}), raw)
        wrong = read_answer(CAPITAL, raw)
        assert right.correct and not wrong.correct
        assert right.value == wrong.value


@pytest.mark.parametrize(
    "raw",
    [
        "I don't know.",
        "I don’t know",
        "Unknown",
        "N/A",
        "I'm sorry, but I cannot answer that question.",
        "As an AI language model, I don't have access to real-time data.",
        "As an AI, I cannot provide an answer.",
        "I am not sure who that is.",
        "I have no information about this.",
        "Unfortunately, there is not enough information to tell.",
        "It is unknown.",
        "The answer is unknown.",
        "Answer: I don't know",
        '{"answer": "unknown"}',
    ],
)
def test_declining_is_a_state_of_its_own(raw: str) -> None:
    reading = read_answer(CAPITAL, raw)
    assert (reading.state, reading.value, reading.correct) == (State.REFUSED, None, False)


@pytest.mark.parametrize(
    "raw",
    [
        "I'm not sure, but I think London",
        "Perhaps London",
        "I don't know, maybe London",
        "The Unknown",
        "Nauru",
    ],
)
def test_a_hedged_answer_is_an_answer(raw: str) -> None:
    assert read_answer(CAPITAL, raw).state is State.OK


def test_declining_words_around_a_valid_answer_are_correct_by_the_published_rule_alone() -> None:
    reading = read_answer(CAPITAL, "I cannot confirm that the capital of this country is really Paris.")
    assert (reading.state, reading.correct, reading.correct_strict) == (State.OK, True, False)


@pytest.mark.parametrize(
    ("raw", "state"),
    [
        ("", State.EMPTY),
        (" \n\t", State.EMPTY),
        ("<think></think>", State.EMPTY),
        ('{"answer": null}', State.EMPTY),
        ("...", State.UNREADABLE),
        ("🤷", State.UNREADABLE),
        ("<think>Paris? London? Let me", State.UNREADABLE),
    ],
)
def test_nothing_to_read_is_told_apart(raw: str, state: State) -> None:
    reading = read_answer(CAPITAL, raw)
    assert reading.state is state
    assert reading.value is None and not reading.correct
    assert bool(reading.reason) == (state is State.UNREADABLE)


def test_a_runaway_response_is_read_in_reasonable_time() -> None:
    for raw in (
        "Paris, London, " * 20_000,
        "Paris or " * 20_000,
        '{"a":' * 50_000,
        "*" * 200_000,
        "<think>" * 50_000,
    ):
        start = time.perf_counter()
        read_answer(CAPITAL, raw)
        assert time.perf_counter() - start < 5


PIECES = st.sampled_from(
    ["Paris", "London", "not", " or ", ", ", "The capital of France is ", "\n", "**", '"', "{", "}", "/", "'",
     '"answer":', "<think>", "</think>", "```", "Answer:", "A:", "Q:", "I don't know", "é", "東京", "\ud800",
     "\0", "İ", "ﬁ", "1969"]
)  # fmt: skip
TEXTS = st.one_of(st.text(), st.lists(st.one_of(PIECES, st.text(max_size=4)), max_size=12).map("".join))


@given(raw=TEXTS, answer=st.one_of(st.sampled_from(["Paris", "the", "1969", "é"]), st.text(min_size=1)))
def test_reading_is_total_and_strict_is_within_the_published_rule(raw: str, answer: str) -> None:
    item = Item.model_construct(id="x", question="What is the capital of France?", answer=answer)
    reading = read_answer(item, raw)
    assert (reading.value is not None) == (reading.state is State.OK)
    assert reading.value != ""
    if reading.correct_strict:
        assert reading.correct
    if reading.correct:
        assert reading.state is State.OK
        assert normalise(answer) in normalise(raw) or "\\" in raw or "{" in raw
    if reading.leads:
        assert reading.state is State.OK


@given(
    st.sampled_from(
        ["Paris", "New York", "Simon & Garfunkel", "1969", "U.S.", "Ærøskøbing", "Иван IV", "서울"]
    )
)
def test_the_gold_answer_itself_is_right_by_both_rules_and_leads(gold: str) -> None:
    reading = read_answer(Item(id="x", question="What is it?", answer=gold), gold)
    assert reading.correct and reading.correct_strict and reading.leads
    assert reading.value == normalise(gold)
