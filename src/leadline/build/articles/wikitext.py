"""Plain text from wikitext, as a reader of the page has it, with its links and its losses."""

from __future__ import annotations

import re
from calendar import month_name
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from leadline.build.articles.balance import balanced
from leadline.build.articles.extensions import without_extensions
from leadline.build.articles.languages import interwiki
from leadline.build.articles.marks import ASIDE, BREAK, LEFT, LOSSY, REMOVED, UNKNOWN
from leadline.build.articles.polish import Plain, polished
from leadline.build.articles.tape import Tape
from leadline.build.articles.templates import dropped_unread, name_of, templates
from leadline.build.extra import needed
from leadline.build.records import Link

NAMESPACES: Final[Mapping[str, int]] = {
    "media": -2, "special": -1, "talk": 1, "user": 2, "user talk": 3, "wikipedia": 4, "project": 4, "wp": 4,
    "wikipedia talk": 5, "file": 6, "image": 6, "file talk": 7, "mediawiki": 8, "template": 10, "help": 12,
    "category": 14, "portal": 100, "book": 108, "draft": 118, "module": 828,
}  # fmt: skip
"""Names of namespaces in small letters; a dump adds those of its language."""

LONGEST: Final = 1 << 21
"""Characters of a page: as much as MediaWiki takes, in bytes."""
_MOST: Final = 300_000  # characters of markup; the longest lists have a third of it. Some seconds of work
_HIDDEN = {6, 14}  # files and categories: what links to them shows no words
_APPENDICES = {
    "see also", "references", "external links", "further reading", "notes", "bibliography", "sources",
    "footnotes", "citations", "notes and references", "references and notes", "general references",
    "literature", "works cited", "publications", "selected publications", "discography", "filmography",
    "selected bibliography", "gallery", "notes and citations", "endnotes", "bibliography and references",
    "sources and references",
}  # fmt: skip
_CIRCA = {"circa", "c.", "ca."}
_TRAIL = re.compile(r"[a-z]+")


def plain_text(
    source: str, title: str = "", namespaces: Mapping[str, int] = NAMESPACES, longest: int = LONGEST
) -> Plain:
    """What the page says.

    `title` stands for {{PAGENAME}}. Paragraphs are parted by one empty line; headings, tables, images, boxes
    and the sections of an article's apparatus (references, see also, ...) are gone. Time grows with the
    length of `source` alone, whatever it holds. Raises ValueError for more than `longest` characters, and
    where there is so much markup that it cannot be a page.

    >>> plain = plain_text("'''Pears''' are [[tree]]s.{{cn}} They grow {{convert|5|m}} high.")
    >>> plain.text, plain.links[0].target, plain.damage
    ('Pears are trees. They grow high.', 'Tree', ((27, 'template'),))
    """
    parser = needed("mwparserfromhell")
    if len(source) > longest:
        raise ValueError(f"{len(source):,} characters of wikitext, more than {longest:,}")
    images = {name for name, number in namespaces.items() if number in _HIDDEN}
    whole = balanced(without_extensions(source), images, dropped_unread)
    if (much := sum(whole.count(mark) for mark in "{[&*#:;\n")) > _MOST:
        raise ValueError(f"{much:,} pieces of markup, more than {_MOST:,}")
    walk = _Walk(title, namespaces)
    walk.nodes(parser.parse(whole, skip_style_tags=True).nodes)
    return polished(Tape("".join(walk.pieces), tuple(walk.links)))


@dataclass
class _Label:
    start: int
    target: str


class _Walk:
    """Goes through the nodes of a page and writes down what they show."""

    def __init__(self, title: str, namespaces: Mapping[str, int]) -> None:
        self.pieces: list[str] = []
        self.links: list[Link] = []
        self._title, self._namespaces = title, namespaces
        self._length = 0
        self._skipped = 0  # the level of the heading of a section that is left out; 0: none
        self._trailing: _Label | None = None

    def say(self, text: str) -> None:
        """Write, where the section is one that is kept."""
        if text and not self._skipped:
            self.pieces.append(text)
            self._length += len(text)

    def nodes(self, nodes: Iterable[Any]) -> None:
        """Write what these nodes show."""
        from mwparserfromhell import nodes as kinds

        for node in nodes:
            kind = type(node)
            label, self._trailing = self._trailing, None
            if kind is kinds.Text:
                self._text(str(node.value), label)
            elif kind is kinds.Wikilink:
                self._wikilink(node)
            elif kind is kinds.Template:
                self._template(node)
            elif kind is kinds.HTMLEntity:
                self.say(_entity(node))
            elif kind is kinds.ExternalLink:
                self._address(node)
            elif kind is kinds.Heading:
                self._heading(node)
            elif kind is kinds.Tag:
                self._tag(node)
            elif kind is kinds.Argument:
                self.say(LOSSY)

    def _text(self, text: str, label: _Label | None) -> None:
        if label is not None and (trail := _TRAIL.match(text)):
            # [[pear]]s: the letters that follow belong to the link, as MediaWiki shows it.
            self.say(trail.group())
            if self.links and not self._skipped:
                self.links[-1] = Link(start=label.start, end=self._length, target=label.target)
            text = text[trail.end() :]
        self.say(text)

    def _wikilink(self, node: Any) -> None:
        written = " ".join(str(node.title).replace("_", " ").split())
        target, page = self._target(written)
        start = self._length
        if node.text is None:
            self._plain(" ".join(str(node.title).split()).lstrip(":"))
        elif str(node.text).strip():
            self.nodes(node.text.nodes)
        else:  # [[Pear (fruit)|]] shows "Pear"
            self._plain(re.sub(r"\s*\([^()]*\)$|,.*$", "", written.lstrip(":").partition(":")[2] or written))
        if page and self._length > start:
            self.links.append(Link(start=start, end=self._length, target=target))
            self._trailing = _Label(start, target)

    def _plain(self, text: str) -> None:
        import html

        self.say(html.unescape(text))

    def _target(self, written: str) -> tuple[str, bool]:
        """The title that a link names, and whether it is an article of this wiki."""
        import html

        name = html.unescape(written).partition("#")[0].strip(" :")
        prefix, colon, rest = name.partition(":")
        known, wikis = prefix.strip().lower(), interwiki()
        if colon and known in {"w", "en"}:
            name, prefix, colon = rest.strip(" :"), "", ""
        if colon and (
            known in self._namespaces or known in wikis.sisters or prefix.strip() in wikis.languages
        ):
            return name, False
        return name[:1].upper() + name[1:], bool(name) and not any(mark in name for mark in "{}[]|<>")

    def _template(self, node: Any) -> None:
        name, known = name_of(str(node.name)), templates()
        if name in _CIRCA and node.params:
            self.say("c. ")
            self._argument(node, 1, alone=True)
        elif name in known.words:
            self.say(known.words[name])
        elif name in known.arguments:
            self._argument(node, known.arguments[name])
        elif name in {"angbr", "angle bracket"}:
            self.say("⟨")
            self._argument(node, 1, alone=True)
            self.say("⟩")
        elif name in known.quotes:
            self.say(BREAK)
            self._argument(node, 1, "text", "quote")
            self.say(BREAK)
        elif name in known.links:
            self._link_template(node)
        elif name == "as of":
            self._as_of(node)
        elif name in {"pagename", "fullpagename", "subpagename"} and self._title:
            self.say(self._title)
        elif known.shows_nothing(name):
            self.say(REMOVED)
        else:
            self.say(ASIDE if known.is_aside(name) else UNKNOWN)

    def _argument(self, node: Any, number: int, *names: str, alone: bool = False) -> None:
        """What one argument shows; a loss where it is not there, or where it should be the only one."""
        for name in (str(number), *names):
            if node.has(name) and not (alone and len(node.params) > 1):
                self.nodes(node.get(name).value.nodes)
                return
        # {{transl|word}} and its like: the last of fewer arguments is the text.
        if number == 2 and node.has("1") and name_of(str(node.name)).startswith("trans"):
            self.nodes(node.get("1").value.nodes)
        else:
            self.say(UNKNOWN)

    def _link_template(self, node: Any) -> None:
        start = self._length
        if not node.has("1"):
            self.say(UNKNOWN)
            return
        shown = node.get("lt").value if node.has("lt") else node.get("1").value
        self.nodes(shown.nodes)
        target, page = self._target(str(node.get("1").value).strip())
        if page and self._length > start:
            self.links.append(Link(start=start, end=self._length, target=target))

    def _as_of(self, node: Any) -> None:
        """As of a year and a month; days are written in one of two orders, which is not known here."""
        year = str(node.get("1").value).strip() if node.has("1") else ""
        month = str(node.get("2").value).strip() if node.has("2") else ""
        others = {str(param.name).strip() for param in node.params} - {"1", "2", "lc", "df", "since", "url"}
        if not re.fullmatch(r"\d{4}", year) or others:
            self.say(UNKNOWN)
            return
        number = int(month) if re.fullmatch(r"0?[1-9]|1[0-2]", month) else 0
        if month and not number and month not in month_name:
            self.say(UNKNOWN)
            return
        words = "Since" if node.has("since") else "As of"
        small = node.has("lc") and str(node.get("lc").value).strip() not in {"", "n", "no"}
        said = f"{month_name[number] if number else month} {year}".strip()
        self.say(f"{words.lower() if small else words} {said}")

    def _address(self, node: Any) -> None:
        if node.brackets and node.title is None:
            self.say(REMOVED)  # shown as a number in brackets
        elif node.title is not None:
            self.nodes(node.title.nodes)
        else:
            self.nodes(node.url.nodes)

    def _heading(self, node: Any) -> None:
        if not self._skipped or node.level <= self._skipped:
            title = re.sub(r"[^\w ]|[_'=]", "", str(node.title.strip_code())).strip().lower()
            self._skipped = node.level if title in _APPENDICES else 0
        self.say(BREAK)

    def _tag(self, node: Any) -> None:
        # Lists and rules: tags proper were taken out before.
        if node.wiki_markup is not None:
            self.say(BREAK)
        else:
            self.say(LEFT)
            if node.contents is not None:
                self.nodes(node.contents.nodes)


def _entity(node: Any) -> str:
    try:
        return str(node.normalize())
    except (ValueError, OverflowError):  # &#99999999;
        return LEFT
