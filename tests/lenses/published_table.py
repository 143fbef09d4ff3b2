"""A published table of wobble by configuration and category, and readings with exactly its counts.

Source: Probity, tables 1 and 5. A cell is the rate with its Wilson interval, thousandths: "74 37 146" for
0.074 [0.037, 0.146]. The table prints no counts: they are the only ones that round to it. One of its 288
numbers was rounded twice: 4 of 26 has the lower bound 0.0615003, printed .061; here it stands as it should.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from leadline.lenses.frame import readings_frame
from leadline.lenses.protocol import Member, Protocol, Stability
from leadline.stats.intervals import wilson

# Items and tasks of each category; the convertibles have items that some configurations gave no readable
# answer to.
CATEGORIES = {
    "cap table": (8, 1),
    "convertibles": (95, 12),
    "exit waterfall": (2, 1),
    "founder equity": (46, 5),
    "priced equity": (135, 16),
    "regulatory": (26, 5),
    "rights governance": (78, 7),
    "risk flag": (37, 5),
}
UNEVEN = "convertibles"
# Configuration, measured items, unstable ones, accuracy in thousandths; then the categories in order.
_TABLE = """
gemma4-31b 426 6 965 | 0 0 324 | 0 0 39 | 0 0 658 | 0 0 77 | 7 1 41 | 38 7 189 | 51 20 125 | 0 0 94
haiku-4.5 425 6 962 | 0 0 324 | 0 0 40 | 0 0 658 | 0 0 77 | 15 4 52 | 38 7 189 | 26 7 89 | 27 5 138
llama3.3-70b 426 8 953 | 0 0 324 | 0 0 39 | 0 0 658 | 22 4 113 | 15 4 52 | 77 21 241 | 38 13 107 | 0 0 94
gemini3-flash 426 9 965 | 0 0 324 | 0 0 39 | 0 0 658 | 0 0 77 | 44 21 94 | 0 0 129 | 13 2 69 | 54 15 177
mistral-large 427 12 944 | 0 0 324 | 0 0 39 | 0 0 658 | 65 22 175 | 22 8 63 | 77 21 241 | 38 13 107 | 27 5 138
gpt5-mini 427 20 965 | 0 0 324 | 0 0 39 | 0 0 658 | 43 12 145 | 37 16 84 | 154 62 335 | 115 62 205 | 0 0 94
deepseek-v4p 426 20 969 | 0 0 324 | 74 37 146 | 0 0 658 | 43 12 145 | 30 12 74 | 77 21 241 | 51 20 125 | 27 5 138
gpt-oss-120b 426 20 965 | 0 0 324 | 21 6 74 | 0 0 658 | 43 12 145 | 37 16 84 | 115 40 290 | 90 44 174 | 27 5 138
deepseek-v4f 427 23 967 | 0 0 324 | 42 16 103 | 0 0 658 | 22 4 113 | 52 25 103 | 115 40 290 | 64 28 141 | 81 28 213
minimax-m2.5 427 29 963 | 0 0 324 | 42 16 103 | 500 95 905 | 65 22 175 | 37 16 84 | 308 165 500 | 103 53 190 | 0 0 94
gemma3-1b-qat 427 132 663 | 375 137 694 | 305 222 404 | 1000 342 1000 | 261 156 403 | 296 226 378 | 462 288 645 | 256 173 363 | 378 241 539
gemma3-1b 426 162 631 | 1000 676 1000 | 298 215 397 | 1000 342 1000 | 348 227 492 | 467 385 551 | 615 425 776 | 256 173 363 | 243 134 401
"""  # noqa: E501
Printed = tuple[int, int, int]
SAMPLES = 6


def printed() -> dict[str, tuple[int, int, int, dict[str, Printed]]]:
    """By configuration: measured and unstable items, accuracy in thousandths, and its cells by category."""
    found = {}
    for line in _TABLE.strip().splitlines():
        name, *cells = line.split("|")
        label, *numbers = name.split()
        rates = [tuple(int(number) for number in cell.split()) for cell in cells]
        found[label] = (*map(int, numbers), dict(zip(CATEGORIES, rates, strict=True)))
    return found  # type: ignore[return-value]


def measured(label: str, category: str) -> int:
    """How many items of a category a configuration gave a readable answer to."""
    items = CATEGORIES[category][0]
    return items - (427 - printed()[label][0]) if category == UNEVEN else items


def counts(cell: Printed, items: int) -> list[int]:
    """The numbers of unstable items whose rate and Wilson interval round to what is printed."""
    return [
        unstable
        for unstable in range(items + 1)
        if thousandths(unstable, items, *wilson(unstable, items)) == cell
    ]


def thousandths(unstable: int, items: int, low: float | None, high: float | None) -> Printed:
    """A rate and its interval, as the table prints them."""
    assert low is not None and high is not None
    return round(1000 * unstable / items), round(1000 * low), round(1000 * high)


def table_protocol() -> Protocol:
    """The twelve configurations; the ten that are not small are a set."""
    labels = list(printed())
    return Protocol(
        baseline="",
        methods=(),
        members=tuple(Member(label, "tau-0.7") for label in labels),
        stability=Stability(subsets=(("frontier", tuple(labels[:10])),)),
    )


def table_frame() -> pl.DataFrame:
    """Readings with the table's counts. Which items of a category wavered is not in it: here the first."""
    rows: list[dict[str, Any]] = []
    for label, (total, _, accuracy, cells) in printed().items():
        right = round(accuracy * total / 1000)
        asked = 0
        for category, (items, tasks) in CATEGORIES.items():
            read = measured(label, category)
            (unstable,) = counts(cells[category], read)
            for at in range(items):
                for sample in range(SAMPLES):
                    stray = at < unstable and sample == SAMPLES - 1
                    ok = at < read
                    rows.append(
                        {
                            "model": label,
                            "configuration": "tau-0.7",
                            "item": f"{category}/{at:03d}",
                            "category": category,
                            "task": f"{category}/{at % tasks}",
                            "answer_type": "enum",
                            "sample": sample,
                            "state": "ok" if ok else "unreadable",
                            "text": "",
                            "value": ("stray" if stray else "gold" if asked < right else "other")
                            if ok
                            else None,
                            "correct": ok and not stray and asked < right,
                            "correct_strict": False,
                            "leads": False,
                        }
                    )
                asked += ok
    return readings_frame(rows)
