"""Accuracy, the states of answers, and whether answers begin where they are probed."""

from leadline.lenses.accuracy import LENS
from leadline.lenses.protocol import Again, Method, Protocol
from tests.lenses.small import answers, figures, reading, samples, table, view


def test_accuracy_is_counted_over_answered_items_and_says_how_many_were_not():
    rows = [*answers("greedy", "1100"), *answers("m", "1--0")]
    overall = table(LENS.look(view(rows)), "overall")
    assert figures(overall, configuration="greedy")["acc"].value == 0.5
    acc = figures(overall, configuration="m")["acc"]
    assert (acc.numerator, acc.denominator) == (1, 2)
    assert "m: 2 of 4 items were not answered and are left out." in overall.notes


def test_items_on_which_the_two_rules_differ_are_counted():
    rows = answers("greedy", "111")
    rows[0]["correct_strict"] = False
    found = figures(table(LENS.look(view(rows)), "overall"), configuration="greedy")
    assert (found["acc"].value, found["rules_differ"].numerator, found["acc_strict"].numerator) == (1.0, 1, 2)


def test_all_states_are_counted_over_all_readings():
    rows = [
        *samples("m", "a", "gold", None),
        reading("m", "b", None, 0, state="error"),
        reading("m", "b", "x", 1),
    ]
    found = figures(table(LENS.look(view(rows)), "states"), configuration="m")
    assert {state: figure.numerator for state, figure in found.items()} == {
        "ok": 2, "empty": 1, "refused": 0, "unreadable": 0, "error": 1,
    }  # fmt: skip
    assert {figure.denominator for figure in found.values()} == {4}


def test_the_share_of_baseline_answers_that_begin_with_their_value():
    rows = answers("greedy", "110")
    rows[1]["leads"] = False
    rows.append(reading("greedy", "i3", None))  # nothing to read, so nothing to begin with
    leads = figures(table(LENS.look(view(rows)), "answer position"), configuration="greedy")["leads"]
    assert (leads.numerator, leads.denominator) == (2, 3)


def test_a_baseline_without_readings_is_noted_not_guessed():
    found = LENS.look(view(answers("m", "1")))
    assert "greedy: no readings." in table(found, "overall").notes
    assert figures(table(found, "answer position"), configuration="greedy")["leads"].value is None


def test_a_configuration_with_readings_but_none_that_votes_has_a_row_without_a_value():
    # its first sample was never asked, so that it has readings and not one of those that are voted over
    found = table(LENS.look(view([*answers("greedy", "1"), reading("m", "i0", "gold", 1)])), "overall")
    acc = figures(found, configuration="m")["acc"]
    assert (acc.value, acc.denominator, acc.note) == (None, 0, "no item was answered")
    assert "m: 1 of 1 items were not answered and are left out." in found.notes


def test_techniques_asked_again_have_states_as_well():
    protocol = Protocol(
        baseline="greedy",
        methods=(Method("m"), Method("r", vote=2)),
        again=(Again("m-again", "m", 0.7), Again("r", "r", 0.7)),
    )
    rows = [*samples("greedy", "i0", "gold"), *samples("m", "i0", "gold"), *samples("r", "i0", "a", "b")]
    rows += samples("m-again", "i0", "gold", None)
    found = table(LENS.look(view(rows, protocol)), "states")
    assert [row.keys["configuration"] for row in found.rows] == ["greedy", "m", "r", "m-again"]
    assert figures(found, configuration="m-again")["empty"].value == 0.5
