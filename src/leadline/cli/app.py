"""`leadline`: the commands, and what becomes of an error."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from leadline import __version__
from leadline.cli import bench, demo, models, report, run, techniques
from leadline.errors import EXIT_FAILED, LeadlineError

app = typer.Typer(
    help="Find out what an LLM benchmark score is standing on.\n\n"
    "Start with: leadline demo\n\n"
    "Exit codes: 0 fine, 1 problems were found, 2 the input is wrong, 3 something failed.",
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
app.add_typer(bench.app, name="bench", epilog="Example: leadline bench list")
app.add_typer(models.app, name="models", epilog="Example: leadline models get smollm2")
app.add_typer(techniques.app, name="techniques", epilog="Example: leadline techniques show recite")


def main() -> None:
    """Run the command line; a `LeadlineError` is one line on stderr and its exit code."""
    try:
        app()
    except LeadlineError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output has had enough
        _close_output()
        sys.exit(141)
    except OSError as error:  # a full disk, a name too long, a folder that may not be read: not a bug
        _close_output()
        place = f"{str(error.filename)[:200]}: " if error.filename else ""
        print(f"error: {place}{error.strerror or error}", file=sys.stderr)
        sys.exit(EXIT_FAILED)


def _close_output() -> None:
    """Let nothing more be written to standard output: the interpreter would try again when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
