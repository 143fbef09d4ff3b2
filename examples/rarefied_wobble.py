"""Wobble of the same items, asked 20 times and asked 6 times: what is the same, and what is not?

Run it with `python examples/rarefied_wobble.py`; it draws answers of made-up items and prints a table. Most
items have one answer for ever; the rest give one of two answers, by a hidden chance. Plain wobble grows with
the number of answers. Rarefied wobble (the wobble that m answers would show) does not: its mean is the truth.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from leadline.lenses.panel import Panel
from leadline.lenses.protocol import Member

M = 5
SAMPLES = 20
FEW = 6
UNSTEADY = 0.3  # share of the items that have two answers


class Means(NamedTuple):
    """Means over the simulated studies; `truth` is the chance that M answers of an item are not all alike."""

    plain: float
    rarefied: float
    pairwise: float
    truth: float


def simulated(studies: int, items: int, seed: int) -> dict[str, Means]:
    """What each way of asking finds, by name: every study has items of its own, asked in all three ways."""
    rng = np.random.default_rng(seed)
    chance = np.where(rng.random((studies, items)) < UNSTEADY, rng.uniform(0.5, 0.99, (studies, items)), 1.0)
    truth = float((1 - chance**M - (1 - chance) ** M).mean())
    codes = (rng.random((studies, items, SAMPLES)) >= chance[:, :, None]).astype(np.int32)
    cut_short = rng.random((studies, items)) < 0.5
    few = codes.copy()
    few[:, :, FEW:] = -1
    return {
        "20 answers to each item": _means(codes, truth),
        "6 answers to each item": _means(few, truth),
        "6 to half of the items, 20 to the others": _means(
            np.where(cut_short[:, :, None], few, codes), truth
        ),
    }


def _means(codes: np.ndarray, truth: float) -> Means:
    studies, items, _ = codes.shape
    names = np.array([f"item {number}" for number in range(items)])
    panel = Panel(
        members=tuple(Member(f"study {number}", "sampling") for number in range(studies)),
        items=names,
        tasks=names,
        categories=names,
        answer_types=names,
        audit=names,
        stated=names,
        excluded=names,
        codes=codes,
        hits=codes == 0,
        asked=np.full((studies, items), SAMPLES, dtype=np.int32),
        values=np.array(["one answer", "another"]),
    )
    return Means(
        plain=float(panel.unstable.mean()),
        rarefied=float(panel.rarefied(M).mean()),
        pairwise=float(panel.disagreement.mean()),
        truth=truth,
    )


if __name__ == "__main__":
    print(f"{'':42}{'wobble':>8}{f'rarefied to {M}':>16}{'its truth':>11}{'pairwise':>10}")
    for name, found in simulated(studies=1000, items=200, seed=1).items():
        print(f"{name:42}{found.plain:8.3f}{found.rarefied:16.3f}{found.truth:11.3f}{found.pairwise:10.3f}")
