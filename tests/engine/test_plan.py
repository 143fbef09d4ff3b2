"""Which requests run together changes how fast they run, and nothing else."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch", reason="local models need the 'local' extra")

from leadline.engine.blocks import BLOCK
from leadline.engine.plain import plan_equal_lengths
from leadline.engine.plan import Limits, PlannedBatch, common_prefix, plan

# Prompts that share beginnings of many lengths: a few stems, cut and continued.
STEMS = [tuple(range(BLOCK * 3)), tuple(range(BLOCK)) + (999,) * BLOCK * 2, (5,) * BLOCK * 3]
PROMPTS = st.builds(
    lambda stem, cut, tail: (STEMS[stem][:cut] + tuple(tail)) or (1,),
    st.integers(0, 2),
    st.integers(0, BLOCK * 3),
    st.lists(st.integers(0, 3), max_size=3),
)
REQUESTS = st.lists(st.tuples(PROMPTS, st.integers(1, 40)), max_size=40)
LIMITS = st.builds(Limits, st.integers(1, 10), st.integers(1, 2000))


def _requests_of(batches: list[PlannedBatch]) -> Counter[int]:
    return Counter(index for batch in batches for group in batch.requests for index in group)


@given(REQUESTS, LIMITS)
@settings(max_examples=200, deadline=None)
def test_every_request_runs_once_with_its_own_prompt(
    requests: list[tuple[tuple[int, ...], int]], limits: Limits
) -> None:
    prompts, tokens = [prompt for prompt, _ in requests], [count for _, count in requests]
    for planner in (plan, plan_equal_lengths):
        batches = planner(prompts, tokens, limits)
        assert _requests_of(batches) == Counter(range(len(prompts)))
        for batch in batches:
            assert len(set(batch.prompts)) == len(batch.prompts) == len(batch.requests) > 0
            for prompt, group in zip(batch.prompts, batch.requests, strict=True):
                assert group
                assert {prompts[index] for index in group} == {prompt}


@given(REQUESTS, LIMITS)
@settings(max_examples=200, deadline=None)
def test_limits_are_kept_but_where_one_prompt_alone_is_over_them(
    requests: list[tuple[tuple[int, ...], int]], limits: Limits
) -> None:
    prompts, tokens = [prompt for prompt, _ in requests], [count for _, count in requests]
    for batch in plan(prompts, tokens, limits):
        assert sum(map(len, batch.requests)) <= limits.max_rows
        held = batch.prefix + sum(len(prompt) - batch.prefix for prompt in batch.prompts)
        held += sum(tokens[index] for group in batch.requests for index in group)
        # The beginning that all prompts of the call share is held once, whatever the limit.
        assert held - batch.prefix <= limits.token_budget or len(batch.prompts) == 1
    for batch in plan_equal_lengths(prompts, tokens, limits):
        rows = [index for group in batch.requests for index in group]
        assert len(rows) <= limits.max_rows
        assert sum(len(prompts[row]) + tokens[row] for row in rows) <= limits.token_budget or len(rows) == 1


@given(REQUESTS, LIMITS)
@settings(max_examples=200, deadline=None)
def test_a_prefix_is_common_to_its_batch_and_leaves_every_prompt_a_token(
    requests: list[tuple[tuple[int, ...], int]], limits: Limits
) -> None:
    prompts, tokens = [prompt for prompt, _ in requests], [count for _, count in requests]
    for batch in plan(prompts, tokens, limits):
        assert len({prompt[: batch.prefix] for prompt in batch.prompts}) == 1
        assert all(len(prompt) > batch.prefix for prompt in batch.prompts)
        assert batch.prefix == 0 or batch.prefix >= BLOCK
    for batch in plan_equal_lengths(prompts, tokens, limits):
        assert batch.prefix == 0
        assert len({len(prompt) for prompt in batch.prompts}) == 1


@given(st.lists(PROMPTS, min_size=1, max_size=8))
@settings(max_examples=300, deadline=None)
def test_the_longest_common_beginning_is_found(prompts: list[tuple[int, ...]]) -> None:
    longest = 0
    while all(len(p) > longest + 1 for p in prompts) and len({p[: longest + 1] for p in prompts}) == 1:
        longest += 1
    assert common_prefix(prompts) == (longest if longest >= BLOCK else 0)


def test_prompts_of_like_length_come_together() -> None:
    prompts = [(at, *range(1, length)) for at, length in enumerate([10, 200, 11, 199])]
    batches = plan(prompts, [1] * 4, Limits(max_rows=2))
    assert [sorted(map(len, batch.prompts)) for batch in batches] == [[10, 11], [199, 200]]


def test_more_samples_than_rows_are_spread_over_batches() -> None:
    batches = plan([(1, 2)] * 7, [4] * 7, Limits(max_rows=3))
    assert [sum(map(len, batch.requests)) for batch in batches] == [3, 3, 1]
