"""The normal form in which texts are compared, and the way back to the offsets of the raw text.

What two copies of one passage differ in is taken away on both sides: HTML entities, the kind of quotation
marks and dashes, letter case, Unicode compatibility forms, zero-width characters, white space, bullets, the
hyphens of broken lines, and what a script may write or leave (points of Hebrew, strokes of Arabic). What is
kept is every letter, every digit and every other sign, in order, and the gap between two digits: `1 100` is
not `1100`.

Nothing is decided here: where a span may begin and end is `matching.py`'s business.
"""

from __future__ import annotations

import html
import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cache, lru_cache
from html.entities import html5
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from leadline.audit.characters import (
    DELETED,
    HYPHEN,
    INDEX,
    MANY,
    SPACE,
    ZERO,
    Codes,
    becomes,
    is_letter,
    learn,
    spelt_index,
    table_of,
)

Positions = NDArray[np.int64]

# A block is normalised as a whole. Large enough that numpy's calls cost nothing, small enough for a cache.
_BLOCK = 1 << 18

# Entities as they stand in filings: escaped twice, numeric, without the semicolon.
_ENTITY = re.compile(
    r"&(?:(?:amp|AMP|#38|#x26);)*(#[xX][0-9a-fA-F]{1,6}|#[0-9]{1,7}|[A-Za-z][A-Za-z0-9]{1,31})(;?)"
)
# Between two words no gap, hyphen or entity is at stake, so a text may be cut there.
_SAFE_CUT = re.compile(r"[^\W\d_]\s+(?=[^\W\d_])")


@cache
def _clusters() -> re.Pattern[str]:
    """A character and the marks that combine with it, vowels and tails of Hangul among them."""
    marks = "".join(chr(code) for code in range(0x300, 0x1E94B) if unicodedata.combining(chr(code)))
    return re.compile(f"[\\s\\S][{re.escape(marks)}\u1160-\u11ff]+")


@lru_cache(maxsize=4096)
def _decoded(entity: str, name: str, end: str) -> str | None:
    """What an entity stands for; None when it is none (`AT&T`, `&c`)."""
    if name[0] != "#" and name + end not in html5:
        if name.lower() + end not in html5:
            # `&amp;Co` is still an ampersand, written twice or more.
            return f"&{name}{end}" if len(entity) > len(f"&{name}{end}") else None
        name = name.lower()
    return html.unescape(f"&{name}{end}")


class _Edit(NamedTuple):
    start: int
    end: int
    text: str


class _Layer:
    """What edits did to a text, and the way back: few numbers, as there are few edits for each character."""

    __slots__ = ("_ends", "_new_ends", "_new_starts", "_starts", "text")

    def __init__(self, text: str, edits: list[_Edit]) -> None:
        """Applies `edits`, which are in order and apart."""
        pieces: list[str] = []
        self._starts = [edit.start for edit in edits]
        self._ends = [edit.end for edit in edits]
        self._new_starts: list[int] = []
        self._new_ends: list[int] = []
        at = length = 0
        for edit in edits:
            pieces += (text[at : edit.start], edit.text)
            length += edit.start - at
            self._new_starts.append(length)
            length += len(edit.text)
            self._new_ends.append(length)
            at = edit.end
        pieces.append(text[at:])
        self.text = "".join(pieces)

    def came_from(self, at: int) -> tuple[int, int]:
        """Start and end of what the character `at` of the edited text comes from."""
        number = bisect_right(self._new_starts, at) - 1
        if number < 0:
            return at, at + 1
        if at < self._new_ends[number]:
            return self._starts[number], self._ends[number]
        origin = at - self._new_ends[number] + self._ends[number]
        return origin, origin + 1


@dataclass(frozen=True, slots=True)
class _Plain:
    """A text as it is read: entities decoded, marks composed, characters that become several spelt out.

    `mapped` is what each character becomes, `layers` what was changed, the first change first.
    """

    text: str
    mapped: Codes
    layers: tuple[_Layer, ...]


def _plain(raw: str) -> _Plain:
    text = raw
    layers: list[_Layer] = []
    for find in (_entities, _emphasis, _combined):
        if edits := find(text):
            layers.append(_Layer(text, edits))
            text = layers[-1].text
    mapped = _mapped(text)
    if edits := _expanded(text, mapped):
        layers.append(_Layer(text, edits))
        text = layers[-1].text
        mapped = _mapped(text)
    # Of what a character was spelt out as, something may be spelt out again; once must do.
    mapped[mapped == np.iinfo(mapped.dtype).max + 1 + MANY] = min(0xFFFD, np.iinfo(mapped.dtype).max - 2)
    return _Plain(text, mapped, tuple(layers))


def _entities(text: str) -> list[_Edit]:
    if "&" not in text:
        return []
    found = ((match, _decoded(*match.group(0, 1, 2))) for match in _ENTITY.finditer(text))
    return [_Edit(match.start(), match.end(), new) for match, new in found if new is not None]


def _emphasis(text: str) -> list[_Edit]:
    """**Bold**, as Markdown has it."""
    edits: list[_Edit] = []
    if "*" not in text:  # much quicker than to look for two
        return edits
    at = text.find("**")
    while at >= 0:
        end = at + 2
        while text.startswith("*", end):
            end += 1
        if end - at == 2:  # three asterisks are an omission
            edits.append(_Edit(at, end, " "))  # a space, for 2**3 is not 23
        at = text.find("**", end)
    return edits


def _combined(text: str) -> list[_Edit]:
    if text.isascii() or unicodedata.is_normalized("NFC", text):
        return []
    matches = _clusters().finditer(text)
    return [_Edit(m.start(), m.end(), unicodedata.normalize("NFC", m.group())) for m in matches]


def _expanded(text: str, mapped: Codes) -> list[_Edit]:
    if text.isascii():
        return []
    edits: list[_Edit] = []
    for i in np.flatnonzero(mapped == np.iinfo(mapped.dtype).max + 1 + MANY).tolist():
        if edits and i < edits[-1].end:
            continue  # of a raised number that is done
        if (index := INDEX.match(text, i)) is not None:
            edits.append(_Edit(*index.span(), spelt_index(text, index)))
        elif isinstance(new := becomes(text[i]), str):
            edits.append(_Edit(i, i + 1, new))
    return edits


def _mapped(text: str) -> Codes:
    """What each character becomes, in the narrowest width that the text allows, which is the quickest."""
    if text.isascii():
        codes: Codes = np.frombuffer(text.encode("ascii"), np.uint8)
    else:
        codes = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), np.uint16)
        if codes.size != len(text):
            codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    table = table_of(8 * codes.itemsize)
    mapped = table.take(codes)
    unknown = mapped == np.iinfo(table.dtype).max
    if unknown.any():
        learn(table, codes[unknown])
        mapped = table[codes]
    return mapped


def _compressed(mapped: Codes) -> tuple[str, Positions]:
    """The normal form of what characters become, and where each of its characters stands among them."""
    solid = np.flatnonzero(mapped > SPACE)  # white space, quotation marks and what is deleted go
    kept: NDArray[Any] = mapped[solid]
    solid, kept = _with_gaps(mapped, solid, kept)
    hyphens = np.flatnonzero(kept == HYPHEN)
    if hyphens.size:
        dropped = _idle(kept, hyphens)
        if dropped.size:
            solid, kept = np.delete(solid, dropped), np.delete(kept, dropped)
    encoding = {1: "ascii", 2: "utf-16-le", 4: "utf-32-le"}[kept.itemsize]
    return kept.tobytes().decode(encoding, "surrogatepass"), solid


def _with_gaps(mapped: Codes, solid: Positions, kept: NDArray[Any]) -> tuple[Positions, NDArray[Any]]:
    """The gap between two digits stays, as one space."""
    digit = (kept - kept.dtype.type(ZERO)) <= 9  # unsigned: what is below wraps around
    gaps = np.flatnonzero(digit[:-1] & digit[1:])
    gaps = gaps[solid[gaps + 1] - solid[gaps] > 1]
    if gaps.size:
        gaps = gaps[[_is_gap(mapped[solid[i] + 1 : solid[i + 1]]) for i in gaps.tolist()]]
        solid = np.insert(solid, gaps + 1, solid[gaps] + 1)
        kept = np.insert(kept, gaps + 1, SPACE)
    return solid, kept


def _idle(kept: NDArray[Any], hyphens: Positions) -> Positions:
    """Hyphens between letters (a broken line, or none), and all but the first of several elsewhere."""
    new_run = np.diff(hyphens, prepend=-2) > 1
    first = np.flatnonzero(new_run)
    last = np.append(first[1:] - 1, hyphens.size - 1)
    before, behind = hyphens[first] - 1, hyphens[last] + 1
    inner = (before >= 0) & (behind < kept.size)
    letters = np.zeros(first.size, np.bool_)
    around = zip(kept[before[inner]].tolist(), kept[behind[inner]].tolist(), strict=True)
    letters[inner] = [is_letter(one) and is_letter(other) for one, other in around]
    stay = np.zeros(hyphens.size, np.bool_)
    stay[first[~letters]] = True
    return hyphens[~stay]


def _is_gap(between: Codes) -> bool:
    """Deleted characters alone are no gap: a soft hyphen in a number does not part it."""
    return bool((between != DELETED).any())


@dataclass(frozen=True, slots=True)
class _Map:
    """A block's normal characters in its plain text, and that one's in the raw text."""

    plain: str
    index: Positions
    layers: tuple[_Layer, ...]

    def origin(self, at: int) -> tuple[int, int]:
        """Start and end, in the raw text, of what the normal character `at` comes from."""
        start = last = int(self.index[at])
        for layer in reversed(self.layers):
            start, last = layer.came_from(start)[0], layer.came_from(last)[1] - 1
        return start, last + 1


def _normalised(raw: str) -> tuple[str, _Map]:
    plain = _plain(raw)
    text, index = _compressed(plain.mapped)
    return text, _Map(plain.text, index, plain.layers)


@dataclass(slots=True)
class Normal:
    """A raw text and its normal form. Offsets are in characters.

    >>> normal = Normal("The&nbsp;\\u201cDis-\\ncount\\u201d is  20%")
    >>> normal.text
    'thediscountis20%'
    >>> start = normal.text.index("discount")
    >>> normal.raw[slice(*normal.place(start, start + 8))]
    'Dis-\\ncount'
    """

    raw: str
    text: str = field(init=False)
    _raw_starts: list[int] = field(init=False)
    _text_starts: list[int] = field(init=False)
    _last: tuple[int, _Map] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        """Normalises block by block; of a text in several, the way back is made again where it is needed."""
        self._raw_starts, self._text_starts = [], []
        texts: list[str] = []
        start = length = 0
        while start < len(self.raw) or not texts:
            end = len(self.raw)
            if end - start > _BLOCK * 5 // 4:
                cut = _SAFE_CUT.search(self.raw, start + _BLOCK)
                end = cut.end() if cut else end
            text, found = _normalised(self.raw[start:end])
            self._last = (len(texts), found)
            self._raw_starts.append(start)
            self._text_starts.append(length)
            texts.append(text)
            length += len(text)
            start = max(end, start + 1)
        self.text = texts[0] if len(texts) == 1 else "".join(texts)

    def _map(self, at: int) -> tuple[int, _Map]:
        block = bisect_right(self._text_starts, at) - 1
        if self._last is None or self._last[0] != block:
            end = self._raw_starts[block + 1] if block + 1 < len(self._raw_starts) else len(self.raw)
            self._last = (block, _normalised(self.raw[self._raw_starts[block] : end])[1])
        return self._last

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Raw offsets of the normal characters from `start` to `end` (at least one)."""
        block, first = self._map(start)
        raw_start = self._raw_starts[block] + first.origin(start - self._text_starts[block])[0]
        block, last = self._map(end - 1)
        raw_end = self._raw_starts[block] + last.origin(end - 1 - self._text_starts[block])[1]
        return raw_start, raw_end

    def before(self, at: int, count: int = 8) -> str:
        """The characters that stand before the normal character `at`, entities decoded, spaces kept."""
        block, found = self._map(at)
        start = int(found.index[at - self._text_starts[block]])
        return _visible(found.plain[max(0, start - 4 * count) : start])[-count:]

    def after(self, at: int, count: int = 8) -> str:
        """The characters that stand behind the normal character `at`."""
        block, found = self._map(at)
        end = int(found.index[at - self._text_starts[block]]) + 1
        return _visible(found.plain[end : end + 4 * count])[:count]


_INVISIBLE = re.compile("[\u00ad\u200c-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")


_NO_LETTERS = dict.fromkeys(map(ord, "ʼʹʺ"), "'")  # quotation marks that Unicode counts among letters


def _visible(text: str) -> str:
    return text if text.isascii() else _INVISIBLE.sub("", text).translate(_NO_LETTERS)


def normal_text(raw: str) -> str:
    """The normal form alone."""
    return Normal(raw).text


def decoded(raw: str) -> str:
    """The text with its HTML entities decoded, otherwise untouched."""
    edits = _entities(raw)
    return _Layer(raw, edits).text if edits else raw
