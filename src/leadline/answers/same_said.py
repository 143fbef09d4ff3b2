"""Answers of one item as they were said (a value, its printed digits), parted into sets of the same.

Numbers by `same_sets`. Answers in parts are the same when each part is: those whose parts are linked with one
another, part by part, are looked at together, and no others are compared.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import repeat

from leadline.answers.cliques import heaviest_first
from leadline.answers.printed import from_text
from leadline.answers.same_sets import same_sets
from leadline.answers.sameness import Rule, classes_of
from leadline.bench.answer_form import AnswerForm
from leadline.bench.item import Item

Said = tuple[str | None, str | None]  # value and printed number


def partition_said(
    item: Item, said: Sequence[Said], counts: Sequence[int], rule: Rule
) -> list[tuple[int, ...]]:
    """Different answers, each of which was given `counts` times, parted: the largest set of pairwise-same
    ones, then the largest of the rest, ...; places in `said`, which ascend.

    >>> item = Item(id="1", question="?", answer="1", answer_type="number")
    >>> said = [("0.9131", "0.9131"), ("0.91", "0.91"), ("0.906", "0.906")]
    >>> partition_said(item, said, [1, 1, 3], "rounding")
    [(1, 2), (0,)]
    """
    if item.answer_type != "parts":
        return heaviest_first(_sets(item, said, rule), counts)
    found: list[tuple[int, ...]] = []
    for members, shares_sets in _linked(item, said, rule):
        found += [tuple(members)] if shares_sets is None else _searched(members, shares_sets, counts)
    return sorted(found, key=lambda members: (-sum(counts[at] for at in members), members[0]))


def _sets(form: AnswerForm, said: Sequence[Said], rule: Rule) -> list[list[int]]:
    """All maximal sets of pairwise-same answers; without a printed number, equal values."""
    numbers = {at: from_text(number) for at, (_, number) in enumerate(said) if number is not None}
    places = list(numbers)
    sets = [
        [places[at] for at in members] for members in same_sets(list(numbers.values()), rule, form.precision)
    ]
    if len(numbers) < len(said):
        equal: dict[str | None, list[int]] = defaultdict(list)
        for at, (value, _) in enumerate(said):
            equal[value].append(at)
        sets += [members for members in equal.values() if any(at not in numbers for at in members)]
    return sets


_Sets = list[list[frozenset[int]]]  # of each part, of each answer: the sets that hold it


def _linked(item: Item, said: Sequence[Said], rule: Rule) -> Iterable[tuple[list[int], _Sets | None]]:
    """Answers whose parts are linked by sets, part by part; None where every two of them are the same."""
    values = [json.loads(value or "{}") for value, _ in said]
    printed = [json.loads(number or "{}") for _, number in said]
    holding: _Sets = []
    links: list[list[int]] = [[] for _ in said]
    for part in item.fields:
        own = [
            (value.get(part.name), number.get(part.name))
            for value, number in zip(values, printed, strict=True)
        ]
        distinct = {one: at for at, one in enumerate(dict.fromkeys(own))}
        sets = _sets(part, list(distinct), rule)
        within: list[set[int]] = [set() for _ in distinct]
        for name, members in enumerate(sets):
            for at in members:
                within[at].add(name)
        link = _link(sets, len(distinct))
        held = [frozenset(names) for names in within]
        holding.append([held[distinct[one]] for one in own])
        for at, one in enumerate(own):
            links[at].append(link[distinct[one]])
    groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for at, of_parts in enumerate(links):
        groups[tuple(of_parts)].append(at)
    for members in groups.values():
        together = all(frozenset.intersection(*(held[at] for at in members)) for held in holding)
        yield members, None if together else holding


def _link(sets: Sequence[Sequence[int]], size: int) -> list[int]:
    """For each of `size` vertices one that stands for all that it is linked with, by sets that overlap."""
    parent = list(range(size))

    def root(at: int) -> int:
        while parent[at] != at:
            parent[at] = at = parent[parent[at]]
        return at

    for members in sets:
        for at in members:
            parent[root(at)] = root(members[0])
    return [root(at) for at in range(size)]


def _searched(members: Sequence[int], holding: _Sets, counts: Sequence[int]) -> list[tuple[int, ...]]:
    """Linked answers parted by search: two are the same when they share a set in every part."""
    repeated = [at for at in members for _ in repeat(None, counts[at])]
    labels = classes_of(
        repeated, lambda one, other: all(not held[one].isdisjoint(held[other]) for held in holding)
    )
    found: dict[int, dict[int, None]] = defaultdict(dict)
    for at, label in zip(repeated, labels, strict=True):
        found[label][at] = None
    return [tuple(found[label]) for label in sorted(found)]
