"""The deep failures that more samples would reach."""

import pytest

from leadline.lenses.unseen_mass import LENS
from tests.lenses.small import answers, figures, table, view, with_partition
from tests.lenses.test_beyond_sampling import drawn

PROTOCOL = with_partition(k=4, sweep=6)


def unseen(hits):
    rows = [*answers("greedy", "0" * len(hits)), *drawn(hits)]
    return figures(table(LENS.look(view(rows, PROTOCOL)), "unseen"), temperature="0.7")


def test_an_example_by_hand():
    # three hit once, one twice in four samples: 3/4 * 3*2 / (2*2) = 1.125 of four deep failures
    found = unseen(["100000", "010000", "001000", "110000", "000010", "000000", "000000", "000000"])
    assert (found["hit_once"].value, found["hit_twice"].value) == (3, 1)
    assert found["reachable_deep"].value == pytest.approx(1.125)
    assert found["reachable_deep_share"].value == pytest.approx(1.125 / 4)
    assert found["reachable_deep"].low < 1.125 < found["reachable_deep"].high <= 4
    assert found["expected_next_k"].value == pytest.approx(1.125 * (1 - (1 - 3 / (4 * 1.125 + 3)) ** 4))
    assert found["expected_by_sweep"].value < found["expected_next_k"].value
    assert (found["found_by_sweep"].value, found["found_by_sweep"].denominator) == (1, 4)


def test_samples_that_never_hit_say_nothing_about_more_samples():
    found = unseen(["000000", "000001"])
    assert found["reachable_deep"].value is None
    assert found["found_by_sweep"].value == 1


def test_without_deep_failures_none_can_be_reached():
    found = unseen(["100000", "110000"])
    assert found["reachable_deep"].value == 0
    assert found["reachable_deep_share"].value is None


def test_without_partition_samples_the_lens_is_silent():
    assert LENS.look(view(answers("greedy", "01"), PROTOCOL)) == []
