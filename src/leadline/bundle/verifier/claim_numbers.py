"""The numbers in the words of claims: each must be one of the figures that the claim rests on, as rounded.

A claim's words are not made again; this says that no number in them was made up. What is looked for are the
figures of its own finding (a claim's own rows where its words name one), counts that follow from them, and
what the study's protocol sets. Whole numbers below ten are counted for many things and are held loosely.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import Any

from leadline.bundle.verifier.faults import Book
from leadline.bundle.verifier.intervals import newcombe_level
from leadline.bundle.verifier.loading import Bundle

# A number as sentences write it; none within a name (tau-0.7, Q4_1).
_NUMBER = re.compile(r"(?<![\w.])[+\-−]?\d[\d,]*(?:\.\d+)?(?:e[+\-−]?\d+)?(?![\w])")
_FREE = {80.0, 2.5, 5.0, 95.0, 0.05, 0.5, 50.0, 0.7, 0.9, 90.0, 0.3, 0.1, 10.0, 0.95, 100.0, 1.0, 0.0}


def check_claim_numbers(bundle: Bundle, book: Book) -> None:
    """Every number in text, point and conservative reading; no claim twice; none without words."""
    checked = 0
    for finding in bundle.document["findings"]:
        pool = _Pool(bundle, finding)
        texts = [claim["text"] for claim in finding["claims"]]
        where = f"{finding['lens']}, {finding['table']}, {finding['model']}"
        for text in sorted({text for text in texts if texts.count(text) > 1}):
            book.fault("claim", f"{where}: “{text[:90]}...” stands there twice")
        for claim in finding["claims"]:
            for part in ("text", "point", "conservative"):
                told = pool.without_names(str(claim.get(part) or ""))
                for match in _NUMBER.finditer(told):
                    checked += 1
                    if not pool.holds(match.group()):
                        book.fault(
                            "claim",
                            f"{where}: {part} “{claim[part][:90]}...”: no figure of it is {match.group()}",
                        )
    book.facts["claim_numbers"] = checked


class _Pool:
    """The numbers that a finding's claims may speak of."""

    def __init__(self, bundle: Bundle, finding: dict[str, Any]) -> None:
        self.bundle, self.finding = bundle, finding
        protocol = bundle.protocol
        names = {value for row in finding["rows"] for value in row["keys"].values()}
        names |= {str(one.get("label") or "") for one in (*protocol["members"], *protocol["methods"])}
        names |= {one["label"] for one in bundle.document["configurations"]} | set(bundle.items)
        self._names = sorted((name for name in names if re.search(r"\d", name)), key=len, reverse=True)
        rest = [
            row
            for other in bundle.document["findings"]
            if (other["lens"], other["model"]) == (finding["lens"], finding["model"])
            for row in other["rows"]
        ]
        self._lens = _derived(rest) if len(rest) < 4000 else _derived(finding["rows"])
        self._lens.add(_counted(finding))
        if finding["lens"] == "label_errors":  # how many are unanimous, firm or sure; 200 are listed at most
            listed = len(finding["rows"])
            self._lens.add({float(at) for at in range((listed if listed < 200 else len(bundle.items)) + 1)})
        # So many samples tell shallow from deep, so many look further, and so many more these are.
        if finding["lens"] == "beyond_sampling":
            for part in protocol["partitions"]:
                self._lens.add({float(part["k"]), float(part["sweep"]), float(part["sweep"] - part["k"])})
        if finding["table"] == "steadiest":  # the next one is told as far away as it is on common items
            rates = [_number(row["figures"], "rarefied") for row in rest if "configuration" in row["keys"]]
            apart = [_number(row["figures"], "difference") for row in finding["rows"]]
            self._lens.add({100 * abs(rate - one) for rate in set(rates) for one in apart})

    def without_names(self, text: str) -> str:
        """A text without the names of configurations, categories and items that have digits in them."""
        for name in self._names:
            if name in text:
                text = re.sub(rf"(?<![\w.]){re.escape(name)}(?![\w])", "#", text)
        return text

    def holds(self, written: str) -> bool:
        """Whether a number may stand in a claim: tables of the same lens lie beside its own."""
        return self._lens.holds(written)


class _Numbers:
    """Numbers to look a rounded one up in."""

    def __init__(self, values: set[float]) -> None:
        self.values = sorted(values)

    def add(self, more: set[float]) -> None:
        """Further ones."""
        self.values = sorted({*self.values, *more})

    def holds(self, written: str) -> bool:
        """Whether one of them is rounded to this."""
        plain = written.replace(",", "").replace("−", "-")
        number = abs(float(plain))
        mantissa, _, exponent = plain.partition("e")
        places = len(mantissa.partition(".")[2])
        half = 0.5 * 10.0 ** (int(exponent or 0) - places)
        if number in _FREE or (places == 0 and not exponent and number < 10):
            return True
        slack = half * (1 + 1e-6) + 1e-9
        at = bisect_left(self.values, number - slack)
        return at < len(self.values) and self.values[at] <= number + slack


def _counted(finding: dict[str, Any]) -> set[float]:
    """What some claims say beside figures: means over rows, pairs of rows, what is left of a difference."""
    rows = [row["figures"] for row in finding["rows"]]
    found: set[float] = set()
    if finding["lens"] == "adjudication":  # in how many configurations accuracy rises, falls and stays
        changes = [
            one["acc_change"]["value"]
            for one in rows[1 if len(rows) > 1 else 0 :]
            if one["acc_change"]["value"] is not None
        ]
        signs = [(change > 0) - (change < 0) for change in changes]
        found |= {float(len(signs)), *(float(signs.count(sign)) for sign in (1, 0, -1))}
    if finding["table"] == "sweep":
        found |= _orders(finding["rows"])
    if (finding["lens"], finding["table"]) == ("transitions", "by category"):
        found |= _worst_groups(finding["rows"])
    if finding["lens"] == "transfer":
        for one in rows:
            for above, below in (("hits", "null_hits"), ("hits", "expected"), ("mean", "null_mean")):
                first, second = (_number(one, name) for name in (above, below))
                found |= {first / second} if first and second else set()
    if (finding["lens"], finding["table"]) == ("sameness", "overall") and rows:
        exact, rounding = (rows[-1][f"wobble_{rule}"].get("numerator") or 0 for rule in ("exact", "rounding"))
        found |= {100 * (exact - rounding) / exact} if exact else set()
    if (finding["lens"], finding["table"]) == ("accuracy", "overall"):
        found |= {float(number) for number in range(len(rows) * (len(rows) - 1) // 2 + 1)}
        both = [(one["acc"]["value"], one["acc_strict"]["value"]) for one in rows]
        found |= {
            100 * (loose - strict) for loose, strict in both if loose is not None and strict is not None
        }
    return found


def _worst_groups(rows: list[dict[str, Any]]) -> set[float]:
    """Of each method: each category that spans five tasks against the others that do."""
    found: set[float] = set()
    for method in {row["keys"]["method"] for row in rows}:
        own = [row["figures"] for row in rows if row["keys"]["method"] == method]
        counts = [
            (int(one["loss"]["numerator"]), int(one["loss"]["denominator"]))
            for one in own
            if _number(one, "tasks") >= 5 and one["loss"]["denominator"]
        ]
        for first in counts if len(counts) > 1 else ():
            rest = tuple(sum(one[at] for one in counts) - first[at] for at in (0, 1))
            low = newcombe_level(first, (rest[0], rest[1]), 1 - 0.05 / len(counts))[0]
            apart = first[0] / first[1] - rest[0] / rest[1]
            found |= {
                float(rest[0]),
                float(rest[1]),
                100 * rest[0] / rest[1],
                abs(100 * low),
                abs(100 * apart),
            }
    return found


def _orders(rows: list[dict[str, Any]]) -> set[float]:
    """Of each temperature: the mean of all agreements of orders, how many there are, how many are not 1."""
    found: set[float] = set()
    for at in {row["keys"]["temperature"] for row in rows}:
        figures = [
            item for row in rows if row["keys"]["temperature"] == at for item in row["figures"].items()
        ]
        taus = [
            one["value"] for name, one in figures if name.startswith("kendall") and one["value"] is not None
        ]
        if taus:
            found |= {abs(sum(taus) / len(taus)), float(len(taus)), float(sum(one < 1 for one in taus))}
    return found


def _number(figures: dict[str, Any], name: str) -> float:
    return float(figures.get(name, {}).get("value") or 0)


def _derived(rows: list[dict[str, Any]]) -> _Numbers:
    """Values, counts and ends of figures, as they are and in per cent; counts less each other; rows."""
    values: set[float] = {float(len(rows))}
    for row in rows:
        for figure in row["figures"].values():
            for name in ("value", "low", "high", "numerator", "denominator"):
                found = figure.get(name)
                if found is not None:
                    values |= {abs(found), abs(100 * found), abs(100 - 100 * found)}
            if figure.get("numerator") is not None and figure.get("denominator") is not None:
                values.add(abs(figure["denominator"] - figure["numerator"]))
    return _Numbers(values)
