"""People's decisions on labels, laid over the items again: which ones apply, which answers they correct, and
which items they take out.

The last line of an item counts, "withdrawn" takes back what stood before it, and a decision about a label
that has changed since is not applied.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Optional

from leadline.bundle.verifier.faults import Book
from leadline.bundle.verifier.files import parsed, sha256_of
from leadline.bundle.verifier.loading import Bundle, hashed_entry

DECISIONS = "adjudications.jsonl"
_OUTCOMES = ("upheld", "rejected", "excluded-ambiguous", "withdrawn")
# What a reading's `excluded` calls an item that a decision takes out.
TAKEN_OUT = {"upheld": "adjudicated wrong", "excluded-ambiguous": "adjudicated ambiguous"}
# Left out for themselves, whatever an audit says of them: they are in no group that an audit makes.
BY_PEOPLE = ("named", *TAKEN_OUT.values())


class Decisions:
    """What a file of decisions comes to: `standing` holds the decision in force of each item, by its id."""

    def __init__(self) -> None:
        self.is_named = False
        self.lines = 0
        self.standing: dict[str, dict[str, Any]] = {}
        self.stale: list[str] = []
        self.unknown: list[str] = []
        self.withdrawn: list[str] = []

    def applied(self, outcome: str, corrects: Optional[bool] = None) -> list[str]:
        """The items with this outcome, sorted; of upheld ones those with, or without, a corrected answer."""
        return sorted(
            item
            for item, decision in self.standing.items()
            if decision["outcome"] == outcome
            and (corrects is None or (decision.get("corrected") is not None) == corrects)
        )

    def called(self, item: str) -> str:
        """What was decided of an item's label, in a word; "" where nothing was."""
        decision = self.standing.get(item)
        if decision is None:
            return ""
        outcome = decision["outcome"]
        if outcome == "upheld":
            return "wrong" if decision.get("corrected") is None else "corrected"
        return "ambiguous" if outcome == "excluded-ambiguous" else str(outcome)

    @property
    def taken_out(self) -> dict[str, str]:
        """Item -> the reason, of those that leave the population."""
        out = [*self.applied("upheld", corrects=False), *self.applied("excluded-ambiguous")]
        return {item: TAKEN_OUT[self.standing[item]["outcome"]] for item in out}


def label_hash(item: dict[str, Any]) -> str:
    """What a decision is about: sha256 of how the item is asked and judged."""
    return "sha256:" + hashlib.sha256(hashed_entry(item)).hexdigest()


def load_decisions(bundle: Bundle, book: Book) -> None:
    """Read adjudications.jsonl, where the findings name one, and lay it over `bundle.judged`."""
    found = bundle.decisions = Decisions()
    bundle.judged = dict(bundle.items)
    path = bundle.folder / DECISIONS
    named = bundle.document["benchmark"].get("adjudications") or ""
    if not named:
        if path.is_file():
            book.fault("adjudication", f"{DECISIONS} is there, and findings.json names none")
        return
    if not path.is_file():
        book.fault("structure", f"{DECISIONS} is missing")
        return
    if named != "sha256:" + sha256_of(path):
        book.fault("adjudication", f"{DECISIONS} is not the file that findings.json names: {named[:23]}...")
    found.is_named = True
    last: dict[str, dict[str, Any]] = {}
    lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip() or (number == len(lines) and _is_half(line)):
            continue
        found.lines += 1
        try:
            decision = parsed(line)
            said = _fault(decision)
        except ValueError as error:
            decision, said = {}, str(error)
        if said:
            book.fault("adjudication", f"{DECISIONS}:{number}: {said}")
        else:
            last[decision["item"]] = decision
    found.withdrawn = [item for item, one in last.items() if one["outcome"] == "withdrawn"]
    _apply(bundle, found, {item: one for item, one in last.items() if one["outcome"] != "withdrawn"})
    book.facts["decisions"] = found.lines


def _is_half(tail: bytes) -> bool:
    """Whether what stands after the last line end is a line that a sudden end cut off: nobody's decision."""
    try:
        json.loads(tail)
    except (ValueError, RecursionError):
        return tail.lstrip().startswith(b"{")
    return False


def _source_fault(bundle: Bundle, decision: dict[str, Any]) -> str:
    """Why the texts that a decision says were read are not those that lie in the bundle, where they do."""
    folder = bundle.folder / "benchmark" / "sources"
    for read in (decision.get("read"), *(decision.get("also_read") or ())):
        if not isinstance(read, dict) or not read.get("sha256"):
            continue
        path = folder / str(read.get("source", ""))
        if ".." not in path.parts and path.is_file() and sha256_of(path) != read["sha256"]:
            return f"was decided on another text of {read['source']} than lies here"
    return ""


def _fault(decision: Any) -> str:
    if not isinstance(decision, dict):
        return "not an object"
    for key in ("item", "outcome", "reader", "date", "reason", "label"):
        if not isinstance(decision.get(key), str) or not decision[key]:
            return f"has no {key}"
    if decision["outcome"] not in _OUTCOMES:
        return f"no such outcome is known: {decision['outcome'][:40]}"
    corrected = decision.get("corrected")
    if corrected is not None and (decision["outcome"] != "upheld" or not isinstance(corrected, str)):
        return f"a corrected answer that {decision['outcome']} has none of"
    return ""


def _apply(bundle: Bundle, found: Decisions, in_force: dict[str, dict[str, Any]]) -> None:
    for item, decision in in_force.items():
        entry = bundle.items.get(item)
        if entry is None:
            found.unknown.append(item)
        elif decision["label"] != label_hash(entry):
            found.stale.append(item)
        else:
            found.standing[item] = decision
            if decision.get("corrected") is not None:
                # Other names of the wrong answer are no names of the right one.
                kept = {key: value for key, value in entry.items() if key != "aliases"}
                bundle.judged[item] = {**kept, "answer": decision["corrected"]}


def check_decisions(bundle: Bundle, book: Book) -> None:
    """Who is left out by a decision is left out, and nobody else; readings say what was decided.

    An item may be left out for a reason that comes before: the audit's verdict, or by name.
    """
    holds = bundle.manifest["bundle"]
    members, reasons = set(holds["items"]), holds["excluded"]
    out = bundle.decisions.taken_out
    for item, decision in sorted(bundle.decisions.standing.items()):
        said = _source_fault(bundle, decision)
        if said:
            book.fault("adjudication", f"item {item} {said}")
    for item, reason in sorted(out.items()):
        if item in members:
            book.fault(
                "adjudication",
                f"item {item} is in the population; {DECISIONS} takes it out ({reason})",
            )
        told = reasons.get(item, "")
        if told in TAKEN_OUT.values() and told != reason:
            book.fault("adjudication", f"item {item} is left out as {told}; by {DECISIONS} it is {reason}")
    for item, told in sorted(reasons.items()):
        if told in TAKEN_OUT.values() and item not in out:
            book.fault("adjudication", f"item {item} is left out as {told}; no decision in force says so")
    told_of = {
        (item, answer.adjudication)
        for cells in bundle.everyone.values()
        for item, answers in cells.items()
        for answer in answers
    }
    for item, said in sorted(told_of):
        own = bundle.decisions.called(item)
        if said != own:
            book.fault(
                "adjudication",
                f"item {item}: readings.jsonl says {said or 'nothing'} of its label, {DECISIONS} "
                f"{own or 'nothing'}",
            )
