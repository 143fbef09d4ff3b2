"""`leadline import lm-eval`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

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
    answers_read,
    tell,
)

RuleName = Literal["acc", "acc_norm", "acc_bytes", "acc_mutual_info"]


def lm_eval(
    paths: Annotated[
        list[Path],
        typer.Argument(help="Folders that --output_path named, and files samples_TASK_TIME.jsonl in them."),
    ],
    study: StudyOption,
    benchmark: BenchmarkOption = None,
    baseline: BaselineOption = None,
    task: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this task; may be given several times.")
    ] = None,
    choice: Annotated[
        RuleName,
        typer.Option(help="Which option of a multiple choice is the answer, in the harness' own terms."),
    ] = "acc",
    id_field: Annotated[
        str,
        typer.Option(
            "--id",
            metavar="FIELD",
            help="The documents' field that has the items' ids.  [default: TASK/HASH]",
        ),
    ] = "",
    configuration: ConfigurationOption = None,
    model: ModelOption = None,
    dry_run: DryRunOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Store the answers that lm-evaluation-harness logged (--log_samples) in a study: every repeat, raw.

    All samples or none: at the first fault nothing is stored. Rows of several filters hold the same answers,
    and count once. The answer to a multiple choice is the most likely option. What the harness' metrics said
    is compared with our readings.
    """
    from leadline.interop.lm_eval_files import lm_eval_logs
    from leadline.interop.log_import import import_logs

    skipped: list[Path] = []
    with answers_read(quiet) as progress:
        done = import_logs(
            lm_eval_logs(
                paths,
                tasks=task or (),
                model=model or "",
                choice=choice,
                id_field=id_field,
                skipped=skipped,
            ),
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
