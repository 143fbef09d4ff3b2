"""The cap: at most so many of a relation, in proportion over bins and domains, the same draw in any order."""

import random
from collections import Counter
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.build.cap import BalanceStage, CapStage, draw, largest_part, stratum
from leadline.build.plan import Plan
from leadline.build.progress import Quiet
from leadline.build.records import Drop, Fact
from leadline.build.stage import Job
from leadline.build.workspace import Workspace
from leadline.workers.in_process import InProcess


def fact(number: int, bin_: str = "head", domain: str = "science", relation: str = "P36") -> Fact:
    return Fact(
        id=f"f-{number}",
        article="1",
        title="T",
        subject="s",
        relation=relation,
        relation_id=relation,
        object="o",
        extractor="recorded",
        bin=bin_,
        domain=domain,
    )


SETS = st.lists(
    st.tuples(
        st.sampled_from(["head", "torso", "tail"]), st.sampled_from("abcd"), st.sampled_from(["P1", "P2"])
    ),
    max_size=80,
).map(lambda rows: [fact(number, *row) for number, row in enumerate(rows)])


def job(**cap: object) -> Job:
    given = {
        "name": "p",
        "articles": {"jsonl": "a"},
        "extract": {"method": "recorded"},
        "cap": cap,
        "seed": 3,
    }
    return Job(Plan.model_validate(given), Workspace(Path()), InProcess(), Quiet())


@given(SETS, st.integers(0, 60), st.integers(0, 3))
def test_each_stratum_is_within_one_of_its_share(facts: list[Fact], number: int, seed: int) -> None:
    drawn = draw(facts, number, seed)
    assert len(drawn) == min(number, len(facts))
    sizes = Counter(stratum(one) for one in facts)
    parts = Counter(stratum(one) for one in facts if one.id in drawn)
    for name, size in sizes.items():
        assert abs(parts[name] - min(number, len(facts)) * size / len(facts)) < 1


@given(SETS, st.integers(1, 60), st.randoms(use_true_random=False))
def test_the_draw_does_not_depend_on_the_order(facts: list[Fact], number: int, order: random.Random) -> None:
    shuffled = list(facts)
    order.shuffle(shuffled)
    assert draw(shuffled, number, 1) == draw(facts, number, 1)


@settings(max_examples=50)
@given(SETS, st.integers(1, 30), st.none() | st.integers(1, 40))
def test_no_relation_and_no_whole_is_above_its_cap_and_every_fact_has_one_result_in_order(
    facts: list[Fact], per_relation: int, total: int | None
) -> None:
    results = list(CapStage().judge(job(per_relation=per_relation, total=total), facts))
    assert [(one.fact if isinstance(one, Drop) else one).id for one in results] == [one.id for one in facts]
    kept = [one for one in results if isinstance(one, Fact)]
    counts = Counter(one.relation for one in kept)
    expected = sum(min(per_relation, n) for n in Counter(one.relation for one in facts).values())
    assert all(count <= per_relation for count in counts.values())
    assert len(kept) == (expected if total is None else min(expected, total))


def test_another_seed_draws_others_and_the_same_seed_the_same() -> None:
    facts = [fact(number) for number in range(200)]
    assert draw(facts, 50, 1) == draw(facts, 50, 1) != draw(facts, 50, 2)


def test_one_more_fact_exchanges_at_most_one_of_its_stratum() -> None:
    facts = [fact(number, bin_) for number, bin_ in enumerate(["head", "tail"] * 100)]
    before = draw(facts, 50, 1)
    for number in range(1000, 1050):
        assert len(before - draw([*facts, fact(number)], 50, 1)) <= 2


def test_a_drop_says_of_how_many() -> None:
    results = list(
        CapStage().judge(job(per_relation=2, total=3), [fact(n, relation=f"P{n % 2}") for n in range(8)])
    )
    details = sorted(one.detail for one in results if isinstance(one, Drop))
    assert details == ["2 of 4 facts of 'P0' drawn"] * 2 + ["2 of 4 facts of 'P1' drawn"] * 2 + [
        "3 of 4 facts drawn"
    ]


@given(st.lists(st.integers(1, 120), max_size=30), st.sampled_from([0.05, 0.08, 0.3]))
def test_the_largest_part_keeps_the_share_or_leaves_fewer_than_a_hundred_and_one_more_would_not(
    sizes: list[int], share: float
) -> None:
    def keeps(most: int) -> bool:
        left = [min(size, most) for size in sizes]
        return sum(left) < 100 or max(left) <= share * sum(left) + 1e-9

    most = largest_part(sizes, share)
    assert keeps(most) or not sizes
    assert most == max(sizes, default=0) or not keeps(most + 1)


def test_a_finished_set_in_which_a_relation_dominates_is_balanced() -> None:
    facts = [fact(n, relation="P1") for n in range(40)]
    facts += [fact(100 + n, relation=f"P{10 + n % 20}") for n in range(160)]
    results = list(BalanceStage().judge(job(share=0.08), facts))
    kept = Counter(one.relation for one in results if isinstance(one, Fact))
    assert kept["P1"] == 13  # 13 of 173 is 7.5 %, 14 of 174 would be 8.05 %
    assert sum(kept.values()) == 173
    assert {one.reason for one in results if isinstance(one, Drop)} == {"share"}
    assert not BalanceStage().wanted(job().plan)
