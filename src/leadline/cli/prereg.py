"""`leadline prereg` and `leadline verdict`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from leadline.cli.run import Adjudications, AsJson, AuditFile, Excluded, excluding, opened

if TYPE_CHECKING:
    from leadline.study.study import Study

Statistic = Literal["wobble", "dispersion", "accuracy", "response_rate"]


def prereg(
    study: Annotated[Path, typer.Argument(help="The study whose answers will decide; not yet run.")],
    reference: Annotated[
        Path | None,
        typer.Argument(
            help="A study of the same items to compare with, pair by pair; it may have been run.",
        ),
    ] = None,
    prediction: Annotated[
        Path | None, typer.Option(help="A YAML file with the keys of the options below.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="One line.")] = None,
    hypothesis: Annotated[str | None, typer.Option(help="Why it should come out like this.")] = None,
    statistic: Annotated[Statistic | None, typer.Option(help="What is predicted.")] = None,
    below: Annotated[float | None, typer.Option(help="It will be less than this.")] = None,
    above: Annotated[float | None, typer.Option(help="It will be more than this.")] = None,
    decided_by: Annotated[
        Literal["value", "interval"] | None,
        typer.Option(help="The value, or its whole interval.  [default: value]"),
    ] = None,
    sameness: Annotated[
        Literal["default", "exact", "declared", "rounding"] | None,
        typer.Option(help="When two numbers are the same answer.  [default: as each item declares]"),
    ] = None,
    minimum_items: Annotated[
        int | None, typer.Option(min=1, help="With fewer measured items nothing is decided.")
    ] = None,
    minimum_readings: Annotated[
        int | None,
        typer.Option(min=0, help="Leave out an item under a configuration with fewer readable answers."),
    ] = None,
    exclusion: Annotated[
        list[str] | None, typer.Option(help="A rule of exclusion, in words. Repeat for several.")
    ] = None,
    items: Annotated[
        Path | None, typer.Option(help="A file of item ids, one a line.  [default: all that are asked]")
    ] = None,
    other_items: Annotated[
        Path | None, typer.Option(help="A file of item ids that the items are compared with, as two groups.")
    ] = None,
    configuration: Annotated[
        list[str] | None,
        typer.Option(
            help="A configuration that counts, as reports call it. Repeat for several.  [default: all]"
        ),
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option(help="A model that counts. Repeat for several.  [default: all]")
    ] = None,
    audit: AuditFile = None,
    exclude: Excluded = None,
    adjudications: Adjudications = None,
    out: Annotated[
        Path | None, typer.Option(help="The file to write.  [default: registration.json in the study]")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Register a prediction before the answers that decide it exist.

    Writes one file: the prediction, its threshold, the items, hashes of the benchmark, configurations and
    models, and a hash of itself. Refused when the study holds any response to these items already. Put the
    file where others can see its date (a commit that is pushed, a message) before `leadline run`.

    The statistic is pooled over items and configurations; with REFERENCE it is the difference of the two
    studies over the same items, with --other-items that of two groups.
    """
    from leadline.report.numbers import plural
    from leadline.study.prediction_file import Draft, read_draft, read_ids
    from leadline.study.registering import register
    from leadline.study.registration import write_registration
    from leadline.study.store import open_store

    given = Draft(
        title=title,
        hypothesis=hypothesis,
        statistic=statistic,
        below=below,
        above=above,
        decided_by=decided_by,
        sameness=sameness,
        minimum_items=minimum_items,
        minimum_readings=minimum_readings,
        exclusions=tuple(exclusion) if exclusion else None,
        items=read_ids(items) if items else None,
        other_items=read_ids(other_items) if other_items else None,
        configurations=tuple(configuration) if configuration else None,
        models=tuple(model) if model else None,
    )
    draft = given.over(read_draft(prediction)) if prediction else given
    tested = opened(study, excluding(audit, exclude), None, adjudications)
    registration = register(
        tested,
        draft.prediction(has_reference=reference is not None, where=str(prediction or "")),
        reference=_reference(reference, adjudications),
        items=draft.items,
        other_items=draft.other_items or (),
        configurations=draft.configurations or (),
        models=draft.models or (),
    )
    path = out or tested.folder / "registration.json"
    registration = write_registration(registration, path)
    with open_store(tested.folder, write=True) as store:
        store.note_registration(registration.sha256, registration.prediction.sentence)
    if as_json:
        typer.echo(registration.model_dump_json(by_alias=True, indent=2))
        return
    names = [one.name for one in registration.tested.configurations]
    typer.echo(f"registered  {registration.prediction.sentence}")
    typer.echo(
        f"over        {plural(len(registration.items), 'item')}, "
        f"{plural(len(registration.tested.models), 'model')}, configurations {', '.join(names)}"
    )
    for one in registration.tested.models:
        if one.digest is None:
            typer.echo(
                f"note        the weights of {one.label} are not on this machine, so they are not pinned"
            )
    typer.echo(f"stamp       {registration.sha256}\nfile        {path}")
    places = [shlex.quote(str(place)) for place in (path, study, reference) if place]
    typer.echo(f"next        commit it or send it to somebody, then: leadline run {places[1]}")
    typer.echo(f"then        leadline verdict {' '.join(places)}")


def _reference(folder: Path | None, adjudications: Path | None) -> Study | None:
    """The study to compare with: without people's decisions where the tested one is read without them."""
    from leadline.study.decisions import NONE
    from leadline.study.study import open_study

    without = adjudications if adjudications == Path(NONE) else None
    return open_study(folder, adjudications=without) if folder else None


def verdict(
    registration: Annotated[Path, typer.Argument(help="The file that `leadline prereg` wrote.")],
    study: Annotated[Path, typer.Argument(help="The study that was tested.")],
    reference: Annotated[
        Path | None, typer.Argument(help="The reference study, where one was registered.")
    ] = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="Decide although responses are missing; the verdict says so.")
    ] = False,
    adjudications: Adjudications = None,
    as_json: AsJson = False,
) -> None:
    """Say whether a registered prediction holds, fails, or cannot be decided.

    Writes the verdict beside the registration, as JSON and Markdown. Refused, with the reason, when the file
    was changed, when it is younger than a response that decides it, and when items, benchmark,
    configurations, models or the reference's responses are not as registered. Exit code 0 whatever the
    verdict is, 3 when it is refused.
    """
    from leadline.report.verdict import lines, write_verdict
    from leadline.study.registered_verdict import VerdictRefused, judge
    from leadline.study.registration import read_registration

    registered = read_registration(registration)
    try:
        found = judge(
            registered,
            registration,
            opened(study, None, None, adjudications),
            _reference(reference, adjudications),
            partial=partial,
        )
    except VerdictRefused as refused:
        for reason in refused.reasons if len(refused.reasons) > 1 else ():
            typer.echo(f"refused: {reason}", err=True)
        raise
    data, text = write_verdict(found, registration)
    if as_json:
        typer.echo(found.model_dump_json(by_alias=True, indent=2))
        return
    for line in lines(found):
        typer.echo(line)
    typer.echo(f"written     {text}\n            {data}")
