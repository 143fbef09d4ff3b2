"""A score as files and as lines: agreement without labels, and disagreements as flags for adjudication."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from leadline.bench import Benchmark
from leadline.bench.adjudications import label_hash
from leadline.errors import UsageError
from leadline.lenses.finding import Figure
from leadline.report.atomic import write_text
from leadline.report.numbers import ABSENT, Kind, plural, printed
from leadline.review.agreeing import LEAST_ROWS, Group
from leadline.review.flag_files import write_flags
from leadline.review.flags import Flag, FlagList, flag_list
from leadline.review.reader import reader_slug
from leadline.review.score import Score, Scored
from leadline.review.sheet import UNSETTLED


def disagreements_path(pack: Path, reader: str, out: Path | None = None, score: str = "") -> Path:
    """Where disagreements are listed, those of the file `score`: beside the pack, never in it, for they hold
    labels and the next reader of the pack must not see any. Raises UsageError for an `out` in it."""
    whole = pack.absolute()
    name = score.removeprefix("score-").removesuffix(".json") or reader_slug(reader)
    if out is not None and out.absolute().is_relative_to(whole):
        fix = "name a folder outside of the pack"
        raise UsageError(
            "the list of disagreements holds labels, and a pack is blind", where=str(out), fix=fix
        )
    return (out or whole.parent) / f"{whole.name}-disagreements-{name}.jsonl"


def write_score(score: Score, path: Path) -> None:
    """Write the score as JSON, whole or not at all. Raises LeadlineError."""
    write_text(path, score.model_dump_json(by_alias=True, indent=2) + "\n")


def write_disagreements(scored: Scored, benchmark: Benchmark, path: Path) -> None:
    """Write the rows that disagree as a list of flags, which `leadline review serve --flags` takes."""
    write_flags(disagreement_flags(scored, benchmark), path)


def disagreement_flags(scored: Scored, benchmark: Benchmark) -> FlagList:
    """One flag of kind "reread" for each disagreement, in the pack's order."""
    flags = []
    for row in scored.disagreements:
        said = scored.answers[row.number]
        item = row.item
        flags.append(
            Flag(
                item=item.id,
                kind="reread",
                task=item.task,
                category=item.category,
                label_hash=label_hash(item),
                label=item.answer,
                value=UNSETTLED if row.read.state == "unsettled" else said.answer,
                reader=scored.score.reader,
                reason=said.note,
            )
        )
    score = scored.score
    note = f"{score.agreement}: {plural(len(flags), 'row')} of {score.rows:,} of a blind pack disagree"
    return flag_list(benchmark, flags, notes=(note,))


def summary(score: Score) -> list[str]:
    """What is said first: what the agreement is called, and over all rows."""
    overall = score.overall
    lines = [
        f"{'second scoring, ' if score.earlier else ''}{score.agreement}: {score.benchmark.name} "
        f"{score.benchmark.version}, reader {score.reader}, "
        f"author {score.author or 'not named'}",
        f"drawn    {plural(score.rows, 'row')} of {overall.items:,} items ({score.population}); read "
        "against the labels as annotated",
        f"agree    {_figure(overall.all_rows.agree, Kind.SHARE)} of {plural(score.rows, 'row')}",
    ]
    if overall.all_rows.weighted is not None:
        lines.append(
            f"weighted {_figure(score.weighted, Kind.SHARE)} of the {overall.items:,} items; "
            f"{_effective(score.weighted)}"
        )
    if overall.settled is not None:
        settled = overall.settled
        lines.append(
            f"?        {plural(score.unsettled, 'row')} the text could not settle, counted as disagreement; "
            f"without {'it' if score.unsettled == 1 else 'them'} {_figure(settled.agree, Kind.SHARE)} agree, "
            + (f"weighted {_figure(settled.weighted, Kind.SHARE)}, " if settled.weighted else "")
            + f"kappa {_coefficient(settled.kappa)}, alpha {_coefficient(settled.alpha)}"
        )
    lines += [
        f"kappa    {_coefficient(overall.all_rows.kappa)}",
        f"alpha    {_coefficient(overall.all_rows.alpha)}, {overall.all_rows.level}",
    ]
    if overall.all_rows.weighted is not None:
        lines.append(
            "         kappa and alpha are of the rows, in which small strata weigh more than in the items"
        )
    return lines


def table(score: Score) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The columns, and a line for each group of rows that is not another one's again; a column in which
    nothing would stand is left out."""
    groups = list(_distinct(score.groups))
    columns: dict[str, Callable[[Group], str]] = {
        "by": lambda group: group.by,
        "group": _name,
        "rows": lambda group: f"{group.rows:,}",
        "of": lambda group: f"{group.items:,}",
        "agree": lambda group: _figure(group.all_rows.agree, Kind.SHARE),
        "weighted": lambda group: (
            _figure(weighted, Kind.SHARE) if (weighted := group.all_rows.weighted) else ""
        ),
    }
    if any(group.rows >= LEAST_ROWS for group in groups):
        columns |= {
            "kappa": lambda group: _coefficient(group.all_rows.kappa, ABSENT),
            "alpha": lambda group: _coefficient(group.all_rows.alpha, ABSENT),
            "level": lambda group: group.all_rows.level,
        }
    columns["?"] = lambda group: f"{group.unsettled:,}" if group.unsettled else ""
    kept = {name: cells for name, of in columns.items() if any(cells := [of(group) for group in groups])}
    return tuple(kept), list(zip(*kept.values(), strict=True))


def _distinct(groups: Sequence[Group]) -> Iterator[Group]:
    """The groups, without those that have the same strata as one before."""
    strata = [(group.category, group.answer_type) for group in groups if group.by == "stratum"]
    said = set()
    for group in groups:
        its = frozenset(
            (category, kind)
            for category, kind in strata
            if group.category in (None, category) and group.answer_type in (None, kind)
        )
        if its not in said:
            said.add(its)
            yield group


def remarks(score: Score) -> Iterator[str]:
    """What has to be known to read the table."""
    if any(group.rows < LEAST_ROWS for group in score.groups):
        yield f"groups of fewer than {LEAST_ROWS} rows have counts alone: kappa and alpha would tell nothing"
    yield from _once(score.groups)
    if score.published_only:
        yield (
            f"{plural(score.published_only, 'row')} would agree by the published rule of correctness, which "
            "finds a label inside of longer answers too"
        )
    if score.unreadable:
        yield f"{plural(score.unreadable, 'answer')} could not be read, counted as disagreement"
    yield from score.notes


def _once(groups: Sequence[Group]) -> Iterator[str]:
    """What is to be said of groups that have coefficients: of the first one in full, of others like it that
    there are."""
    said: dict[str, list[str]] = {}
    for group in groups:
        if group.rows < LEAST_ROWS:
            continue
        kappa, alpha = group.all_rows.kappa.note, group.all_rows.alpha.note
        notes = [f"kappa: {kappa}", *([f"alpha: {alpha}"] if alpha != kappa else []), *group.notes]
        for note in (note for note in notes if not note.endswith(": ")):
            said.setdefault(re.sub(r"[\d.,]+", "", note), []).append(f"{_name(group)}, {note}")
    for first, *others in said.values():
        also = f"; and so for {plural(len(others), 'other group')}" if others else ""
        yield first + also


def _name(group: Group) -> str:
    if group.by == "overall":
        return "all rows"
    names = [group.category or "(none)"] if group.category is not None else []
    return " × ".join([*names, *([group.answer_type] if group.answer_type else [])])


def _figure(figure: Figure, kind: Kind) -> str:
    return str(printed("", figure, kind))


def _effective(figure: Figure) -> str:
    """Of a weighted share: how many rows were read, and as how many of a plain sample they count."""
    found = re.search(r"over ([\d.]+) effective rows", figure.method)
    return f"{figure.denominator:,.0f} rows read, {found[1] if found else 'not known'} effective"


def _coefficient(figure: Figure, absent: str = "") -> str:
    if figure.value is None:
        return absent or f"not estimable: {figure.note}"
    shown = printed("", figure, Kind.INDEX)
    return f"{shown.value} {shown.interval}".strip() + (
        f" ({figure.note})" if figure.note and not absent else ""
    )
