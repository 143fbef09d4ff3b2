"""`leadline bench`: look at benchmarks and check them."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from leadline.errors import EXIT_FINDINGS, UsageError

if TYPE_CHECKING:
    from leadline.bench import Benchmark

app = typer.Typer(help="Look at benchmarks and check them.", no_args_is_help=True, rich_markup_mode=None)

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


@app.command("list", epilog="Example: leadline bench list")
def list_benchmarks(as_json: AsJson = False) -> None:
    """List the benchmarks that come with Leadline."""
    from leadline.bench import bundled_names, load_benchmark

    summaries = [_summary(load_benchmark(name)) for name in bundled_names()]
    if as_json:
        _print_json(summaries)
        return
    columns = ("name", "version", "kind", "items", "categories", "tasks", "licence", "title")
    _print_table(columns, [[str(summary[column]) for column in columns] for summary in summaries])


@app.command(epilog="Example: leadline bench show facts")
def show(
    name: Annotated[str, typer.Argument(help="A bundled benchmark, a benchmark folder, or a .jsonl file.")],
    item: Annotated[str | None, typer.Argument(help="The id of one item, to see all of it.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show what a benchmark holds, or one of its items."""
    from leadline.bench import load_benchmark
    from leadline.bench.problem import did_you_mean

    benchmark = load_benchmark(name)
    if item is not None:
        if item not in benchmark.by_id:
            fix = did_you_mean(
                item, benchmark.by_id, otherwise=f"leadline bench show {name} --json lists all ids"
            )
            raise UsageError(f"{benchmark.name} has no item {item!r}", fix=fix)
        fields = benchmark.by_id[item].model_dump(mode="json")
        if as_json:
            _print_json(fields)
        else:
            _print_table(("field", "value"), [[key, _cell(value)] for key, value in fields.items() if value])
        return
    summary = _summary(benchmark)
    counts = Counter((entry.category, entry.task) for entry in benchmark.items)
    if as_json:
        groups = [{"category": c, "task": t, "items": n} for (c, t), n in sorted(counts.items())]
        _print_json({**summary, "groups": groups, "ids": [entry.id for entry in benchmark.items]})
        return
    _print_table(("field", "value"), [[key, str(value)] for key, value in summary.items()])
    typer.echo()
    rows = [[category, task, str(count)] for (category, task), count in sorted(counts.items())]
    _print_table((benchmark.category_name, benchmark.task_name, "items"), rows)


@app.command(
    epilog="Example: leadline bench validate my-facts/  (exit 0: sound, 1: errors found, 2: nothing there)"
)
def validate(
    path: Annotated[str, typer.Argument(help="A benchmark folder, a .jsonl file, or a bundled name.")],
    as_json: AsJson = False,
) -> None:
    """Check a benchmark's files, and the rules for its kind. Warnings do not fail it."""
    from leadline.bench.validate import split_where
    from leadline.bench.validate import validate as check
    from leadline.study.readings import readable_types

    inspection, problems = check(path, readable_types())
    errors = sum(problem.severity == "error" for problem in problems)
    if as_json:
        entries = []
        for problem in problems:
            file, line, column = split_where(problem.where)
            entries.append({**asdict(problem), "file": file, "line": line, "column": column})
        summary = _summary(inspection.benchmark) if inspection.benchmark else None
        _print_json({"sound": not errors, "benchmark": summary, "problems": entries})
    else:
        for problem in problems:
            typer.echo(_printable(problem.line()))
        benchmark = inspection.benchmark
        read = "no items read"
        if benchmark:
            read = f"{_count(len(benchmark.items), 'item')}, {_count(len(_tasks(benchmark)), 'task')}"
        warnings = len(problems) - errors
        typer.echo(f"{path}: {read}, {_count(errors, 'error')}, {_count(warnings, 'warning')}")
    if errors:
        raise typer.Exit(EXIT_FINDINGS)


def _summary(benchmark: Benchmark) -> dict[str, str | int]:
    return {
        "name": benchmark.name,
        "version": benchmark.version,
        "title": benchmark.title,
        "description": benchmark.description,
        "kind": benchmark.kind,
        "licence": benchmark.licence,
        "items": len(benchmark.items),
        "categories": sum(name != "" for name in benchmark.categories),
        "tasks": len(_tasks(benchmark)),
        "content_hash": benchmark.content_hash,
    }


def _tasks(benchmark: Benchmark) -> set[str]:
    return {item.task for item in benchmark.items if item.task}


def _cell(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _printable(text: str) -> str:
    """Texts come from files: a terminal must not obey what stands in them."""
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)


def _print_json(value: object) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))


def _print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A drawn table on a terminal; tab-separated lines for pipes and files."""
    if not sys.stdout.isatty():
        for row in (columns, *rows):
            typer.echo("\t".join(_printable(cell) for cell in row))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(_printable(cell)) for cell in row))
    Console().print(table)
