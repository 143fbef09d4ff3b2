"""`leadline recover`."""

from __future__ import annotations

from pathlib import Path

import typer

from leadline.cli.run import AsJson, Folder

# Items that are named of each configuration; --json names all.
_NAMED = 8


def recover(folder: Folder = Path(), as_json: AsJson = False) -> None:
    """Save what can be read of a study's damaged database; `leadline run` then asks what is lost.

    The whole database takes the place of the damaged one, which stays under another name. Where nothing is
    damaged, nothing is done. It can be stopped at any moment and called again.
    """
    from leadline.study.asking import counted
    from leadline.study.recovery import as_json as told
    from leadline.study.recovery import recover as recovered
    from leadline.study.study import open_study

    study = open_study(folder)
    found = recovered(study)
    if as_json:
        typer.echo(told(found))
        return
    if found.kept is None:
        typer.echo(f"nothing is damaged: {counted(found.answers, 'answer')}, all of them as they were stored")
        return
    typer.echo(f"{counted(found.answers, 'answer')} recovered; the damaged file is kept: {found.kept}")
    if found.unsealed:
        typer.echo(
            f"{counted(found.unsealed, 'answer')} of an earlier version that stored no seals: "
            "a changed character within one would not show"
        )
    lost = max(found.lost, found.damaged)
    if lost:
        typer.echo(f"{'' if found.all_known else 'at least '}{counted(lost, 'answer')} lost")
    elif not found.all_known:
        typer.echo("how many answers were lost is not known: what runs noted is lost, too")
    for one in found.missing:
        more = f" and {len(one.items) - _NAMED:,} more" if len(one.items) > _NAMED else ""
        typer.echo(
            f"missing: {one.model} · {one.configuration}: {counted(one.answers, 'answer')} "
            f"({', '.join(one.items[:_NAMED])}{more})"
        )
    asked = {one.name: one for one in study.configurations}
    lacks_baseline = any(asked[one.configuration].role == "baseline" for one in found.missing)
    if lacks_baseline and any(one.failures_only for one in asked.values()):
        typer.echo("more may be missing: what partitions ask hangs on the baseline's failures")
    if found.has_imported:
        typer.echo("imported answers: import them again, what is there is skipped")
    if found.missing:
        typer.echo(f"next: leadline run {folder}")
