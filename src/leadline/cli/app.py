"""`leadline`: the commands, and what becomes of an error."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Annotated, Any

import typer

from leadline import __version__
from leadline.cli import (
    audit,
    bench,
    build,
    bundle,
    compare,
    demo,
    export,
    fetch_sources,
    figures,
    import_answers,
    import_release,
    models,
    prereg,
    probe,
    read,
    recover,
    repair,
    report,
    review,
    run,
    serve,
    techniques,
)
from leadline.cli.plain_text import printable
from leadline.errors import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_PIPE, LeadlineError

# Two presses of an impatient hand are closer than this, in seconds.
_MOMENT = 2.0

app = typer.Typer(
    help="Find out what an LLM benchmark score is standing on.\n\n"
    "Start with: leadline demo\n\n"
    "Exit codes: 0 fine, 1 problems were found, 2 the input is wrong, 3 something failed, "
    "130 stopped with Ctrl-C or SIGTERM, 141 the reader of the output went away.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"leadline {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None: ...


app.command(epilog="Example: leadline demo --out my-demo")(demo.demo)
app.command(epilog="Example: leadline init my-study --benchmark facts --model smollm2")(run.init)
app.command(epilog="Example: leadline run my-study")(run.run)
app.command(epilog="Example: leadline report my-study --json | jq '.findings[0]'")(report.report)
app.command(epilog="Example: leadline compare --study my-study greedy recite")(compare.compare)
app.command(epilog="Example: leadline figures my-study --format pdf,svg --width page")(figures.figures)
app.command(epilog="Example: leadline bundle my-study my-release")(bundle.bundle)
app.command(epilog="Example: leadline verify my-release --json")(bundle.verify)
app.command(epilog='Example: leadline read --type number "about $1.25M (rounded)"')(read.read)
app.command(epilog="Example: leadline recover my-study")(recover.recover)
app.command(epilog="Example: leadline repair my-benchmark --out my-benchmark-repaired")(repair.repair)
app.command(epilog="Example: leadline prereg my-study --title Steady --statistic wobble --below 0.161")(
    prereg.prereg
)
app.command(epilog="Example: leadline verdict my-study/registration.json my-study")(prereg.verdict)
app.command(
    epilog="Example: leadline probe --prompts prompts.jsonl --technique dola --technique decore:heads=20"
)(probe.probe)
app.command(epilog="Example: leadline serve --model smollm2 --technique dola --set layers=high")(serve.serve)
app.command(epilog="Example: leadline audit my-bench --out audit.html --out audit.sarif --max-flagged 2%")(
    audit.audit
)
bench.app.command(
    "fetch-sources",
    epilog='Example: leadline bench fetch-sources my-benchmark --user-agent "Jane Doe jane@example.org"',
)(fetch_sources.fetch_sources)
app.add_typer(bench.app, name="bench", epilog="Example: leadline bench list")
app.add_typer(build.app, name="build", epilog="Example: leadline build run plan.yaml")
app.add_typer(
    import_answers.app,
    name="import",
    epilog="Example: leadline import table runs.csv --study my-study --benchmark my-benchmark",
)
import_answers.app.command(
    "probity-release",
    epilog="Example: leadline import probity-release probity/ --study probity-study",
)(import_release.probity_release)
app.add_typer(
    export.app, name="export", epilog="Example: leadline export answers my-study --out answers.parquet"
)
app.add_typer(review.app, name="review", epilog="Example: leadline review flags my-study")
app.add_typer(models.app, name="models", epilog="Example: leadline models get smollm2")
app.add_typer(techniques.app, name="techniques", epilog="Example: leadline techniques show recite")


def main() -> None:
    """Run the command line; a `LeadlineError` is one line on stderr and its exit code."""
    sys.excepthook = _tell_of_a_bug
    with _one_interrupt_at_a_time():
        _run()


def _run() -> None:
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # here, where a reader that went away is no fault; not when the process ends
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):  # click says 1, as if problems had been found
            _close_output()
            sys.exit(EXIT_PIPE)
        raise
    except LeadlineError as error:
        print(f"error: {printable(_redacted(str(error)))}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:  # the reader of our output has had enough
        _close_output()
        sys.exit(EXIT_PIPE)
    except OSError as error:  # a full disk, a name too long, a folder that may not be read: not a bug
        _close_output()
        place = f"{printable(str(error.filename)[:200])}: " if error.filename else ""
        print(f"error: {place}{error.strerror or error}", file=sys.stderr)
        sys.exit(EXIT_FAILED)


def _redacted(text: str) -> str:
    """The last door: whoever raised may have repeated what a provider or a proxy said."""
    from leadline.redaction import redacted

    return redacted(text)


def _tell_of_a_bug(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """A traceback as Python writes it, without secrets: what it ends with may hold anything."""
    import traceback

    sys.stderr.write(_redacted("".join(traceback.format_exception(kind, error, trace))))


@contextmanager
def _one_interrupt_at_a_time() -> Iterator[None]:
    """A second Ctrl-C within a moment of the first means the same one: the run is being ended tidily.

    Later ones interrupt again, should the end take long. Once the process is about to end for it, none counts
    any more, or the interpreter would die of the signal on its way out and the exit code be lost.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield  # in the background of a script Ctrl-C is not for us, and another program may have its own way
        return
    last = -_MOMENT

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal last
        if (now := time.monotonic()) - last >= _MOMENT:
            last = now
            raise KeyboardInterrupt

    after: Any = signal.default_int_handler
    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    except SystemExit as ended:
        if ended.code == EXIT_INTERRUPTED:
            after = signal.SIG_IGN
        raise
    finally:
        signal.signal(signal.SIGINT, after)


def _close_output() -> None:
    """Let nothing more be written to standard output: the interpreter would try again when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
