"""An audit as GitHub-flavoured Markdown, for the comment on a pull request or a job's summary."""

from __future__ import annotations

import re

from leadline.audit.document import AuditDocument, ItemVerdict
from leadline.report.audit_summary import Group, Summary, summary
from leadline.report.audit_words import (
    NO_CLAIMS,
    failure_name,
    first_reason,
    not_checked,
    nothing_checked,
    population,
    self_test_line,
    trial_result,
)
from leadline.report.labels import spelt_out
from leadline.report.numbers import count, plural, printed
from leadline.report.tables_markdown import escape

# GitHub refuses a comment of more than 65,536 characters.
MOST_CHARACTERS = 60_000
_REASON = 300


def audit_markdown(document: AuditDocument, verdict: str = "") -> str:
    """The summary, then the flagged items, as many as fit. `verdict` is the gate's sentence."""
    whole = document.benchmark
    head = [
        f"## Provenance audit: {plain(whole.name)} {plain(whole.version)}",
        *([f"**{plain(spelt_out(verdict))}**"] if verdict else []),
        f"{plain(population(document))}. {plain(not_checked(document))}".rstrip(),
        _self_test(document),
    ]
    tail = [
        "**What may not be claimed**",
        "\n".join(f"- {plain(sentence)}" for sentence in NO_CLAIMS),
        f"Content `{whole.content_hash}`; Leadline {plain(document.leadline_version)}, "
        f"{document.created.isoformat(timespec='minutes')}.",
    ]
    if not document.self_test.passed:
        return "\n\n".join([*head, *tail]) + "\n"
    found = summary(document)
    head += [
        _share_flagged(document, found),
        _breakdowns(found),
        *(_groups(title, groups) for title, groups in found.groups if title != "task"),
    ]
    room = MOST_CHARACTERS - sum(len(block) + 2 for block in (*head, *tail))
    return "\n\n".join([*head, *_flagged(document.flagged, room), *tail]) + "\n"


def _share_flagged(document: AuditDocument, found: Summary) -> str:
    if nothing := nothing_checked(document):
        return f"{spelt_out(nothing)}."
    flagged = printed("flagged", found.flagged)
    return f"Flagged: {flagged} of the items that could be checked. Shares come with their 95 % interval."


def plain(text: str) -> str:
    """Untrusted text that notifies nobody and links nowhere: no mention, no issue number, no address."""
    return re.sub(r"(@|://|\bwww\.)", r"\1<!-- -->", escape(_printable(text)))


def _printable(text: str) -> str:
    unprintable = "\N{REPLACEMENT CHARACTER}"
    return "".join(sign if sign.isprintable() or sign in "\n\t" else unprintable for sign in text)


def _self_test(document: AuditDocument) -> str:
    lines = [f"| {plain(trial.name)} | {plain(trial_result(trial))} |" for trial in document.self_test.trials]
    table = "\n".join(["| trial | right |", "| --- | ---: |", *lines])
    title = f"<b>{plain(self_test_line(document))}.</b>"
    opened = "" if document.self_test.passed else " open"
    return f"<details{opened}><summary>{title}</summary>\n\n{table}\n\n</details>"


def _breakdowns(found: Summary) -> str:
    lines = ["| | | share |", "| --- | --- | ---: |"]
    for entry in found.breakdowns:
        for place, (name, figure) in enumerate(entry.rows):
            title = f"{entry.title}, of {entry.over}" if place == 0 else ""
            lines.append(f"| {title} | {plain(name)} | {printed('share', figure)} |")
    return "\n".join(lines)


def _groups(title: str, groups: tuple[Group, ...]) -> str:
    heads = (spelt_out(title), "Items", "Flagged", "Failure types", "Not checkable")
    lines = ["| " + " | ".join(heads) + " |", "| --- | ---: | ---: | --- | ---: |"]
    for group in groups:
        kinds = ", ".join(f"{kind} {count(number)}" for kind, number in group.by_failure)
        name = plain(group.name) or "(none)"
        flagged = printed("flagged", group.flagged)
        lines.append(f"| {name} | {count(group.items)} | {flagged} | {kinds} | {count(group.unchecked)} |")
    return "\n".join(lines)


def _flagged(verdicts: tuple[ItemVerdict, ...], room: int) -> list[str]:
    if not verdicts:
        return ["No item is flagged."]
    lines = ["| Item | Failure | Where | Why |", "| --- | --- | --- | --- |"]
    room -= sum(len(line) + 1 for line in lines) + 200  # and the sentence about the rest
    for place, verdict in enumerate(verdicts):
        reason = first_reason(verdict)
        reason = reason if len(reason) <= _REASON else reason[: _REASON - 1] + "…"
        cells = (verdict.item, failure_name(verdict), verdict.where, reason)
        line = "| " + " | ".join(map(plain, cells)) + " |"
        room -= len(line) + 1
        if room < 0:
            rest = plural(len(verdicts) - place, "more flagged item")
            return ["\n".join(lines), f"… and {rest}: the JSON and the CSV have all."]
        lines.append(line)
    return ["\n".join(lines)]
