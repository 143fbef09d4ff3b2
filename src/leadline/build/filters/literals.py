"""Lets go dates, numbers and texts unless they are asked for, and writes dates to the precision they have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import ClassVar

from leadline.build.plan import Plan
from leadline.build.records import Drop, Fact
from leadline.build.stage import FactStage, Job
from leadline.build.wikidata.dates import Date, as_written, date_names, of_statement, read_date
from leadline.build.wikidata.entity import Claim, Quantity, Time
from leadline.build.wikidata.quantities import amount_names, read_amount
from leadline.build.wikidata.single import agrees
from leadline.build.wikidata.store import EntityStore, entities_of

_COARSE = ("decade", "century")


class LiteralsStage(FactStage):
    """Fills precision (of dates), unit (of quantities), and object_names: the object as it may be answered.

    A date is written to the precision of Wikidata's statement or to the text's, whichever is less: "1
    January 1913" is "1913" where the statement has a year. A quantity has its statement's unit. Reasons:
    `literal-date`, `literal-quantity`, `literal-string` (not asked for: `filter.literals`), `unread` (no
    date or number can be read), `imprecise-date` (coarser than a year, or a 1 January that no statement
    vouches for).
    """

    name: ClassVar[str] = "literals"

    def settings(self, plan: Plan) -> object:
        """Which kinds are kept, and the language of the months."""
        return [sorted(plan.filter.literals), plan.articles.language]

    def judge(self, job: Job, facts: Iterable[Fact]) -> Iterator[Fact | Drop]:
        """Entities pass; of the others those of the kinds that the plan names."""
        kept = job.plan.filter.literals
        store = entities_of(job.work)
        for fact in facts:
            if fact.object_id is not None:
                yield fact
                continue
            kind = "string" if fact.kind in ("unknown", "entity") else fact.kind
            if kind not in kept:
                yield self.drop(fact, f"literal-{kind}", fact.object)
            elif kind == "date":
                yield self._date(fact, store, job.plan.articles.language)
            elif kind == "quantity":
                yield self._quantity(fact, store)
            else:
                yield fact

    def _date(self, fact: Fact, store: EntityStore, language: str) -> Fact | Drop:
        said = read_date(fact.object, language)
        if said is None:
            return self.drop(fact, "unread", f"no date: {fact.object}")
        stated = _stated([claim for claim in statements(fact, store) if agrees(claim, said)], said)
        if stated is None and not said.exact:
            return self.drop(fact, "imprecise-date", f"{fact.object}: a day, or the whole year?")
        date = said if stated is None else less_precise(said, stated)
        if date.precision in _COARSE:
            return self.drop(fact, "imprecise-date", f"a {date.precision}: {date_names(date, language)[0]}")
        names = date_names(date, language)
        return fact.model_copy(update={"precision": date.precision, "object_names": names})

    def _quantity(self, fact: Fact, store: EntityStore) -> Fact | Drop:
        said = read_amount(fact.object)
        if said is None:
            return self.drop(fact, "unread", f"no number: {fact.object}")
        held = [claim.value for claim in statements(fact, store) if agrees(claim, said)]
        stated = next((one for one in held if isinstance(one, Quantity)), None)
        number, unit = (Decimal(stated.amount), stated.unit) if stated is not None else (said.number, "1")
        names = tuple(dict.fromkeys((*amount_names(number, unit), fact.object.partition("^^")[0])))
        return fact.model_copy(update={"unit": unit if stated is not None else None, "object_names": names})


def statements(fact: Fact, store: EntityStore) -> Sequence[Claim]:
    """The statements of a fact's subject and relation that have a value, best rank first; none deprecated."""
    subject = store.get(fact.subject_id) if fact.subject_id is not None else None
    claims = subject.claims.get(fact.relation_id or "", ()) if subject is not None else ()
    held = [claim for claim in claims if claim.snaktype == "value" and claim.rank != "deprecated"]
    return sorted(held, key=lambda one: one.rank != "preferred")


def less_precise(said: Date, stated: Date) -> Date:
    """A date to the precision of the text or of the statement, whichever is less.

    >>> less_precise(Date(1913, 1, 1, "day"), Date(1913)), less_precise(Date(1913), Date(1913, 5, 2, "day"))
    (Date(year=1913, month=0, day=0, precision='year', exact=True), Date(year=1913, month=0, day=0, \
precision='year', exact=True))
    """
    if not said.exact:
        # A 1 January at midnight is the statement's own date if that has a day, and its year otherwise.
        return stated if stated.within(Date(said.year)) and said.to("day") == stated else Date(said.year)
    return said if said.coarseness >= stated.coarseness else said.to(stated.precision)


def _stated(claims: Sequence[Claim], said: Date) -> Date | None:
    """The date of the statement of the best rank; of several, the most precise."""
    found = [(claim.rank != "preferred", _statement(claim, said)) for claim in claims]
    dates = [(lower, date.coarseness, date) for lower, date in found if date is not None]
    return min(dates, key=lambda one: one[:2])[2] if dates else None


def _statement(claim: Claim, said: Date) -> Date | None:
    """A statement's date in the calendar that the text has it in."""
    if not isinstance(claim.value, Time):
        return None
    found = (as_written(claim.value), of_statement(claim.value))
    near = (one for one in found if one is not None and (said.within(one) or one.within(said)))
    return next(near, found[0])
