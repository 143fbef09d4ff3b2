"""How many workers with models a machine or a cluster has room for."""

from __future__ import annotations

from leadline.workers.seats import Seats, seats


def test_each_accelerator_is_a_worker_and_the_cores_of_its_node_are_shared_out() -> None:
    node = {"CPU": 16.0, "GPU": 4.0}
    assert seats([node, node], None) == Seats(8, 4, 1)
    assert seats([node, {"CPU": 64.0}], 3) == Seats(3, 4, 1)  # fewer may be asked for
    assert seats([node], 9) == Seats(4, 4, 1)  # and not more than there are
    assert seats([{"CPU": 2.0, "GPU": 4.0}], None) == Seats(4, 0, 1)  # an accelerator needs no whole core


def test_without_accelerators_workers_get_as_many_cores_as_fit_on_a_node() -> None:
    assert seats([{"CPU": 16.0}, {"CPU": 8.0}], None) == Seats(6, 4)
    assert seats([{"CPU": 16.0}, {"CPU": 8.0}], 2) == Seats(2, 8)
    assert seats([{"CPU": 16.0}, {"CPU": 16.0}], 3) == Seats(3, 8)  # five each would leave one without
    assert seats([{"CPU": 2.0}], 2) == Seats(2, 1)
    assert seats([{"CPU": 2.0}], 5) == Seats(2, 1)
    assert seats([{"CPU": 0.0}, {"CPU": 4.0}], None) == Seats(1, 4)  # a head that does no work
