"""The score of a filled pack: agreement of a second reading with the labels, under its right name.

Agreement is *inter*-annotator agreement only where another person than the author read the pack; where the
author did, it is *intra*-annotator agreement, and is called so wherever it is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from leadline import __version__
from leadline.bench import Benchmark
from leadline.bench.answer_form import AnswerType
from leadline.errors import UsageError
from leadline.lenses.finding import Figure
from leadline.review.agreeing import By, Compared, Group, grouped, weighted_share
from leadline.review.filled_sheet import FilledSheet
from leadline.review.pack import Pack, PackBenchmark, items_of
from leadline.review.reader import same_reader
from leadline.review.score_sentence import EarlierScore, Relation, Stood, called, relation_of, score_sentence
from leadline.review.sheet import Answer
from leadline.review.understood import Correctness, Dialect, understood

SCHEMA: Literal["leadline.pack-score/1"] = "leadline.pack-score/1"
_SHOWN_FAULTS = 3


class Score(BaseModel):
    """What `leadline review score` found; it holds no label, and of answers only the form of odd ones.

    `agreement` is what it must be called, by the names given. `earlier` is the first score, where this is a
    second scoring: what its reader answers now was answered with the disagreements at hand. `population` says
    what the pack was drawn from; it is scored against the labels as annotated. `pack` and `sheet` are sha256
    of what was read. `weighted` is the share of agreement with each stratum weighted by its size in the
    population. `published_only` counts rows
    that agree by the published rule of correctness alone, which finds a label inside of longer words too.
    `groups`: all rows, then by answer type, by category, by stratum.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_: Literal["leadline.pack-score/1"] = Field(default=SCHEMA, alias="schema")
    agreement: str
    relation: Relation
    reader: str
    author: str
    sentence: str
    earlier: EarlierScore | None = None
    stood: Stood = Stood()
    benchmark: PackBenchmark
    population: str = ""
    pack: str
    sheet: str
    rows: int
    unsettled: int
    unreadable: int
    correctness: Correctness
    published_only: int
    weighted: Figure
    groups: tuple[Group, ...]
    notes: tuple[str, ...]
    created: datetime
    leadline_version: str

    @property
    def overall(self) -> Group:
        """All rows."""
        return self.groups[0]


@dataclass(frozen=True)
class Scored:
    """A score, and the rows beside their labels, in the pack's order; `answers` are what was written, by
    the row's number."""

    score: Score
    rows: tuple[Compared, ...]
    answers: Mapping[int, Answer]

    @property
    def disagreements(self) -> tuple[Compared, ...]:
        """The rows whose answer is not the label's, "?" among them."""
        return tuple(row for row in self.rows if not row.agrees)


def score_pack(
    pack: Pack,
    benchmark: Benchmark,
    sheet: FilledSheet,
    reader: str,
    *,
    author: str = "",
    correctness: Correctness = "words",
    dialect: Dialect | None = None,
    count_unreadable: bool = False,
    where: str = "",
    earlier: EarlierScore | None = None,
    seen: Collection[str] = (),
) -> Scored:
    """Score `sheet`, filled by `reader`. `author` is who labelled, where the pack does not say it; `earlier`
    the reader's first score; `seen` are the items whose key the reader has been shown.

    Raises UsageError for a pack of another content, a reader without a name, an author other than the pack's,
    and answers that cannot be read as their type (in the sheet `where`), which `count_unreadable` counts as
    disagreements.
    """
    reader, author = " ".join(reader.split()), " ".join(author.split())
    if not reader:
        raise UsageError("--reader is blank", fix="who filled the sheet in")
    if author and pack.head.author and not same_reader(author, pack.head.author):
        raise UsageError(f"the pack names {pack.head.author!r} as author", fix="leave --author out")
    author = pack.head.author or author
    items = items_of(pack, benchmark)
    rows = tuple(
        Compared(
            row.number,
            items[row.token],
            understood(items[row.token], sheet.answers[row.token], correctness=correctness, dialect=dialect),
        )
        for row in pack.rows
    )
    answers = {row.number: sheet.answers[row.token] for row in pack.rows}
    unreadable = [row for row in rows if row.read.state == "unreadable"]
    if unreadable and not count_unreadable:
        _refuse_unreadable(unreadable, answers, where)
    groups = _groups(pack, rows)
    relation = relation_of(reader, author)
    agreement = called(relation)
    stood = Stood(items=len(set(seen)), rows=sum(row.item.id in seen for row in rows))
    score = Score(
        schema=SCHEMA,
        agreement=agreement,
        relation=relation,
        reader=reader,
        author=author,
        sentence=score_sentence(reader, author, sheet.sha256, earlier, stood),
        earlier=earlier,
        stood=stood,
        benchmark=pack.head.benchmark,
        population=pack.head.population,
        pack=pack.sha256,
        sheet=sheet.sha256,
        rows=len(rows),
        unsettled=groups[0].unsettled,
        unreadable=len(unreadable),
        correctness=correctness,
        published_only=sum(row.read.published and not row.agrees for row in rows),
        weighted=weighted_share(rows, _stands_for(pack)),
        groups=groups,
        notes=(
            *sheet.notes,
            *(f"row {row.number}: {note}" for row in rows for note in row.read.notes),
            *_of_documents(rows),
        ),
        created=datetime.now(UTC).replace(microsecond=0),
        leadline_version=__version__,
    )
    return Scored(score, rows, answers)


def _of_documents(rows: Sequence[Compared]) -> list[str]:
    """Intervals take rows for independent of each other: where several are of one document, they are not."""
    sources = [row.item.source for row in rows if row.item.source]
    documents = len(set(sources))
    if documents == len(sources):
        return []
    return [
        f"{len(sources):,} rows are of {documents:,} documents: rows of one document resemble each other, so "
        "the intervals, which take rows for independent, are too narrow"
    ]


def _groups(pack: Pack, rows: Sequence[Compared]) -> tuple[Group, ...]:
    """All rows, each answer type, each category, each stratum; what has the same rows is computed once."""
    strata = pack.head.strata
    known: dict[tuple[int, ...], Group] = {}

    def of(by: By, category: str | None = None, answer_type: AnswerType | None = None) -> Group:
        some = [
            row
            for row in rows
            if category in (None, row.item.category) and answer_type in (None, row.item.answer_type)
        ]
        items = sum(
            one.items
            for one in strata
            if category in (None, one.category) and answer_type in (None, one.answer_type)
        )
        which = tuple(row.number for row in some)
        if which not in known:
            known[which] = grouped("overall", some, items, seed=pack.head.seed, stands_for=_stands_for(pack))
        return known[which].model_copy(
            update={"by": by, "category": category, "answer_type": answer_type, "items": items}
        )

    return (
        of("overall"),
        *(of("answer type", answer_type=kind) for kind in sorted({one.answer_type for one in strata})),
        *(of("category", category=name) for name in sorted({one.category for one in strata})),
        *(of("stratum", one.category, one.answer_type) for one in strata),
    )


def _stands_for(pack: Pack) -> Callable[[Compared], float]:
    """How many items of the population a row of the pack stands for."""
    weight = {(one.category, one.answer_type): one.items / one.drawn for one in pack.head.strata}
    return lambda row: weight[row.item.category, row.item.answer_type]


def _refuse_unreadable(rows: Sequence[Compared], answers: Mapping[int, Answer], where: str) -> None:
    said = [f"row {row.number}, {answers[row.number].answer[:60]!r}: {row.read.fault}" for row in rows]
    shown = "; ".join(said[:_SHOWN_FAULTS])
    more = f"; and {len(said) - _SHOWN_FAULTS:,} more" if len(said) > _SHOWN_FAULTS else ""
    number = f"{len(said):,} answer{'' if len(said) == 1 else 's'}"
    raise UsageError(
        f"{number} cannot be read as what was asked for: {shown}{more}",
        where=where or None,
        fix="write them anew, or ? where the text settles nothing; --count-unreadable: as disagreements",
    )
