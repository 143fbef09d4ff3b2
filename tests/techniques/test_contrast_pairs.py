"""Contrast pairs: the other answer is of the same kind and wrong, and nothing hangs on the order of items."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.bench import Item, load_benchmark
from leadline.errors import UsageError
from leadline.techniques.contrast_pairs import contrast_pairs, letter_tokens, texts
from leadline.techniques.folds import fold_of, two_folds

if TYPE_CHECKING:
    from leadline.models.local import LocalModel

FACTS = load_benchmark("facts").items


def _items(answers: list[tuple[str, tuple[str, ...], str]]) -> list[Item]:
    return [
        Item(id=f"{at}", question=f"Q{at}?", answer=answer, aliases=aliases, task=task)
        for at, (answer, aliases, task) in enumerate(answers)
    ]


WORD = st.sampled_from(["Paris", "paris", "PARIS", "Rome", "Oslo", "Straße", "STRASSE", "Bern"])


@given(
    st.lists(st.tuples(WORD, st.lists(WORD, max_size=2).map(tuple), st.sampled_from("xy")), max_size=12),
    st.integers(0, 5),
)
@settings(max_examples=200, deadline=None)
def test_a_wrong_answer_is_never_valid_and_comes_from_the_same_relation(
    answers: list[tuple[str, tuple[str, ...], str]], seed: int
) -> None:
    items = _items(answers)
    drawn = contrast_pairs(items, seed)
    assert len(drawn.pairs) + drawn.without == len(items)
    for pair in drawn.pairs:
        assert pair.wrong.casefold() not in {valid.casefold() for valid in pair.item.valid_answers}
        assert any(
            other.id != pair.item.id and other.task == pair.item.task and other.answer == pair.wrong
            for other in items
        )
    letters = [pair.right_is_a for pair in drawn.pairs]
    assert abs(letters.count(True) - letters.count(False)) <= 1


def test_an_item_alone_in_its_relation_is_skipped_and_counted() -> None:
    items = _items([("Paris", (), "capital"), ("Rome", (), "capital"), ("Homer", (), "author")])
    drawn = contrast_pairs(items, 0)
    assert {pair.item.answer for pair in drawn.pairs} == {"Paris", "Rome"}
    assert drawn.without == 1


def test_pairs_are_the_same_in_any_order_and_differ_by_seed() -> None:
    shuffled = list(FACTS)
    random.Random(1).shuffle(shuffled)
    assert contrast_pairs(FACTS, 0, 50) == contrast_pairs(shuffled, 0, 50)
    one, two = contrast_pairs(FACTS, 0), contrast_pairs(FACTS, 1)
    wrong = {pair.item.id: pair.wrong for pair in one.pairs}
    assert sum(wrong[pair.item.id] != pair.wrong for pair in two.pairs) > len(FACTS) / 2
    first = {pair.item.id: pair.right_is_a for pair in one.pairs}
    assert 0.3 < sum(first[pair.item.id] != pair.right_is_a for pair in two.pairs) / len(FACTS) < 0.7


def test_the_wrong_answers_of_an_item_do_not_change_when_unrelated_items_are_added() -> None:
    before = {pair.item.id: pair.wrong for pair in contrast_pairs(FACTS[:300], 0).pairs}
    more = [Item(id=f"new-{n}", question="?", answer=f"{n}", task="new") for n in range(20)]
    after = {pair.item.id: pair.wrong for pair in contrast_pairs([*FACTS[:300], *more], 0).pairs}
    assert {item: wrong for item, wrong in after.items() if not item.startswith("new-")} == before


def test_folds_share_neither_items_nor_wrong_answers_of_the_other_fold() -> None:
    folds = two_folds(FACTS, 0, 1000, "caa")
    assert not {*folds[0].ids} & {*folds[1].ids}
    assert {*folds[0].ids, *folds[1].ids} == {item.id for item in FACTS}
    for fold in folds:
        assert 0.4 < len(fold.ids) / len(FACTS) < 0.6
        members = {item.answer for item in FACTS if item.id in fold.ids}
        used = [*fold.fit, *fold.choose]
        assert {pair.item.id for pair in used} <= {*fold.ids}
        assert {pair.wrong for pair in used} <= members
        assert not {pair.item.id for pair in fold.fit} & {pair.item.id for pair in fold.choose}
        assert len(fold.fit) == round(0.8 * len(used))
    # A fold is a matter of seed and id alone.
    assert all(fold_of(item, 0) == fold.number for fold in folds for item in fold.ids)
    assert [fold_of(item.id, 0) for item in FACTS] != [fold_of(item.id, 1) for item in FACTS]


def test_too_few_items_are_one_line() -> None:
    with pytest.raises(UsageError, match=r"^caa: \d+ of \d+ items in one half .*fitting needs 5 \(.*\)$"):
        two_folds(FACTS[:6], 0, 100, "caa")


@pytest.mark.model
def test_the_texts_part_at_the_letter(smollm2: LocalModel) -> None:
    (pair,) = contrast_pairs(FACTS, 0, 1).pairs
    right, wrong = texts(pair, smollm2.lm)
    assert pair.question in right
    assert right[:-2] == wrong[:-2]
    assert {right[-2:], wrong[-2:]} == {"A)", "B)"}
    (tokens,) = letter_tokens([pair], smollm2.lm)
    assert smollm2.lm.tokenizer.decode(list(tokens.prompt)) == right[:-2]
    letters = [smollm2.lm.tokenizer.decode([token]) for token in (tokens.right, tokens.wrong)]
    assert letters == (["A", "B"] if pair.right_is_a else ["B", "A"])


def test_a_model_without_a_chat_template_gets_plain_text() -> None:
    pytest.importorskip("torch", reason="local models need the 'local' extra")
    from leadline.engine.lm import CausalLM
    from tests.engine.tiny import BLOCKS, model
    from tests.techniques.words import WordTokenizer

    lm = CausalLM(model(BLOCKS["llama"]), WordTokenizer())
    (pair,) = contrast_pairs(FACTS, 0, 1).pairs
    right, wrong = texts(pair, lm)
    assert right.startswith(f"{pair.item.question}\n\nChoices:\n (A) ")
    assert right.endswith(f"\n\nAnswer: {pair.answers[0]}")
    (tokens,) = letter_tokens([pair], lm)
    assert (*tokens.prompt, tokens.right) == tuple(lm.encode(right, True))[:-1]
    assert (*tokens.prompt, tokens.wrong) == tuple(lm.encode(wrong, True))[:-1]
