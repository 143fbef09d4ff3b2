"""A flag list for people: a table for each kind of doubt, in print, as Markdown, as CSV, as a page."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from leadline.errors import UsageError
from leadline.report.atomic import write_text
from leadline.report.audit_csv import spreadsheet_safe
from leadline.report.audit_markdown import plain
from leadline.report.numbers import percent, plural
from leadline.review.flag_files import flags_jsonl
from leadline.review.flags import SENTENCE, Flag, FlagList, Kind

Form = Literal["jsonl", "csv", "markdown", "html"]
ENDINGS: dict[str, Form] = {
    ".jsonl": "jsonl",
    ".csv": "csv",
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
}
TITLES: dict[Kind, tuple[str, str]] = {
    "label": (
        "Against the label",
        "All configurations, or all but one, agree on an answer that is not the label. Runs: readings that "
        "say so, over the readings of all. Floor: the configuration that backs its own answer with the "
        "fewest readings. It may be the label that is wrong, the question that admits both, or a mistake "
        "that models share.",
    ),
    "reread": ("Read otherwise", "Who read the item again without seeing the label answered another thing."),
    "audit": ("Flagged by the audit", "The quote that validates the label is not where it should stand."),
    "unstable": (
        "Unstable everywhere",
        "In every configuration that was asked repeatedly the readings differ. Dispersion: the share of "
        "readings that are not the most frequent one.",
    ),
    "withheld": ("In doubt", "Why is not told: read the text and the question first."),
}
_SHOWN = 60
CSV_COLUMNS = (
    "item", "task", "category", "kind", "question", "label", "models_say", "runs", "readings", "floor",
    "floor_of", "weakest", "unanimous", "firm", "dissenter", "dissent", "reader", "failure", "reason",
    "configurations", "least_dispersion", "largest_dispersion", "adjudication", "label_hash", "benchmark",
    "version", "content_hash",
)  # fmt: skip
_BLIND_COLUMNS = ("item", "question", "benchmark", "version", "asked_hash")


@dataclass(frozen=True)
class Section:
    """The flags of one kind: `rows` are [flags][columns], whole texts."""

    kind: Kind
    title: str
    lead: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def sections(flags: FlagList) -> list[Section]:
    """A table for each kind that occurs; columns in which nothing stands are left out."""
    found = []
    for kind in flags.counts:
        its = [flag for flag in flags.flags if flag.kind == kind]
        cells = [_cells(flag) for flag in its]
        columns = tuple(
            name for name in cells[0] if name in _ALWAYS or any(row.get(name, "") for row in cells)
        )
        rows = tuple(tuple(row[name] for name in columns) for row in cells)
        found.append(Section(kind, *TITLES[kind], columns, rows))
    return found


def counted(flags: FlagList) -> str:
    """How many flags on how many items, and how many items are not listed.

    Such as "7 flags on 5 items: against the label 4, unstable everywhere 3; 2 items are left out, as a
    decision on them is in force".
    """
    number = len(flags.flags)
    if flags.blind:
        said = f"{plural(number, 'item')} in doubt"
    elif not number:
        said = "no flags"
    else:
        kinds = ", ".join(f"{TITLES[kind][0].lower()} {count:,}" for kind, count in flags.counts.items())
        said = f"{plural(number, 'flag')} on {plural(len(flags.items), 'item')}: {kinds}"
    if flags.decided:
        are = "is" if flags.decided == 1 else "are"
        said += (
            f"; {plural(flags.decided, 'item')} {are} left out, as a decision on {_them(flags)} is in force"
        )
    return said


def form_of(path: Path) -> Form:
    """The form that a file's ending asks for. Raises UsageError, also where its folder does not exist."""
    form = ENDINGS.get(path.suffix.lower())
    if form is None:
        what = f"--out {path}: its ending does not say what to write"
        raise UsageError(what, fix=f"one of {', '.join(ENDINGS)}")
    if path.is_dir():
        raise UsageError("a folder is in the file's place", where=str(path))
    if not path.parent.is_dir():
        raise UsageError(f"--out {path}: there is no folder {path.parent}", fix="make it first")
    return form


def write_list(flags: FlagList, path: Path, questions: Mapping[str, str]) -> None:
    """Write the list in the form that `path` asks for. `questions` are those of the items, by id."""
    form = form_of(path)
    if form == "html":
        from leadline.review.flags_page import flags_page

        text = flags_page(flags, questions)
    else:
        made: Mapping[str, Callable[[], str]] = {
            "jsonl": lambda: flags_jsonl(flags),
            "csv": lambda: flags_csv(flags, questions),
            "markdown": lambda: flags_markdown(flags),
        }
        text = made[form]()
    write_text(path, text)


def flags_csv(flags: FlagList, questions: Mapping[str, str]) -> str:
    """One row a flag; lines end as RFC 4180 has it, and no cell is a formula to a spreadsheet."""
    sink = io.StringIO(newline="")
    columns = _BLIND_COLUMNS if flags.blind else CSV_COLUMNS
    writer = csv.writer(sink, lineterminator="\r\n")
    writer.writerow(columns)
    about = {name: getattr(flags, name) for name in ("benchmark", "version", "content_hash", "asked_hash")}
    for flag in flags.flags:
        row = {**_flat(flag), **about, "question": questions.get(flag.item, "")}
        writer.writerow([spreadsheet_safe(row[name]) for name in columns])
    return sink.getvalue()


def flags_markdown(flags: FlagList) -> str:
    """As GitHub-flavoured Markdown: what was counted, a table a kind, the notes."""
    blocks = [
        f"## Flags: {plain(flags.benchmark)} {plain(flags.version)}",
        f"{plain(counted(flags))}. {SENTENCE}",
    ]
    for section in sections(flags):
        rows = [[plain(cell) for cell in row] for row in short(section.rows)]
        table = [list(section.columns), ["---"] * len(section.columns), *rows]
        lines = "\n".join("| " + " | ".join(cell or " " for cell in row) + " |" for row in table)
        blocks += [f"### {section.title}", section.lead, lines]
    if flags.notes:
        blocks.append("\n".join(f"- {plain(note)}" for note in flags.notes))
    said = f"Study {plain(flags.study)}. " if flags.study else ""
    made = flags.created.isoformat(timespec="minutes")
    hashed = f"Questions `{flags.asked_hash}`" if flags.blind else f"Content `{flags.content_hash}`"
    blocks.append(f"{said}{hashed}; {made}.")
    return "\n\n".join(blocks) + "\n"


# Columns that stay where nothing stands in them: that nothing was decided is worth saying.
_ALWAYS = {"Item", "Adjudication"}


def _cells(flag: Flag) -> dict[str, str]:
    """Column → text, of one kind's table."""
    where = {"Item": flag.item, "Task": flag.task}
    after = {"Adjudication": flag.adjudication}
    match flag.kind:
        case "label":
            runs, floor = flag.runs or (0, 0), flag.floor or (0, 0)
            agreed = "yes" if flag.unanimous else f"no: {flag.dissenter} says {flag.dissent}"
            return {
                **where,
                "Label": flag.label,
                "Models say": flag.value,
                "Runs": f"{runs[0]:,}/{runs[1]:,}",
                "Floor": f"{floor[0]}/{floor[1]} {flag.weakest}".strip(),
                "Unanimous": agreed,
                **after,
            }
        case "reread":
            read = {"Label": flag.label, "Reader": flag.reader, "Reading": flag.value, "Reason": flag.reason}
            return {**where, **read, **after}
        case "audit":
            return {**where, "Failure": flag.failure, "Reason": flag.reason, **after}
        case "unstable":
            spread = f"{percent(flag.least or 0)} to {percent(flag.largest or 0)}"
            of = f"all {flag.configurations}"
            return {**where, "Dispersion": spread, "Configurations": of, **after}
        case "withheld":
            return {"Item": flag.item}


def _flat(flag: Flag) -> dict[str, str]:
    """Column of the CSV → text."""
    said: dict[str, object] = {
        **flag.model_dump(include=set(CSV_COLUMNS) & set(Flag.model_fields)),
        "models_say": flag.value,
        "runs": flag.runs[0] if flag.runs else "",
        "readings": flag.runs[1] if flag.runs else "",
        "floor": flag.floor[0] if flag.floor else "",
        "floor_of": flag.floor[1] if flag.floor else "",
        "least_dispersion": "" if flag.least is None else f"{flag.least:.4f}",
        "largest_dispersion": "" if flag.largest is None else f"{flag.largest:.4f}",
    }
    words = {None: "", True: "yes", False: "no"}
    return {
        name: words[value] if value is None or isinstance(value, bool) else str(value)
        for name, value in said.items()
    }


def _them(flags: FlagList) -> str:
    return "it" if flags.decided == 1 else "them"


def short(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Rows for a narrow place: one line a cell, long texts cut; the item's id stays whole, to be copied."""
    return [[" ".join(row[0].split()), *(_cut(" ".join(cell.split())) for cell in row[1:])] for row in rows]


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
