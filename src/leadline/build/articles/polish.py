"""The last pass over a page's text: quotes, blanks and what is empty go; marks become places of damage."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from leadline.build.articles.marks import ASIDE, BREAK, DAMAGE, LEFT, LOSSY, LOWERED, RAISED, REMOVED, UNKNOWN
from leadline.build.articles.tape import Edit, Tape
from leadline.build.records import Link

_INLINE: Final = f"{REMOVED}{LOSSY}{LEFT}"
_INVISIBLE = re.compile(
    "[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\x00-\x08\x0b-\x1f\x7f]"
)
_BLANKS = re.compile("[\t\x0b\x0c\r\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\x85]")
_ITALICS = re.compile(r"''+")
_SUPERSCRIPT = re.compile(f"{RAISED}([^{RAISED}{LOWERED}\n]*){LOWERED}|[{RAISED}{LOWERED}]")
_ORDINAL = re.compile(r"\s*(?:st|nd|rd|th|e|er|o|a|TM|®|™)\s*")
_UNIT = re.compile(r"(?<![A-Za-z])(?:[kcmd]?m|mi|ft|in|yd|miles?|feet)\Z")  # km2 is what everyone writes
# A row of a table whose bounds were not found, an argument of a template without an end.
_DEBRIS = re.compile(rf"^[ {_INLINE}]*+[|!](?!\s*\w+!)[^\n]*$|^ *+\|?\}}+ *$", re.MULTILINE)
# Quantifiers are possessive: a run of a million blanks and marks is read once.
_AGAIN = re.compile(rf"( )\1++|([{_INLINE}{UNKNOWN}])\2++")
_ALONE = re.compile(rf"(?<![^\n{BREAK}])([ {_INLINE}{UNKNOWN}]++)(?=[\n{BREAK}]|\Z)")
# A bracket of nothing but how a name is said or written elsewhere: "Rome ({{IPA|x}}; {{lang-la|Roma}})".
_ASIDES = re.compile(rf"\(([\s;,:/–{REMOVED}{ASIDE}]++)\)")
_EMPTY = re.compile(rf" ?\(([\s;,:/–{_INLINE}]++)\)")
_FIRST = re.compile(rf"\(([\s;,:{_INLINE}]++)")
_LAST = re.compile(rf"(?<![\s;,:{_INLINE}])([\s;,:{_INLINE}]++)\)")
_BEFORE = re.compile(rf"(?<![ {_INLINE}])([ {_INLINE}]++)(?=[.,;:!?)](?:[\s{_INLINE}\"')]|\Z))")
_SPACES = re.compile(rf"(?<![ {_INLINE}])([ {_INLINE}]{{2,}}+)")
_LINES = re.compile(rf"(?<![ \n{_INLINE}{BREAK}])([ {_INLINE}]*+[\n{BREAK}][ \n{_INLINE}{BREAK}]*+)")
_RUN = re.compile(f"[{_INLINE}]+")
_ENDED = tuple(".!?:\"'”’)")


@dataclass(frozen=True)
class Plain:
    """A page's text, its links, and where it is damaged: (place, kind), the place between two characters."""

    text: str
    links: tuple[Link, ...] = ()
    damage: tuple[tuple[int, str], ...] = ()


def polished(tape: Tape) -> Plain:
    """What `Tape` of a page says when its marks are read and its blanks are single."""
    tape = tape.edited(_INVISIBLE, lambda found: "").edited(_BLANKS, lambda found: " ")
    tape = tape.with_edits(_unquoted(tape.text))
    tape = tape.edited(_SUPERSCRIPT, _superscript)
    tape = tape.edited(_ASIDES, lambda found: found[0].replace(ASIDE, REMOVED))
    tape = tape.edited(re.compile(ASIDE), lambda found: UNKNOWN)
    tape = tape.edited(_DEBRIS, lambda found: LEFT).edited(_AGAIN, lambda found: found[1] or found[2])
    tape = tape.edited(_ALONE, _alone).edited(re.compile(UNKNOWN), lambda found: LOSSY)
    tape = tape.edited(_LINES, _line_end)
    tape = tape.edited(_EMPTY, lambda found: _marks(found[1]) or None)
    tape = tape.edited(_FIRST, lambda found: f"({marks}" if (marks := _marks(found[1])) else None)
    tape = tape.edited(_LAST, lambda found: f"{marks})" if (marks := _marks(found[1])) else None)
    tape = tape.edited(_BEFORE, lambda found: _marks(found[1]) or None)
    tape = tape.edited(_SPACES, _one_space)
    return _read(tape)


def _marks(text: str) -> str:
    return "".join(mark for mark in dict.fromkeys(text) if mark in _INLINE)


def _unquoted(text: str) -> list[Edit]:
    """Edits that take the quotes of italic and bold away, as MediaWiki reads them, line by line."""
    edits: list[Edit] = []
    start = 0
    for line in re.split(f"[\n{BREAK}]", text) if "''" in text else ():
        runs = list(_ITALICS.finditer(line))
        kept = [{2: 0, 3: 0, 4: 1}.get(len(run.group()), len(run.group()) - 5) for run in runs]
        sizes = [len(run.group()) - more for run, more in zip(runs, kept, strict=True)]
        italic = sum(size in (2, 5) for size in sizes)
        bold = sum(size in (3, 5) for size in sizes)
        if italic % 2 and bold % 2 and (at := _apostrophe(line, runs, sizes)) is not None:
            kept[at] += 1  # l'''amour'' is l' and italics
        for run, more in zip(runs, kept, strict=True):
            edits.append((start + run.start(), start + run.end(), "'" * more))
        start += len(line) + 1
    return edits


def _apostrophe(line: str, runs: list[re.Match[str]], sizes: list[int]) -> int | None:
    """Which bold is an apostrophe and italics: after a word of one letter, of more, after a blank."""
    best: dict[str, int] = {}
    for index, (run, size) in enumerate(zip(runs, sizes, strict=True)):
        if size == 3 and run.start() > 0:
            before = line[: run.start()]
            kind = "blank" if before[-1] == " " else "letter" if before[-2:-1] == " " else "word"
            best.setdefault(kind, index)
    return next((best[kind] for kind in ("letter", "word", "blank") if kind in best), None)


def _superscript(found: re.Match[str]) -> str:
    # 19<sup>th</sup> reads the same in a row; 10<sup>6</sup> does not.
    inside = found[1] or ""
    unit = inside in {"2", "3"} and _UNIT.search(found.string, max(0, found.start() - 12), found.start())
    return inside if unit or _ORDINAL.fullmatch(inside) or not inside.strip() else f"{LEFT}{inside}"


def _alone(found: re.Match[str]) -> str | None:
    """A template that has a line for itself shows something apart, unless the line before is not ended."""
    text = found[1]
    if UNKNOWN not in text:
        return None
    before = found.string[max(0, found.start() - 80) : found.start()].rstrip(f" {_INLINE}")
    apart = BREAK in before[-2:] or before.endswith("\n\n") or not before.strip(f"\n {_INLINE}")
    ended = before.rstrip(f"\n {_INLINE}").endswith(_ENDED)
    return text.replace(UNKNOWN, REMOVED if apart or ended else LOSSY)


def _line_end(found: re.Match[str]) -> str | None:
    said = found[1]
    apart = BREAK in said or said.count("\n") > 1
    return ("\n\n" if apart else " ") + _marks(said).replace(REMOVED, "")


def _one_space(found: re.Match[str]) -> str | None:
    said = found[1]
    if " " not in said:
        return None
    return f" {_marks(said)}" if said.startswith(" ") else f"{_marks(said)} "


def _read(tape: Tape) -> Plain:
    text = tape.text
    lead = len(text) - len(text.lstrip(f"\n {_INLINE}"))
    edits: list[Edit] = [(0, lead, "")] if lead else []
    places: list[tuple[int, str]] = [(0, DAMAGE[mark]) for mark in _marks(text[:lead]) if mark in DAMAGE]
    gone = lead
    for run in _RUN.finditer(text, lead):
        place = run.start() - gone
        edits.append((run.start(), run.end(), ""))
        gone += run.end() - run.start()
        places += [(place, DAMAGE[mark]) for mark in _marks(run.group()) if mark in DAMAGE]
        marks = _marks(run.group())
        # A mark of a superscript stands between characters of one word.
        if marks != LEFT and _glued(text[run.start() - 1 : run.start()], text[run.end() : run.end() + 1]):
            places.append((place, "glued"))
    after = tape.with_edits(edits)
    end = len(after.text.rstrip())
    links = (link for link in Tape(after.text[:end], after.links).trimmed().links if link.end <= end)
    return Plain(after.text[:end], tuple(links), tuple((min(place, end), kind) for place, kind in places))


def _glued(before: str, after: str) -> bool:
    """Whether two words, or a sentence's end and the next word, touch where something was taken out."""
    return after.isalnum() and (before.isalnum() or before in set(".!?") - {""})
