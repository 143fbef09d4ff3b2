"""The values that a response gives to named fields: in a JSON object, tags, a table, or lines and clauses.

Of several JSON objects the last counts that names most of the fields: drafts come before it. A field that one
object gives two different values has none that can be told.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from leadline.answers.json_objects import Repeated, json_objects
from leadline.answers.peel import folded_key, scalar

# What may stand before a field's name at the beginning of a line: list marks and numbers, markup.
_LINE_BEGINS = (
    r"(?:^[ \t>*_#\-•·◦‣|+]{0,20}(?:\(?\d{1,2}[.)][ \t]{1,4})?[*_#`]{0,4}"
    r"|[,;|][ \t]{0,4}(?:and[ \t]{1,4})?[*_`]{0,4})"
)
_NAMED = (
    r"{begins}(?P<quote>[\"'`]?)(?P<name>{names})(?P=quote)[ \t*_`]{{0,8}}"
    r"(?:[:=→]|[–—]|-(?=[ \t])|\bis\b)[ \t*_`]{{0,8}}"
)
_RULE = re.compile(r"[\s|:\-–—+=]*")


class Unclear(str):
    """Not a value: the different values that a response gives for one field, joined."""

    __slots__ = ()


def named_values(body: str, names: Sequence[str]) -> dict[str, str]:
    """The text that stands for each of `names` that `body` gives a value; without case, blanks and signs.

    >>> named_values("**Rate**: 8%; due: June 5, 2020", ["rate", "due"])
    {'rate': '8%', 'due': 'June 5, 2020'}
    """
    if names_in_json(body, names):
        return _in_json(body, names)
    for way in (_in_tags, _in_table, _in_lines):
        if found := way(body, names):
            return {name: found[name] for name in names if name in found}
    return {}


def names_in_json(body: str, names: Sequence[str]) -> bool:
    """A JSON object in `body` has one of the `names`, were it with null."""
    folded = {folded_key(name) for name in names}
    return any(
        folded & {folded_key(key) for key in _flattened(found, folded)} for found in json_objects(body)
    )


def _in_json(body: str, names: Sequence[str]) -> dict[str, str]:
    folded = {folded_key(name) for name in names}
    best: dict[str, object] = {}
    for found in json_objects(body):
        flat = {folded_key(key): value for key, value in _flattened(found, folded).items()}
        if flat.keys() & folded and len(flat.keys() & folded) >= len(best.keys() & folded):
            best = flat
    said = {name: _text(best.get(folded_key(name))) for name in names}
    return {name: value for name, value in said.items() if value is not None}


def _flattened(found: Mapping[str, object], names: set[str]) -> Mapping[str, object]:
    """The object that holds the fields: `found`, or one within it ("answer": {...})."""
    if names & {folded_key(key) for key in found}:
        return found
    inside = [value for value in found.values() if isinstance(value, dict)]
    return next((value for value in inside if names & {folded_key(key) for key in value}), found)


def _text(value: object) -> str | None:
    """A field's text; None where the field is absent or null."""
    if value is None:
        return None
    if isinstance(value, Repeated):
        return Unclear(", ".join(str(_text(one)) for one in value))
    said = scalar(value)
    return json.dumps(value, ensure_ascii=False) if said is None else said


def _in_tags(body: str, names: Sequence[str]) -> dict[str, str]:
    """<rate>8%</rate>: of several elements of one name the last."""
    found = {}
    for name in names:
        tag = _pattern(name)
        elements = re.findall(rf"<{tag}(?:\s[^<>]*)?>([^<]*)</{tag}\s*>", body, re.IGNORECASE)
        if elements:
            found[name] = elements[-1].strip()
    return found


def _in_table(body: str, names: Sequence[str]) -> dict[str, str]:
    """A Markdown table: names in its first column, or in its first row with one row below it."""
    rows = [
        [cell.strip(" \t*_`") for cell in line.strip().strip("|").split("|")]
        for line in body.splitlines()
        if line.strip().startswith("|") and not _RULE.fullmatch(line)
    ]
    folded = {folded_key(name): name for name in names}
    if rows and sum(folded_key(cell) in folded for cell in rows[0]) > (1 if len(names) > 1 else 0):
        below = [row for row in rows[1:] if len(row) == len(rows[0])]
        if len(below) == 1:
            pairs = zip(rows[0], below[0], strict=True)
            return {
                folded[folded_key(head)]: cell for head, cell in pairs if folded_key(head) in folded and cell
            }
    return {
        folded[folded_key(row[0])]: row[1] for row in rows if len(row) > 1 and folded_key(row[0]) in folded
    }


def _in_lines(body: str, names: Sequence[str]) -> dict[str, str]:
    """Lines "**rate**: 8%", "1. rate: 8%", "• Rate – 8%", or clauses of one line; of one name the last."""
    patterns = "|".join(_pattern(name) for name in sorted(names, key=len, reverse=True))
    named = re.compile(_NAMED.format(begins=_LINE_BEGINS, names=patterns), re.IGNORECASE | re.MULTILINE)
    folded = {folded_key(name): name for name in names}
    anchors = list(named.finditer(body))
    found: dict[str, str] = {}
    for place, anchor in enumerate(anchors):
        end = anchors[place + 1].start() if place + 1 < len(anchors) else len(body)
        said = body[anchor.end() : end].lstrip().partition("\n")[0].rstrip(" \t\r*_,;`|")
        name = folded.get(folded_key(anchor["name"]))
        if name is not None and said:
            found[name] = said
    return found


def _pattern(name: str) -> str:
    return r"[\s_-]*".join(map(re.escape, re.split(r"[\s_-]+", name)))
