"""Letters of options, from the order in which a log asked them to the order that an item has.

One task may be asked twice with its options shuffled. "B" is then one option in the first log and another one
in the second, and an answer read in the wrong order is right or wrong by chance. Options are the same where
their texts are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from leadline.bench import Item
from leadline.bench.problem import shortened
from leadline.errors import UsageError
from leadline.study.judging import reading_of

_FIX = "in the benchmark: answer_type enum, the letters as vocabulary, each option's text as a synonym"


@dataclass(frozen=True)
class OtherOrder:
    """An item as a log asked it, its options in another order; `ours` takes its letters to the item's."""

    item: Item
    ours: Mapping[str, str]

    def in_our_letters(self, text: str, to: Item) -> str:
        """The letter in `to`, the item itself, of what `text` says; the text where it says no option, or
        names it so that the order does not matter."""
        said = reading_of(self.item, text).value
        letter = self.ours.get(said or "")
        if letter is None or reading_of(to, text).value == letter:
            return text
        return letter


def other_order(item: Item, choices: Sequence[str], where: str) -> OtherOrder | None:
    """How an answer is to be read that was given to `item` with the options `choices`, "A" for the first.

    None where letters mean what the item says, or say nothing to it. Raises UsageError where they are asked
    for and it cannot be told which option of the item each of them is.
    """
    letters = ascii_uppercase[: len(choices)]
    if not 2 <= len(choices) <= len(ascii_uppercase) or not _asks_letters(item, letters):
        return None
    if all(_says(item, letter, text) for letter, text in zip(letters, choices, strict=True)):
        return None
    place = _places(item, choices)
    if place is None or item.answer_type != "enum":
        told = ", ".join(f"{one}) {shortened(text, 20)}" for one, text in zip(letters, choices, strict=True))
        raise UsageError(
            f"item {shortened(item.id)} was asked with the options {told[:120]}: which of the benchmark's "
            "letters these are cannot be told",
            where=where or None,
            fix=_FIX,
        )
    ours = dict(zip(letters, place, strict=True))
    terms = {term.value: term for term in item.vocabulary}
    theirs = {mine: letter for letter, mine in ours.items()}
    golds = [theirs.get(gold, gold) for gold in item.valid_answers]
    asked = item.model_copy(
        update={
            "answer": golds[0],
            "aliases": tuple(golds[1:]),
            "vocabulary": tuple(
                terms[mine].model_copy(update={"value": letter}) for letter, mine in ours.items()
            ),
        }
    )
    return OtherOrder(asked, ours)


def ordered_as(item: Item, choices: Sequence[str]) -> tuple[str, ...] | None:
    """`choices` in the order that the item has them in; None where that cannot be told."""
    place = _places(item, choices)
    if place is None:
        return None
    return tuple(text for _, text in sorted(zip(place, choices, strict=True)))


def same_options(one: Sequence[str], other: Sequence[str]) -> bool:
    """The same texts, in whatever order; of equal texts nobody could tell which is which."""
    return tuple(one) == tuple(other) or (sorted(one) == sorted(other) and len(set(one)) == len(one))


def _asks_letters(item: Item, letters: str) -> bool:
    """Whether answers to the item are letters of options."""
    if item.answer_type == "enum":
        values = {term.value for term in item.vocabulary}
        return len(values) > 1 and values <= set(ascii_uppercase)
    return item.answer_type == "text" and item.answer in letters


def _places(item: Item, choices: Sequence[str]) -> tuple[str, ...] | None:
    """The item's letter of each option, where each has one and each letter has one."""
    letters = ascii_uppercase[: len(choices)]
    if item.answer_type == "enum" and {term.value for term in item.vocabulary} != set(letters):
        return None
    found = [[letter for letter in letters if _says(item, letter, text)] for text in choices]
    if any(len(one) != 1 for one in found) or len({one[0] for one in found}) < len(choices):
        return None
    return tuple(one[0] for one in found)


def _says(item: Item, letter: str, text: str) -> bool:
    """Whether `letter` stands for the option `text`: by a synonym, or as it stands in the question."""
    plain = _plain(text)
    if any(term.value == letter and plain in map(_plain, term.synonyms) for term in item.vocabulary):
        return True
    if not plain:
        return False
    words = r"\s+".join(re.escape(word) for word in text.split())
    option = re.compile(rf"(?:^|[\s(\[])\(?{letter}\s*[).:\]]\s*{words}\s*(?:$|\n|[,;]?\s\(?[A-Z]\s*[).:\]])")
    return any(option.search(shown) for shown in (item.question, item.window or ""))


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
