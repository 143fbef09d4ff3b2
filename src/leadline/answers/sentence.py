"""Finds the answer in a sentence that repeats the question: "The capital of France is Paris" says Paris.

The rule looks at the question and never at the gold answer, so that right and wrong answers lose the same
words around them and votes are counted alike.
"""

from __future__ import annotations

from collections.abc import Sequence

from leadline.bench.folding import Token

_LINKS = frozenset({"is", "was", "are", "were", "be"})
_PRONOUNS = frozenset({"it", "this", "that", "he", "she", "they", "there"})
_CONTRACTIONS = frozenset({"its", "thats", "hes", "shes", "theyre"})
_SMALL_WORDS = frozenset(
    {
        "a", "an", "the", "of", "in", "on", "at", "to", "for", "by", "from", "with", "and", "or", "as",
        "his", "her", "its", "their", "that", "this", "which", "who", "what", "when", "where", "is", "was",
        "are", "were", "be", "been", "did", "does", "do", "called", "named", "known", "how", "whose",
    }
)  # fmt: skip
# What may stand between "is" and the answer itself.
_BEFORE_ANSWER = frozenset({"by", "in", "on", "at", "called", "named", "known", "as", "from", "of"})


def core(sentence: Sequence[Token], question: frozenset[str]) -> Sequence[Token]:
    """The part of `sentence` that is not the question again; the whole sentence where that cannot be told.

    `question` is the folded words of the question. A sentence is split at its first "is", "was", ... (or
    where the question's own words begin, as in "Jane Austen wrote Emma"). When at least half of the content
    words on one side are the question's and none on the other side is, the other side is the answer.
    """
    if len(sentence) < 2:
        return sentence
    if sentence[0].text in _CONTRACTIONS and len(sentence[0].word) > len(sentence[0].text):
        return _trimmed(sentence[1:], question) or sentence
    link = next((place for place, token in enumerate(sentence) if token.text in _LINKS), None)
    if link:
        left, right = sentence[:link], _trimmed(sentence[link + 1 :], question)
        if right and len(left) == 1 and left[0].text in _PRONOUNS:
            return right
        if chosen := _other_side(left, right, question):
            return chosen
    verb = next((place for place, token in enumerate(sentence) if token.text in question), None)
    if verb and sentence[verb].text not in _SMALL_WORDS and not sentence[verb].is_name_like:
        return _other_side(sentence[:verb], sentence[verb:], question) or sentence
    return sentence


def _other_side(left: Sequence[Token], right: Sequence[Token], question: frozenset[str]) -> Sequence[Token]:
    on_left, on_right = _share(left, question), _share(right, question)
    if on_left >= 0.5 and on_right == 0:
        return right
    if on_right >= 0.5 and on_left == 0:
        return left
    return ()


def _share(side: Sequence[Token], question: frozenset[str]) -> float:
    """Share of the content words of `side` that are the question's."""
    content = [token.text for token in side if token.text not in _SMALL_WORDS]
    return sum(word in question for word in content) / len(content) if content else 0.0


def _trimmed(side: Sequence[Token], question: frozenset[str]) -> Sequence[Token]:
    """`side` from where the answer begins: "composed by Mozart" gives "Mozart"; names are never cut."""
    if len(side) > 2 and side[1].text in {"by", "in"} and not side[0].is_name_like:
        side = side[2:]
    start = 0
    while start < len(side) and not side[start].is_name_like:
        word = side[start].text
        if word not in _BEFORE_ANSWER and (word not in question or word in _SMALL_WORDS):
            break
        start += 1
    return side[start:]
