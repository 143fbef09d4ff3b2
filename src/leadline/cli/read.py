"""`leadline read`: how texts are read as answers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leadline.cli.plain_text import count, print_json, print_table, printable
from leadline.errors import EXIT_FINDINGS, UsageError

if TYPE_CHECKING:
    from leadline.bench.answer_form import Part, Term

# One answer is read whole; a longer line is no answer.
_LONGEST_LINE = 1_000_000


def read(
    texts: Annotated[list[str] | None, typer.Argument(help="Answer texts; without any, see --file.")] = None,
    answer_type: Annotated[
        str, typer.Option("--type", help="text, number, date, enum, boolean or parts.")
    ] = "number",
    gold: Annotated[str | None, typer.Option(help="Compare with this answer.")] = None,
    unit: Annotated[
        str | None, typer.Option(help="What numbers are counted in: percent, fraction, USD, day, ...")
    ] = None,
    precision: Annotated[
        str | None, typer.Option(help="Numbers are the same if they round to the same multiple of this.")
    ] = None,
    locale: Annotated[str | None, typer.Option(help="Decides what 1.234 is: en-US, de-DE, ...")] = None,
    date_order: Annotated[str | None, typer.Option(help="Decides what 5/6/2020 is: dmy, mdy or ymd.")] = None,
    vocabulary: Annotated[
        str | None, typer.Option(help="Labels of an enum: a,b or, with synonyms, a=x|y,b.")
    ] = None,
    fields: Annotated[
        list[str] | None,
        typer.Option("--field", help="A part of a parts answer: NAME:TYPE[:UNIT]. Repeatable."),
    ] = None,
    question: Annotated[
        str | None, typer.Option(help="What was asked: numbers in it are no answers.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option(help="A file with one text a line; - for standard input.", allow_dash=True)
    ] = None,
    check: Annotated[
        Path | None, typer.Option(help="Check a table of texts and readings (YAML) instead.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Show how texts are read: state, value, printed digits, and by which rule.

    \b
      leadline read "about $1.25M (rounded)" --gold 1250000
      leadline read --type date "5/6/2020" "June 5, 2020" --date-order dmy
      leadline read --type enum --vocabulary "capped,non-participating=nonparticipating" "It is not capped."
      leadline read --check my-readings.yaml
    """
    from leadline.study.readings import described, gold_fault, item_for

    if check is not None:
        _check(check, as_json)
        return
    item = item_for(
        answer_type,
        gold=gold,
        unit=unit,
        precision=_decimal(precision),
        locale=locale,
        date_order=date_order,
        vocabulary=_vocabulary(vocabulary),
        fields=_fields(fields),
        question=question,
    )
    if gold is not None and (fault := gold_fault(item)):
        raise UsageError(
            f"--gold: {gold!r} cannot be read as {answer_type}: {fault}",
            fix="an answer that its own reader understands",
        )
    found = [described(item, text, has_gold=gold is not None) for text in _texts(texts, file)]
    if as_json:
        print_json(found)
    else:
        _print(found, has_gold=gold is not None)


def _check(path: Path, as_json: bool) -> None:
    from leadline.study.readings import check_table

    rows = list(check_table(path))
    wrong = [row for row in rows if row.faults]
    if as_json:
        print_json(
            {
                "rows": len(rows),
                "wrong": [{"where": row.where, "text": row.text, "faults": row.faults} for row in wrong],
            }
        )
    else:
        for row in wrong:
            for fault in row.faults:
                typer.echo(printable(f"{row.where}: {row.text[:100]!r}: {fault}"))
        typer.echo(f"{path}: {count(len(rows), 'row')}, {len(wrong):,} read otherwise")
    if wrong:
        raise typer.Exit(EXIT_FINDINGS)


def _texts(texts: list[str] | None, file: Path | None) -> Iterator[str]:
    if texts and file is not None:
        raise UsageError("texts and --file were both given", fix="give one of them")
    if texts:
        yield from texts
    elif file is not None and str(file) != "-":
        try:
            with file.open("rb") as lines:
                yield from _lines(lines, str(file))
        except OSError as error:
            raise UsageError(error.strerror or str(error), where=str(file)) from None
    elif file is not None or not sys.stdin.isatty():
        yield from _lines(sys.stdin.buffer, "standard input")
    else:
        raise UsageError("there is no text to read", fix='leadline read "about $1.25M (rounded)"')


def _lines(lines: Any, where: str) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        if len(line) > _LONGEST_LINE:
            raise UsageError(
                f"a line of {len(line):,} bytes", where=f"{where}:{number}", fix="one text a line"
            )
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            raise UsageError("not UTF-8", where=f"{where}:{number}", fix="save the file as UTF-8") from None


def _decimal(text: str | None) -> Any:
    from decimal import Decimal, InvalidOperation

    try:
        return None if text is None else Decimal(text)
    except InvalidOperation:
        raise UsageError(f"--precision: {text!r} is no number", fix="a step such as 0.01") from None


def _vocabulary(text: str | None) -> tuple[Term, ...]:
    from leadline.bench.answer_form import Term

    terms = []
    for entry in (text or "").split(","):
        value, _, synonyms = entry.strip().partition("=")
        if value:
            terms.append(Term(value=value[:200], synonyms=tuple(filter(None, synonyms.split("|")))))
    return tuple(terms)


def _fields(entries: list[str] | None) -> tuple[Part, ...]:
    from pydantic import ValidationError

    from leadline.bench.answer_form import Part

    parts = []
    for entry in entries or []:
        name, _, rest = entry.partition(":")
        kind, _, unit = rest.partition(":")
        if kind and kind not in _part_types():
            raise UsageError(
                f"--field: {entry!r}: {kind!r} is no type",
                fix=f"one of {', '.join(_part_types())}, such as rate:number:percent",
            )
        try:
            parts.append(Part(name=name, answer_type=kind or "text", unit=unit or None))  # type: ignore[arg-type]
        except ValidationError:
            raise UsageError(
                f"--field: {entry!r}", fix="NAME:TYPE[:UNIT], such as rate:number:percent"
            ) from None
    return tuple(parts)


def _part_types() -> tuple[str, ...]:
    """The answer types that a part may have."""
    from typing import get_args

    from leadline.bench.answer_form import Part

    return get_args(Part.model_fields["answer_type"].annotation)


def _print(found: list[dict[str, Any]], *, has_gold: bool) -> None:
    columns = ["text", "state", "value", "printed"]
    if has_gold:
        columns += ["against gold", "same"]
    columns.append("notes")
    rows = []
    for one in found:
        row = [one["text"][:200], one["state"], one["value"] or "", one["printed"] or ""]
        if has_gold:
            gold = one["gold"]
            judged = "correct" if gold["correct"] else "wrong"
            row.append(
                judged + (", not by the strict rule" if gold["correct"] and not gold["strict"] else "")
            )
            row.append(", ".join(rule for rule, holds in (gold["same"] or {}).items() if holds))
        row.append("; ".join(filter(None, [one["reason"], *one["notes"]])))
        rows.append(row)
    print_table(columns, rows)
