"""Readings of the same items from before they were changed."""

from __future__ import annotations

from leadline.bundle.verifier.faults import Book
from leadline.bundle.verifier.files import read_lines
from leadline.bundle.verifier.loading import STATES, Answer, Bundle, value_under


def load_earlier(bundle: Bundle, book: Book) -> None:
    """Read them into `bundle.before`, where the findings speak of such, and check that they fit."""
    if not bundle.protocol.get("before"):
        return
    configurations = {(one["model"], one["name"]) for one in bundle.document["configurations"]}
    rule = bundle.protocol["stability"]["sameness"]
    seen = set()
    for number, line in read_lines(bundle.folder / "before", "readings.jsonl", book):
        where = f"before/readings.jsonl:{number}"
        try:
            key = (line["model"], line["configuration"], line["item"], line["sample"])
            answer = Answer(line)
        except KeyError as error:
            book.fault("structure", f"{where} has no {error}")
            continue
        if key in seen:
            book.fault("structure", f"{where}: a second reading {key}")
            continue
        seen.add(key)
        if key[2] not in bundle.items or key[:2] not in configurations:
            book.fault("structure", f"{where}: unknown item or configuration {key}")
            continue
        if answer.state not in STATES or (answer.state == "ok") == (answer.value is None):
            book.fault("structure", f"{where}: state and value do not fit {key}")
        if answer.state != "ok" and (answer.correct or answer.strict):
            book.fault("structure", f"{where}: right without being read {key}")
        answer.vote = value_under(answer, rule)
        bundle.before.setdefault(key[:2], {}).setdefault(answer.item, []).append(answer)
    counted = bundle.manifest.get("bundle", {}).get("readings_before")
    if counted != len(seen):
        book.fault("structure", f"manifest.json counts {counted} readings from before, {len(seen)} are there")
    for cells in bundle.before.values():
        for answers in cells.values():
            answers.sort(key=lambda one: one.sample)
    book.facts["readings_before"] = len(seen)
