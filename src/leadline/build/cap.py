"""At most so many facts of one relation, and of the whole: a stratified draw by a recorded seed."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import ClassVar

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
        return {**plan.cap.model_dump(mode="json"), "seed": plan.seed}

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
