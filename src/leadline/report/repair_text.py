"""A repair for people: lines on a terminal, and the pairs of old and new windows as a table."""

from __future__ import annotations

import csv
import io

from leadline.audit.repair_document import RepairDocument, Repaired
from leadline.report.audit_csv import spreadsheet_safe

COLUMNS = (
    "item", "task", "outcome", "failure", "reason", "source", "layer", "start", "end", "evidence_start",
    "evidence_end", "characters", "old_window_sha256", "new_window_sha256",
)  # fmt: skip


def repair_lines(document: RepairDocument, listed: int) -> list[str]:
    """What was done: counts, refusals by reason, and up to `listed` flagged items one by one."""
    old, new = document.original, document.repaired
    flagged, done = len(document.items), len(document.done)
    lines = [
        f"{_plain(old.name)} {_plain(old.version)}: {old.items:,} items, {flagged:,} flagged, "
        f"{done:,} repaired, {flagged - done:,} refused"
    ]
    lines += [f"  refused {number:>6,}  {reason}" for reason, number in document.refusals]
    lines += [f"  {_line(item)}" for item in document.items[:listed]]
    if (more := flagged - listed) > 0:
        lines.append(f"  ... and {more:,} more")
    if done:
        left_out = "; the others were left out" if document.only_repaired else "; the others are as they were"
        lines.append(
            f"version {_plain(new.version)}: {new.items:,} items, {done:,} with a new window{left_out}"
        )
    return lines


def pairing_csv(document: RepairDocument) -> str:
    """One row per flagged item; safe to open in a spreadsheet."""
    sink = io.StringIO(newline="")
    writer = csv.writer(sink, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for item in document.items:
        values = (getattr(item, column) for column in COLUMNS)
        writer.writerow(["" if value is None else spreadsheet_safe(str(value)) for value in values])
    return sink.getvalue()


def _line(item: Repaired) -> str:
    if item.outcome == "refused":
        return f"refused   {_plain(item.item)}: {_plain(item.reason)}"
    edges = "" if item.whole_words else ", its edges within words"
    place = f"characters {item.start:,} to {item.end:,} of {_plain(item.source)}"
    found = f" ({_plain(item.reason)})" if item.reason else ""
    return f"repaired  {_plain(item.item)}: {place}{edges}{found}"


def _plain(text: str) -> str:
    """Texts come from files: a terminal must not obey what stands in them."""
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)
