"""`leadline bundle` and `leadline verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from leadline.cli.run import Adjudications, AuditFile, Excluded, QuietFlag, excluding, opened


def bundle(
    study: Annotated[
        Path, typer.Argument(help="The study's folder (with its study.yaml).", show_default=False)
    ],
    out: Annotated[
        Path | None,
        typer.Argument(help="The folder to make.  [default: bundle/ in the study, or bundle.zip]"),
    ] = None,
    with_sources: Annotated[
        bool, typer.Option("--with-sources", help="Release the benchmark's source documents as well.")
    ] = False,
    packed: Annotated[bool, typer.Option("--zip", help="Make one zip file in place of a folder.")] = False,
    audit: AuditFile = None,
    exclude: Excluded = None,
    adjudications: Adjudications = None,
    pack: Annotated[
        list[Path] | None,
        typer.Option(
            "--pack",
            help="A blind pack of this benchmark to release with its sheets and scores. Repeat for several; "
            "those in the benchmark's review folder are released anyway.",
            show_default=False,
        ),
    ] = None,
    quiet: QuietFlag = False,
) -> None:
    """Make a release of a study: items, answers, findings, papers, and a program that checks them.

    The findings are recomputed from the answers by verify.py, which shares no code with Leadline. Where the
    two do not agree, nothing is released.
    """
    from leadline.bundle.packs import FOLDER, packs_in
    from leadline.bundle.release import bundle_study
    from leadline.cli.plain_text import printable
    from leadline.review.places import review_folder

    found = opened(study, excluding(audit, exclude), None, adjudications, quiet=quiet)
    target = out or found.folder / ("bundle.zip" if packed else "bundle")
    made = bundle_study(
        found,
        target,
        with_sources=with_sources,
        packed=packed,
        packs=pack or [],
        found_packs=packs_in(review_folder(found.whole) / FOLDER),
        say=(lambda step: None) if quiet else (lambda step: typer.echo(f"bundle: {step} ...", err=True)),
    )
    report = made.verification.report
    for remark in made.remarks:
        typer.echo(f"note: {printable(remark)}", err=True)
    figures = [
        sum(counts[how] for counts in report["figures"].values()) for how in ("exactly", "by resampling")
    ]
    typer.echo(
        f"{made.path}\nverified: {figures[0]:,} figures exactly, {figures[1]:,} by resampling, "
        f"{report['facts']['reread']:,} of {report['facts']['readable']:,} readings read again; "
        f"{report['seconds']:.1f} s\nnext: python3 verify.py (in the bundle), or leadline verify {made.path}"
    )


def verify(
    bundle: Annotated[
        Path, typer.Argument(help="A bundle: its folder, or its zip file.", show_default=False)
    ],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the result as JSON on standard output.")
    ] = False,
) -> None:
    """Recompute every figure of a bundle from its answers. Exit code 1 where something does not agree.

    Runs this version's own verify.py, apart from Leadline's code, and says when the bundle brings another
    one.
    """
    import json

    from leadline.bundle.running import printed, verify_place
    from leadline.errors import EXIT_FINDINGS

    verification = verify_place(bundle)
    if as_json:
        typer.echo(json.dumps({**verification.report, "is_own_copy": verification.is_own_copy}, indent=1))
    else:
        typer.echo(printed(verification))
    if not verification.is_own_copy:
        typer.echo(
            "note: the bundle's own verify.py is another one than this version's, which was run", err=True
        )
    if not verification.is_sound:
        raise typer.Exit(EXIT_FINDINGS)
