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

from collections.abc import Sequence
from functools import lru_cache

from leadline.answers.candidates import states
from leadline.answers.peel import peel
from leadline.answers.reading import Reading, State
from leadline.answers.refusal import declines
from leadline.answers.sentence import Question, core, question_words, says_question_first
from leadline.bench.folding import Token, normalise, tokens
from leadline.bench.item import Item

# The longest answers of fact benchmarks are titles of eight or nine words. A longer value is a sentence in
# which the answer could not be found, and where a sentence begins is not where its answer begins.
_LONGEST_ANSWER = 12


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
    answer = core(line, question)
    return Reading(
        State.OK,
        value="".join(token.text for token in answer),
        correct=correct,
        correct_strict=correct and not declined and states(line, valid, question.words),
        leads=_leads(raw, answer, question, valid if correct else ()),
    )


def _leads(raw: str, answer: Sequence[Token], question: Question, contained: tuple[str, ...]) -> bool:
    """`raw` begins with a valid answer if it contains one, else with what was read from it.

    Marks and blanks do not count, words do: "Answer: Paris", "The Danube" (for "Danube") and "The capital is
    Paris" do not lead.
    """
    value = "".join(token.text for token in answer)
    longest = max(map(len, (value, *contained)))
    # Folding drops marks and blanks, but hardly ever more than this of a text; a longer wrapping is no lead.
    opening = normalise(raw.lstrip()[: 4 * longest + 100])
    if contained:
        return opening.startswith(contained)
    is_sentence = len(answer) > _LONGEST_ANSWER or says_question_first(answer, question)
    return opening.startswith(value) and not is_sentence


@lru_cache(maxsize=4096)
def _prepared(question: str, answers: tuple[str, ...]) -> tuple[tuple[str, ...], Question]:
    """The valid answers in normal form (those that have one), and the words of the question.

    One item is read hundreds of times in a row.
    """
    valid = tuple(dict.fromkeys(filter(None, map(normalise, answers))))
    return valid, question_words(question)
