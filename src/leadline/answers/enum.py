"""Reads answers that are one of a vocabulary: the label that the response names, by its value or a synonym.

Labels are found as whole words, whatever their case and punctuation ("506(b)" is "506b", "non-participating"
is "nonparticipating"); of overlapping ones the longest counts, and of labels that punctuation alone tells
apart ("A", "A+", "A-") the one that is written there. A label that is denied ("not capped") does not count.
Two different labels in one response are unreadable, unless it marks its answer (see `choice`). The labels
yes, no, true and false are found as `yes_no` finds them: "no" is an article more often than an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from leadline.answers import text as free_text
from leadline.answers.candidates import spans_of
from leadline.answers.choice import ALONE, OPEN, SENTENCE, choose
from leadline.answers.denial import denial
from leadline.answers.hedges import hedge
from leadline.answers.opening import opened
from leadline.answers.option_letters import letters_in
from leadline.answers.reading import Reading, State
from leadline.answers.refusal import declines
from leadline.answers.yes_no import find_yes_no
from leadline.bench.answer_form import Term
from leadline.bench.folding import Token, normalise, tokens
from leadline.bench.item import Item

_YES_NO = {"yes": True, "no": False, "true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Named:
    """A label of the vocabulary at [start, end) of a text."""

    label: str
    start: int
    end: int
    by_denial: bool = False  # the text denies the words for the opposite label


def read(item: Item, raw: str) -> Reading:
    """Read one response. Total: every text has a reading, and none raises.

    Without a vocabulary the answer is read as text.

    >>> terms = (Term(value="participating"), Term(value="non-participating"))
    >>> item = Item(id="1", question="?", answer="participating", answer_type="enum", vocabulary=terms)
    >>> read(item, "It is non participating.").value
    'non-participating'
    """
    if not item.vocabulary:
        return free_text.read(item, raw)
    text = opened(item, raw, "no label")
    if isinstance(text, Reading):
        return text
    found = find_labels(text, item.vocabulary)
    if not found:
        return Reading(State.REFUSED) if declines(text) else Reading(State.UNREADABLE, reason="no label")
    labels = list(dict.fromkeys(one.label for one in found))
    several = f"{'two' if len(labels) == 2 else 'several'} labels: {', '.join(labels[:5])}"
    letters = all(len(term.value) == 1 for term in item.vocabulary)
    chosen = choose(
        text,
        found,
        lambda one, other: found[one].label == found[other].label,
        several=several,
        lead=SENTENCE if letters else ALONE,
        claimed=frozenset(at for at, one in enumerate(found) if one.by_denial),
    )
    explicit = chosen.rule.startswith(("marked by", "first after"))
    if declines(text) and not explicit and len(text) > found[0].end - found[0].start + 8:
        return Reading(State.REFUSED)
    if chosen.at < 0:
        return Reading(State.UNREADABLE, reason=several if chosen.reason == OPEN else chosen.reason)
    named = found[chosen.at]
    hedged = hedge(f"{text[: named.start]} {text[named.end :]}")  # a label may be "unclear"
    correct = named.label in _gold(item.valid_answers, item.vocabulary)
    return Reading(
        State.OK,
        value=named.label,
        correct=correct,
        correct_strict=correct and not hedged,
        leads=normalise(raw[: 4 * len(named.label) + 100]).startswith(
            normalise(text[named.start : named.end])
        ),
        notes=(*([chosen.rule] if chosen.rule else []), *([f"hedged: {hedged}"] if hedged else [])),
    )


def find_labels(text: str, vocabulary: Sequence[Term]) -> list[Named]:
    """The labels that `text` names and does not deny, from left to right.

    Of a vocabulary of yes and no, what denies the words for one names the other: "It was never granted".
    """
    words, answers = _prepared(tuple(vocabulary))
    # Letters that name options stand alone; "A+" beside "A" makes them grades, which are words.
    twins = _twins(tuple(vocabulary))
    letters = frozenset(word for word in words if len(word) == 1 and word.isalpha() and word not in twins)
    if len(letters) > 1:
        words = {word: label for word, label in words.items() if word not in letters}
    line = tokens(text)
    places = _places(text, line)
    opposite = {answers[said]: answers[not said] for said in answers} if len(answers) == 2 else {}
    found: list[Named] = []
    for start, end in _longest(list(spans_of(line, tuple(words)))):
        name = "".join(token.text for token in line[start:end])
        place = places[start][0], places[end - 1][1]
        if name not in words:
            continue
        denied = denial(text, place, line, (start, end))
        spelt = _as_written(text, place, vocabulary, name)
        if spelt is None and len(name) == 1 and name in _twins(tuple(vocabulary)):
            continue  # "a" is no grade where "A" and "A+" are
        named = spelt or words[name]
        label = named if not denied else opposite.get(named, "") if denied == "denied" else ""
        if label:
            found.append(Named(label, *place, by_denial=bool(denied)))
    if len(letters) > 1:
        of_letter = _prepared(tuple(vocabulary))[0]
        found += [Named(of_letter[letter], start, end) for letter, start, end in letters_in(text, letters)]
    said = [one for one in find_yes_no(text) if one.value in answers]
    if (
        said
        and said[0].start <= len(text) - len(text.lstrip(" \t\r\n*_\"'("))
        and _is_opening(text, said[0].end)
    ):
        found = [one for one in found if one.label not in opposite]  # "No, it was granted to others"
    found += [Named(answers[one.value], one.start, one.end) for one in said]
    return sorted(found, key=lambda named: named.start)


def _is_opening(text: str, end: int) -> bool:
    return text[end:].lstrip("*_\"'")[:1] in (",", ".", ";", ":", "\n", "–", "—", "!")


@lru_cache(maxsize=512)
def _prepared(vocabulary: tuple[Term, ...]) -> tuple[dict[str, str], dict[bool, str]]:
    """Folded words to the label that they mean; and the labels for yes and no. The first of equals counts."""
    words: dict[str, str] = {}
    answers: dict[bool, str] = {}
    for term in vocabulary:
        for word in (term.value, *term.synonyms):
            folded = normalise(word)
            if folded in _YES_NO:
                answers.setdefault(_YES_NO[folded], term.value)
            elif folded:
                words.setdefault(folded, term.value)
    return words, answers


@lru_cache(maxsize=512)
def _twins(vocabulary: tuple[Term, ...]) -> dict[str, tuple[tuple[str, str], ...]]:
    """Folded words that several labels share: each one's word, and the label. Of letters the case counts."""
    found: dict[str, list[tuple[str, str]]] = {}
    for term in vocabulary:
        for word in (term.value, *term.synonyms):
            folded, bare = normalise(word), word.strip()
            found.setdefault(folded, []).append((bare if len(folded) == 1 else bare.lower(), term.value))
    return {
        folded: tuple(words)
        for folded, words in found.items()
        if folded and len({label for _, label in words}) > 1
    }


def _as_written(text: str, place: tuple[int, int], vocabulary: Sequence[Term], name: str) -> str | None:
    """Of the labels that fold to `name`, the one with the longest word that stands at `place` of the text.

    None where no other label folds like it, or none is written there.
    """
    twins = _twins(tuple(vocabulary)).get(name)
    if not twins:
        return None
    written: list[tuple[int, str]] = []
    for word, label in twins:
        around = max(0, place[0] - len(word))
        piece = text[around : place[1] + len(word)]
        piece = piece if len(name) == 1 else piece.lower()
        at = piece.find(word)
        while at >= 0:
            if around + at < place[1] and place[0] < around + at + len(word):
                written.append((len(word), label))
                break
            at = piece.find(word, at + 1)
    return max(written, key=lambda one: one[0])[1] if written else None


@lru_cache(maxsize=4096)
def _gold(answers: tuple[str, ...], vocabulary: tuple[Term, ...]) -> frozenset[str]:
    words, yes_no = _prepared(vocabulary)
    labels = set()
    for answer in answers:
        folded = normalise(answer)
        spelt = _as_written(answer, (0, len(answer)), vocabulary, folded)
        label = spelt or words.get(folded) or (yes_no.get(_YES_NO[folded]) if folded in _YES_NO else None)
        labels.add(label or answer)
    return frozenset(labels)


def _places(text: str, line: Sequence[Token]) -> list[tuple[int, int]]:
    """Where each word of `line` stands in `text`."""
    places, at = [], 0
    for token in line:
        start = text.find(token.word, at)
        at = start + len(token.word)
        places.append((start, at))
    return places


def _longest(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans that overlap no longer one; of equally long ones the first."""
    kept: list[tuple[int, int]] = []
    taken: set[int] = set()
    for start, end in sorted(set(spans), key=lambda span: (span[0] - span[1], span[0])):
        words = range(start, end)
        if taken.isdisjoint(words):
            taken.update(words)
            kept.append((start, end))
    return sorted(kept)
