"""The triplets in a chat model's answer: JSON as it was asked for, or as models write it anyway."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal

from leadline.bench.json_text import DECODER
from leadline.build.extract.extractor import Extracted
from leadline.build.records import Triplet

FaultCode = Literal["no-json", "not-schema", "bad-triplet", "cut", "repeated"]
"""Why an answer, or a piece of it, gave no triplet.

no-json: no JSON stands in it. not-schema: JSON, but no list of triplets. bad-triplet: an entry without three
texts. cut: the JSON breaks off; whole triplets before the break count. repeated: the same triplet again.
"""

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "triplets": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {part: {"type": "string"} for part in ("subject", "relation", "object")},
                "required": ["subject", "relation", "object"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["triplets"],
    "additionalProperties": False,
}
"""The answer as JSON Schema, for servers that make a model keep to one."""

# Half a character, which JSON can write ("\\ud83d") and no file can hold.
_SURROGATE = re.compile("[\ud800-\udfff]")
_PARTS = ("subject", "relation", "object")
# A passage states a few dozen facts at most; a model in a loop writes the same ones for ever.
_MOST = 500


def read_answer(answer: str) -> Extracted:
    """The triplets of an `answer`; never raises.

    Read is the first JSON value with a list of triplets: {"triplets": [...]}, or the bare list. Fences,
    words around it and further keys are passed over. Where the JSON is broken, its whole triplets count.

    >>> said = read_answer('Sure: [{"subject": "Paris", "relation": "country", "object": "France"}]')
    >>> said.triplets[0].object
    'France'
    """
    faults: dict[str, int] = {}
    entries: list[Any] | None = None
    some = False
    for value in _values(answer):
        some = True
        entries = _entries(value)
        if entries is not None:
            break
    if entries is None:
        entries = list(_whole_triplets(answer))
        if entries:
            faults["cut"] = 1
        else:
            looks = some or "{" in answer or "[" in answer
            return Extracted(faults={"not-schema" if some else "cut" if looks else "no-json": 1})
    found: dict[Triplet, None] = {}
    for entry in entries[:_MOST]:
        one = _triplet(entry)
        code = "bad-triplet" if one is None else "repeated" if one in found else None
        if code is not None:
            faults[code] = faults.get(code, 0) + 1
        elif one is not None:
            found[one] = None
    return Extracted(tuple(found), faults)


def _values(text: str) -> Iterator[Any]:
    """JSON objects and lists that stand in the text, from the left, none inside another."""
    at = 0
    while (at := _next(text, at)) >= 0:
        try:
            value, at = DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            # What begins here is broken: what stands in it is no answer of its own.
            return
        yield value


def _whole_triplets(text: str) -> Iterator[Any]:
    """Objects with the three parts, wherever they stand in JSON that breaks off."""
    at = 0
    while (at := text.find("{", at)) >= 0:
        try:
            value, end = DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        at = end
        if _triplet(value) is not None:
            yield value


def _next(text: str, at: int) -> int:
    places = [place for place in (text.find("{", at), text.find("[", at)) if place >= 0]
    return min(places, default=-1)


def _entries(value: Any) -> list[Any] | None:
    if isinstance(value, dict):
        value = value.get("triplets")
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        return None
    return value


def _triplet(entry: Any) -> Triplet | None:
    if not isinstance(entry, dict):
        return None
    texts = [entry.get(part) for part in _PARTS]
    # A year is a number to a model, and a text here.
    texts = [str(one) if isinstance(one, int) and not isinstance(one, bool) else one for one in texts]
    if not all(isinstance(one, str) and one.strip() for one in texts):
        return None
    subject, relation, object_ = (" ".join(str(one).split()) for one in texts)
    if any(_SURROGATE.search(one) for one in (subject, relation, object_)):
        return None
    return Triplet(subject=subject, relation=relation, object=object_)
