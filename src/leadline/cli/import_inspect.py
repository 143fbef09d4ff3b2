"""`leadline import inspect`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from leadline.cli.log_lines import (
    BaselineOption,
    BenchmarkOption,
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


def inspect(
    paths: Annotated[list[Path], typer.Argument(help="Logs (.eval, .json), and folders of logs.")],
    study: StudyOption,
    benchmark: BenchmarkOption = None,
    baseline: BaselineOption = None,
    configuration: ConfigurationOption = None,
    model: ModelOption = None,
    task: TaskOption = None,
    dry_run: DryRunOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Store the answers of logs of Inspect in a study: every epoch of every sample, raw.

    All logs or none: at the first fault nothing is stored. Samples that ended in an error are failed calls,
    logs of unfinished runs give what they hold. A run that was taken up again counts once. What the tool's
    scorers said is compared with our readings.
    """
    from leadline.interop.inspect_log import inspect_logs
    from leadline.interop.log_import import import_logs

    skipped: list[Path] = []
    with answers_read(quiet) as progress:
        done = import_logs(
            inspect_logs(paths, task=task, skipped=skipped),
            study,
            benchmark=benchmark,
            baseline=baseline,
            configuration=configuration,
            model=model,
            dry=dry_run,
            skipped=len(skipped),
            progress=progress,
        )
    tell(done, as_json)
