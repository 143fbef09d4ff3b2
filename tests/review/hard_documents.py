"""Documents that are hard to show and to quote from, made for tests."""

from __future__ import annotations

import gzip
from pathlib import Path

# Emoji beyond U+FFFF, a family joined of several, combining marks, a flag, Arabic and Hebrew, line ends of
# Windows, zero-width and control characters, a byte order mark in the middle.
ODD = (
    "The 🧭 compass 👩‍👩‍👧‍👦 shows e\u0301te\u0301 🇳🇴.\r\nالترخيص ساري لمدة ثلاثين يومًا.\r\n"
    "הרישיון תקף\u200f לשלושים יום.\r\n"
    "\tA\u200bB\x07 \ufeffthe fee is 1,250 🪙 per year.\r\nนี่คือใบอนุญาต end\r\n"
)
HOSTILE = (
    "<html><head><title>x</title><script>document.title='owned'; fetch('/api/reader')</script></head><body>"
    "<p>Before</textarea><img src=x onerror=\"document.title='owned'\"> the fee is "
    "&lt;script&gt;document.title='owned'&lt;/script&gt; 30 days &amp; more.</p></body></html>"
)
SHOWN_AS_TEXT = "<script>document.title='owned'</script></textarea><img src=x onerror=alert(1)>"
NEEDLE = "the needle lies 🧭 here"


def write_hard(folder: Path) -> None:
    """All of them, into a folder of sources."""
    (folder / "deep").mkdir(parents=True)
    (folder / "odd.txt").write_bytes(ODD.encode())
    (folder / "deep" / "page.htm").write_text(HOSTILE)
    (folder / "tags.txt").write_text(f"Not markup: {SHOWN_AS_TEXT} and so on, for 30 days.\n")
    (folder / "packed.txt.gz").write_bytes(gzip.compress(b"Packed: the licence ends after 45 days.\n"))
    (folder / "binary.bin").write_bytes(bytes(range(256)) * 40)
    (folder / "line.txt").write_text("x" * 2_500_000 + NEEDLE + "y" * 2_500_000)
