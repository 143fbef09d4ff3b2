"""`leadline export`: answers, benchmarks and studies in the forms of other tools."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from leadline.cli.plain_text import count, print_json, printable

if TYPE_CHECKING:
    from leadline.interop.export_inspect_task import ExportedTask

app = typer.Typer(help="Write answers and benchmarks in the forms of other tools.", no_args_is_help=True)

StudyArgument = Annotated[Path, typer.Argument(metavar="STUDY", help="The study's folder.")]
BenchmarkArgument = Annotated[
    str,
    typer.Argument(
        metavar="BENCHMARK", help="A bundled benchmark, a folder, a file of items, or a study that asks one."
    ),
]
OutArgument = Annotated[Path, typer.Argument(metavar="OUT", help="The folder to write.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace what is there.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
NameOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="The task's name.  [default: the benchmark's]")
]
StyleOption = Annotated[
    Literal["chat", "few-shot"] | None,
    typer.Option(help="How questions are put.  [default: chat; of a study, its own]"),
]
TokensOption = Annotated[int, typer.Option(min=1, max=100_000, help="The longest answer, in tokens.")]


@app.command(
    epilog="Example: leadline export answers my-study --out answers.parquet\n\n"
    "Example: leadline export answers my-study --out answers.csv && leadline import table answers.csv "
    "--study copy --benchmark my-benchmark"
)
def answers(
    study: StudyArgument,
    out: Annotated[Path, typer.Option("--out", "-o", help="A file that ends in .parquet, .csv or .jsonl.")],
    form: Annotated[
        Literal["parquet", "csv", "jsonl"] | None,
        typer.Option("--format", help="What to write, where the name does not tell."),
    ] = None,
    force: ForceOption = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress on standard error.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Write every answer of a study, a row an answer, with what it was read as.

    `leadline import table` takes the table back. In a CSV, cells that a spreadsheet would compute begin with
    an apostrophe, and the column `apostrophe` names them.
    """
    from leadline.interop.export_answers import export_answers
    from leadline.study.study import open_study

    shown = not quiet and sys.stderr.isatty()

    def say(rows: int) -> None:
        if shown:
            print(f"\r{rows:,} rows", end="", file=sys.stderr, flush=True)

    done = export_answers(open_study(study), out, form=form, force=force, progress=say)
    if shown:
        print("\r\x1b[K", end="", file=sys.stderr)
    if as_json:
        print_json(
            {
                "file": str(done.path),
                "format": done.form,
                "rows": done.rows,
                "failed_calls": done.failed,
                "configurations": done.configurations,
                "cells_with_apostrophe": done.guarded,
            }
        )
        return
    of = f", of which failed calls: {done.failed:,}" if done.failed else ""
    typer.echo(printable(f"{done.path}: {count(done.rows, 'row')}{of}"))
    if done.guarded:
        rows = count(done.guarded, "row")
        typer.echo(f"in {rows}, cells that a spreadsheet would compute begin with an apostrophe")


@app.command(epilog="Example: leadline export dataset facts facts-dataset")
def dataset(
    place: BenchmarkArgument,
    out: OutArgument,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write a benchmark, or a study with its answers, as a dataset that Hugging Face's tools load."""
    from leadline.bench import load_benchmark
    from leadline.interop.export_dataset import export_dataset
    from leadline.study.config_file import STUDY_FILE
    from leadline.study.study import open_study

    folder = Path(place)
    study = open_study(folder) if folder.name == STUDY_FILE or (folder / STUDY_FILE).is_file() else None
    benchmark = load_benchmark(place) if study is None else study.population.everyone
    done = export_dataset(benchmark, out, study=study, force=force)
    if as_json:
        print_json({"folder": str(done.folder), "items": done.items, "answers": done.answers})
        return
    more = "" if done.answers is None else f", {count(done.answers, 'answer')}"
    typer.echo(printable(f"{done.folder}: {count(done.items, 'item')}{more}"))


@app.command(
    "inspect-log", epilog="Example: leadline export inspect-log my-study logs && inspect view --log-dir logs"
)
def inspect_log(
    study: StudyArgument,
    out: OutArgument,
    configuration: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this configuration; may be repeated.")
    ] = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write the answers of a study as logs of Inspect, one for each configuration."""
    from leadline.interop.export_inspect_log import export_inspect_logs
    from leadline.study.study import open_study

    done = export_inspect_logs(open_study(study), out, only=tuple(configuration or ()), force=force)
    if as_json:
        names = ("file", "configuration", "samples", "errors")
        logs = [dict(zip(names, log, strict=True)) for log in done.logs]
        print_json({"folder": str(done.folder), "logs": logs})
        return
    for _, name, samples, failed in done.logs:
        of = f", of which with an error: {failed:,}" if failed else ""
        typer.echo(printable(f"{name}: {count(samples, 'sample')}{of}"))
    typer.echo(f"next: inspect view --log-dir {shlex.quote(str(done.folder))}")


@app.command("inspect-task", epilog="Example: leadline export inspect-task facts facts-inspect")
def inspect_task(
    place: BenchmarkArgument,
    out: OutArgument,
    style: StyleOption = None,
    max_tokens: TokensOption = 16,
    name: NameOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write a benchmark as a task of Inspect: a folder that `inspect eval` runs."""
    from leadline.interop.export_asked import benchmark_at
    from leadline.interop.export_inspect_task import export_inspect_task

    benchmark, prompts = benchmark_at(place, style)
    done = export_inspect_task(benchmark, prompts, out, name=name, max_tokens=max_tokens, force=force)
    # Inspect takes no path that begins at the root.
    run = f"cd {shlex.quote(str(done.folder))} && inspect eval task.py --model MODEL --epochs 5"
    _say(done, as_json, run)


@app.command(
    "lm-eval-task", epilog="Example: leadline export lm-eval-task facts facts-lm-eval --style few-shot"
)
def lm_eval_task(
    place: BenchmarkArgument,
    out: OutArgument,
    style: StyleOption = None,
    max_tokens: TokensOption = 16,
    repeats: Annotated[int, typer.Option(min=1, max=10_000, help="Answers to each item.")] = 1,
    temperature: Annotated[float, typer.Option(min=0, max=10, help="At which answers are drawn.")] = 0.0,
    name: NameOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write a benchmark as a task of lm-evaluation-harness: a folder for --include_path."""
    from leadline.interop.export_asked import benchmark_at
    from leadline.interop.export_lm_eval_task import export_lm_eval_task

    benchmark, prompts = benchmark_at(place, style)
    done = export_lm_eval_task(
        benchmark,
        prompts,
        out,
        name=name,
        max_tokens=max_tokens,
        repeats=repeats,
        temperature=temperature,
        force=force,
    )
    template = " --apply_chat_template" if prompts.style == "chat" else ""
    _say(
        done,
        as_json,
        f"lm_eval --include_path {shlex.quote(str(done.folder))} --tasks {done.name} --model MODEL"
        f"{template} --log_samples --output_path results",
    )


def _say(done: ExportedTask, as_json: bool, command: str) -> None:
    if as_json:
        print_json({"folder": str(done.folder), "task": done.name, "items": done.items})
        return
    typer.echo(printable(f"{done.folder}: task {done.name}, {count(done.items, 'item')}"))
    typer.echo(f"next: {command}")
