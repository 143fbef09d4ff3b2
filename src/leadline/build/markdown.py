"""Text of others in Markdown: shown, never obeyed."""

from __future__ import annotations

import re

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#])")


def plain(text: str) -> str:
    """`text` on one line, with nothing in it that Markdown or HTML would obey.

    >>> print(plain("<b>[x]"))
    \\<b\\>\\[x\\]
    """
    shown = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return _SPECIAL.sub(r"\\\1", shown)
