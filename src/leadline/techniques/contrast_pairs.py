"""Contrast pairs from a benchmark's own items: one question, two choices, and either one as the answer.

The form is that of Rimsky et al. 2024 (CAA): question, "Choices:", " (A) …", " (B) …", and then "(A" or "(B".
One choice is the item's gold answer, the other the answer of another item that asks for the same relation
(`Item.task`), so both are of a kind. Nothing depends on the order of the items.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leadline.bench import Item
from leadline.errors import UsageError

if TYPE_CHECKING:
    from leadline.engine.lm import CausalLM


@dataclass(frozen=True)
class ContrastPair:
    """An item, an answer that is wrong for it, and which of the two is (A)."""

    item: Item
    wrong: str
    right_is_a: bool

    @property
    def question(self) -> str:
        """The question with both choices."""
        a, b = (self.item.answer, self.wrong) if self.right_is_a else (self.wrong, self.item.answer)
        return f"{self.item.question}\n\nChoices:\n (A) {a}\n (B) {b}"

    @property
    def answers(self) -> tuple[str, str]:
        """The right choice, then the wrong one."""
        return ("(A)", "(B)") if self.right_is_a else ("(B)", "(A)")


@dataclass(frozen=True)
class Drawn:
    """Contrast pairs, and how many items have none: no other answer of their kind is there."""

    pairs: tuple[ContrastPair, ...]
    without: int


@dataclass(frozen=True)
class LetterTokens:
    """A pair as tokens: what both texts begin with, and the token at which they part, right and wrong."""

    prompt: tuple[int, ...]
    right: int
    wrong: int


def contrast_pairs(items: Iterable[Item], seed: int, limit: int | None = None) -> Drawn:
    """At most `limit` pairs, one per item; items, wrong answers and letters are drawn by seed and item id.

    A wrong answer is never a valid answer of the item (case aside). The right answer is (A) in half of the
    pairs, give or take one.
    """
    groups: dict[tuple[str, ...], list[Item]] = defaultdict(list)
    for item in items:
        # Without a relation, answers of one type within one category are the nearest thing to it.
        groups[(item.task,) if item.task else ("", item.category, item.answer_type)].append(item)
    found: list[tuple[Item, str]] = []
    without = 0
    for group in groups.values():
        answers = {item.answer.casefold(): item.answer for item in sorted(group, key=lambda each: each.id)}
        for item in group:
            valid = {answer.casefold() for answer in item.valid_answers}
            others = [answer for folded, answer in answers.items() if folded not in valid]
            if others:
                found.append((item, min(others, key=lambda each: lot(seed, "wrong", item.id, each))))
            else:
                without += 1
    found.sort(key=lambda each: lot(seed, "pair", each[0].id))
    found = found[:limit]
    first_half = {
        item.id
        for item, _ in sorted(found, key=lambda each: lot(seed, "letter", each[0].id))[
            : (len(found) + 1) // 2
        ]
    }
    return Drawn(tuple(ContrastPair(item, wrong, item.id in first_half) for item, wrong in found), without)


def lot(seed: int, *names: str) -> bytes:
    """What things are drawn by: the smallest comes first, whatever else there is to draw from."""
    return hashlib.sha256("\0".join((str(seed), *names)).encode("utf-8", "surrogatepass")).digest()


def texts(pair: ContrastPair, lm: CausalLM) -> tuple[str, str]:
    """The right and the wrong text: in the model's chat template, or plain where it has none."""
    if lm.has_chat_template:
        from leadline.engine import Prompt

        begin = lm.text_of(Prompt(messages=(("user", pair.question),)))
    else:
        begin = f"{pair.question}\n\nAnswer: "
    right, wrong = pair.answers
    return begin + right, begin + wrong


def letter_tokens(pairs: Sequence[ContrastPair], lm: CausalLM) -> list[LetterTokens]:
    """The pairs as tokens. The texts part at the letter, or at the token that has the letter in it.

    Raises UsageError where the tokenizer gives both texts the same tokens.
    """
    found = []
    for pair in pairs:
        right, wrong = (tuple(lm.encode(text, not lm.has_chat_template)) for text in texts(pair, lm))
        at = next((n for n, (a, b) in enumerate(zip(right, wrong, strict=False)) if a != b), None)
        if at is None:
            raise UsageError(f"{lm.name} does not tell (A) from (B): its tokenizer reads them alike")
        found.append(LetterTokens(right[:at], right[at], wrong[at]))
    return found
