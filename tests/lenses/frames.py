"""A fabricated study that looks like a real one: for the lenses' tests, and for whoever needs findings.

Two models answer 60 questions of ten domains under a greedy baseline, three techniques and two temperatures.
Every question has a hidden chance of being answered by one sample of a model: a third are known, a third
half-known (what sampling reaches now and then), a third unknown. The techniques shift that chance as the
real ones tend to: recitation lifts many failures and breaks few successes, generated context lifts many and
breaks many, layer contrast rules the gold token out now and then. Answers are empty or refused at times.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from leadline.lenses.frame import readings_frame
from leadline.lenses.protocol import Method, Partition, Protocol

CATEGORIES = (
    "art", "biology", "geography", "history", "law", "literature", "music", "politics", "science", "sport",
)  # fmt: skip
TASKS = ("author", "birthplace", "capital", "country", "founder", "occupation")

STUDY_PROTOCOL = Protocol(
    baseline="greedy",
    methods=(
        Method("recite", vote=20),
        Method("genread"),
        Method("dola"),
        Method("tau-0.7", vote=10, beyond_vote=20, is_sampling=True),
        Method("tau-1.2", vote=10, beyond_vote=20, is_sampling=True),
    ),
    partitions=(
        Partition(temperature=0.7, configuration="tau-0.7-partition"),
        Partition(temperature=1.2, configuration="tau-1.2-partition"),
    ),
    category_name="domain",
    task_name="relation",
)

# How a configuration changes the chance of a right answer: (lift of what is half-known, chance on the
# unknown, chance of losing what is known). Chosen so that each technique shows a profile of its own.
_PROFILES = {
    "greedy": (0.0, 0.0, 0.0),
    "recite": (0.15, 0.42, 0.03),
    "genread": (0.20, 0.12, 0.30),
    "dola": (0.05, 0.02, 0.08),
    "tau-0.7": (0.02, 0.004, 0.02),
    "tau-1.2": (0.06, 0.015, 0.10),
}
_VOCABULARY = 49_152


def study_frame(seed: int = 7, items: int = 60, models: tuple[str, ...] = ("small", "large")) -> pl.DataFrame:
    """The readings of the fabricated study, one row per sample (columns of `READINGS`); fixed by the seed."""
    rng = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    for depth, model in enumerate(models):
        chances = _chances(rng, items, known=0.3 + 0.15 * depth)
        failures = []
        for item, chance in enumerate(chances):
            greedy = _reading(
                rng, model, "greedy", item, 0, right=bool(chance > 0.5), rank=_rank(rng, chance)
            )
            if not greedy["correct"]:
                failures.append(item)
            rows.append(greedy)
            rows += _techniques(rng, model, item, chance, greedy["gold_rank"])
            for name in ("tau-0.7", "tau-1.2"):
                rows += [_sampled(rng, model, name, item, sample, chance) for sample in range(20)]
        for name in ("tau-0.7", "tau-1.2"):  # the partition samples exist for the baseline's failures alone
            for item in failures:
                for sample in range(30):
                    rows.append(_sampled(rng, model, name, item, sample, chances[item], suffix="-partition"))
    return readings_frame(rows)


def _chances(rng: np.random.Generator, items: int, known: float) -> list[float]:
    """Each item's chance of a right answer in one plain sample; greedy is right where it exceeds one half."""
    kind = rng.choice(3, size=items, p=[known, 0.35, 0.65 - known])
    certain = np.minimum(rng.uniform(0.6, 1.6, items), 1.0)  # most of what is known is never missed
    drawn = (certain, rng.uniform(0.02, 0.45, items), np.zeros(items))
    return [float(drawn[kind[item]][item]) for item in range(items)]


def _shifted(chance: float, configuration: str) -> float:
    lift, unknown, lost = _PROFILES[configuration]
    if chance > 0.5:
        return chance * (1 - lost)
    return chance + lift if chance > 0 else unknown


def _techniques(
    rng: np.random.Generator, model: str, item: int, chance: float, rank0: int
) -> list[dict[str, Any]]:
    rows = []
    for sample in range(20):
        rank = max(1, int(rank0 * 2.0 ** rng.normal(-0.8, 1.5)))
        right = bool(rng.random() < _shifted(chance, "recite"))
        rows.append(_reading(rng, model, "recite", item, sample, right=right, rank=rank, cost=(420, 70)))
    rank = max(1, int(rank0 * 2.0 ** rng.normal(2.0, 2.0)))
    right = bool(rng.random() < _shifted(1.0 if chance > 0.5 else chance, "genread"))
    rows.append(_reading(rng, model, "genread", item, 0, right=right, rank=rank, cost=(260, 130)))
    masked = bool(chance < 0.5 and rng.random() < 0.15)
    rank = _VOCABULARY if masked else max(1, int(rank0 * 2.0 ** rng.choice([-1.0, 0.0, 0.0, 1.0])))
    right = bool(not masked and rng.random() < _shifted(1.0 if chance > 0.5 else chance / 2, "dola"))
    rows.append(_reading(rng, model, "dola", item, 0, right=right, rank=rank, masked=masked))
    return rows


def _sampled(
    rng: np.random.Generator, model: str, name: str, item: int, sample: int, chance: float, suffix: str = ""
) -> dict[str, Any]:
    right = bool(rng.random() < _shifted(chance, name))
    return _reading(rng, model, name + suffix, item, sample, right=right, rank=None)


def _rank(rng: np.random.Generator, chance: float) -> int:
    """A rank of the gold token that fits the chance: 1 where known, deep down where unknown."""
    if chance > 0.5:
        return 1
    return 1 + int(2.0 ** rng.uniform(0.5, 6.0 if chance > 0 else 12.0))


def _reading(
    rng: np.random.Generator,
    model: str,
    configuration: str,
    item: int,
    sample: int,
    *,
    right: bool,
    rank: int | None,
    masked: bool = False,
    cost: tuple[int, int] = (85, 6),
) -> dict[str, Any]:
    state = (
        "ok"
        if right
        else str(rng.choice(["ok", "empty", "refused", "unreadable"], p=[0.9, 0.04, 0.03, 0.03]))
    )
    gold = f"gold {item}"
    # A wrong answer comes from a short list, the first of which is the model's favourite mistake; on some
    # items it is the only one, so that wrong answers can be steady as well.
    wrong = f"mistake {item}.{min(int(rng.geometric(1.0 if item % 3 == 0 else 0.5)), 5)}"
    # The looser rule forgives an answer that names the gold among others; the stricter one does not.
    hedged = right and item % 7 == 0 and rng.random() < 0.4
    value = gold if right and not hedged else f"{gold} or {wrong}" if hedged else wrong
    leads = bool(rng.random() < 0.93)
    text = {
        "ok": value.title() if leads else f"The answer is {value.title()}.",
        "empty": "",
        "refused": "I cannot answer that.",
        "unreadable": "?!",
    }[state]
    # Ten domains; all but the last span the six relations, so that "too few tasks" is seen as well.
    category = CATEGORIES[item % len(CATEGORIES)]
    task = TASKS[(item // len(CATEGORIES)) % (2 if category == CATEGORIES[-1] else len(TASKS))]
    return {
        "model": model,
        "configuration": configuration,
        "item": f"q{item:03d}",
        "category": category,
        "task": task,
        "sample": sample,
        "state": state,
        "text": text,
        "value": value if state == "ok" else None,
        "correct": right,
        "correct_strict": right and not hedged,
        "leads": leads and state == "ok",
        "tokens_in": cost[0] + int(rng.integers(0, 10)),
        "tokens_out": cost[1] + int(rng.integers(0, 10)),
        "gold_token": None if rank is None else 1000 + item,
        "gold_rank": rank,
        "gold_logprob": None if rank is None else float("-inf") if masked else -float(np.log1p(rank)),
        "gold_masked": None if rank is None else masked,
    }
