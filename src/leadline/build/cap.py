"""At most so many facts of one relation, and of the whole: a stratified draw by a recorded seed."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import ClassVar

from leadline.bench.fact_rules import RELATION_SHARE_FROM
from leadline.build.plan import Plan
from leadline.build.records import Drop, Fact
from leadline.build.stage import FactStage, Job


class CapStage(FactStage):
    """Keeps `plan.cap.per_relation` facts of a relation, then `plan.cap.total` of the whole.

    Both are drawn by `draw`, stratified by bin and domain.
    """

    name: ClassVar[str] = "cap"
    after: ClassVar[tuple[str, ...]] = ("frequency",)

    def settings(self, plan: Plan) -> object:
        """The two caps and the seed."""
        return [plan.cap.per_relation, plan.cap.total, plan.seed]

    def judge(self, job: Job, facts: Iterable[Fact]) -> Iterator[Fact | Drop]:
        """Reason: cap."""
        line = list(facts)
        cap, seed = job.plan.cap, job.plan.seed
        relations: dict[str, list[Fact]] = defaultdict(list)
        for fact in line:
            relations[_relation(fact)].append(fact)
        first: set[str] = set()
        for members in relations.values():
            first |= draw(members, cap.per_relation, seed)
        left = [fact for fact in line if fact.id in first]
        kept = draw(left, cap.total, seed) if cap.total is not None else first
        for fact in line:
            if fact.id in kept:
                yield fact
            elif fact.id in first:
                yield self.drop(fact, "cap", f"{cap.total:,} of {len(left):,} facts drawn")
            else:
                number = len(relations[_relation(fact)])
                yield self.drop(
                    fact, "cap", f"{cap.per_relation:,} of {number:,} facts of {fact.relation!r} drawn"
                )


class BalanceStage(FactStage):
    """Keeps relations from dominating the finished set: none is more than `plan.cap.share` of it.

    Runs last of all, since presence in a corpus takes more of some relations than of others.
    """

    name: ClassVar[str] = "balance"
    after: ClassVar[tuple[str, ...]] = ("presence",)

    def settings(self, plan: Plan) -> object:
        """The share and the seed."""
        return [plan.cap.share, plan.seed]

    def wanted(self, plan: Plan) -> bool:
        """Only where the plan says a share."""
        return plan.cap.share is not None

    def judge(self, job: Job, facts: Iterable[Fact]) -> Iterator[Fact | Drop]:
        """Reason: share."""
        line = list(facts)
        relations: dict[str, list[Fact]] = defaultdict(list)
        for fact in line:
            relations[_relation(fact)].append(fact)
        most = largest_part([len(members) for members in relations.values()], job.plan.cap.share or 1)
        kept: set[str] = set()
        for members in relations.values():
            kept |= draw(members, most, job.plan.seed)
        for fact in line:
            if fact.id in kept:
                yield fact
            else:
                number = len(relations[_relation(fact)])
                yield self.drop(fact, "share", f"{most:,} of {number:,} facts of {fact.relation!r} drawn")


def largest_part(sizes: Sequence[int], share: float) -> int:
    """How many facts of a relation leave none above `share` of what is left, given the relations' sizes.

    Sets of fewer than 100 facts are left alone, and none is cut below that: with few relations no share can
    be kept, and a share of few facts says nothing.

    >>> largest_part([50] * 20, 0.08), largest_part([300, *[50] * 12], 0.08), largest_part([90, 5], 0.08)
    (50, 52, 90)
    """
    limit = Fraction(str(share))
    for most in range(max(sizes, default=0), 0, -1):
        left = sum(min(size, most) for size in sizes)
        if left < RELATION_SHARE_FROM or max(min(size, most) for size in sizes) <= limit * left:
            return most
    return 0


def stratum(fact: Fact) -> tuple[str, str]:
    """What a draw is stratified by: bin and domain, "" where there is none."""
    return fact.bin or "", fact.domain or ""


def draw(facts: Sequence[Fact], number: int, seed: int, by: Callable[[Fact], Hashable] = stratum) -> set[str]:
    """The ids of `number` of the facts (of all, if there are fewer), proportional over strata.

    A stratum's part is its share of `number`, rounded by largest remainders (ties by a hash of seed and
    stratum), so it is within 1 of its share; within a stratum the facts with the smallest hash of seed and id
    are drawn. Depends on seed and ids alone, not on the order: facts that are added move few others.
    """
    strata: dict[str, list[str]] = defaultdict(list)
    for fact in facts:
        strata[repr(by(fact))].append(fact.id)
    parts = _parts({name: len(ids) for name, ids in strata.items()}, number, seed)
    return {
        one
        for name, ids in strata.items()
        for one in sorted(ids, key=lambda one: (_hash(seed, "fact", one), one))[: parts[name]]
    }


def _parts(sizes: dict[str, int], number: int, seed: int) -> dict[str, int]:
    """How many of each stratum: floors of the shares, then one more by largest remainder."""
    total = sum(sizes.values())
    if number >= total:
        return sizes
    shares = {name: Fraction(number * size, total) for name, size in sizes.items()}
    parts = {name: int(share) for name, share in shares.items()}
    lacking = number - sum(parts.values())
    order = sorted(shares, key=lambda name: (parts[name] - shares[name], _hash(seed, "stratum", name), name))
    for name in order[:lacking]:
        parts[name] += 1
    return parts


def _relation(fact: Fact) -> str:
    return fact.relation_id or fact.relation


def _hash(seed: int, *parts: str) -> bytes:
    return hashlib.sha256("\x1f".join((str(seed), *parts)).encode()).digest()
