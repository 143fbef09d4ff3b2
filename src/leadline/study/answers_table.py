"""The answers of one configuration as two tables: every answer, and what the distinct ones among them say.

Answers repeat themselves: twenty of one item are one or two texts. Each text is read once, whatever the
number of answers, and the answers point to what was read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from leadline.bench import Item
from leadline.study.judging import CUT_SHORT, FILTERED, LENGTH, TRUNCATED, judged
from leadline.study.members import RECORDED, StudyMember
from leadline.study.store import Store
from leadline.study.study import Study

# Readings that are remembered from one configuration to the next: some hundred megabytes.
_REMEMBERED = 500_000

# Columns of `Store.batches`.
_STORED = {
    "item": pl.String,
    "asked": pl.String,
    "sample": pl.Int64,
    "text": pl.String,
    "finish": pl.String,
    "tokens_in": pl.Int64,
    "tokens_out": pl.Int64,
    "probes": pl.String,
    "created": pl.Float64,
}
_TOKENS = ("tokens_in", "tokens_out")
_ENDED = ("finish", "created")
_ROWS = {
    "place": pl.UInt32,  # number of the item
    **{name: _STORED[name] for name in ("sample", "text", *_TOKENS)},
    "cut": pl.Boolean,  # ended at its longest
    "filtered": pl.Boolean,  # ended by the provider's filter
}
_PROBED = {
    "gold_token": pl.Int64,
    "gold_rank": pl.Int64,
    "gold_logprob": pl.Float64,
    "gold_masked": pl.Boolean,
}
_SAID = {
    "state": pl.String,
    "value": pl.String,
    "correct": pl.Boolean,
    "correct_strict": pl.Boolean,
    "leads": pl.Boolean,
    "printed": pl.String,  # a number's printed digits
    "correct_labelled": pl.Boolean,  # by the label before it was corrected; null where it was not
}
_Said = tuple[str, str | None, bool, bool, bool, str | None, bool | None]
_FAILED: _Said = ("error", None, False, False, False, None, None)
_FILTERED: _Said = ("refused", None, False, False, False, None, None)


@dataclass(frozen=True)
class Asked:
    """The items of a study by number: those of its population and those that were left out of it.

    `items` are as they are judged; `labelled` those whose label was corrected, as they were before.
    """

    study: Study
    items: tuple[Item, ...]
    table: pl.DataFrame  # "item", "asked", "place": id, hash of its wording, number
    labelled: Mapping[int, Item]


@dataclass(frozen=True)
class Answers:
    """`rows`, one per answer: "said" (a row of `said`), "sample", tokens, what was probed of the gold answer.

    `said`, one per distinct answer to an item: "place" (number of the item), "text", what it says, how often
    ("count"), and from which sample on ("first"); in order of place and first. What a provider's filter
    stopped is apart from the same text as an answer. Columns of `rows` that are null throughout are left out,
    and so is "cut" (the answer ended at its longest) where none is.
    """

    member: StudyMember
    rows: pl.DataFrame
    said: pl.DataFrame


def asked_items(study: Study) -> Asked:
    """The items whose answers count, in the benchmark's order."""
    items = study.population.everyone.items
    columns = {
        "item": [item.id for item in items],
        "asked": [study.asked(item) for item in items],
        "place": range(len(items)),
    }
    kinds = {"item": pl.String, "asked": pl.String, "place": pl.UInt32}
    corrected, before = set(study.population.corrected), study.whole.by_id
    labelled = {place: before[item.id] for place, item in enumerate(items) if item.id in corrected}
    return Asked(study, items, pl.DataFrame(columns, schema=kinds), labelled)


class Answerbook:
    """Reads the answers of one configuration after the other, and remembers what texts say."""

    def __init__(self, asked: Asked, store: Store) -> None:
        self._asked, self._store = asked, store
        self._known: dict[tuple[int, str], _Said] = {}

    def answers(self, member: StudyMember) -> Answers:
        """The answers of a configuration that count, and the calls that failed."""
        return self._made(member, [*self._answered(member), self._lost(member)])

    def pieces(self, member: StudyMember) -> Iterator[Answers]:
        """The same answers, some whole items at a time: for whoever goes through millions of them once.

        `rows` hold "finish" and "created" (seconds since 1970) of each answer as well.
        """
        lost = self._lost(member)
        begun = pl.DataFrame(schema=_ROWS)
        for batch in self._answered(member, _ENDED):
            rows = pl.concat([begun, batch], how="diagonal")
            begun = rows.filter(pl.col("place") == rows["place"][-1]) if rows.height else rows
            whole = rows.head(rows.height - begun.height)  # an item's rows lie together
            if whole.height:
                of_these = pl.col("place").is_in(whole["place"].unique().implode())
                yield self._made(member, [whole, lost.filter(of_these)])
                lost = lost.filter(~of_these)
        if begun.height or lost.height:
            yield self._made(member, [begun, lost])

    def _made(self, member: StudyMember, parts: Sequence[pl.DataFrame]) -> Answers:
        rows = pl.concat([pl.DataFrame(schema=_ROWS), *(one for one in parts if one.height)], how="diagonal")
        # A failed call has no text, which tells it from every answer.
        apart = ["place", "text", *(["filtered"] if rows["filtered"].any() else [])]
        said = (
            rows.group_by(apart)
            .agg(pl.col("sample").min().alias("first"), pl.len().cast(pl.UInt32).alias("count"))
            .sort("place", "first")
            .with_row_index("said")
        )
        rows = rows.join(said.select(*apart, "said"), on=apart, nulls_equal=True)
        rows = rows.drop("place", "text", "filtered", *(() if rows["cut"].any() else ("cut",)))
        absent = [name for name in rows.columns if rows[name].null_count() == rows.height]
        return Answers(member, rows.drop(absent) if rows.height else rows, self._read(said))

    def _answered(self, member: StudyMember, more: Sequence[str] = ()) -> Iterator[pl.DataFrame]:
        """Batches of answers to the items as they are worded now; `more` are further columns."""
        for batch in self._store.batches(member.id):
            columns = dict(zip(_STORED, batch, strict=True))
            yield self._counting(pl.DataFrame(columns, schema=_STORED), member, more)

    def _counting(self, rows: pl.DataFrame, member: StudyMember, more: Sequence[str]) -> pl.DataFrame:
        rows = rows.join(self._asked.table, on=["item", "asked"], maintain_order="left")
        if member.kind != RECORDED:
            rows = rows.filter(pl.col("sample") < member.samples)
        else:  # of most nobody counted their tokens
            counted = pl.any_horizontal(pl.col(_TOKENS) > 0)
            rows = rows.with_columns(pl.when(counted).then(pl.col(name)).alias(name) for name in _TOKENS)
        if rows["probes"].null_count() < rows.height:
            stored = rows.select("place", "probes").iter_rows()
            probed = [self._probed(self._asked.items[place], probes) for place, probes in stored]
            rows = rows.hstack(pl.DataFrame(probed, schema=_PROBED, orient="row"))
        ended = pl.col("finish")
        rows = rows.with_columns((ended == LENGTH).alias("cut"), (ended == FILTERED).alias("filtered"))
        return rows.select(*_ROWS, *(name for name in _PROBED if name in rows.columns), *more)

    def _probed(self, item: Item, stored: str | None) -> tuple[Any, ...]:
        probes = self._store.probes_of(stored) if stored else ()
        probe = next((probe for probe in probes if probe.answer == item.answer), None)
        return (probe.token, probe.rank, probe.logprob, probe.masked) if probe else (None,) * 4

    def _lost(self, member: StudyMember) -> pl.DataFrame:
        """Calls that failed, as rows without a text."""
        failures = self._store.failures(member.id)
        rows = pl.DataFrame(
            {
                "item": [key.item for key in failures],
                "asked": [key.asked for key in failures],
                "sample": [key.sample for key in failures],
            },
            schema={"item": pl.String, "asked": pl.String, "sample": pl.Int64},
        ).join(self._asked.table, on=["item", "asked"])
        if member.kind != RECORDED:
            rows = rows.filter(pl.col("sample") < member.samples)
        return rows.select("place", "sample").sort("place", "sample")

    def _read(self, said: pl.DataFrame) -> pl.DataFrame:
        if len(self._known) > _REMEMBERED:
            self._known.clear()
        known = self._known
        read = []
        if "filtered" not in said.columns:
            said = said.with_columns(pl.lit(False).alias("filtered"))
        for place, text, is_filtered in said.select("place", "text", "filtered").iter_rows():
            if text is None or is_filtered:
                silent = _FAILED if text is None else _FILTERED
                read.append((*silent[:-1], False) if place in self._asked.labelled else silent)
                continue
            if (place, text) not in known:
                known[place, text] = self._reading(place, text)
            read.append(known[place, text])
        return (
            said.drop("filtered")
            .with_columns(pl.col("text").fill_null(""))
            .hstack(pl.DataFrame(read, schema=_SAID, orient="row"))
        )

    def _reading(self, place: int, text: str) -> _Said:
        study, before = self._asked.study, self._asked.labelled.get(place)
        one = judged(study, self._asked.items[place], text)
        was = None if before is None else judged(study, before, text).correct
        return one.state.value, one.value, one.correct, one.correct_strict, one.leads, one.number, was


def as_it_ended(state: pl.Expr) -> pl.Expr:
    """The state of answers in the light of "cut": as `judged` has it."""
    is_cut = pl.col("cut").fill_null(False) & state.is_in([one.value for one in CUT_SHORT])
    return pl.when(is_cut).then(pl.lit(TRUNCATED.value)).otherwise(state)
