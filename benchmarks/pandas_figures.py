"""The stability figures as a script with pandas makes them: what Leadline is set beside.

Written as a careful user of pandas writes it: answers are normalised with vectorised string methods, cells
are counted with `groupby` (never a Python function per group), and what is random is a loop with a few numpy
calls per draw, as the scripts beside papers have it. It computes what the lenses wobble, observability,
reliability and transfer print of recorded answers, without their claims and notes.

Every loop runs `share` of its draws, and what it takes is told as for all of them (`Stopwatch.loop`): a draw
costs what the next one does.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import permutations
from math import comb, sqrt

import numpy as np
import pandas as pd
from scipy.stats import norm, spearmanr

DRAWS = PERMUTATIONS = 2_000
SPLITS = 1_000
M = 5  # readings that rarefied wobble is at
TOPS = (3, 4, 5)
# An answer in words, or the number in it.
_LEADING, _NUMBER = r"^\s*(?:\*\*)?(?:the answer is|answer:)\s*", r"(-?\d[\d,]*(?:\.\d+)?)"
Key = tuple[str, ...]


@dataclass(frozen=True)
class Found:
    """A figure: its value, the interval that is computed (Wilson), or the draws that it is read from."""

    value: float
    low: float | None = None
    high: float | None = None
    drawn: np.ndarray | None = None
    is_drawn: bool = False
    """Whether the value itself comes of draws: then `error` is how far two runs may lie apart."""
    error: float = 0.0


@dataclass
class Stopwatch:
    """Processor seconds by part; loops count as if they had run to their end."""

    share: float
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def part(self, name: str, times: float = 1.0) -> Iterator[None]:
        """Adds what is done inside to a part, `times` as much."""
        begun = time.process_time()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + times * (time.process_time() - begun)

    @contextmanager
    def loop(self, name: str, draws: int) -> Iterator[int]:
        """Gives how many draws to make, and counts them as all of `draws`."""
        made = max(2, round(draws * self.share))
        with self.part(name, draws / made):
            yield made


def figures(answers: pd.DataFrame, items: pd.DataFrame, share: float) -> tuple[dict[Key, Found], Stopwatch]:
    """All figures of `answers` (configuration, item, sample, text), and what each part took.

    `items` are item, task, category, answer_type, gold.
    """
    watch = Stopwatch(share)
    rng = np.random.default_rng(1)
    found: dict[Key, Found] = {}
    with watch.part("scoring"):
        scored = score(answers, items)
    with watch.part("cells"):
        cells, exact = cells_of(scored), cells_of(scored.assign(value=scored["exact"]))
    _wobble(found, cells, exact, watch, rng)
    _by_group(found, cells, watch, rng)
    _observability(found, cells, watch, rng)
    _reliability(found, scored, cells, watch, rng)
    _transfer(found, cells, watch, rng)
    return found, watch


def score(answers: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """Each answer's value, under rounding and exactly, and whether it is right."""
    table = answers.merge(items, on="item", how="left")
    text = table["text"].str.lower().str.replace(_LEADING, "", regex=True)
    numeric = table["answer_type"] == "number"
    words = text[~numeric].str.replace(r"[^\w\s]", "", regex=True)
    words = words.str.replace(r"\b(?:a|an|the)\b", " ", regex=True)
    words = words.str.split().str.join(" ")
    number = text[numeric].str.extract(_NUMBER, expand=False).str.replace(",", "").astype(float)
    gold = table.loc[numeric, "gold"]
    places = gold.str.partition(".")[2].str.len()
    rounded = np.round(number * 10.0**places) / 10.0**places
    table["value"] = words.reindex(table.index).where(~numeric, rounded.astype(str).reindex(table.index))
    table["exact"] = words.reindex(table.index).where(~numeric, number.astype(str).reindex(table.index))
    within = (number - gold.astype(float)).abs() <= 0.5 * 10.0**-places + 1e-12
    right = words == table.loc[~numeric, "gold"].str.lower()
    table["correct"] = pd.concat([within, right]).reindex(table.index)
    return table.drop(columns=["text", "gold"])


def cells_of(scored: pd.DataFrame) -> pd.DataFrame:
    """A row for each configuration and item."""
    counts = (
        scored.groupby(["configuration", "item", "value"])
        .agg(count=("sample", "size"), first=("sample", "min"), right=("correct", "sum"))
        .reset_index()
        .sort_values(["configuration", "item", "count", "first"], ascending=[True, True, False, True])
    )
    counts["pairs"] = counts["count"] * (counts["count"] - 1)
    counts["missed"] = counts["count"].map(lambda c: comb(c, M))
    by_cell = counts.groupby(["configuration", "item"])
    cells = by_cell.agg(
        n=("count", "sum"), top=("count", "first"), right=("right", "sum"), top_right=("right", "first"),
        pairs=("pairs", "sum"), missed=("missed", "sum"),
    ).reset_index()  # fmt: skip
    cells["unstable"] = cells["top"] < cells["n"]
    cells["dispersion"] = 1 - cells["top"] / cells["n"]
    cells["pairwise"] = 1 - cells["pairs"] / (cells["n"] * (cells["n"] - 1))
    cells["rarefied"] = 1 - cells["missed"] / cells["n"].map(lambda n: comb(n, M))
    cells["acc"] = cells["top_right"] > 0
    about = scored[["item", "task", "category", "answer_type"]].drop_duplicates("item")
    return cells.merge(about, on="item")


def wilson(successes: float, trials: float) -> Found:
    """A share with Wilson's interval."""
    z, p = norm.ppf(0.975), successes / trials
    below = 1 + z * z / trials
    centre, half = p + z * z / (2 * trials), z * sqrt(p * (1 - p) / trials + z * z / (4 * trials**2))
    return Found(p, max(0.0, (centre - half) / below), min(1.0, (centre + half) / below))


def bootstrap_mean(values: np.ndarray, watch: Stopwatch, part: str, rng: np.random.Generator) -> Found:
    """The mean over items, drawn again."""
    with watch.loop(part, DRAWS) as draws:
        drawn = np.array([rng.choice(values, len(values)).mean() for _ in range(draws)])
    return Found(float(values.mean()), drawn=drawn)


def bootstrap_ratio(
    above: np.ndarray, below: np.ndarray, watch: Stopwatch, part: str, rng: np.random.Generator
) -> Found:
    """Σ above / Σ below over items, drawn again with both numbers."""
    drawn = []
    with watch.loop(part, DRAWS) as draws:
        for _ in range(draws):
            chosen = rng.integers(0, len(above), len(above))
            drawn.append(above[chosen].sum() / below[chosen].sum())
    return Found(float(above.sum() / below.sum()), drawn=np.array(drawn))


def _wobble(
    found: dict[Key, Found],
    cells: pd.DataFrame,
    exact: pd.DataFrame,
    watch: Stopwatch,
    rng: np.random.Generator,
) -> None:
    means = ("rarefied", "pairwise", "dispersion")
    exact_of = exact.set_index(["configuration", "item"])["unstable"]
    cells = cells.assign(
        unstable_exact=exact_of.loc[list(zip(cells["configuration"], cells["item"], strict=True))].to_numpy()
    )
    for name, its in cells.groupby("configuration"):
        key = ("wobble", "overall", name)
        found[*key, "wobble"] = found[*key, "wobble_rounding"] = wilson(its["unstable"].sum(), len(its))
        found[*key, "wobble_exact"] = wilson(its["unstable_exact"].sum(), len(its))
        found[*key, "acc"] = wilson(its["acc"].sum(), len(its))
        for figure in means:
            found[*key, figure] = bootstrap_mean(its[figure].to_numpy(), watch, "wobble", rng)
    key = ("wobble", "overall", "all configurations")
    found[*key, "wobble_wilson"] = wilson(cells["unstable"].sum(), len(cells))
    by_item = cells.groupby("item")[["unstable", "unstable_exact", "acc", *means]].sum()
    number = cells.groupby("item").size().to_numpy()
    for figure, column in {
        "wobble": "unstable", "wobble_rounding": "unstable", "wobble_exact": "unstable_exact", "acc": "acc",
        **dict(zip(means, means, strict=True)),
    }.items():  # fmt: skip
        above = by_item[column].to_numpy(dtype=float)
        found[*key, figure] = bootstrap_ratio(above, number, watch, "wobble", rng)


def _by_group(
    found: dict[Key, Found], cells: pd.DataFrame, watch: Stopwatch, rng: np.random.Generator
) -> None:
    for by in ("category", "task", "answer_type"):
        table = f"by {by.replace('_', ' ')}"
        for (group, name), its in cells.groupby([by, "configuration"]):
            key = ("wobble", table, group, name)
            found[*key, "wobble"] = wilson(its["unstable"].sum(), len(its))
            found[*key, "rarefied"] = bootstrap_mean(its["rarefied"].to_numpy(), watch, table, rng)


def _observability(
    found: dict[Key, Found], cells: pd.DataFrame, watch: Stopwatch, rng: np.random.Generator
) -> None:
    n, right = cells["n"], cells["right"]
    shares = {
        "p_one": right == n,
        "p_zero": right == 0,
        "band": (10 * right >= 3 * n) & (10 * right <= 7 * n),
        "band_half_open": (10 * right >= 3 * n) & (10 * right < 7 * n),
        "stable": ~cells["unstable"],
    }
    for figure, inside in shares.items():
        for name, its in inside.groupby(cells["configuration"]):
            found["observability", "overall", name, figure] = wilson(its.sum(), len(its))
        by_item = inside.groupby(cells["item"])
        above, below = by_item.sum().to_numpy(dtype=float), by_item.size().to_numpy()
        key = ("observability", "overall", "all configurations", figure)
        found[key] = bootstrap_ratio(above, below, watch, "observability", rng)


def _halves(scored: pd.DataFrame, first: np.ndarray) -> list[pd.DataFrame]:
    """The wobble of each task [task, configuration] in the samples `first`, and in the others."""
    inside = scored["sample"].isin(first)
    tables = []
    for half in (scored[inside], scored[~inside]):
        cells = half.groupby(["configuration", "task", "item"])["value"].agg(["nunique", "size"])
        cells = cells[cells["size"] >= 2]
        flips = (cells["nunique"] > 1).groupby(level=["configuration", "task"]).mean()
        tables.append(flips.unstack("configuration"))
    return tables


def _corrected(one: np.ndarray, other: np.ndarray) -> float:
    if len(set(one)) < 2 or len(set(other)) < 2:
        return float("nan")
    r = float(spearmanr(one, other).statistic)
    return 2 * r / (1 + r)


def _reliability(
    found: dict[Key, Found],
    scored: pd.DataFrame,
    cells: pd.DataFrame,
    watch: Stopwatch,
    rng: np.random.Generator,
) -> None:
    with watch.part("halves"):
        slim = scored[["configuration", "task", "item", "sample", "value"]]
        samples = np.sort(slim["sample"].unique())
        even, odd = _halves(slim, samples[samples % 2 == 0])
        unsteady = cells.groupby("task")["unstable"].any()
        names = list(even.columns)
        even, odd = (half.loc[unsteady[unsteady].index] for half in (even, odd))
        slim = slim[slim["task"].isin(even.index)]
        values = {name: _corrected(even[name].to_numpy(), odd[name].to_numpy()) for name in names}
    drawn: dict[str, list[float]] = {name: [] for name in names}
    with watch.loop("halves: bootstrap over tasks", DRAWS) as draws:
        for _ in range(draws):
            chosen = rng.integers(0, len(even), len(even))
            for name in names:
                drawn[name].append(_corrected(even[name].to_numpy()[chosen], odd[name].to_numpy()[chosen]))
    random: dict[str, list[float]] = {name: [] for name in names}
    with watch.loop("random halves", SPLITS) as splits:
        for _ in range(splits):
            one, other = _halves(slim, rng.permutation(samples)[: len(samples) // 2])
            for name in names:
                random[name].append(_corrected(one[name].to_numpy(), other[name].to_numpy()))
    for name in names:
        key = ("reliability", "by configuration", name)
        found[*key, "corrected"] = Found(values[name], drawn=np.array(drawn[name]))
        found[*key, "random_median"] = _middle(np.array(random[name]))
    key = ("reliability", "overall")
    of_all = np.nanmedian(np.array(list(drawn.values())), axis=0)
    found[*key, "median_corrected"] = Found(float(np.nanmedian(list(values.values()))), drawn=of_all)
    found[*key, "random_median"] = _middle(np.nanmedian(np.array(list(random.values())), axis=0))


def _middle(drawn: np.ndarray) -> Found:
    error = 1.25 * float(np.nanstd(drawn)) / sqrt(len(drawn))
    return Found(float(np.nanmedian(drawn)), drawn=drawn, is_drawn=True, error=error)


def _tops(scores: np.ndarray, k: int) -> list[tuple[set[int], set[int]]]:
    """Of each configuration the first k and the first 2k units with a score; ties in order of the units."""
    sets = []
    for row in scores:
        order = np.argsort(-row, kind="stable")[: 2 * k]
        ranked = order[row[order] > 0].tolist()
        sets.append((set(ranked[:k]), set(ranked)))
    return sets


def _shared(scores: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Share and number of A's first k among B's first 2k, for each pair [A, B]; nan on the diagonal."""
    tops = _tops(scores, k)
    shares, hits = (np.full((len(tops), len(tops)), np.nan) for _ in range(2))
    for one, other in permutations(range(len(tops)), 2):
        both = len(tops[one][0] & tops[other][1])
        hits[one, other], shares[one, other] = both, both / len(tops[one][0])
    return shares, hits


def _transfer(
    found: dict[Key, Found], cells: pd.DataFrame, watch: Stopwatch, rng: np.random.Generator
) -> None:
    with watch.part("transfer"):
        tables: Mapping[str, pd.DataFrame] = {
            "items": cells.pivot(index="configuration", columns="item", values="dispersion").sort_index(
                axis=1
            ),
            "tasks": cells.pivot_table(
                index="configuration", columns="task", values="unstable", aggfunc="mean"
            ),
        }
    for unit, table in tables.items():
        scores = table.to_numpy(dtype=float)
        number, units = scores.shape
        pairs = list(permutations(range(number), 2))
        null: dict[int, list[float]] = {k: [] for k in TOPS}
        means: dict[int, list[float]] = {k: [] for k in TOPS}
        with watch.part("transfer"):
            found_of = {k: _shared(scores, k) for k in TOPS}
        with watch.loop("transfer: permutations", PERMUTATIONS) as made:
            for _ in range(made):
                dealt = rng.permuted(scores, axis=1)
                for k in TOPS:
                    null[k].append(np.nanmean(_shared(dealt, k)[0]))
        with watch.loop("transfer: bootstrap over configurations", DRAWS) as made:
            for _ in range(made):
                chosen = rng.integers(0, number, number)
                for k in TOPS:
                    means[k].append(np.nanmean(found_of[k][0][np.ix_(chosen, chosen)]))
        for k in TOPS:
            key = ("transfer", "by k", "all configurations", unit, str(k))
            shares, hits = found_of[k]
            tops = _tops(scores, k)
            expected = sum(len(tops[one][0]) * len(tops[other][1]) / units for one, other in pairs)
            observed, values = float(np.nanmean(shares)), np.array(null[k])
            p = (1 + int((values >= observed - 1e-12).sum())) / (1 + len(values))
            found[*key, "mean"] = Found(observed, drawn=np.array(means[k]))
            found[*key, "median"] = Found(float(np.nanmedian(shares)))
            found[*key, "hits"] = Found(float(np.nansum(hits)))
            found[*key, "expected"] = Found(float(expected))
            error = float(values.std()) / sqrt(len(values))
            found[*key, "null_mean"] = Found(float(values.mean()), drawn=values, is_drawn=True, error=error)
            error = sqrt(p * (1 - p) / len(values)) + 1 / len(values)
            found[*key, "p"] = Found(p, is_drawn=True, error=error)
            found[*key, "pairs_sharing"] = wilson(int((hits > 0).sum()), len(pairs))
