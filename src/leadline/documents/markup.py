"""What a person reads in HTML and XML: the text between the tags, with breaks where the page has them.

lxml parses, in one pass, and tells of each tag as it comes: no tree is built, so a document of 100 MB needs
little more than its own text, and a large one takes no longer per byte than a small one.
"""

from __future__ import annotations

import re
from html.entities import html5
from typing import Any

from lxml import etree

from leadline.documents.document import UnreadableDocument

# Elements that begin and end a line (WHATWG HTML, "Rendering": display block, table, list-item), and the
# cells of a table. What is not named here is inline, and splits no word.
_LINES = frozenset(
    """
    address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset
    figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html legend li
    listing main menu nav ol optgroup option p plaintext pre search section select summary table tbody
    textarea tfoot thead title tr ul xmp
    """.split()  # noqa: SIM905  # a list of 55 lines is not easier to read
)


# What an element does to the text about it.
_INLINE, _LINE, _CELL, _PREFORMATTED, _UNREAD, _RAISED, _LOWERED = range(7)
# A raised or lowered number stays one in the text: a footnote's 1 behind $5 does not make $51 of it. Other
# things that are raised (1st, a trade mark) are read as if they were not.
_NUMBER = re.compile(r"\s*[+\-−]?\d[\d\s,;+\-−]*\Z")
_LONGEST_NUMBER = 200  # characters, and pieces
_SCRIPTS = {
    _RAISED: str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻"),
    _LOWERED: str.maketrans("0123456789+-−", "₀₁₂₃₄₅₆₇₈₉₊₋₋"),
}


class _Roles(dict[str, int]):
    """The role of each tag, of whatever namespace."""

    def __missing__(self, tag: str) -> int:
        name = tag.rpartition("}")[2]
        role = _NAMED_ROLES.get(name, _LINE if name in _LINES else _INLINE)
        if len(self) < _TAGS_KEPT:  # a document may make up any number of tags
            self[tag] = role
        return role


_NAMED_ROLES = {
    **dict.fromkeys(("td", "th"), _CELL),
    **dict.fromkeys(("pre", "textarea", "listing", "plaintext", "xmp"), _PREFORMATTED),
    **dict.fromkeys(("script", "style", "template"), _UNREAD),
    "sup": _RAISED,
    "sub": _LOWERED,
}
_TAGS_KEPT = 4096
_WITHIN = frozenset((_INLINE, _RAISED, _LOWERED))  # beside text, they are part of its line
_ROLES = _Roles()

# Stand-ins while white space is folded: noncharacters, which no document has and XML allows.
_LINE_SIGN, _CELL_SIGN, _KEPT_SPACE, _KEPT_LINE, _KEPT_TAB = "\ufdd0", "\ufdd1", "\ufdd2", "\ufdd3", "\ufdd4"
_STANDING_IN = re.compile("[\ufdd0-\ufdd4]")
_NO_SIGNS = dict.fromkeys(map(ord, (_LINE_SIGN, _CELL_SIGN)), " ")
_KEEP = str.maketrans({" ": _KEPT_SPACE, "\n": _KEPT_LINE, "\t": _KEPT_TAB, "\r": None})
_CELL_RUN = re.compile(f" ?{_CELL_SIGN}[ {_CELL_SIGN}]*")
_BREAK = ("", _LINE_SIGN, _CELL_SIGN, _LINE_SIGN, "", "", "")  # by role
_MEANT = {_CELL_SIGN: "\t", _KEPT_SPACE: " ", _KEPT_LINE: "\n", _KEPT_TAB: "\t"}
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
# The same in UTF-8: single bytes, and what begins surrogates, U+FFFE and U+FFFF, and stand-ins, among others.
_NOT_XML_BYTES = bytes([*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20)])
_MAY_BE_MORE = (b"\xed", b"\xef\xbf", b"\xef\xb7")

_PIECE = 1 << 18  # characters handed to the parser at a time
_MANY = 1 << 14  # pieces of text after which they are put together

# What is never closed reaches to the end: a pattern that gave up would begin anew at each of a million marks.
_PROLOG_NOISE = re.compile(r"<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)", re.S)
_ENTITY = re.compile(r"<!ENTITY\b", re.I)
_TAG = re.compile(r"<[A-Za-z_]")
_DECLARATION = re.compile(r"\s*<\?xml\b[^>]*\?>")
_NAMED = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)([A-Za-z]\w*;)")


def html_text(markup: str) -> str:
    """The text of an HTML page in any state: lines for blocks, tabs between cells, entities resolved.

    Scripts, style sheets and comments are left out; text that a style hides is not, for it stands in the
    document. White space is folded as browsers do, but for preformatted text.

    >>> html_text("<p>un<b>bro</b>ken<table><tr><td>EV<td>$&nbsp;5")
    'unbroken\\nEV\\t$\\xa05'
    """
    if markup.startswith("<?xml") and not _declares_entities(markup):
        page = _Page()  # as XML, an empty <title/> does not swallow what follows
        try:
            _feed(_xml_parser(page), _with_named_characters(markup))
            return page.text()
        except etree.XMLSyntaxError:
            pass
    page = _Page()
    _feed(_html_parser(page), markup)
    return page.text()


def xml_text(markup: str, where: str | None = None) -> tuple[str, tuple[str, ...]]:
    """The text of an XML document, and notes on what was odd.

    An element is on a line of its own unless text stands beside it, as in `<p>un<i>bro</i>ken</p>`. Entities
    that a document declares are never expanded: one that declares any raises UnreadableDocument (an
    expansion may fill the memory or read other files). Nothing is loaded. A document that is not well-formed
    is read as browsers read HTML, with a note.

    >>> xml_text("<a><n>1</n><n>2</n></a>")
    ('1\\n2', ())
    """
    if _declares_entities(markup):
        raise UnreadableDocument(
            "declares entities of its own (<!ENTITY ...>), which are never expanded",
            where=where,
            fix="save it with them written out",
        )
    page = _Tree()
    try:
        _feed(_xml_parser(page), _with_named_characters(markup))
    except etree.XMLSyntaxError as error:
        reason = (error.msg or "no reason given").rstrip(". ")
        page = _Tree()
        declaration = _DECLARATION.match(markup)
        _feed(_html_parser(page), markup[declaration.end() :] if declaration else markup)
        return page.text(), (f"not well-formed XML ({reason}): read leniently",)
    return page.text(), ()


def _xml_parser(page: _Page) -> Any:
    # The options beyond the target are a second wall: entities that are declared do not get here.
    return etree.XMLParser(
        target=page, encoding="utf-8", huge_tree=True, resolve_entities=False, no_network=True, load_dtd=False
    )


def _html_parser(page: _Page) -> Any:
    return etree.HTMLParser(target=page, encoding="utf-8", huge_tree=True, no_network=True)


class _Page:
    """Collects text from an HTML parser; what lxml calls a target."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._folded: list[str] = []
        self._unread = self._preformatted = 0
        self._scripts: list[int] = []  # where in `_pieces` each open <sup> and <sub> begins

    def start(self, tag: str, attributes: Any) -> None:
        if role := _ROLES[tag]:
            if role is _UNREAD:
                self._unread += 1
            elif role >= _RAISED:
                self._scripts.append(len(self._pieces))
            elif not self._unread:
                self._pieces.append(_BREAK[role])
                self._preformatted += role is _PREFORMATTED

    def end(self, tag: str) -> None:
        if role := _ROLES[tag]:
            if role is _UNREAD:
                self._unread -= 1
            elif role >= _RAISED:
                self._end_script(role)
            elif not self._unread:
                self._pieces.append(_BREAK[role])
                self._preformatted -= role is _PREFORMATTED
                if len(self._pieces) > _MANY and role is not _CELL:  # between two lines
                    self._fold()

    def _end_script(self, role: int) -> None:
        start = self._scripts.pop() if self._scripts else len(self._pieces)
        inner = self._pieces[start : start + _LONGEST_NUMBER + 1]
        # Elements in elements would each be looked through for what is in all of them.
        if max(len(inner), sum(map(len, inner))) > _LONGEST_NUMBER:
            return
        if _NUMBER.match("".join(inner).translate(_NO_SIGNS)):
            self._pieces[start:] = [piece.translate(_SCRIPTS[role]) for piece in inner]

    def data(self, data: str) -> None:
        if not self._unread:
            self._pieces.append(data.translate(_KEEP) if self._preformatted else data)

    def close(self) -> None:
        pass

    def _fold(self) -> None:
        text = _one_space("".join(self._pieces))
        self._pieces.clear()
        lines = (line.strip(f" {_CELL_SIGN}") for line in text.split(_LINE_SIGN))
        if _CELL_SIGN in text:
            self._folded += (_CELL_RUN.sub(_CELL_SIGN, line) for line in lines if line)
        else:
            self._folded += filter(None, lines)

    def text(self) -> str:
        """All of it, with the stand-ins replaced."""
        self._fold()
        text = "\n".join(self._folded)
        self._folded.clear()
        for sign, character in _MEANT.items():
            text = text.replace(sign, character)
        return text.strip(" \t\n")


class _Tree(_Page):
    """Collects text from an XML parser. Text beside an element makes that element inline."""

    def __init__(self) -> None:
        super().__init__()
        # For each open element: where in `_pieces` the breaks about its children stand, and whether it has
        # text of its own.
        self._breaks: list[list[int]] = []
        self._mixed: list[bool] = []
        # So many of the outermost have no breaks. Without it, a document of nothing but opened elements would
        # be gone through from the outermost at every fold.
        self._clean = 0

    def start(self, tag: str, attributes: Any) -> None:
        # What is a block in HTML is one in other vocabularies too (JATS, DocBook), whatever stands beside it.
        if (role := _ROLES[tag]) in _WITHIN and self._breaks:
            self._note_break()
        if role >= _RAISED:
            self._scripts.append(len(self._pieces))
        self._pieces.append(_CELL_SIGN if role is _CELL else _LINE_SIGN)
        self._breaks.append([])
        self._mixed.append(False)

    def end(self, tag: str) -> None:
        pieces = self._pieces
        breaks = self._breaks.pop()
        if self._mixed.pop():
            for place in breaks:
                pieces[place] = ""
        if (role := _ROLES[tag]) >= _RAISED:
            self._end_script(role)
        if role in _WITHIN and self._breaks:
            self._note_break()
        pieces.append(_CELL_SIGN if role is _CELL else _LINE_SIGN)
        if len(pieces) > _MANY and role is not _CELL:
            for depth in range(self._clean, len(self._breaks)):
                for place in self._breaks[depth] if self._mixed[depth] else ():
                    pieces[place] = ""
                self._breaks[depth].clear()
            self._clean = len(self._breaks)
            self._fold()

    def _note_break(self) -> None:
        self._breaks[-1].append(len(self._pieces))
        self._clean = min(self._clean, len(self._breaks) - 1)

    def data(self, data: str) -> None:
        self._pieces.append(data)
        if self._mixed and not self._mixed[-1] and not data.isspace():
            self._mixed[-1] = True


def _feed(parser: Any, markup: str) -> None:
    for start in range(0, len(markup), _PIECE):
        parser.feed(_allowed(markup[start : start + _PIECE]))
    try:
        parser.close()
    except etree.XMLSyntaxError:
        if isinstance(parser, etree.XMLParser):
            raise


def _allowed(piece: str) -> bytes:
    """Without what XML does not allow, and without stand-ins, in UTF-8."""
    coded = piece.encode("utf-8", "surrogatepass").translate(None, _NOT_XML_BYTES)
    if any(mark in coded for mark in _MAY_BE_MORE):
        return _NOT_XML.sub("", _STANDING_IN.sub("", piece)).encode("utf-8")
    return coded


def _one_space(text: str) -> str:
    """White space as browsers fold it, but for no-break spaces: one space for any run."""
    for character in "\t\r\n\f":
        text = text.replace(character, " ")
    while "  " in text:  # each turn halves the longest run
        text = text.replace("  ", " ")
    return text


def _declares_entities(markup: str) -> bool:
    declared = _ENTITY.search(markup)
    if declared is None:
        return False
    # Behind the first tag it is no declaration but text, say of a CDATA section.
    return not _TAG.search(_PROLOG_NOISE.sub("", markup[: declared.start()]))


def _with_named_characters(markup: str) -> str:
    """HTML's names of characters, written out: XML knows five, and may drop others without a word."""
    if not _NAMED.search(markup):
        return markup
    return _NAMED.sub(lambda found: html5.get(found[1], "&amp;" + found[1]), markup)
