"""What is shown once a reading is committed: the key, the doubts, and what every configuration answered.

Answers are read when they are asked for, from the study as it is then: somebody may be running it. So what is
revealed says of when it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from leadline.bench.adjudications import Adjudication
from leadline.bench.item import Item
from leadline.bench.views import Key, key_of
from leadline.errors import LeadlineError
from leadline.review.flags import Flag
from leadline.review.readings import BlindReading
from leadline.study.judging import judged, reading_of
from leadline.study.members import RECORDED, StudyMember, members
from leadline.study.number_classes import same_values
from leadline.study.store import DATABASE, Store, open_store
from leadline.study.study import Study

# Distinct answers of one configuration that are told apart, and texts of each; what is left out is counted.
MOST_VALUES, MOST_TEXTS = 20, 3
_SELECT = (
    "SELECT text, finish, sample FROM responses "
    "WHERE configuration = ? AND item = ? AND asked = ? ORDER BY sample"
)
_FAILED = (
    "SELECT COUNT(DISTINCT sample) FROM failures AS f WHERE configuration = ?1 AND item = ?2 AND asked = ?3 "
    "AND NOT EXISTS (SELECT 1 FROM responses AS r WHERE r.configuration = ?1 AND r.item = ?2 "
    "AND r.asked = ?3 AND r.sample = f.sample)"
)


@dataclass(frozen=True)
class Said:
    """What one configuration said `count` times: a value, or where none was read the `state` alone. `texts`
    are distinct answers that say so, the most frequent first; `more` further ones are not told."""

    value: str | None
    state: str
    correct: bool
    count: int
    texts: tuple[str, ...]
    more: int = 0
    as_reader: bool = False


@dataclass(frozen=True)
class ConfigurationAnswers:
    """The answers of one configuration to one item, the most frequent first. `readings` counts them, without
    `failed` calls; `left_out` are values beyond the most that are told."""

    model: str
    configuration: str
    label: str
    readings: int
    said: tuple[Said, ...]
    failed: int = 0
    left_out: int = 0


@dataclass(frozen=True)
class Revealed:
    """All that a reader sees of an item after reading it. `agrees` is whether the reading says what the key
    says; None where it says that the text cannot settle it. `earlier` are decisions on this item so far."""

    item: str
    key: Key
    flags: tuple[Flag, ...]
    answers: tuple[ConfigurationAnswers, ...]
    reading: BlindReading
    agrees: bool | None
    as_reader: tuple[int, int]
    earlier: tuple[Adjudication, ...]
    category: str
    task: str
    source: str
    note: str
    of: datetime

    @property
    def proposed(self) -> str:
        """What a corrected answer may be: the reading, where it is not what the key says."""
        return self.reading.answer if self.agrees is False else ""

    def as_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        plain = asdict(self)
        plain["key"] = {
            "answer": self.key.answer,
            "aliases": list(self.key.aliases),
            "evidence": [one.model_dump(mode="json") for one in self.key.evidence],
        }
        plain["flags"] = [flag.model_dump(mode="json", exclude_defaults=True) for flag in self.flags]
        plain["reading"] = self.reading.model_dump(mode="json")
        plain["earlier"] = [one.model_dump(mode="json", exclude_defaults=True) for one in self.earlier]
        plain["of"] = self.of.isoformat()
        return plain


def reveal(
    item: Item,
    reading: BlindReading,
    flags: Sequence[Flag] = (),
    earlier: Sequence[Adjudication] = (),
    study: Study | None = None,
) -> Revealed:
    """Everything about `item`, compared with what `reading` says."""
    answers: tuple[ConfigurationAnswers, ...] = ()
    note = (
        "" if study else "No study is at hand: what the configurations answered is told by the flags alone."
    )
    if study is not None and not (study.folder / DATABASE).exists():
        note = "The study has no answers yet."
    elif study is not None:
        try:
            answers = _answers(study, item, reading)
            note = "" if answers else "No configuration of the study was asked this item."
        except LeadlineError as error:  # people can decide without
            note = f"The study's answers cannot be read: {error}"
    read = reading_of(item, reading.answer) if not reading.unsettled else None
    return Revealed(
        item=item.id,
        key=key_of(item),
        flags=tuple(flags),
        answers=answers,
        reading=reading,
        agrees=read.correct if read is not None else None,
        as_reader=(
            sum(said.count for one in answers for said in one.said if said.as_reader),
            sum(one.readings for one in answers),
        ),
        earlier=tuple(earlier),
        category=item.category,
        task=item.task,
        source=item.source,
        note=note,
        of=datetime.now(UTC).replace(microsecond=0),
    )


def _answers(study: Study, item: Item, reading: BlindReading) -> tuple[ConfigurationAnswers, ...]:
    """By configuration, in the study's order; those that did not answer this item are left out."""
    found = []
    with open_store(study.folder, write=False) as store:
        for member in members(study, store):
            counted, failed = _counted(study, item, member, store)
            if counted or failed:
                found.append(_of_member(study, item, member, counted, failed, reading))
    return tuple(found)


def _counted(
    study: Study, item: Item, member: StudyMember, store: Store
) -> tuple[Counter[tuple[str, str]], int]:
    """How often each text (with why it ended) was answered, and how many calls failed."""
    asked = member.id, item.id, study.asked(item)
    rows = store.select("responses", _SELECT, asked)
    if member.kind != RECORDED:
        rows = [row for row in rows if row[2] < member.samples]
    ((failed,),) = store.select("failures", _FAILED, asked) or [(0,)]
    return Counter((str(text), str(finish)) for text, finish, _ in rows), int(failed)


def _of_member(
    study: Study,
    item: Item,
    member: StudyMember,
    counted: Counter[tuple[str, str]],
    failed: int,
    reading: BlindReading,
) -> ConfigurationAnswers:
    own = reading_of(item, reading.answer) if not reading.unsettled else None
    read = {one: judged(study, item, *one) for one in counted}
    # The reader's answer is compared with theirs as they are with each other: as one more of them.
    said_so = [(read[one].value, read[one].number) for one in counted.elements()]
    same = same_values(item, [*said_so, (own.value, own.number) if own else (None, None)])
    mine = same.pop()
    values = dict(zip(counted.elements(), same, strict=True))
    groups: dict[tuple[str | None, str, bool], Counter[str]] = {}
    for (text, finish), count in counted.items():
        one = read[text, finish]
        group = groups.setdefault((values[text, finish], one.state.value, one.correct), Counter())
        group[text] += count
    said = sorted(
        (
            Said(
                value,
                state,
                correct,
                of.total(),
                tuple(text for text, _ in of.most_common(MOST_TEXTS)),
                max(0, len(of) - MOST_TEXTS),
                as_reader=value is not None and value == mine,
            )
            for (value, state, correct), of in groups.items()
        ),
        key=lambda one: -one.count,
    )
    return ConfigurationAnswers(
        model=member.model,
        configuration=member.name,
        label=member.label,
        readings=counted.total(),
        said=tuple(said[:MOST_VALUES]),
        failed=failed,
        left_out=max(0, len(said) - MOST_VALUES),
    )
