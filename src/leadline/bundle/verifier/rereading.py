"""Reads answers a second time, where a simple reader can decide; says nothing where it cannot.

What is decided is decided from the rules as they are written down for users (docs/answers.md), not from the
reader that made the readings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from leadline.bundle.verifier.faults import Book
from leadline.bundle.verifier.loading import Answer, Bundle
from leadline.bundle.verifier.plain_values import reread_value
from leadline.bundle.verifier.texts import is_plain_script, normal_form, spaced_words

# What one of the finer rules would have to take apart: reasoning, channels, fences, JSON, LaTeX, markers of
# answers.
_WRAPPED = re.compile(r"[{}\\`◁▷]|<\||</?\w|\[/?THINK|^\s*analysis|\banswer\b", re.IGNORECASE)
_SELF_ASKED = re.compile(r"\n[ \t>*_#]*(?:Q|Question|User|Human)[*_]*\s*\d*\s*:", re.IGNORECASE)
_LEAD_IN = re.compile(r"^[ \t>*_#\"'“‘-]*A[*_]*\s*:", re.IGNORECASE)
# Words by which a response may decline, deny, or offer a second answer.
_DECLINING = re.compile(
    r"\b(?:know|sorry|apologi[sz]e|unfortunately|unable|unknown|unclear|unsure|sure|certain|idk|dunno|no|not|none|never"
    r"|cannot|can|could|couldn|don|doesn|didn|won|isn|wasn|ain|aren|weren|information|as|ai|pass|na|n/a|decline|rather|idea"
    r"|impossible|possible|insufficient|answered|determined|i|it|this|that|well|hmm|specified|stated|mentioned|provided)\b",
    re.IGNORECASE,
)
_DENYING = frozenset(
    [
        "not",
        "no",
        "never",
        "neither",
        "nor",
        "isnt",
        "wasnt",
        "arent",
        "werent",
        "cannot",
        "cant",
        "dont",
        "doesnt",
        "didnt",
        "wont",
        "without",
        "except",
        "aint",
        "rather",
        "instead",
        "but",
        "hasnt",
        "doesnt",
    ]
)
_RIVALS = frozenset({"or", "and"})
_LINKS = frozenset(["is", "was", "are", "were", "be", "took", "stands"])
_ARTICLES = frozenset({"the", "a", "an"})
_CONTRACTED = frozenset({"its", "thats", "hes", "shes", "theyre"})


class Decided:
    """What the simple reader says of one answer; None where it says nothing."""

    __slots__ = ("correct", "leads", "state", "strict", "value")

    def __init__(self) -> None:
        self.state: str | None = None
        self.value: str | None = None
        self.correct: bool | None = None
        self.strict: bool | None = None
        self.leads: bool | None = None


def check_rereading(bundle: Bundle, book: Book) -> None:
    """Hold readings against a second reading of their texts; equal texts must be read equally everywhere.

    Of an item whose label was corrected, under both labels.
    """
    by_words = bundle.manifest.get("bundle", {}).get("correctness") == "words"
    rule = bundle.protocol["stability"]["sameness"]
    known: dict[tuple[str, str], Decided] = {}
    as_labelled: dict[tuple[str, str], Decided] = {}
    said: dict[tuple[str, str, bool], tuple[Any, ...]] = {}
    readable = reread = values = 0
    for (model, name), cells in bundle.everyone.items():
        for item, answers in cells.items():
            entry, original = bundle.judged[item], bundle.items[item]
            for answer in answers:
                if answer.state == "error":
                    continue
                readable += 1
                where = f"{model}/{name}, item {item}, sample {answer.sample}"
                if _decided_by_its_end(where, answer, book):
                    reread += 1
                    continue
                key = (item, answer.text)
                reading = (answer.state, answer.correct, answer.strict, answer.leads, answer.labelled)
                if said.setdefault((*key, answer.state == "truncated"), reading) != reading:
                    book.fault("reading", f"{where}: another answer with the same text was read otherwise")
                if key not in known:
                    known[key] = decide(entry, answer.text, rule)
                found = known[key]
                if found.state is not None or found.correct is not None:
                    reread += 1
                values += found.value is not None
                _compare(where, found, answer, by_words, book)
                if entry is original:
                    if answer.labelled != answer.correct:
                        book.fault(
                            "reading", f"{where}: right by one label alone, and no label was corrected"
                        )
                    continue
                if key not in as_labelled:
                    as_labelled[key] = decide(original, answer.text, rule)
                before = as_labelled[key].strict if by_words else as_labelled[key].correct
                if before is not None and before != answer.labelled:
                    book.fault(
                        "reading",
                        f"{where}: correct_labelled is {answer.labelled}, by the first label it is {before}",
                    )
    book.facts.update(readable=readable, reread=reread, value_reread=values)


def _decided_by_its_end(where: str, answer: Answer, book: Book) -> bool:
    """Whether how an answer ended decides what it is: a filter's stop is a refusal, and what was cut off
    before anything readable came is truncated."""
    if answer.finish == "content_filter":
        if answer.state != "refused":
            book.fault("reading", f"{where}: a filter stopped it, and it is read as {answer.state}")
        return True
    is_cut = answer.finish == "length"
    if is_cut and answer.state in ("empty", "unreadable"):
        book.fault("reading", f"{where}: it was cut off, and is {answer.state} in place of truncated")
    if answer.state == "truncated" and not is_cut:
        book.fault("reading", f"{where}: it is called truncated, and was not cut off")
    return is_cut and answer.state == "truncated" and not answer.text.strip()


def _compare(where: str, found: Decided, answer: Answer, by_words: bool, book: Book) -> None:
    correct = found.strict if by_words else found.correct
    for name, own, read in (
        ("state", found.state, answer.state),
        ("correct", correct, answer.correct),
        ("correct_strict", found.strict, answer.strict),
        ("leads", found.leads, answer.leads),
    ):
        if own is not None and own != read:
            book.fault("reading", f"{where}: {name} is {read}, read again from the text it is {own}")
    if found.value is not None and not _same_value(found.value, answer):
        book.fault("reading", f"{where}: the value is {answer.value!r}, read again it is {found.value!r}")


def _same_value(value: str, answer: Answer) -> bool:
    if answer.exact is None:
        return value == answer.value
    try:
        return float(value) == float(answer.exact)
    except ValueError:
        return value == answer.exact


def decide(item: dict[str, Any], raw: str, rule: str = "own") -> Decided:
    """The second reading of one answer."""
    found = Decided()
    if not raw.strip():
        found.state = "empty"
        return found
    kind = item.get("answer_type") or "text"
    if kind == "text":
        _decide_text(item, raw, found)
    else:
        value, correct = reread_value(item, kind, raw, rule)
        if value is not None:
            found.state, found.value = "ok", value
            found.correct = found.strict = correct
    return found


def _answer_line(raw: str) -> str | None:
    """The line that answers; None where finding it takes more than a simple reader knows."""
    if _WRAPPED.search(raw):
        return None
    asked = _SELF_ASKED.search(raw)
    lines = [
        line for line in (raw[: asked.start()] if asked else raw).splitlines() if line.strip(" \t*_#>~-=|")
    ]
    if not lines or _LEAD_IN.match(lines[0]):
        return None
    if lines[0].rstrip(" \t*_").endswith(":") and len(lines) > 1:
        return None
    return lines[0]


def _decide_text(item: dict[str, Any], raw: str, found: Decided) -> None:
    line = _answer_line(raw)
    if line is None or not is_plain_script(line):
        return
    words = spaced_words(line)
    if not words:
        return
    whole = "".join(word for _, _, word in words)
    valid = [form for form in map(normal_form, [item["answer"], *(item.get("aliases") or ())]) if form]
    found.correct = any(answer in whole for answer in valid)
    may_decline = bool(_DECLINING.search(line))
    if found.correct or not may_decline:
        found.state = "ok"
    if not found.correct:
        found.strict = False
    elif not _may_be_denied(words) and not may_decline:
        found.strict = _covers_words(words, valid)
    opening = normal_form(raw.lstrip()[:400])
    if found.correct:
        found.leads = opening.startswith(tuple(valid)) if max(map(len, valid)) < 60 else None
    if found.state == "ok" and _is_bare(line, words, item):
        article = len(words) > 1 and words[0][2] in _ARTICLES and words[1][0].isspace()
        found.value = "".join(word for _, _, word in words[article:])
        if not found.correct:
            found.leads = opening.startswith(found.value)


def _may_be_denied(words: list[tuple[str, str, str]]) -> bool:
    """A denial, a rival or a list could be in it: the finer rules would have to decide."""
    if any(word in _DENYING or word in _RIVALS for _, _, word in words):
        return True
    gaps = "".join(gap for gap, _, _ in words[1:])
    return (
        any(sign in gaps for sign in "/|&")
        or sum(gap.count(",") + gap.count(";") for gap, _, _ in words) >= 2
    )


def _covers_words(words: list[tuple[str, str, str]], valid: Iterable[str]) -> bool:
    """A valid answer begins and ends where words do."""
    folded = [word for _, _, word in words]
    for start in range(len(folded)):
        text = ""
        for word in folded[start:]:
            text += word
            if text in valid:
                return True
    return False


def _is_bare(line: str, words: list[tuple[str, str, str]], item: dict[str, Any]) -> bool:
    """A short answer and nothing else: no sentence, no remark, nothing of the question again."""
    asked = {word for _, _, word in spaced_words(item["question"])}
    if (
        len(words) > 6
        or words[0][2] in _CONTRACTED
        or re.search(r"[()\[\];,—–]|\s[-−]|[-−]\s|[.!?]\W*\s\S", line)
    ):
        return False
    return not any(word in _LINKS or (at and word in asked) for at, (_, _, word) in enumerate(words))
