"""Scores of blind packs, counted again: how many rows, what agrees, under which name, and kappa.

Sheets come through spreadsheets, and answers are read a second time only where a simple reader can: so a
share of agreement is recomputed where all of its rows are decided, and held between bounds elsewhere. Kappa
and nominal alpha are recomputed where each value is known as well. Alpha of numbers and dates, and the
intervals of coefficients, which are bootstraps, are not.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections import Counter
from collections.abc import Sequence
from math import isclose
from pathlib import Path
from typing import Any, Optional

from leadline.bundle.verifier.intervals import wilson_ends
from leadline.bundle.verifier.pack_sentences import folded, sentence_of
from leadline.bundle.verifier.pack_weights import weighted_fault
from leadline.bundle.verifier.rereading import decide

_UNSEEN = " \t\r\n\u00a0\u200b\u200c\u200d\u2060\ufeff"
_GUARDED = re.compile(r"'[=+\-@＝＋－＠\d]")
_LEAST_ROWS = 30


def stratum_of(item: dict[str, Any]) -> tuple[str, str]:
    """Category and answer type."""
    return item.get("category") or item.get("domain") or "", item.get("answer_type") or "text"


class ReadRow:
    """A row: its item; whether the answer is the label's, and whether it is "?" (None: who knows); what kappa
    counts as label and as answer ("": unknown)."""

    def __init__(self, item: dict[str, Any], answer: Optional[str], rule: str) -> None:
        self.category, self.kind = stratum_of(item)
        self.agrees: Optional[bool] = None
        self.unsettled: Optional[bool] = None
        self.label = decide(item, str(item["answer"])).value or ""
        self.said = ""
        if answer is None:
            return
        if not answer.strip("?？¿ "):
            self.agrees, self.unsettled, self.said = False, True, "?"
        elif self.kind != "number" or "." not in answer:  # a point is read as the sheet's reader wrote it
            found = decide(item, answer)
            self.agrees = found.strict if rule == "words" else found.correct
            if self.agrees:
                self.unsettled, self.said = False, self.label
            elif found.value is not None and self.agrees is not None:
                self.unsettled, self.said = False, found.value
                if self.said == self.label:
                    self.said += " (qualified)"


def score_fault(
    head: dict[str, Any],
    items: Sequence[dict[str, Any]],
    score: dict[str, Any],
    sheet: Optional[Path],
    tally: Counter[str],
) -> str:
    """Why a score is not what its pack (`items` in the order of its rows) and its sheet come to; "" where it
    may be. `tally` counts shares and coefficients that were recomputed."""
    if score["pack"] != _pack_hash(head):
        return "is of another pack"
    said = _name_fault(head, score)
    if said:
        return said
    answers = None if sheet is None else _answers(sheet)
    tokens = [row["token"] for row in head["rows"]]
    if answers is not None and not set(tokens) <= set(answers):
        return "its sheet has not every row of the pack"
    answers = answers or {}
    rows = [ReadRow(item, answers.get(token), score["correctness"]) for token, item in zip(tokens, items)]
    if score["rows"] != len(rows) or score["unsettled"] != score["groups"][0]["unsettled"]:
        return "its rows are not those of the pack"
    kinds = sorted({one["answer_type"] for one in head["strata"]})
    categories = sorted({one["category"] for one in head["strata"]})
    wanted = [
        ("overall", None, None),
        *(("answer type", None, kind) for kind in kinds),
        *(("category", category, None) for category in categories),
        *(("stratum", one["category"], one["answer_type"]) for one in head["strata"]),
    ]
    if [(one["by"], one["category"], one["answer_type"]) for one in score["groups"]] != wanted:
        return "its groups are not the strata of the pack"
    for group in score["groups"]:
        said = _group_fault(head, group, rows, tally)
        if said:
            name = ", ".join(filter(None, (group["by"], group["category"], group["answer_type"])))
            return f"{name}: {said}"
    return weighted_fault(head, score) or _sum_fault(score)


def _name_fault(head: dict[str, Any], score: dict[str, Any]) -> str:
    reader, author = score["reader"], score["author"]
    if head.get("author") and folded(head["author"]) != folded(author):
        return f"names {author!r} as author, the pack {head['author']!r}"
    relation = "unknown"
    if author:
        relation = "intra-annotator" if folded(reader) == folded(author) else "inter-annotator"
    called = "annotator agreement of unknown kind" if relation == "unknown" else f"{relation} agreement"
    if (score["relation"], score["agreement"]) != (relation, called):
        return f"calls {called} {score['agreement']!r}: it was read by {reader!r}, labelled by {author!r}"
    if score["population"] != head["population"]:
        return "names another population than its pack"
    stood = score["stood"]
    if not 0 <= stood["rows"] <= min(stood["items"], len(head["rows"])):
        return "its reader stood with more rows than there are"
    if score["sentence"] != sentence_of(score):
        return f"its sentence does not say that it is {called}, or how blind it is"
    return ""


def _group_fault(
    head: dict[str, Any], group: dict[str, Any], rows: Sequence[ReadRow], tally: Counter[str]
) -> str:
    category, kind = group["category"], group["answer_type"]
    some = [row for row in rows if category in (None, row.category) and kind in (None, row.kind)]
    strata = [
        one
        for one in head["strata"]
        if category in (None, one["category"]) and kind in (None, one["answer_type"])
    ]
    if group["rows"] != len(some) or group["items"] != sum(one["items"] for one in strata):
        return f"{group['rows']} rows of {group['items']} items are not those of the pack"
    least = sum(row.unsettled is True for row in some)
    most = sum(row.unsettled is not False and row.agrees is not True for row in some)
    if not least <= group["unsettled"] <= most:
        return f"{group['unsettled']} rows are called unsettled, by the sheet {least} to {most}"
    said = _agreement_fault(group["all_rows"], some, tally)
    if said or (group["settled"] is None) != (group["unsettled"] == 0):
        return said or "what is settled is told where nothing is left out, or not told where something is"
    if group["settled"] is not None:
        if group["settled"]["agree"]["denominator"] != len(some) - group["unsettled"]:
            return "the settled rows are not those that are left"
        if group["settled"]["agree"]["numerator"] != group["all_rows"]["agree"]["numerator"]:
            return "other rows agree where the unsettled ones are left out"
        if least == most:
            return _agreement_fault(group["settled"], [row for row in some if not row.unsettled], tally)
    return ""


def _agreement_fault(told: dict[str, Any], rows: Sequence[ReadRow], tally: Counter[str]) -> str:
    share, total = told["agree"], len(rows)
    agreeing = share["numerator"]
    if share["denominator"] != total or agreeing is None or agreeing != int(agreeing):
        return f"the share of agreement is not over its {total} rows"
    if total == 0:
        return "" if share["value"] is None else "a share of no rows has a value"
    least = sum(row.agrees is True for row in rows)
    most = sum(row.agrees is not False for row in rows)
    if not least <= agreeing <= most:
        between = f"{least}" if least == most else f"{least} to {most}"
        return f"{int(agreeing)} rows agree, by the sheet {between}"
    if not _same(
        (share["value"], share["low"], share["high"]), (agreeing / total, *wilson_ends(agreeing, total))
    ):
        return "the share of agreement or its interval is not that of its counts"
    tally["shares" if least == most else "shares within bounds"] += 1
    known = least == most and all(row.label and row.said for row in rows)
    nominal = told["level"] == "nominal"
    for name in ("kappa", "kappa_asymptotic", *(("alpha",) if nominal else ())):
        value = told[name]["value"]
        if told[name]["denominator"] != total:
            return f"{name} is not over its {total} rows"
        if total < _LEAST_ROWS and value is not None:
            return f"{name} of {total} rows"
        if total >= _LEAST_ROWS and known:
            own = (_alpha if name == "alpha" else _kappa)(rows)
            if not _same((value,), (own,)):
                return f"{name} is {value}, recomputed {own}"
            tally["coefficients"] += 1
        elif value is not None:
            tally["coefficients on trust"] += 1
    if not nominal and told["alpha"]["value"] is not None:
        tally["coefficients on trust"] += 1
    kappa, expected = told["kappa"]["value"], told["expected"]
    if (
        kappa is not None
        and expected
        and not _same((kappa,), ((agreeing / total - expected) / (1 - expected),))
    ):
        return "kappa is not what its share and the one of chance come to"
    return ""


def _kappa(rows: Sequence[ReadRow]) -> Optional[float]:
    """Cohen 1960: (observed - expected) / (1 - expected), expected from how often each side says what."""
    total = len(rows)
    first, second = (Counter((row.kind, side(row)) for row in rows) for side in (_label_of, _said_by))
    observed = sum(row.label == row.said for row in rows) / total
    expected = sum(number * second[value] for value, number in first.items()) / total**2
    return None if isclose(expected, 1) else (observed - expected) / (1 - expected)


def _alpha(rows: Sequence[ReadRow]) -> Optional[float]:
    """Krippendorff 2011, two readers, nominal values, none missing."""
    counted = Counter((row.kind, value) for row in rows for value in (row.label, row.said))
    total = 2 * len(rows)
    expected = 1 - sum(number * (number - 1) for number in counted.values()) / (total * (total - 1))
    observed = sum(row.label != row.said for row in rows) / len(rows)
    return None if isclose(expected, 0, abs_tol=1e-12) else 1 - observed / expected


def _label_of(row: ReadRow) -> str:
    return row.label


def _said_by(row: ReadRow) -> str:
    return row.said


def _sum_fault(score: dict[str, Any]) -> str:
    for by in ("answer type", "category", "stratum"):
        groups = [one for one in score["groups"] if one["by"] == by]
        for name, of in (("agreeing", _agreeing), ("unsettled", _unsettled)):
            if sum(map(of, groups)) != of(score["groups"][0]):
                return f"its {name} rows by {by} do not add up"
    return ""


def _agreeing(group: dict[str, Any]) -> float:
    return float(group["all_rows"]["agree"]["numerator"])


def _unsettled(group: dict[str, Any]) -> float:
    return float(group["unsettled"])


def _answers(sheet: Path) -> Optional[dict[str, str]]:
    """The answers by token; None of a sheet that is no CSV in UTF-8, which spreadsheets may well write."""
    try:
        text = sheet.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        return None
    if "\0" in text:  # UTF-16 of plain letters is UTF-8 too
        return None
    first, _, rest = text.partition("\n")
    if re.fullmatch(r'"?sep=.?"?\s*', first, re.IGNORECASE):
        first, text = rest.partition("\n")[0], rest
    first = first.split("\r")[0]
    delimiter = max((",", ";", "\t"), key=first.count)
    names: list[str] = []
    found = {}
    try:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            if not "".join(row).strip(_UNSEEN):
                continue
            if not names:
                names = [cell.strip(_UNSEEN).casefold() for cell in row]
                continue
            cells = dict(zip(names, row))
            answer = cells.get("answer", "").strip(_UNSEEN)
            answer = answer[1:].strip(_UNSEEN) if _GUARDED.match(answer) else answer
            if answer and "token" in cells:
                found[cells["token"].strip(_UNSEEN)] = answer
    except csv.Error:
        return {}
    return found


def _pack_hash(head: dict[str, Any]) -> str:
    """What names a pack in its scores: all of pack.json but when it was made, and by whom."""
    about = {
        name: value
        for name, value in head.items()
        if name not in ("created", "leadline_version", "files", "author")
    }
    said = json.dumps(about, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()


def _same(told: Sequence[Any], own: Sequence[Any]) -> bool:
    """To nine digits."""
    return all(
        one is other if None in (one, other) else isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
        for one, other in zip(told, own)
    )
