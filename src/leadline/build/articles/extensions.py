"""Comments, footnotes, formulas and formatting tags, taken out of wikitext before it is parsed.

What stands inside a footnote or a gallery is not wikitext of the page's own sentences, and a tag without its
end makes parsers try again and again: both are gone after one pass whose time grows with the text's length
alone. As MediaWiki does, an extension's tag without an end is plain text, here a mark of damage.
"""

from __future__ import annotations

import re
from typing import Final

from leadline.build.articles.marks import BREAK, LEFT, LOSSY, LOWERED, MARKS, RAISED, REMOVED

_FOOTNOTES = {"ref"}
_APART = {  # stand apart from the sentences around them
    "gallery", "timeline", "imagemap", "references", "score", "graph", "mapframe", "inputbox", "categorytree",
    "syntaxhighlight", "source", "pre", "templatedata", "templatestyles", "indicator", "section",
    "includeonly", "languages",
}  # fmt: skip
_WORDS = {"math", "chem", "ce", "hiero", "maplink"}  # a reader sees something in the sentence
_EXTENSIONS: Final = _FOOTNOTES | _APART | _WORDS | {"nowiki"}

_COMMENT = re.compile(r"(?:(?<=\n)[ \t]*)?<!--.*?(?:-->|\Z)(?:[ \t]*\n)?", re.DOTALL)
_OPENING = re.compile(
    rf"<({'|'.join(sorted(_EXTENSIONS, key=len, reverse=True))})(?=[\s/>])([^<>]*)>", re.IGNORECASE
)
_TAG = re.compile(r"<(/?)([a-z][a-z0-9]*)(?=[\s/>])[^<>]*>", re.IGNORECASE)
_BREAKING = {
    "br", "p", "div", "center", "blockquote", "hr", "ul", "ol", "li", "dl", "dd", "dt", "poem", "h1", "h2",
    "h3", "h4", "h5", "h6", "table", "tr", "caption",
}  # fmt: skip
_PLAIN = {
    "b", "i", "u", "em", "strong", "small", "big", "span", "font", "tt", "code", "kbd", "samp", "var", "cite",
    "abbr", "dfn", "bdi", "bdo", "ins", "noinclude", "onlyinclude", "nowiki", "mark", "time", "data", "wbr",
    "rb", "ruby",
}  # fmt: skip
_OWN = re.compile(f"[{MARKS}]")
_SWITCH = re.compile(r"__(?:NO|FORCE|HIDDEN|NEW|INDEX|STATIC|DISAMBIG|TOC|EXPECT)[A-Z]*__")
_SPECIAL = re.compile(r"[\[\]{}<>|'=*#:;_]")


def without_extensions(text: str) -> str:
    """Wikitext with marks in the place of comments, extensions' tags and formatting tags.

    >>> without_extensions("It <b>grows</b>.<ref>Smith</ref>") == f"It grows.{REMOVED}"
    True
    """
    text = _SWITCH.sub("", _COMMENT.sub(_comment, _OWN.sub("", text.replace("\r\n", "\n"))))
    return _without_tags(_without_pairs(text))


def _comment(found: re.Match[str]) -> str:
    # A comment that has a line for itself goes with its line; otherwise it alone goes.
    said = found.group()
    alone = found.start() == 0 or found.string[found.start() - 1] == "\n"
    return "" if alone or not said.endswith("\n") else "\n"


def _without_pairs(text: str) -> str:
    small = text.lower()
    if len(small) != len(text):  # İ is longer in small letters: places must agree
        small = re.sub(r"[A-Z]+", lambda found: found.group().lower(), text)
    pieces: list[str] = []
    endless: set[str] = set()
    at = 0
    while found := _OPENING.search(text, at):
        name = found[1].lower()
        pieces.append(text[at : found.start()])
        at = found.end()
        if found[2].rstrip().endswith("/"):
            pieces.append(_in_place(name, ""))
            continue
        end = -1 if name in endless else small.find(f"</{name}", at)
        close = text.find(">", end) if end >= 0 else -1
        if close < 0:
            endless.add(name)
            pieces.append("" if name == "nowiki" else LEFT)
            continue
        pieces.append(_in_place(name, text[at:end]))
        at = close + 1
    pieces.append(text[at:])
    return "".join(pieces)


def _in_place(name: str, inside: str) -> str:
    if name == "nowiki":
        return _SPECIAL.sub(lambda found: f"&#{ord(found.group())};", inside)
    if name in _FOOTNOTES:
        return REMOVED
    if name in _WORDS:
        return LOSSY
    # Source code within a sentence; a block of it is several lines.
    if name in {"source", "syntaxhighlight"} and inside and "\n" not in inside:
        return LOSSY
    return f"{BREAK}\n"


def _without_tags(text: str) -> str:
    def new(found: re.Match[str]) -> str:
        name, closing = found[2].lower(), bool(found[1])
        if name in _BREAKING:
            return BREAK
        if name == "sup":
            return LOWERED if closing else RAISED
        if name == "q":
            return '"'
        if name in {"s", "del", "strike"}:
            return LEFT  # struck words are no part of what the page says
        if name in _PLAIN or name in {"sub", "td", "th", "rt", "rp"}:
            return LEFT if name in {"td", "th", "rt"} and not closing else ""
        return LEFT if name in _EXTENSIONS else found.group().replace("<", "&lt;")

    # What is left of "<" is no tag: less than, or one that lacks its end.
    return _TAG.sub(new, text).replace("<", "&lt;")
