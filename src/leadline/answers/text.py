"""Reads answers to factual questions: free text, judged against the gold answer and its aliases.

Two rules, both over the answer line of the response (`peel`) in normal form (`leadline.bench.folding`):

- `correct`, the published rule: the line equals a valid answer or contains one, at any place, even inside a
  longer word.
- `correct_strict`, the `words` rule: moreover the valid answer covers whole words, is not denied, and
  no second candidate stands beside it (see `candidates`).

A response that declines to answer is `refused` (see `refusal`), unless it contains a valid answer: by the
published rule that one is correct, and a figure that reproduces the rule must count it. The `words` rule
does not.
"""

from __future__ import annotations

from functools import lru_cache

from leadline.answers.candidates import states
from leadline.answers.peel import peel
from leadline.answers.reading import Reading, State
from leadline.answers.refusal import declines
from leadline.answers.sentence import core
from leadline.bench.folding import normalise, tokens
from leadline.bench.item import Item


def read(item: Item, raw: str) -> Reading:
    """Read one response. Total: every text has a reading, and none raises."""
    peeled = peel(raw)
    if peeled.reason:
        return Reading(State.UNREADABLE, reason=peeled.reason)
    if not peeled.text:
        return Reading(State.EMPTY)
    line = tokens(peeled.text)
    if not line:
        return Reading(State.UNREADABLE, reason="no letters or digits")
    text = "".join(token.text for token in line)
    valid, question = _prepared(item.question, item.valid_answers)
    correct = any(answer in text for answer in valid)
    declined = declines(peeled.text)
    if declined and not correct:
        return Reading(State.REFUSED)
    value = "".join(token.text for token in core(line, question))
    return Reading(
        State.OK,
        value=value,
        correct=correct,
        correct_strict=correct and not declined and states(line, valid, question),
        leads=_leads(raw, value, valid if correct else ()),
    )


def _leads(raw: str, value: str, contained: tuple[str, ...]) -> bool:
    """`raw` begins with `value`, and, where a valid answer is in it, with that answer.

    Marks and blanks do not count, words do: "Answer: Paris" and "The capital is Paris" do not lead.
    """
    # Folding can shorten a text (marks, blanks) but rarely by more than this; longer wrapping is no lead.
    opening = normalise(raw.lstrip()[: 4 * len(value) + 100])
    return opening.startswith(value) and (not contained or value.startswith(contained))


@lru_cache(maxsize=4096)
def _prepared(question: str, answers: tuple[str, ...]) -> tuple[tuple[str, ...], frozenset[str]]:
    """The valid answers in normal form (those that have one), and the folded words of the question.

    One item is read hundreds of times in a row.
    """
    valid = tuple(dict.fromkeys(filter(None, map(normalise, answers))))
    return valid, frozenset(token.text for token in tokens(question))
