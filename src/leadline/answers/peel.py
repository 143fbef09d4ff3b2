"""Takes the wrapping off a response: reasoning, fences, JSON, lead-ins, markup. Keeps what it cannot read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from leadline.answers.json_objects import json_objects
from leadline.answers.reasoning import outside_reasoning

_FENCE = re.compile(r"```(?:[ \t]*[\w+-]*[ \t]*\r?\n)?(.*?)(?:```|\Z)", re.DOTALL)
_ANSWER_KEYS = ("final_answer", "finalanswer", "answer", "value")
# A JSON object that was cut off, or holds what JSON may not: the quoted value alone still says the answer.
_TORN_JSON = re.compile(r'"(?:final[_ ]?answer|answer|value)"\s*:\s*"((?:[^"\\]|\\.)*)', re.IGNORECASE)
# Beside an answer, these say something about it.
_REMARK_KEYS = frozenset(
    {
        "reasoning", "explanation", "rationale", "thought", "thoughts", "confidence", "quote", "evidence",
        "source", "sources", "notes", "note", "unit", "units", "currency", "steps", "calculation", "question",
        "id", "item", "validating_quote", "source_url", "chain_of_thought", "analysis", "justification",
    }
)  # fmt: skip
# After a few-shot prompt, models go on and ask themselves the next question.
_NEXT_QUESTION = re.compile(r"\n[ \t>*_#]*(?:Q|Question|User|Human)[*_]*\s*\d*\s*:", re.IGNORECASE)
_MARK = r"[ \t>*_#]*"
_FINAL = re.compile(
    rf"^{_MARK}(?:the\s+)?(?:final|correct)\s+answer[*_]*(?:\s*:|\s+is\b:?)", re.IGNORECASE | re.MULTILINE
)
_LATER_ANSWER = re.compile(rf"^{_MARK}(?:the\s+)?answer[*_]*(?:\s*:|\s+is\b:?)", re.IGNORECASE | re.MULTILINE)
_LEAD_IN = re.compile(
    rf"{_MARK}(?:(?:(?:the|my)\s+)?(?:(?:final|correct|short)\s+)?answer[*_]*(?:\s*:|\s+is\b:?)"
    r"|A[*_]*:)[ \t*_]*",
    re.IGNORECASE,
)
_LINE_MARK = re.compile(r"(?:[-*+•]|#{1,6}|>)[ \t]+")
_BOXED = re.compile(r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
_LATEX_TEXT = re.compile(r"\\(?:text|textbf|mathrm|mathbf)\s*\{([^{}]*)\}")
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "„": "“", "`": "`", "「": "」"}
_EMPHASIS = ("**", "__", "*", "_", "~~", "$")


@dataclass(frozen=True)
class Peeled:
    """The line of a response that holds its answer; `reason` says why there is none, where that is known."""

    text: str
    reason: str = ""


def peel(raw: str) -> Peeled:
    """The answer line of `raw`.

    In this order: what a reasoning block leaves, up to the end of the turn; the content of a code fence or
    of an `answer` (`final_answer`, `value`) key of a JSON object; what comes before a self-asked next
    question; what follows a "final answer" (else an "answer") marker; of that the first line that
    is more than an announcement, without list marks, emphasis and quotes around it.

    >>> peel("<think>France... Paris!</think>**Answer:** 'Paris'").text
    'Paris'
    """
    unwrapped = unwrap(raw)
    text = unwrapped.text
    if boxed := _BOXED.findall(text):
        text = boxed[-1]
    text = _LATEX_TEXT.sub(r"\1", text)
    return Peeled(_bare(_answer_line(text)), unwrapped.reason)


def unwrap(raw: str, keys: Sequence[str] = ()) -> Peeled:
    """All that a response says for others to read: without reasoning, fence, JSON and self-asked questions.

    `keys` are names, beside `answer`, under which a JSON object may hold the answer: an item's task. With
    them, the only value of an object that is no remark on the answer is one, too: {"payout": 0.51}.

    >>> unwrap('```json\\n{"payout": 0.50, "confidence": 0.9}\\n```', keys=["price"]).text
    '0.50'
    """
    text, reason = outside_reasoning(raw)
    text = _structured(text.strip(), tuple(keys))
    if following := _NEXT_QUESTION.search(text):
        text = text[: following.start()]
    return Peeled(text.strip(), reason)


def _structured(text: str, keys: tuple[str, ...]) -> str:
    """The answer out of a fence or a JSON object, if there is one; else the text as it was."""
    if fence := _FENCE.search(text):
        inside = fence.group(1).strip()
        if (value := _json_answer(inside, keys)) is not None:
            return value
        if fence.start() == 0 and inside:
            text = inside
    value = _json_answer(text, keys)
    return text if value is None else value


def folded_key(key: object) -> str:
    """A JSON key or a field's name without case, blanks and signs: "Final Answer" is "final_answer"."""
    return re.sub(r"[\s_-]+", "_", str(key).strip().lower())


def _json_answer(text: str, keys: tuple[str, ...]) -> str | None:
    """What the JSON objects in `text` answer; None where there are none, or where they do not agree."""
    start = text.find("{")
    if start < 0:
        return None
    found = json_objects(text)
    if not found:
        torn = _TORN_JSON.search(text, start)
        return torn.group(1).replace('\\"', '"').replace("\\n", "\n") if torn else None
    said = [answer for one in found if (answer := _object_answer(one, keys)) is not None]
    return said[0] if said and all(answer == said[0] for answer in said) else None


def _object_answer(found: dict[str, object], keys: tuple[str, ...]) -> str | None:
    values = {folded_key(key): value for key, value in found.items()}
    for key in (*_ANSWER_KEYS, *map(folded_key, keys)):
        if key in values:
            return scalar(values[key])
    said = [value for key, value in values.items() if key not in _REMARK_KEYS]
    return scalar(said[0]) if keys and len(said) == 1 else None


def scalar(value: object) -> str | None:
    """A JSON value as text, numbers as they were written; None for a list or an object of several."""
    match value:
        case str():
            return value
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case [only]:
            return scalar(only)
        case dict():
            inside = {folded_key(key): held for key, held in value.items()}
            return next((scalar(inside[key]) for key in _ANSWER_KEYS if key in inside), None)
        case _:
            return None


def _answer_line(text: str) -> str:
    """The line to read: after the marker of a final answer, else the first that is not an announcement."""
    finals = list(_FINAL.finditer(text))
    if finals:
        text = text[finals[-1].start() :]
    elif later := _LATER_ANSWER.search(text):
        text = text[later.start() :]
    text = _LEAD_IN.sub("", text, count=1) if _LEAD_IN.match(text) else text
    lines = [line for line in text.splitlines() if line.strip(" \t*_#>`~-=|")]
    if not lines:
        return text.strip()
    announces = lines[0].rstrip(" \t*_").endswith(":") and len(lines) > 1
    return lines[1] if announces else lines[0]


def _bare(line: str) -> str:
    """`line` without list marks, emphasis and quotes around the whole of it."""
    for _ in range(8):  # deeper wrapping than this is not an answer any more
        before = line
        line = line.strip()
        if mark := _LINE_MARK.match(line):
            line = line[mark.end() :]
        if lead := _LEAD_IN.match(line):
            line = line[lead.end() :]
        for sign in _EMPHASIS:
            inner = line.removesuffix(".")
            if len(inner) > 2 * len(sign) and inner.startswith(sign) and inner.endswith(sign):
                line = inner[len(sign) : -len(sign)]
        if len(line) > 2 and _QUOTES.get(line[0]) == line.rstrip(".,")[-1:] and line[0] not in line[1:-2]:
            line = line.rstrip(".,")[1:-1]
        if line == before:
            break
    return line.strip()
