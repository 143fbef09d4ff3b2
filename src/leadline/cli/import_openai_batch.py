"""`leadline import openai-batch`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from leadline.cli.log_lines import (
    BaselineOption,
    ConfigurationOption,
    DryRunOption,
    JsonOption,
    ModelOption,
    QuietOption,
    StudyOption,
    TaskOption,
    answers_read,
    tell,
)


def openai_batch(
    paths: Annotated[
        list[Path], typer.Argument(help="Output and error files of batches (.jsonl), and folders of them.")
    ],
    study: StudyOption,
    benchmark: Annotated[
        str | None,
        typer.Option(
            help="What was asked: a bundled benchmark, a folder, or a file of items; needed for a new study, "
            "since batches hold neither questions nor right answers.  [default: the study's]"
        ),
    ] = None,
    id_pattern: Annotated[
        str,
        typer.Option(
            metavar="PATTERN",
            help="How custom ids are made: '{item}-{sample}', {} for what does not matter, or a regular "
            "expression with (?P<item>...) and (?P<sample>...).  [default: the item's id]",
        ),
    ] = "",
    requests: Annotated[
        Path | None,
        typer.Option("--input", metavar="FILE", help="The file that the batch was started with."),
    ] = None,
    baseline: BaselineOption = None,
    configuration: ConfigurationOption = None,
    model: ModelOption = None,
    task: TaskOption = None,
    dry_run: DryRunOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Store the answers of batches of OpenAI, or of services that write the same files, in a study.

    All files or none. Right answers are none of a batch: name the benchmark that was asked. Several choices
    of a request are several answers to its item, failed requests are failed calls. Files that answer one
    request twice are two runs, and with --configuration NAME repeats of one configuration.
    """
    from leadline.interop.log_import import import_logs
    from leadline.interop.openai_batch import openai_batch_logs

    skipped: list[Path] = []
    with answers_read(quiet) as progress:
        done = import_logs(
            openai_batch_logs(
                paths,
                requests=requests,
                pattern=id_pattern,
                model=model or "",
                task=task or "",
                skipped=skipped,
            ),
            study,
            benchmark=benchmark,
            baseline=baseline,
            configuration=configuration,
            model=model,
            dry=dry_run,
            holds_items=False,
            skipped=len(skipped),
            progress=progress,
        )
    tell(done, as_json)
