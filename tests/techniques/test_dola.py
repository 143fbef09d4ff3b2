"""DoLa's divergence: two ways to the same number, and one row's number whatever stands beside it."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="local models need the 'local' extra")

from leadline.techniques.dola import _distances  # noqa: E402

VOCABULARY = 5000


def _by_definition(mature, early):
    """½KL(M‖P) + ½KL(M‖Q), in float64, term by term."""
    p, q = mature.double().softmax(-1), early.double().softmax(-1)
    m = (p + q) / 2

    def kl(other):
        return torch.where(m > 0, m * (m.log() - other.double().log_softmax(-1)), 0.0).sum(-1)

    return 0.5 * (kl(mature) + kl(early))


def _drawn(spread: float, rows: int = 3, layers: int = 2):
    draw = torch.Generator().manual_seed(int(10 * spread))
    mature = (3 * torch.randn(rows, VOCABULARY, generator=draw)).log_softmax(-1)
    return mature, spread * torch.randn(layers, rows, VOCABULARY, generator=draw)


@pytest.mark.parametrize("spread", [0.5, 3.0, 20.0, 60.0])
def test_the_divergence_is_that_of_the_definition_for_sure_and_unsure_layers(spread: float) -> None:
    mature, early = _drawn(spread)
    found = _distances(mature, early, "reversed")
    torch.testing.assert_close(found, _by_definition(mature, early), rtol=1e-5, atol=1e-4)


def test_sure_and_unsure_layers_side_by_side_have_the_divergences_that_they_have_alone() -> None:
    mature, sure = _drawn(60.0)
    _, unsure = _drawn(0.5)
    early = torch.cat([sure, unsure])
    early[0, 1] = unsure[0, 1]  # one row of a sure layer is unsure
    together = _distances(mature, early, "reversed")
    torch.testing.assert_close(together, _by_definition(mature, early), rtol=1e-5, atol=1e-4)
    for row in range(3):
        alone = _distances(mature[row : row + 1], early[:, row : row + 1], "reversed")
        assert torch.equal(alone[:, 0], together[:, row])


def test_a_layer_that_agrees_with_the_last_is_at_distance_zero() -> None:
    mature, _ = _drawn(3.0)
    found = _distances(mature, mature[None] + 2.5, "reversed")  # a constant does not change a distribution
    assert found.abs().max() < 1e-5
