"""How many answers Wikidata's statements leave: by rank, by time, each value once.

A question asks for what is so today, or for what ever was. The rules, in this order:

1. Deprecated statements do not count. Today the best rank of the others counts: preferred ones if there are
   any, else normal ones (https://www.wikidata.org/wiki/Help:Ranking). Of all times both count: what was once
   right is often given a lower rank than what is right now.
2. Today, statements that have ended do not count: an end time (P582) that is known or known to exist
   (somevalue), or a reason why it ended (P1534). An end time of `novalue` says that it goes on. With a date
   of Wikidata's state, what ends after it has not ended yet, and what starts (P580) after it has not begun.
3. A value counts once, however many statements have it. A date within another (1990-11 within 1990) is the
   same value, and so is a day in the Julian and the Gregorian calendar.
4. `somevalue` is a value that nobody knows: it counts. `novalue` says that there is none
   (of all times: there has been none only where no value is beside it).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Literal

from leadline.build.records import Statement
from leadline.build.wikidata.dates import Date, as_written, of_statement
from leadline.build.wikidata.entity import Claim, Entity, Quantity, Snak, Text, Time
from leadline.build.wikidata.quantities import Amount, unit_of

START, END, END_CAUSE = "P580", "P582", "P1534"
# Date of death; dissolved, abolished or demolished; end time; discontinued; official closure; and the point
# in time of what took place once.
OVER = ("P570", "P576", "P582", "P2669", "P3999", "P585")
Match = Literal["counts", "ended", "lower rank", "deprecated", "nowhere"]
Said = str | Date | Amount
"""What a text says an object is: an entity's id or a string, a date, a number."""


@dataclass(frozen=True)
class Counted:
    """What the statements say, and where among them the object of the text stands.

    `counting` are the statements whose values count, one for each value; `match` is the first place where the
    object is found, and `claim` the statement there.
    """

    statement: Statement
    counting: tuple[Claim, ...]
    match: Match
    claim: Claim | None


def count(
    claims: Sequence[Claim],
    said: Said,
    *,
    resolve: Callable[[str], str] = lambda entity_id: entity_id,
    state: Date | None = None,
    ever: bool = False,
) -> Counted:
    """Count the values of one property of one subject, and look for the object `said` among them.

    `resolve` gives the id that a merged id leads to. `state` is the date of Wikidata's state. With `ever`,
    all statements count that are not deprecated, whatever their rank and time: who was ever married to whom.
    """
    deprecated = [claim for claim in claims if claim.rank == "deprecated"]
    preferred = [claim for claim in claims if claim.rank == "preferred"]
    normal = [claim for claim in claims if claim.rank == "normal"]
    all_times = [claim for claim in claims if claim.rank != "deprecated"]
    best, lower = (preferred, normal) if preferred else (normal, [])
    now, ended = _parted(best, state)
    lower, ended_lower = _parted(lower, state)
    held = all_times if ever else now
    none = [claim for claim in held if claim.snaktype == "novalue"]
    counting = distinct([claim for claim in held if claim.snaktype != "novalue"], resolve)
    places: tuple[tuple[Match, Iterable[Claim]], ...] = (
        ("counts", held),
        ("ended", [*ended, *ended_lower]),
        ("lower rank", lower),
        ("deprecated", deprecated),
    )
    match, found = _place(places, said, resolve)
    statement = Statement(
        values=len(counting),
        rank="preferred" if preferred else "normal" if normal else "none",
        agrees=match == "counts",
        ended=len(ended) + len(ended_lower),
        deprecated=len(deprecated),
        novalue=len(none),
        ever=ever,
    )
    return Counted(statement, counting, match, found)


def over(subject: Entity, state: Date | None = None) -> bool:
    """Whether a subject is over by `state`: dead, dissolved, ended. Nothing is so of it today.

    An end that is known to exist (somevalue) is one. Deprecated statements do not count, nor do those of a
    lower rank.
    """
    return any(_has_happened(claim, state) for name in OVER for claim in subject.best(name))


def _parted(claims: Iterable[Claim], state: Date | None) -> tuple[list[Claim], list[Claim]]:
    """Those that hold, and those that have ended or not begun."""
    parts: tuple[list[Claim], list[Claim]] = ([], [])
    for claim in claims:
        parts[not current(claim, state)].append(claim)
    return parts


def current(claim: Claim, state: Date | None = None) -> bool:
    """Whether a statement holds: it has begun, and has not ended. See rule 2."""
    if any(_has_happened(snak, state) for snak in claim.qualifiers.get(END, ())):
        return False
    if any(snak.snaktype != "novalue" for snak in claim.qualifiers.get(END_CAUSE, ())) and not any(
        snak.snaktype == "value" for snak in claim.qualifiers.get(END, ())
    ):
        return False
    starts = claim.qualifiers.get(START, ())
    return not starts or any(snak.snaktype != "value" or _has_happened(snak, state) for snak in starts)


def distinct(claims: Sequence[Claim], resolve: Callable[[str], str]) -> tuple[Claim, ...]:
    """One statement for each value, in their order: of dates within each other the most precise."""
    kept: list[Claim] = []
    # The most precise first, so that a year finds the day that lies in it.
    for claim in sorted(claims, key=_coarseness):
        if not any(_same(one, claim, resolve) for one in kept):
            kept.append(claim)
    return tuple(claim for claim in claims if any(claim is one for one in kept))


def _coarseness(claim: Claim) -> int:
    date = of_statement(claim.value) if isinstance(claim.value, Time) else None
    return date.coarseness if date is not None else 0


def agrees(claim: Snak, said: Said, resolve: Callable[[str], str] = lambda entity_id: entity_id) -> bool:
    """Whether a statement's value is what a text says.

    Dates agree when one lies within the other, in the calendar of the statement or in the Gregorian one; a
    number agrees with a quantity of the same amount, or whose bounds hold it, if its unit is no other one.
    """
    value = claim.value
    match said:
        case Date():
            return isinstance(value, Time) and any(
                held is not None and (said.within(held) or held.within(said) or _new_year(said, held))
                for held in (of_statement(value), as_written(value))
            )
        case Amount():
            return (
                isinstance(value, Quantity)
                and unit_of(said.unit) in (None, value.unit)
                and _holds(value, said.number)
            )
    if claim.entity is not None:
        return resolve(claim.entity) == resolve(said)
    if isinstance(value, Text):
        return _folded(value.text) == _folded(said)
    return isinstance(value, str) and _folded(value) == _folded(said)


def _place(
    places: Iterable[tuple[Match, Iterable[Claim]]], said: Said, resolve: Callable[[str], str]
) -> tuple[Match, Claim | None]:
    for match, claims in places:
        for claim in claims:
            if claim.snaktype == "value" and agrees(claim, said, resolve):
                return match, claim
    return "nowhere", None


def _same(one: Claim, other: Claim, resolve: Callable[[str], str]) -> bool:
    """Whether `other` says no other value than `one`, at least as precise; unknown values never do."""
    if one.snaktype != "value" or other.snaktype != "value":
        return False
    a, b = one.value, other.value
    if isinstance(a, Time) and isinstance(b, Time):
        first, second = of_statement(a), of_statement(b)
        return first.within(second) if first is not None and second is not None else a == b
    if isinstance(a, Quantity) and isinstance(b, Quantity):
        return a.unit == b.unit and _number(a.amount) == _number(b.amount)
    if one.entity is not None and other.entity is not None:
        return resolve(one.entity) == resolve(other.entity)
    return a == b


def _has_happened(snak: Snak, state: Date | None) -> bool:
    """Whether a time has come by `state`. What is not known when has; what never comes has not."""
    if snak.snaktype == "novalue":
        return False
    if snak.snaktype == "somevalue" or not isinstance(snak.value, Time) or state is None:
        return True
    when = of_statement(snak.value)
    if when is None or when.precision == "century":
        return True
    return (when.year, when.month, when.day) <= (state.year, state.month or 12, state.day or 31)


def _new_year(said: Date, held: Date) -> bool:
    """Whether a date that may stand for a year (1 January, midnight) is of that year."""
    return not said.exact and said.year == held.to("year").year and held.precision in ("month", "day")


def _holds(value: Quantity, number: Decimal) -> bool:
    amount, lower, upper = map(_number, (value.amount, value.lower, value.upper))
    if lower is not None and upper is not None and lower <= number <= upper:
        return True
    return amount == number


def _number(text: str | None) -> Decimal | None:
    try:
        return Decimal(text) if text is not None else None
    except InvalidOperation:
        return None


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
