"""One decision of a person on one item: checked, stamped with the label that it is about, written down."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from leadline.bench import Benchmark, Item
from leadline.bench.adjudications import (
    Adjudication,
    Outcome,
    Read,
    adding,
    in_force,
    label_hash,
    read_adjudications,
)
from leadline.bench.outcomes import NAMES
from leadline.bench.problem import did_you_mean, shortened
from leadline.errors import LeadlineError, UsageError
from leadline.review.reader import same_reader
from leadline.study.judging import gold_fault, reading_of


class DecidedSinceError(LeadlineError):
    """Somebody else has decided on the item after the reader looked; `last` is what they decided."""

    def __init__(self, last: Adjudication) -> None:
        super().__init__(
            f"{last.reader} has decided on this item since ({NAMES[last.outcome]})", where=f"item {last.item}"
        )
        self.last = last


@dataclass(frozen=True)
class Written:
    """A decision as it was written to `file`, and what its reader may want to know of earlier ones."""

    file: Path
    decision: Adjudication
    notes: tuple[str, ...]


def decide(
    benchmark: Benchmark,
    file: Path,
    item: str,
    outcome: Outcome,
    *,
    reason: str,
    reader: str,
    reading: str = "",
    corrected: str | None = None,
    read: Sequence[Read] = (),
    flag: dict[str, Any] | None = None,
    quotes_shown: bool | None = None,
    seen: int | None = None,
) -> Written:
    """Write a decision on an item of `benchmark`, as it is now, at the end of `file`.

    Dated today (UTC). seen: how many decisions on the item the reader knows of; with it nobody else's is
    overruled unseen, whoever writes at the same time.

    Raises DecidedSinceError where somebody has decided since; UsageError for an item that is not there, a
    correction that its type cannot read or that is the label itself, a reader or a reason without words, and
    for taking back what is not in force; LeadlineError where the file cannot be written.
    """
    about = _item(benchmark, item)
    said = {"reason": reason, "reader": reader, "reading": reading, "corrected": corrected or ""}
    for name, text in said.items():
        if any("\ud800" <= sign <= "\udfff" for sign in text):
            raise UsageError(f"{name} is no UTF-8 text", fix="set the terminal to UTF-8")
    reader = " ".join(reader.split())
    for name, text in (("reader", reader), ("reason", reason.strip())):
        if not text:
            raise UsageError(f"a decision has a {name}", fix=f"--{name}")
    if any(unicodedata.category(sign) in ("Cc", "Cf") for sign in reader):
        raise UsageError("a reader's name has no control characters", fix="--reader NAME")
    if corrected is not None:
        corrected = corrected.strip()
        check_corrected(about, outcome, corrected)
    first, *others = read or (None,)
    decision = Adjudication(
        item=item,
        outcome=outcome,
        reader=reader,
        date=datetime.now(UTC).date().isoformat(),
        reason=reason.strip(),
        label=label_hash(about),
        reading=reading,
        corrected=corrected,
        read=first,
        also_read=tuple(one for one in others if one is not None),
        flag=flag or {},
        quotes_shown=quotes_shown,
    )
    with adding(file) as add:
        before = read_adjudications(file) if file.exists() else ()
        if seen is not None and (last := decided_since(seen, before, item, reader)):
            raise DecidedSinceError(last)
        notes = _notes(in_force(before).get(item), about, outcome, corrected, reader, file)
        add(decision)
    return Written(file, decision, tuple(notes))


def decided_since(
    seen: int, decisions: Iterable[Adjudication], item: str, reader: str
) -> Adjudication | None:
    """The last decision on an item, where it is somebody else's and the reader, who has seen the first `seen`
    ones, has not seen it."""
    on_it = [one for one in decisions if one.item == item]
    if len(on_it) <= seen or same_reader(on_it[-1].reader, reader):
        return None
    return on_it[-1]


def check_corrected(item: Item, outcome: str, corrected: str) -> None:
    """Raise UsageError for a corrected answer that cannot take the label's place."""
    if outcome != "upheld":
        what = f"an answer is corrected where the doubt is upheld, not with {outcome}"
        raise UsageError(what, where=f"item {item.id}", fix="--outcome upheld, or leave --corrected out")
    if not corrected:
        raise UsageError("the corrected answer is blank", where=f"item {item.id}", fix="--corrected ANSWER")
    as_label = item.model_copy(update={"answer": corrected, "aliases": ()})
    if fault := gold_fault(as_label):
        what = f"the corrected answer is not of the item's type, {item.answer_type}: {fault}"
        raise UsageError(what, where=f"item {item.id}", fix="write it as the label is written")
    if _says_the_same(item, corrected):
        raise UsageError(
            f"the corrected answer is the label: {shortened(item.answer)}",
            where=f"item {item.id}",
            fix="--outcome rejected where the label stands",
        )


def _item(benchmark: Benchmark, item: str) -> Item:
    if item not in benchmark.by_id:
        raise UsageError(
            f"{benchmark.name} has no item {item!r}",
            fix=did_you_mean(item, benchmark.by_id, otherwise="leadline bench show lists all ids"),
        )
    return benchmark.by_id[item]


def _says_the_same(item: Item, corrected: str) -> bool:
    """Whether a corrected answer is the label, its aliases left aside: to one of them it may be corrected."""
    if item.answer_type == "text":
        return _folded(corrected) == _folded(item.answer)
    alone = item.model_copy(update={"aliases": ()})
    return reading_of(alone, corrected, rule="exact").correct


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def _notes(
    earlier: Adjudication | None, item: Item, outcome: str, corrected: str | None, reader: str, file: Path
) -> list[str]:
    """What to say of the decision that was in force. Raises UsageError for taking back what is not."""
    if earlier is None:
        if outcome == "withdrawn":
            raise UsageError(
                "there is no decision to take back", where=f"item {item.id}", fix=f"decisions lie in {file}"
            )
        return []
    who = f"{earlier.reader} on {earlier.date}"
    if outcome == "withdrawn":
        return [f"taken back: {earlier.outcome}, by {who}"]
    if earlier.label != label_hash(item):
        return [f"a decision by {who} ({earlier.outcome}) was about another wording or label"]
    if (earlier.outcome, earlier.corrected) == (outcome, corrected):
        again = "by the same reader" if earlier.reader == reader else f"by {who}"
        return [f"was decided so before, {again}: the reason and the date of this line count now"]
    return [f"takes the place of another decision: {earlier.outcome}, by {who}"]
