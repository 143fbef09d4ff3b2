"""Bytes as characters: which encoding a document is in, and how sure that is."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

_MARKS = (  # UTF-32's first: that of UTF-16 is the beginning of it
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Where HTML and XML name their encoding. Standards want it at the very beginning; real files are later.
_DECLARED = re.compile(
    rb"""<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:+-]+)|<meta[^>]*?charset\s*=\s*["']?\s*([\w.:+-]+)""", re.I
)
_DECLARED_WITHIN = 4096
# Browsers read these names as Windows-1252, whose printable characters lie where Latin-1 has control codes.
_LATIN = {"ascii", "iso8859-1", "cp1252"}
# Encodings in which bytes below 0x80 are not plain ASCII: valid UTF-8 does not speak against them.
_SHIFTING = {"utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be", "iso2022_jp", "hz"}
_REFUSED = {"utf-7", "idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "mbcs", "oem"}
# Encodings that agree with Windows-1252 on most letters of Western Europe.
_WESTERN = {"cp1250", "cp1254", "cp1257", "cp1258", "iso8859-15", "iso8859-9", "mac-roman"}
_ASCII = bytes(range(128))
_SAMPLE = 32 * 1024
_HIGH = re.compile(rb"[\x80-\xff]+")


@dataclass(frozen=True)
class Decoded:
    """Characters, the encoding they were in, and what was odd about it."""

    text: str
    encoding: str
    notes: tuple[str, ...] = ()


def decode(data: bytes, declared: str = "") -> Decoded:
    """Turn the bytes of a document into characters; every byte sequence has a reading.

    A byte order mark decides; then text that is valid UTF-8; then what the document (its XML declaration,
    its `<meta charset>`) or else `declared`, say an HTTP header, names; then a guess by charset-normalizer,
    with a note. Names of Latin-1 and ASCII mean Windows-1252, as for browsers (WHATWG Encoding Standard).

    >>> decode("naïve".encode("latin-1"), "iso-8859-1").text
    'naïve'
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _as(data[len(mark) :], encoding)
    inside = _named_inside(data)
    name = inside or _known(declared)
    if name in _SHIFTING and not (inside and name.startswith("utf")):
        # A declaration that can be read as ASCII is not in UTF-16 or UTF-32, whatever it says.
        return _as(data, name)
    if wide := _wide(data):
        return _as(data, wide, f"no byte order mark: {wide} by where its zero bytes are")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return _not_utf8(data, "" if name in _SHIFTING else name)
    if name and name not in {"utf-8", *_SHIFTING} and not text.isascii():
        return Decoded(text, "utf-8", (f"declared as {_shown(name)}, read as UTF-8, which it validly is",))
    return Decoded(text, "utf-8")


def _named_inside(data: bytes) -> str:
    found = _DECLARED.search(data[:_DECLARED_WITHIN])
    return _known((found[1] or found[2]).decode("ascii", "ignore")) if found else ""


def _known(name: str) -> str:
    """Python's name of an encoding for text, or "" for a name that it does not know."""
    try:
        b"text".decode(name.strip(), "replace")  # says no to codecs that are not for text, such as base64
        known = codecs.lookup(name.strip()).name
    except (LookupError, ValueError):
        return ""
    return "cp1252" if known in _LATIN else "" if known in _REFUSED else known


def _wide(data: bytes) -> str:
    """UTF-16 or UTF-32 without a mark: in mostly Western text the zero bytes are all on one side."""
    head = data[:_DECLARED_WITHIN]
    if len(head) < 4 or b"\0" not in head:
        return ""
    quarters = [head[offset::4].count(0) / max(1, len(head[offset::4])) for offset in range(4)]
    if len(head) % 4 == 0 and quarters[2] > 0.9 and quarters[3] > 0.9 and quarters[0] < 0.1:
        return "utf-32-le"
    if len(head) % 4 == 0 and quarters[0] > 0.9 and quarters[1] > 0.9 and quarters[3] < 0.1:
        return "utf-32-be"
    even, odd = (quarters[0] + quarters[2]) / 2, (quarters[1] + quarters[3]) / 2
    if odd > 0.4 and even < 0.1:
        return "utf-16-le"
    if even > 0.4 and odd < 0.1:
        return "utf-16-be"
    return ""


def _not_utf8(data: bytes, declared: str) -> Decoded:
    if declared and declared != "utf-8":
        return _as(data, declared)
    stray = len(data) - len(data.decode("utf-8", "ignore").encode())
    beyond_ascii = len(data.translate(None, _ASCII))
    if declared or stray * 5 < beyond_ascii:
        # Mostly UTF-8 with a few bytes of Windows-1252: files put together from several others.
        note = f"UTF-8 but for {stray:,} {'byte' if stray == 1 else 'bytes'}, read as Windows-1252"
        return Decoded(data.decode("utf-8", _STRAY), "utf-8", (note,))
    return _guessed(data)


def _guessed(data: bytes) -> Decoded:
    from charset_normalizer import from_bytes

    sample = _sample(data)
    matches = from_bytes(sample)
    best = matches.best()
    if best is None:
        return _as(data, "cp1252", "no encoding is declared and none fits: read as windows-1252, a guess")
    name = _known(best.encoding) or "cp1252"
    western = next((match for match in matches if _known(match.encoding) == "cp1252"), None)
    # Of encodings that say the same, or fit equally well and are as Western, the common one.
    as_well = name in _WESTERN and western is not None and western.chaos <= best.chaos
    if as_well or str(best) == sample.decode("cp1252", _STRAY):
        name = "cp1252"
    others = sum(match.chaos <= best.chaos for match in matches) - 1
    sure = f"a guess, {100 - best.percent_chaos:.0f} % free of oddities"
    if others > 0:
        sure += f"; {others} other {'encoding fits' if others == 1 else 'encodings fit'} as well"
    return _as(data, name, f"no encoding is declared: read as {_shown(name)} ({sure})")


def _sample(data: bytes) -> bytes:
    """The parts that tell encodings apart: lines with bytes beyond ASCII, whole, up to a limit."""
    parts: list[bytes] = []
    size = end = 0
    for found in _HIGH.finditer(data):
        if found.start() < end:
            continue
        start = max(end, found.start() - 100)
        end = min(len(data), found.end() + 100)
        parts.append(data[start:end])
        size += end - start
        if size >= _SAMPLE:
            break
    return b"".join(parts)


def _as(data: bytes, encoding: str, note: str = "") -> Decoded:
    notes = [note] if note else []
    if encoding == "cp1252":
        return Decoded(data.decode("cp1252", _STRAY), "windows-1252", tuple(notes))
    try:
        text = data.decode(encoding)
    except UnicodeError:
        text = data.decode(encoding, "replace")
        notes.append(f"not valid {_shown(encoding)} throughout: what is not is shown as U+FFFD")
    return Decoded(text, _shown(encoding), tuple(notes))


def _shown(name: str) -> str:
    return {"cp1252": "windows-1252"}.get(name, name)


def _stray_bytes(error: UnicodeError) -> tuple[str, int]:
    """An error handler of codecs: bytes that do not fit are read as Windows-1252, or as what Latin-1 has."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    stray = error.object[error.start : error.end]
    return "".join(_WINDOWS.get(byte, chr(byte)) for byte in stray), error.end


_WINDOWS = {byte: bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(256)}
_STRAY = "leadline.windows-1252"
codecs.register_error(_STRAY, _stray_bytes)
