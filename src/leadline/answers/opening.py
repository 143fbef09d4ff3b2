"""What the readers of typed answers begin with: the text to read, or the reading of one without any."""

from __future__ import annotations

import html

from leadline.answers.peel import unwrap
from leadline.answers.reading import Reading, State
from leadline.bench.item import Item

# What may stand before an answer without being part of it.
MARKS = " \t\r\n*_#>`\"'“”‘’([$\\:=\ufeff\u200b"
# A longer response is no answer; its beginning and its end hold the answer, if it has one.
_LONGEST = 60_000


def opened(item: Item, raw: str, lacking: str) -> str | Reading:
    """The text in `raw` that may hold the answer: unwrapped, entities decoded, cut to a bearable length.

    A Reading where there is nothing to read: empty, or unreadable because only signs (`lacking` is the
    reason) or unfinished reasoning are there.
    """
    peeled = unwrap(raw, keys=[item.task] if item.task else ["answer"])
    if peeled.reason:
        return Reading(State.UNREADABLE, reason=peeled.reason)
    text = html.unescape(peeled.text) if "&" in peeled.text else peeled.text
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]}\n{text[-_LONGEST // 2 :]}"
    if text.strip(MARKS + ".").lower() == "null" and not any(
        term.value.lower() == "null" for term in item.vocabulary
    ):
        return Reading(State.EMPTY)
    if any(character.isalnum() for character in text):
        return text
    return Reading(State.UNREADABLE, reason=lacking) if text.strip(MARKS) else Reading(State.EMPTY)
