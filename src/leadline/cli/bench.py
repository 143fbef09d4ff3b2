"""`leadline bench`: look at benchmarks and check them."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from leadline.cli import bench_copy, bench_import
from leadline.cli.bench_import import ColumnFlag, ConfigFlag, FormatFlag, SplitFlag, reading_of
from leadline.cli.plain_text import count, print_json, print_table, printable
from leadline.errors import EXIT_FINDINGS, UsageError

if TYPE_CHECKING:
    from leadline.bench import Benchmark

app = typer.Typer(help="Look at benchmarks and check them.", no_args_is_help=True, rich_markup_mode=None)

_STATEMENT = 200
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


@app.command("list", epilog="Example: leadline bench list")
def list_benchmarks(as_json: AsJson = False) -> None:
    """List the benchmarks that come with Leadline."""
    from leadline.bench import bundled_names, load_benchmark
    from leadline.bench.overview import overview

    summaries = [overview(load_benchmark(name)) for name in bundled_names()]
    if as_json:
        print_json(summaries)
        return
    columns = (
        "name",
        "version",
        "kind",
        "items",
        "categories",
        "tasks",
        "answers",
        "sources",
        "licence",
        "title",
    )
    rows = [{**summary, "answers": _listed(summary["answer_types"])} for summary in summaries]
    print_table(columns, [[str(row[column]) for column in columns] for row in rows])


@app.command(epilog="Example: leadline bench show facts")
def show(
    name: Annotated[str, typer.Argument(help="A bundled benchmark, a benchmark folder, or a file of items.")],
    item: Annotated[str | None, typer.Argument(help="The id of one item, to see all of it.")] = None,
    column: ColumnFlag = None,
    form: FormatFlag = None,
    split: SplitFlag = None,
    config: ConfigFlag = None,
    as_json: AsJson = False,
) -> None:
    """Show what a benchmark holds, or one of its items."""
    from leadline.bench import load_benchmark
    from leadline.bench.overview import groups, overview
    from leadline.bench.problem import did_you_mean

    benchmark = load_benchmark(name, reading_of(column, form, split, config))
    if item is not None:
        if item not in benchmark.by_id:
            fix = did_you_mean(
                item, benchmark.by_id, otherwise=f"leadline bench show {name} --json lists all ids"
            )
            raise UsageError(f"{benchmark.name} has no item {item!r}", fix=fix)
        fields = benchmark.by_id[item].model_dump(mode="json")
        if as_json:
            print_json(fields)
        else:
            print_table(("field", "value"), [[key, _cell(value)] for key, value in fields.items() if value])
        return
    summary = {**overview(benchmark), "sources_held": _held(benchmark)}
    grouped = groups(benchmark)
    if as_json:
        statement = benchmark.data_statement
        ids = [entry.id for entry in benchmark.items]
        print_json({**summary, "data_statement": statement, "groups": grouped, "ids": ids})
        return
    summary["answer_types"] = _listed(summary["answer_types"])
    summary["data_statement"] = _statement(benchmark) or "none"
    print_table(("field", "value"), [[key, str(value)] for key, value in summary.items()])
    typer.echo()
    rows = [
        [
            group["category"],
            group["task"],
            str(group["items"]),
            _listed(group["answer_types"]),
            "; ".join(group["read_by"]),
        ]
        for group in grouped
    ]
    print_table((benchmark.category_name, benchmark.task_name, "items", "answers", "read by"), rows)


@app.command(
    epilog="Example: leadline bench validate my-facts/  (exit 0: sound, 1: errors found, 2: nothing there)"
)
def validate(
    path: Annotated[str, typer.Argument(help="A benchmark folder, a file of items, or a bundled name.")],
    column: ColumnFlag = None,
    form: FormatFlag = None,
    split: SplitFlag = None,
    config: ConfigFlag = None,
    as_json: AsJson = False,
) -> None:
    """Check a benchmark's files, and the rules for its kind. Warnings do not fail it."""
    from leadline.bench.overview import overview
    from leadline.bench.validate import split_where
    from leadline.bench.validate import validate as check
    from leadline.study.own_prompts import filled
    from leadline.study.readings import gold_fault, readable_types

    reading = reading_of(column, form, split, config)
    inspection, problems = check(path, readable_types(), gold_fault, reading, filled)
    errors = sum(problem.severity == "error" for problem in problems)
    if as_json:
        entries = []
        for problem in problems:
            file, line, at = split_where(problem.where)
            entries.append({**asdict(problem), "file": file, "line": line, "column": at})
        summary = overview(inspection.benchmark) if inspection.benchmark else None
        left_out = dict(inspection.left_out)
        print_json({"sound": not errors, "benchmark": summary, "left_out": left_out, "problems": entries})
    else:
        for problem in problems:
            typer.echo(printable(problem.line()))
        for reason, number in inspection.left_out.items():
            typer.echo(f"left out: {count(number, 'row')}: {reason}")
        faults = _faults(errors, len(problems) - errors)
        typer.echo(printable(f"{path}: {_read(inspection.benchmark)}, {faults}"))
    if errors:
        raise typer.Exit(EXIT_FINDINGS)


app.command(
    "import",
    epilog="Example: leadline bench import data.csv --out my-bench --column question=Q --column answer=A",
)(bench_import.import_items)
app.command("copy", epilog="Example: leadline bench copy licences my-licences")(bench_copy.copy)


def _read(benchmark: Benchmark | None) -> str:
    """What was read, in one line."""
    if benchmark is None:
        return "no items read"
    from leadline.bench.overview import overview

    seen = overview(benchmark)
    parts = [count(seen["items"], "item"), count(seen["tasks"], "task")]
    if set(seen["answer_types"]) != {"text"}:
        parts.append(f"answers: {_listed(seen['answer_types'])}")
    if seen["sources"]:
        parts.append(f"{count(seen['sources'], 'source')} named, {_held(benchmark)} held")
    return ", ".join(parts)


def _faults(errors: int, warnings: int) -> str:
    return f"{count(errors, 'error')}, {count(warnings, 'warning')}"


def _statement(benchmark: Benchmark) -> str:
    """The first words of the data statement, which may be pages long; a heading where there is no text."""
    lines = benchmark.data_statement.splitlines()
    text = "\n".join("" if line.lstrip().startswith("#") else line.strip() for line in lines).strip()
    first = " ".join(text.partition("\n\n")[0].split())
    first = first or next((line.strip().strip("#").strip() for line in lines if line.strip("# \t")), "")
    return first if len(first) <= _STATEMENT else f"{first[: _STATEMENT - 1]}…"


def _held(benchmark: Benchmark) -> int:
    """How many documents lie in its folder of sources."""
    from leadline.documents import Sources

    origin = benchmark.origin
    if origin is None:
        return 0
    return len(Sources.of(origin if origin.is_dir() else origin.parent).names())


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {number}" for name, number in counts.items())


def _cell(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
