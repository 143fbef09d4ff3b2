"""Finds the answer in a sentence that repeats the question: "The capital of France is Paris" says Paris.

The rules look at the question and never at the gold answer, so that right and wrong answers lose the same
words around them and votes are counted alike.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from leadline.bench.folding import Token, tokens

_LINKS = frozenset({"is", "was", "are", "were", "be", "took", "stands"})
_RELATIVES = frozenset({"that", "which", "who", "where"})
_PRONOUNS = frozenset({"it", "this", "that", "he", "she", "they", "there"})
_CONTRACTIONS = frozenset({"its", "thats", "hes", "shes", "theyre"})
_ARTICLES = frozenset({"the", "a", "an"})
_SMALL_WORDS = frozenset(
    {
        "a", "an", "the", "of", "in", "on", "at", "to", "for", "by", "from", "with", "and", "or", "as", "his",
        "her", "its", "their", "that", "this", "which", "who", "what", "when", "where", "is", "was", "are",
        "were", "be", "been", "did", "does", "do", "called", "named", "known", "how", "whose",
    }
)  # fmt: skip
# What may stand between "is" and the answer itself.
_BEFORE_ANSWER = frozenset(
    {
        "by", "in", "on", "at", "called", "named", "known", "as", "from", "of", "for", "place",
        "actually", "currently", "indeed", "simply", "probably", "likely",
    }
)  # fmt: skip
# After a comma, these begin a remark on the answer: "Shah Jahan, the emperor who", "Paris, located in".
_REMARKS = frozenset(
    {
        "the", "a", "an", "which", "who", "whose", "where", "when", "that", "located", "it", "he", "she",
        "also", "known", "born",
    }
)  # fmt: skip
_SENTENCE_END = re.compile(r"[.!?]\W*\s")
# Three letters and a full stop are more often a title or an initial (Mrs. Dalloway, St. Kitts) than an end.
_SHORTEST_END = 4
_LONG_TITLES = frozenset({"prof", "capt", "bros", "corp"})


@dataclass(frozen=True)
class Question:
    """The folded words of a question; `points` are those at which an answer may begin to repeat it."""

    words: frozenset[str]
    points: frozenset[str]


def question_words(question: str) -> Question:
    """`question` as `core` needs it: in "Which gland makes it?", "gland" can belong to the answer."""
    words = [token.text for token in tokens(question)]
    asked = {after for word, after in pairwise(words) if word in {"which", "what", "whose"}}
    return Question(frozenset(words), frozenset(words) - asked - _SMALL_WORDS)


def core(line: Sequence[Token], question: Question) -> Sequence[Token]:
    """The part of `line` that answers: never empty where `line` is not.

    Of the first sentence, what is not the question again (if that can be told), up to a remark on it, without
    an article. A sentence is split at "is", "was", ..., or where the question's own words begin ("Jane
    Austen wrote Emma"); the side with the smaller share of the question's words is the answer, when the
    other has at least half of its words from there, and half more than the answer has.
    """
    answer = _without_remark(_without_question(_first_sentence(line), question))
    has_article = (
        len(answer) > 1 and answer[0].text in _ARTICLES and answer[1].gap.isspace()
    )  # not "A. A. Milne"
    return answer[1:] if has_article else answer


def says_question_first(part: Sequence[Token], question: Question) -> bool:
    """`part` begins with two words of the question and goes on with others: a sentence not understood."""
    content = [token.text in question.words for token in part if token.text not in _SMALL_WORDS]
    return content[:2] == [True, True] and not all(content)


def _first_sentence(line: Sequence[Token]) -> Sequence[Token]:
    for place in range(1, len(line)):
        last, following = line[place - 1], line[place]
        is_end = _SENTENCE_END.match(following.gap) and following.is_name_like
        if is_end and len(last.word) >= _SHORTEST_END and last.text not in _LONG_TITLES:
            return line[:place]
    return line


def _without_question(sentence: Sequence[Token], question: Question) -> Sequence[Token]:
    if len(sentence) < 2:
        return sentence
    if sentence[0].text in _CONTRACTIONS and len(sentence[0].word) > len(sentence[0].text):
        return _trimmed(sentence[1:]) or sentence
    for place in range(1, len(sentence) - 1):
        if sentence[place].text in _LINKS and sentence[place - 1].text not in _RELATIVES - {sentence[0].text}:
            left, right = sentence[:place], _without_remark(_trimmed(sentence[place + 1 :]))
            if len(left) == 1 and left[0].text in _PRONOUNS:
                return right or sentence
            if chosen := _other_side(left, right, question):
                return chosen
            break
    for place in range(1, len(sentence) - 1):
        if sentence[place].text in question.points and not sentence[place].is_name_like:
            left, right = sentence[:place], _without_remark(sentence[place:])
            repeated = sum(token.text in question.points for token in right)
            is_answer_first = repeated > 1 and _other_side(left, right, question) is left
            return left if is_answer_first else sentence
    return sentence


def _other_side(left: Sequence[Token], right: Sequence[Token], question: Question) -> Sequence[Token]:
    """The side that the question is not on; () where that is not clear."""
    on_left, on_right = _share(left, question), _share(right, question)
    if on_left is None or on_right is None:
        return ()
    if on_left >= 0.5 and on_left - on_right >= 0.5:
        return right
    if on_right >= 0.5 and on_right - on_left >= 0.5:
        return left
    return ()


def _share(side: Sequence[Token], question: Question) -> float | None:
    """Share of the content words of `side` that are the question's; None without content words."""
    content = [token.text for token in side if token.text not in _SMALL_WORDS]
    return sum(word in question.words for word in content) / len(content) if content else None


def _trimmed(side: Sequence[Token]) -> Sequence[Token]:
    """`side` from where the answer begins ("composed by Mozart", "now located in Rome"); names stay whole."""
    while side and not side[0].is_name_like:
        is_participle = len(side) > 2 and side[1].text in {"by", "in"} and side[0].text not in _ARTICLES
        if not is_participle and side[0].text not in _BEFORE_ANSWER:
            break
        side = side[1:]
    return side


def _without_remark(part: Sequence[Token]) -> Sequence[Token]:
    """`part` up to a bracket, a dash, or a comma before a remark; "Paris, France" is kept whole."""
    for place in range(1, len(part)):
        gap = part[place].gap
        is_dash = gap.strip() in {"-", "–", "—"} and gap != gap.strip()
        if is_dash or set(gap) & set("([;—") or ("," in gap and part[place].text in _REMARKS):
            return part[:place]
    return part
