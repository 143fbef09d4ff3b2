"""What is left of a headline: the claims of the lenses that look at techniques."""

from __future__ import annotations

import pytest

from leadline.lenses import accuracy, sampling_sweep, token_budget, transitions, unseen_mass
from leadline.lenses.finding import Claim, ClaimStatus
from leadline.lenses.protocol import Method, Protocol
from leadline.lenses.view import View
from tests.lenses.frames import STUDY_PROTOCOL, study_frame
from tests.lenses.small import answers, reading, samples, table, view, with_partition
from tests.lenses.test_beyond_sampling import drawn

PROTOCOL = with_partition(k=4, sweep=6)


def only(claims: tuple[Claim, ...]) -> Claim:
    (claim,) = claims
    return claim


def unseen(hits: list[str]) -> Claim:
    rows = [*answers("greedy", "0" * len(hits)), *drawn(hits)]
    return only(table(unseen_mass.LENS.look(view(rows, PROTOCOL)), "unseen").claims)


def test_no_number_of_samples_shows_that_a_failure_is_out_of_reach() -> None:
    claim = unseen(["100000", "110000", "000000"])
    assert claim.status is ClaimStatus.UNREACHABLE
    assert claim.point == "1 failure that 4 samples never reached"
    refuted = unseen(["100000", "110000", "000010"])
    assert refuted.status is ClaimStatus.NOT_SUPPORTED and "2 more samples reached 1 of 1" in refuted.text
    assert unseen(["100000", "110000"]).status is ClaimStatus.NOT_ESTIMABLE


def test_a_rule_that_turns_two_configurations_is_said_to() -> None:
    """m is ahead by the looser rule (3 of 4 against 2), behind by the stricter one (1 against 2)."""
    strict = {"i0": True, "i1": False, "i2": False, "i3": False}
    rows = [*answers("greedy", "1100")]
    rows += [
        reading("m", item, "gold" if item != "i3" else "other", correct_strict=right)
        for item, right in strict.items()
    ]
    claim = only(table(accuracy.LENS.look(view(rows)), "overall").claims)
    assert claim.status is ClaimStatus.NOT_SUPPORTED and "turns 1 of 1 pair (greedy and m)" in claim.text
    assert claim.point == "0 of 1 pair in the same order"
    assert claim.conservative == "the strict rule takes up to 50.0 % of the items from a configuration"


@pytest.mark.parametrize(
    ("greedy", "m", "status"),
    [
        ("11", "10", ClaimStatus.NOT_ESTIMABLE),
        ("1" * 9 + "000", "1" * 6 + "000000", ClaimStatus.NOT_ESTIMABLE),
        ("1" * 11 + "0", "0" * 10 + "11", ClaimStatus.SUPPORTED),
    ],
)
def test_an_order_that_may_be_chance_is_none_that_a_rule_could_keep(
    greedy: str, m: str, status: ClaimStatus
) -> None:
    claim = only(
        table(accuracy.LENS.look(view([*answers("greedy", greedy), *answers("m", m)])), "overall").claims
    )
    assert claim.status is status
    assert claim.point == "1 of 1 pair in the same order"
    apart = "1" if status is ClaimStatus.SUPPORTED else "none"
    assert claim.text.endswith(f"; {apart} told apart by intervals that do not overlap.")


def test_configurations_that_tie_are_in_no_order_that_a_rule_could_keep() -> None:
    def told(*rows: list[dict[str, object]]) -> Claim:
        several = [reading for configuration in rows for reading in configuration]
        return only(table(accuracy.LENS.look(view(several)), "overall").claims)

    tied = told(answers("greedy", "11"), answers("m", "11"))
    assert tied.status is ClaimStatus.NOT_ESTIMABLE and "no two of them differ" in tied.text
    broken = told(answers("greedy", "11"), answers("m", "11", correct_strict=False))
    assert broken.status is ClaimStatus.NOT_SUPPORTED
    assert "and 1 tie by one rule alone (greedy and m)" in broken.text


@pytest.mark.parametrize("model", ["small", "large"])
def test_the_conservative_reading_of_a_sweep_is_its_lowest_agreement(model: str) -> None:
    frame = study_frame()
    one = View(model, frame.filter(frame["model"] == model), STUDY_PROTOCOL)
    sweep = table(sampling_sweep.LENS.look(one), "sweep")
    for claim, tau in zip(sweep.claims, ("0.7", "1.2"), strict=True):
        known = [
            figure.value
            for row in sweep.rows
            if row.keys["temperature"] == tau
            for key, figure in row.figures.items()
            if key.startswith("kendall") and figure.value is not None
        ]
        assert claim.conservative.startswith(f"lowest τ_b {min(known):.2f}, by ")
        assert claim.point == f"mean τ_b {sum(known) / len(known):.2f}"
        assert (claim.status is ClaimStatus.SUPPORTED) == (min(known) == 1)


def test_a_method_is_held_against_the_temperature_that_recovers_most_for_its_tokens() -> None:
    protocol = Protocol(
        baseline="greedy",
        methods=(
            Method("m"),
            Method("cold", vote=3, is_sampling=True),
            Method("hot", vote=3, is_sampling=True),
        ),
        bootstrap_draws=200,
    )
    rows = [*answers("greedy", "0" * 12), *answers("m", "1" * 12, tokens_out=15)]
    for at in range(12):
        rows += samples("cold", f"i{at}", "x", "x", "x")
        rows += samples("hot", f"i{at}", *(("gold",) * 3 if at < 2 else ("x",) * 3))
    claim = only(table(token_budget.LENS.look(view(rows, protocol)), "equal budget").claims)
    assert "sampling at hot" in claim.text and claim.status is ClaimStatus.SUPPORTED
    assert claim.point == "+83.3 points of Gain"
    assert claim.conservative.endswith("points at the interval's lower end")


def test_the_end_that_counts_is_the_one_nearer_to_no_difference() -> None:
    breaks = [*answers("greedy", "1" * 20), *answers("m", "0" * 14 + "1" * 6)]
    breaks += [*answers("greedy", "-" * 20 + "0"), *answers("m", "-" * 20 + "0")]
    claim = only(table(transitions.LENS.look(view(breaks)), "overall").claims)
    assert claim.text.startswith("m breaks more than it recovers") and claim.status is ClaimStatus.SUPPORTED
    assert claim.point == "−66.7 points of accuracy"
    assert claim.conservative.endswith("at the interval's upper end")
