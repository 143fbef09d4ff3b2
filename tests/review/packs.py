"""A benchmark whose keys occur nowhere else, packs of it, and sheets filled as its labels have it or not."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from leadline.bench import Benchmark, Item
from leadline.review.pack import Pack, draw_pack, items_of
from leadline.review.pack_files import write_pack
from leadline.review.sheet import Answer, write_sheet

HOSTILE = "<script>document.title='obeyed'</script><img src=x onerror=\"document.title='obeyed'\"> \x1b[2J"
# Parts of ids, answers, aliases, quotes, sources, subjects and tasks; no question or window says any.
SECRETS = ("quibble", "brinder", "marnis", "zephyr", "73165", "1887-03", "tasktells")


def items() -> tuple[Item, ...]:
    """Sixty items in two categories: texts, numbers, dates, enums, booleans and parts."""
    made: list[dict[str, Any]] = []
    for at in range(20):
        made.append({"answer": f"Quibble {at}", "aliases": [f"Brinder {at}"], "category": "names"})
        made.append({"answer": f"73165{at}", "answer_type": "number", "category": "amounts"})
    for at in range(8):
        made.append({"answer": f"1887-03-{at + 10}", "answer_type": "date", "category": "amounts"})
        vocabulary = ["blue", "green", "red"]
        made.append({"answer": "red", "answer_type": "enum", "vocabulary": vocabulary, "category": "names"})
    for _ in range(3):
        made.append({"answer": "yes", "answer_type": "boolean", "category": "names"})
    fields = [{"name": "rate", "answer_type": "number"}, {"name": "capped", "answer_type": "boolean"}]
    made.append({"answer": '{"rate": 73165, "capped": true}', "answer_type": "parts", "fields": fields})
    return tuple(
        Item(
            id=f"marnis-{number}",
            question=f"{'=' if number == 1 else ''}What does clause {number} say?{'' if number else HOSTILE}",
            window=f"Clause {number}.\n{HOSTILE}\n  It says what it says.",
            evidence=({"quote": f"the zephyr of clause {number}"},),  # type: ignore[arg-type]
            source="zephyr.txt",
            task="tasktells",
            subject=f"zephyr {number}",
            **item,
        )
        for number, item in enumerate(made)
    )


def benchmark() -> Benchmark:
    """All of it."""
    return Benchmark(name="clauses", version="1", items=items())


Change = Callable[[Item], str | None]


def by_label(pack: Pack, whole: Benchmark, change: Change = lambda item: None) -> dict[str, Answer]:
    """Every row answered as its label has it, but for what `change` says instead."""
    return {
        token: Answer(item.answer if (other := change(item)) is None else other)
        for token, item in items_of(pack, whole).items()
    }


def a_pack(folder: Path, whole: Benchmark | None = None, **drawn: Any) -> Pack:
    """A pack in `folder`."""
    return write_pack(draw_pack(whole or benchmark(), **drawn), folder)


def filled(pack: Pack, folder: Path, answers: Mapping[str, Answer]) -> Path:
    """The pack's sheet with answers."""
    write_sheet(pack, answers, folder / "sheet.csv")
    return folder / "sheet.csv"


def rows_of(sheet: Path) -> list[list[str]]:
    """A sheet as rows of cells."""
    return list(csv.reader(io.StringIO(sheet.read_text("utf-8-sig"), newline="")))


def as_csv(rows: list[list[str]], **dialect: Any) -> str:
    """Rows as text, as a program with this dialect writes them."""
    sink = io.StringIO(newline="")
    csv.writer(sink, **dialect).writerows(rows)
    return sink.getvalue()
