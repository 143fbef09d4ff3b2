"""Shallow and deep failures, and what a method recovers of each: by hand and as invariants."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.lenses.beyond_sampling import LENS
from leadline.lenses.finding import ClaimStatus
from leadline.lenses.partition import split
from leadline.lenses.protocol import Method
from tests.lenses.small import answers, figures, reading, samples, table, view, with_partition

PROTOCOL = with_partition(k=4, sweep=6)


def drawn(hits):
    """Partition samples: a string of 0 and 1 for each item."""
    return [
        reading("p", f"i{at}", "gold" if digit == "1" else "other", sample)
        for at, digits in enumerate(hits)
        for sample, digit in enumerate(digits)
    ]


def by_hand():
    """Failures i0 (hit twice in the first 4), i1 (hit only after), i2 (never); success i3."""
    rows = [*answers("greedy", "0001"), *answers("m", "0111"), *drawn(["010100", "000010", "000000"])]
    rows += samples("t", "i0", "gold", "gold", "gold", "x")  # majority right
    rows += samples("t", "i1", "x", "x", "gold", "x")  # majority wrong, one right
    rows += samples("t", "i2", "x", "x", "x", "x")
    return rows


def test_failures_are_shallow_when_one_of_the_first_k_samples_is_right():
    found = figures(table(LENS.look(view(by_hand(), PROTOCOL)), "partition"), temperature="0.7")
    assert (found["shallow"].numerator, found["deep"].numerator, found["deep"].denominator) == (1, 2, 3)


def test_rates_are_over_shallow_and_over_deep_failures():
    rates = table(LENS.look(view(by_hand(), PROTOCOL)), "rates")
    m, t = (figures(rates, temperature="0.7", method=name) for name in ("m", "t"))
    assert (m["sgr"].numerator, m["sgr"].denominator) == (0, 1)
    assert (m["dgr"].numerator, m["dgr"].denominator) == (2, 2)
    assert (t["sgr"].value, t["dgr"].value) == (1, 0)
    assert (m["sgr_margin"].value, m["dgr_margin"].value) == (-1, 1)
    assert m["dgr_margin"].note == "against t"
    assert "dgr_margin" not in t


def test_a_temperature_is_judged_over_its_fresh_samples_not_the_surface_vote():
    rows = [*answers("greedy", "0"), *drawn(["1000"]), *samples("t", "i0", "x", "x", "gold", "gold", "gold")]
    rates = table(LENS.look(view(rows, PROTOCOL)), "rates")
    # four samples: a tie that the value seen first wins; the fifth is beyond the vote
    assert figures(rates, temperature="0.7", method="t")["sgr"].value == 0
    later = replace(PROTOCOL, methods=(Method("t", vote=2, beyond_vote=5, is_sampling=True),))
    rates = table(LENS.look(view(rows, later)), "rates")
    assert figures(rates, temperature="0.7", method="t")["sgr"].value == 1


def test_the_rules_for_samples_stand_side_by_side():
    rules = table(LENS.look(view(by_hand(), PROTOCOL)), "sampling rules")
    dgr = {
        rule: figures(rules, temperature="0.7", method="t", rule=rule)["dgr"].value
        for rule in ("majority", "mean", "any")
    }
    assert dgr == {"majority": 0, "mean": pytest.approx(1 / 8), "any": 0.5}


def test_partition_samples_of_baseline_successes_are_ignored():
    rows = [*by_hand(), reading("p", "i3", "other"), reading("p", "i3", "gold", 1)]
    assert split(view(rows, PROTOCOL), PROTOCOL.partitions[0]).items == ["i0", "i1", "i2"]


def test_failures_without_partition_samples_are_left_out_and_counted():
    rows = [*answers("greedy", "000"), *answers("m", "111"), *drawn(["0000", "01"])]
    partition = table(LENS.look(view(rows, PROTOCOL)), "partition")
    assert figures(partition, temperature="0.7")["deep"].denominator == 2
    assert partition.notes == (
        "τ = 0.7: 1 failures have no partition sample, left out.",
        "τ = 0.7: 1 failures have fewer than 4 partition samples.",
    )


def test_a_failed_partition_call_is_not_a_miss():
    rows = [*answers("greedy", "0"), reading("p", "i0", None, 0, state="error")]
    assert split(view(rows, PROTOCOL), PROTOCOL.partitions[0]).left_out == 1


def test_beyond_sampling_is_supported_only_when_enough_deep_failures_say_so():
    def claims(n):
        rows = [*answers("greedy", "0" * n), *answers("m", "1" * n), *drawn(["0000"] * n)]
        for at in range(n):
            rows += samples("t", f"i{at}", "x", "x", "x", "x")
        return [claim.status for claim in table(LENS.look(view(rows, PROTOCOL)), "rates").claims]

    assert claims(8) == [ClaimStatus.SUPPORTED]
    assert claims(4) == [ClaimStatus.UNREACHABLE]


def test_when_sampling_reaches_every_failure_there_is_nothing_deep_to_recover():
    rows = [*answers("greedy", "00"), *answers("m", "11"), *drawn(["1000", "0001"])]
    rows += [*samples("t", "i0", "x"), *samples("t", "i1", "x")]
    rates = table(LENS.look(view(rows, PROTOCOL)), "rates")
    assert figures(rates, temperature="0.7", method="m")["dgr"].value is None
    assert [claim.status for claim in rates.claims] == [ClaimStatus.NOT_ESTIMABLE]


def test_a_baseline_that_never_fails_leaves_nothing_to_split():
    rows = [*answers("greedy", "11"), *answers("m", "11"), *drawn(["1", "1"])]
    found = figures(table(LENS.look(view(rows, PROTOCOL)), "partition"), temperature="0.7")
    assert (found["shallow"].value, found["shallow"].denominator) == (None, 0)


def test_without_partition_samples_the_lens_is_silent():
    assert LENS.look(view(answers("greedy", "01"), PROTOCOL)) == []


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text("01", min_size=1, max_size=6), min_size=1, max_size=12))
def test_shallow_and_deep_are_all_failures_and_never_both(hits):
    rows = [*answers("greedy", "0" * len(hits)), *drawn(hits)]
    one = split(view(rows, PROTOCOL), PROTOCOL.partitions[0])
    assert one.items == sorted(f"i{at}" for at in range(len(hits)))
    assert (one.shallow ^ one.deep).all()
    by_item = dict(zip(one.items, one.shallow.tolist(), strict=True))
    assert by_item == {f"i{at}": "1" in digits[:4] for at, digits in enumerate(hits)}
