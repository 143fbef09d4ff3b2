"""`leadline review pack` and `leadline review score`: a blind second reading of a benchmark."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Literal

import typer

from leadline.cli.plain_text import count, print_table, printable
from leadline.errors import UsageError

Order = Literal["dmy", "mdy", "ymd"]


def pack(
    benchmark: Annotated[str, typer.Argument(help="A benchmark folder, a file of items, or a bundled name.")],
    out: Annotated[Path, typer.Argument(help="The folder to write, new or empty.")],
    per_stratum: Annotated[
        int, typer.Option(min=1, help="Rows of each category × answer type; smaller strata are taken whole.")
    ] = 8,
    seed: Annotated[int, typer.Option(help="Decides the draw and the order; recorded.")] = 0,
    author: Annotated[
        str, typer.Option(help="Who wrote the labels: decides what agreement with them is called.")
    ] = "",
    study: Annotated[
        Path | None, typer.Option(help="Draw from the items that this study reports on, and no others.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print pack.json.")] = False,
) -> None:
    """Draw a sample of questions without their labels, for a person to answer again.

    Writes a sheet to fill in, a page for each question with its text, and the protocol. No file names an
    item, a label, an alias or a quote. The same benchmark, seed and size give the same pack.
    """
    from leadline.bench import load_benchmark
    from leadline.review.pack import draw_pack, items_of, strata_sentence
    from leadline.review.pack_files import write_pack
    from leadline.review.scorings import decided_items

    whole = load_benchmark(benchmark)
    items, population = None, ""
    if study is not None:
        from leadline.study.study import open_study

        opened = open_study(study)
        if opened.whole.content_hash != whole.content_hash:
            what = f"the study is of other content: {opened.whole.name} {opened.whole.version}"
            raise UsageError(what, where=str(study), fix="give the study's own benchmark")
        # As annotated: a study may hold labels that adjudication corrected.
        items = [whole.by_id[item.id] for item in opened.benchmark.items]
        population = opened.population.sentence
    drawn = draw_pack(whole, items, per_stratum=per_stratum, seed=seed, author=author, population=population)
    written = write_pack(drawn, out)
    if as_json:
        typer.echo(written.head.model_dump_json(indent=2))
        return
    place = shlex.quote(str(out))
    typer.echo(
        f"{printable(whole.name)} {whole.version}: {strata_sentence(written.head.strata)}, seed {seed}"
    )
    if not written.head.author:
        typer.echo(
            "note     nobody is named as author of the labels: --author says whether agreement is inter- "
            "or intra-annotator"
        )
    if decided := len(decided_items(whole) & {item.id for item in items_of(written, whole).values()}):
        typer.echo(
            f"note     on {decided:,} of the items drawn somebody has decided, who is not blind on them"
        )
    typer.echo(f"written  {out}: sheet.csv, index.html, PROTOCOL.md, {count(len(written.rows), 'page')}")
    typer.echo(f"next     fill in sheet.csv, or: leadline review serve --pack {place}")
    typer.echo(f"then     leadline review score {place} {shlex.quote(benchmark)} --reader NAME")


def score(
    pack: Annotated[Path, typer.Argument(help="The folder that `leadline review pack` wrote.")],
    benchmark: Annotated[str, typer.Argument(help="The benchmark that it was drawn from.")],
    reader: Annotated[str, typer.Option(help="Who filled the sheet in.")],
    sheet: Annotated[
        Path | None,
        typer.Option(help="The filled sheet.  [default: sheets/READER.csv in the pack, else its sheet.csv]"),
    ] = None,
    author: Annotated[str, typer.Option(help="Who wrote the labels, where the pack does not say it.")] = "",
    correctness: Annotated[
        Literal["words", "maple"],
        typer.Option(help="When a text is the label: as whole words, or contained anywhere in it."),
    ] = "words",
    locale: Annotated[
        str | None, typer.Option(help="How the sheet writes numbers: en-US, de-DE, ...")
    ] = None,
    date_order: Annotated[Order | None, typer.Option(help="What 5/6/2020 is in the sheet.")] = None,
    count_unreadable: Annotated[
        bool, typer.Option("--count-unreadable", help="Answers that cannot be read count as disagreements.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the score and the disagreements.  [default: the pack, and beside it]"),
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(
            help="The review folder of the benchmark, whose readings and decisions tell who is blind."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the score as JSON.")] = False,
) -> None:
    """Say how far a second, blind reading agrees with the labels.

    Share of agreement, Cohen's kappa and Krippendorff's alpha, by stratum and over all, with intervals or the
    reason why there is none. Refused, with the reason, when a row is blank, doubled, missing or changed, and
    when the pack is of other content. Called intra-annotator agreement when reader and author are one.
    A sheet that was changed after its score is scored beside it, as a second scoring: the first one stays.
    """
    from leadline.bench import load_benchmark
    from leadline.review import score_text
    from leadline.review.filled_sheet import read_sheet
    from leadline.review.pack import items_of
    from leadline.review.pack_files import read_pack
    from leadline.review.score import score_pack
    from leadline.review.scorings import score_path, scorings_of, seen_items
    from leadline.review.sheet import SHEET, sheet_of
    from leadline.review.understood import Dialect

    drawn = read_pack(pack)
    whole = load_benchmark(benchmark)
    items_of(drawn, whole)  # that it is another's pack is said before anything about the sheet
    score_text.disagreements_path(pack, reader, out)  # refuses a folder within the pack
    before = scorings_of({pack, out or pack}, drawn.sha256, reader)
    if sheet is None:
        own = sheet_of(pack, reader)
        sheet = own if own.is_file() else pack / SHEET
    scored = score_pack(
        drawn,
        whole,
        read_sheet(drawn, sheet),
        reader,
        author=author,
        correctness=correctness,
        dialect=Dialect(_locale(locale), date_order),
        count_unreadable=count_unreadable,
        where=str(sheet),
        earlier=before.first,
        seen=seen_items(whole, reader, into),
    )
    stands = before.same_as(scored.score)
    written, told = stands or (score_path(out or pack, reader), scored.score)
    listed = score_text.disagreements_path(pack, reader, out, written.name)
    if stands is None:
        score_text.write_score(told, written)
    if stands is None or not listed.exists():
        score_text.write_disagreements(scored, whole, listed)
    if as_json:
        typer.echo(told.model_dump_json(by_alias=True, indent=2))
        return
    for line in score_text.summary(told):
        typer.echo(printable(line))
    typer.echo("")
    print_table(*score_text.table(told))
    typer.echo("")
    for line in (*score_text.remarks(told), told.sentence):
        typer.echo(printable(line))
    number, list_name = len(scored.disagreements), _from_here(listed)
    typer.echo(f"{'stands  ' if stands else 'written '} {_from_here(written)}")
    typer.echo(f"         {list_name}: {count(number, 'disagreement')}, with labels")
    if number:
        typer.echo(
            f"next     leadline review serve {shlex.quote(benchmark)} --flags {shlex.quote(list_name)}"
        )


def _from_here(path: Path) -> str:
    """A path as one would type it here."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _locale(name: str | None) -> str | None:
    from pydantic import ValidationError

    from leadline.bench.answer_form import AnswerForm

    try:
        return AnswerForm(locale=name).locale
    except ValidationError:
        raise UsageError(f"--locale: {name!r} is no locale that is known", fix="such as de-DE") from None
