"""The content hash and the subset: independent of the file's order, dependent on what matters."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from leadline.bench import Benchmark, Evidence, Item, content_hash
from leadline.errors import UsageError


def item(identity: str, **changes: object) -> Item:
    fields: dict[str, object] = {
        "id": identity,
        "question": "Q?",
        "answer": "A",
        "aliases": ("B", "C"),
        **changes,
    }
    return Item.model_validate(fields)


def benchmark(items: list[Item]) -> Benchmark:
    return Benchmark(name="b", version="1", items=tuple(items))


GROUPED = [
    item(f"{category}{task}{number}", category=category, task=task)
    for category, tasks in {"x": "rst", "y": "uv", "z": "w"}.items()
    for task in tasks
    for number in range(8 if category == "x" else 6)
]


@given(st.permutations(GROUPED))
def test_hash_and_subset_do_not_depend_on_the_order_of_the_items(shuffled: list[Item]) -> None:
    one, other = benchmark(GROUPED), benchmark(shuffled)
    assert one.content_hash == other.content_hash
    for limit in (1, 7, 20):
        assert one.subset(limit, seed=3).items == other.subset(limit, seed=3).items


def test_the_hash_is_what_it_was() -> None:
    """A published hash must go on naming the same items: this figure may never change.

    It is what sha256sum says of the line [{"answer":"A","id":"é","question":"Q?"}] without its end.
    """
    plain = Item(id="é", question="Q?", answer="A")
    assert content_hash([plain]) == "sha256:6d529b939380043842ccd29d05548a13f990b2ef30bddb9a2ef8a728593a79cd"


@pytest.mark.parametrize(
    "changes",
    [
        {"id": "other"},
        {"question": "Q??"},
        {"answer": "B", "aliases": ("A", "C")},
        {"aliases": ("B",)},
        {"window": "W"},
        {"answer_type": "date"},
    ],
)
def test_what_is_asked_or_judged_changes_the_hash(changes: dict[str, object]) -> None:
    assert content_hash([item("a")]) != content_hash([item("a", **changes)])


@pytest.mark.parametrize(
    "changes",
    [
        {"aliases": ("C", "B", "A", "B")},
        {"category": "x"},
        {"task": "x"},
        {"subject": "x"},
        {"evidence": (Evidence(quote="x"),)},
    ],
)
def test_how_an_item_is_filed_does_not(changes: dict[str, object]) -> None:
    assert content_hash([item("a")]) == content_hash([item("a", **changes)])


@given(st.integers(1, 50), st.integers(0, 10))
def test_a_subset_keeps_the_shares_of_categories_and_tasks(limit: int, seed: int) -> None:
    whole = benchmark(GROUPED)
    part = whole.subset(limit, seed)
    total = len(GROUPED)
    assert len(part.items) == min(limit, total)
    assert [entry.id for entry in part.items] == sorted(entry.id for entry in part.items)
    sizes = Counter(entry.category for entry in whole.items)
    drawn = Counter(entry.category for entry in part.items)
    for category, size in sizes.items():
        # Systematic sampling puts each stratum within one of its share of a threshold, which itself is
        # within the number of strata of the limit.
        assert abs(drawn[category] - len(part.items) * size / total) <= 2


@given(st.integers(1, 48), st.integers(0, 5))
def test_a_larger_subset_only_adds_items(limit: int, seed: int) -> None:
    whole = benchmark(GROUPED)
    small, large = whole.subset(limit, seed), whole.subset(limit + 1, seed)
    assert set(small.by_id) < set(large.by_id) or len(small.items) == len(GROUPED)


def test_another_seed_draws_other_items_and_without_a_limit_all_are_kept() -> None:
    whole = benchmark(GROUPED)
    assert whole.subset(10, 0).items != whole.subset(10, 1).items
    assert set(whole.subset().by_id) == set(whole.by_id)


def test_a_subset_of_categories_holds_no_other_and_has_its_own_hash() -> None:
    whole = benchmark(GROUPED)
    assert whole.content_hash
    part = whole.subset(10, categories=["y"])
    assert {entry.category for entry in part.items} == {"y"}
    assert part.content_hash != whole.content_hash
    assert set(part.by_id) <= set(whole.by_id) and len(part.by_id) == 10


def test_wrong_subsets_are_refused_with_a_hint() -> None:
    whole = benchmark([item("a", category="geography")])
    with pytest.raises(UsageError, match="did you mean 'geography'"):
        whole.subset(1, categories=["geografy"])
    with pytest.raises(UsageError, match="limit of 0"):
        whole.subset(0)
    with pytest.raises(UsageError, match="no categories"):
        whole.subset(1, categories=[])


def test_a_benchmark_is_a_frozen_non_empty_set() -> None:
    with pytest.raises(ValidationError, match="at least one"):
        benchmark([])
    with pytest.raises(ValidationError, match="same id"):
        benchmark([item("a"), item("a")])
    with pytest.raises(ValidationError, match="frozen"):
        benchmark([item("a")]).name = "c"  # type: ignore[misc]


def test_an_item_takes_the_names_that_facts_use() -> None:
    entry = Item.model_validate({"id": "a", "question": "Q", "answer": "A", "domain": "d", "relation": "r"})
    assert (entry.category, entry.task) == ("d", "r")
    assert Item(id="a", question="Q", answer="A", category="d", task="r") == entry
