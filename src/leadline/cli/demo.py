"""`leadline demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from leadline.cli.run import AsJson, QuietFlag


def demo(
    out: Annotated[Path, typer.Option(help="The folder of the demo study.")] = Path("demo"),
    items: Annotated[
        int | None, typer.Option(min=1, help="How many facts to ask.  [default: 48, with --full 200]")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="All kinds of techniques: prompting, decoding, steering, stacks.")
    ] = False,
    quiet: QuietFlag = False,
    as_json: AsJson = False,
) -> None:
    """The main job on a real model: facts, four ways of answering, and what they recover and break.

    Fetches SmolLM2-135M-Instruct once (93 MB), asks it facts under greedy decoding, sampling, RECITE and
    GenRead, and writes the report. Takes a few minutes on two cores; run it again to go on or to look again.

    With --full, also DoLa, DeCoRe, Activation Decoding, Contrastive Decoding, SLED, ITI, CAA, SADI and more:
    half an hour on two cores.
    """
    from leadline.cli.run import run
    from leadline.study.config_file import STUDY_FILE
    from leadline.study.new import demo_study

    if not (out / STUDY_FILE).exists():
        demo_study(out, items, full)
    elif not quiet:
        typer.echo(f"going on with the study in {out} as its {STUDY_FILE} describes it", err=True)
    run(out, quiet=quiet, as_json=as_json)
