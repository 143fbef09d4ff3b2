"""Brackets of wikitext paired off in one pass: tables, images and boxes go, what has no partner is marked.

Parsers of wikitext go back and try again where a bracket lacks its partner, which takes hours on a page of
a megabyte of them. After this pass every bracket has its partner and nothing is nested deeply.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from leadline.build.articles.languages import interwiki
from leadline.build.articles.marks import BREAK, LEFT, LOSSY, REMOVED
from leadline.build.articles.tape import Edit, Tape

_TOKEN = re.compile(
    r"(?P<open>\{\{+)|(?P<close>\}\}+)|(?P<link>\[\[)|(?P<unlink>\]\])|(?P<shut>\])"
    r"|(?P<table>^[ \t:*#;]*\{\|)|(?P<untable>^[ \t]*\|\}(?!\}))|(?P<end>\n[ \t]*(?=\n)|^=)|(?P<line>\n)"
    r"|(?P<url>\[(?=(?:https?:|ftp:|mailto:|news:|irc:)?//[^\s\[\]])|\[(?=mailto:))",
    re.MULTILINE | re.IGNORECASE,
)
_DEEPEST = 12  # templates in templates: real pages have up to about six around words of a sentence
_NAME = re.compile(r"[^|{}\[\]\n<]*")


@dataclass
class _Open:
    kind: str
    start: int
    end: int


def balanced(text: str, images: Collection[str], droppable: Callable[[str, str], str | None]) -> str:
    """Wikitext of templates, links to pages and links to addresses, each with its partner.

    `images` are the names of the namespaces whose links show nothing in the text (files, categories), in
    small letters. `droppable(name, source)` gives what takes the place of a template, None to keep it.
    """
    open_: list[_Open] = []
    edits: list[Edit] = []

    def lost(entry: _Open) -> None:
        edits.append((entry.start, entry.end, LEFT))

    def pop(kind: str, start: int, end: int) -> None:
        """Close the last of that kind; those opened since have no partner."""
        while open_[-1].kind != kind:
            lost(open_.pop())
        entry = open_.pop()
        begin = entry.start
        if kind == "table":
            edits.append((begin, end, f"{BREAK}\n"))
        elif kind == "link" and _is_image(text, entry.end, images):
            edits.append((begin, end, REMOVED))
        elif len(open_) >= _DEEPEST:
            edits.append((begin, end, LOSSY))
        elif kind == "template":
            found = _NAME.match(text, entry.end)
            new = droppable(found.group() if found else "", text[begin:end])
            if new is not None:
                edits.append((begin, end, new))

    for found in _TOKEN.finditer(text):
        kind, start, end = str(found.lastgroup), found.start(), found.end()
        if kind == "open":
            _braces(open_, start, end)
        elif kind == "close":
            at = start
            while end - at >= 2 and (brace := _last(open_, "template", "argument")):
                long = brace == "argument"
                if long and end - at < 3:  # {{{ closed by }}: a brace and a template
                    entry = next(one for one in reversed(open_) if one.kind == "argument")
                    entry.kind, entry.start, long = "template", entry.start + 1, False
                    brace = "template"
                pop(brace, at, at + (3 if long else 2))
                at += 3 if long else 2
            if end - at >= 2:
                edits.append((at, end, LEFT))
        elif kind == "link":
            open_.append(_Open("link", start, end))
        elif kind == "unlink":
            top = open_[-1].kind if open_ else ""
            if top == "url":  # the first of the two ends the address
                pop("url", start, start + 1)
            elif top == "link" or (_last(open_, "link") and not _last(open_, "template", "argument")):
                pop("link", start, end)
            else:
                edits.append((start, end, LEFT))
        elif kind == "shut":
            if open_ and open_[-1].kind == "url":
                pop("url", start, end)
        elif kind == "table":
            open_.append(_Open("table", start, end))
        elif kind == "untable":
            if _last(open_, "table"):
                pop("table", start, end)
        elif kind == "url":
            open_.append(_Open("url", start, end))
        else:  # a line's end ends an address, a paragraph's end also a link
            ending = ("url",) if kind == "line" else ("url", "link")
            while open_ and open_[-1].kind in ending and not _is_image(text, open_[-1].end, images):
                lost(open_.pop())
    for entry in open_:
        lost(entry)
    return Tape(text).with_edits(_outermost(edits)).text


def _braces(open_: list[_Open], start: int, end: int) -> None:
    """A run of opening braces: pairs, the last of them an argument's three where the number is odd."""
    odd = (end - start) % 2
    for at in range(start, end - 3 * odd, 2):
        open_.append(_Open("template", at, at + 2))
    if odd:
        open_.append(_Open("argument", end - 3, end))


def _last(open_: list[_Open], *kinds: str) -> str | None:
    """The kind of the last one open of these, none beyond an open table."""
    for entry in reversed(open_[-64:]):
        if entry.kind in kinds:
            return entry.kind
        if entry.kind == "table":
            return None
    return None


def _is_image(text: str, at: int, images: Collection[str]) -> bool:
    """Whether a link shows nothing where it stands: a file, a category, the page in another language."""
    colon = text.find(":", at, at + 60)
    if colon < 0:
        return False
    prefix = text[at:colon].strip().replace("_", " ")
    return prefix.lower() in images or prefix in interwiki().languages


def _outermost(edits: list[Edit]) -> list[Edit]:
    """Edits in order, without those inside of others."""
    kept: list[Edit] = []
    for edit in sorted(edits, key=lambda one: (one[0], -one[1])):
        if not kept or edit[0] >= kept[-1][1]:
            kept.append(edit)
    return kept
