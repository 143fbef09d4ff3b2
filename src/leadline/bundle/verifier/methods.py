"""What figures say of how they were made: words that the verifier knows, with the study's own numbers of
draws."""

from __future__ import annotations

import re
from typing import Any

from leadline.bundle.verifier.faults import Book
from leadline.bundle.verifier.loading import Bundle

_N = r"[\d,]+"
# Whole methods, or parts of them between semicolons.
_KNOWN = re.compile(
    "|".join(
        f"(?:{one})"
        for one in (
            "",
            r"(?:wilson|newcombe|tango)(?: over (?:cells|items|tasks))?(?:, times the part left out)?",
            rf"(?:items|tasks) (?:relabelled|permuted).{{0,60}}, {_N} permutations, seed \d+(?:, .{{1,20}})?",
            rf"(?:items|tasks) relabelled(?:, all {_N} ways, two-sided|, holm over {_N} contrasts)?",
            rf"{_N} (?:deals|resamples) of .{{1,60}}, seed \d+",
            rf"deals, holm over {_N} pairs",
            r"simulated on the pooled answers, seed \d+",
            rf"poisson binomial tail, {_N} resamples of .{{1,60}}, seed \d+",
            rf"signs of items flipped, (?:all patterns|{_N} permutations, seed \d+|.{{1,60}}), two-sided",
            "registered",
            "count",
            "by construction",
            "difference of two counts",
            rf"bootstrap over [a-z -]+(?: and [a-z]+)?, {_N} draws, seed \d+",
            rf"mean over {_N} models",
            r"(?:mean|median|quantiles?|share|hits|median) (?:over|of) .{1,120}",
            r"Σ .{1,60}",
            rf"(?:the )?largest of {_N} .{{1,80}}",
            r"kendall tau-b with K = \d+",
            r"exact (?:mcnemar|sign test|fisher|binomial|permutation|sign flips).{0,120}",
            r"(?:one-sided |two-sided )?permutations?,.{0,120}",
            rf"{_N} permutations(?:, .{{1,100}})?",
            rf"middle 95 % of {_N} random halves, seed \d+",
            r"chao2, bias-corrected, log-normal interval, capped at the deep failures",
            rf"incidence extrapolation by {_N} samples, bootstrap over items, {_N} draws, seed \d+",
            rf"over {_N} (?:tasks|configurations)",
            r"ordinary least squares(?:, .{1,100})?",
        )
    )
)
_DRAWS = re.compile(r"bootstrap over [^,;]+, ([\d,]+) draws, seed (\d+)")


def check_methods(bundle: Bundle, book: Book) -> None:
    """Each method is one that is known, fits its figure, and names the draws that the protocol names."""
    draws = (str(bundle.protocol["bootstrap_draws"]), str(bundle.protocol["bootstrap_seed"]))
    for finding in bundle.document["findings"]:
        for row in finding["rows"]:
            for name, figure in row["figures"].items():
                if said := _fault(figure, draws):
                    keys = ", ".join(f"{key} {value}" for key, value in row["keys"].items())
                    place = f"{finding['lens']}, {finding['table']}, {finding['model']}: {keys}: {name}"
                    book.fault("method", f"{place}: {said}")


def _fault(figure: dict[str, Any], draws: tuple[str, str]) -> str:
    method, value = figure.get("method", ""), figure.get("value")
    if not isinstance(method, str) or not all(map(_KNOWN.fullmatch, method.split("; "))):
        return f"no such method is known: {method!r:.60}"
    found = _DRAWS.search(method)
    if found and (found[1].replace(",", ""), found[2]) != draws:
        return f"{found[0]} is not the protocol's {draws[0]} draws with seed {draws[1]}"
    if value is not None and method == "":
        return "it has a value, and does not say how it was made"
    if value is None and not figure.get("note"):
        return "it has no value, and does not say why"
    if method == "wilson" and value is not None and value != figure["numerator"] / figure["denominator"]:
        return "wilson's is an interval of a share of counts"
    if method == "count" and (figure.get("low") is not None or figure.get("high") is not None):
        return "a count has no interval"
    return ""
