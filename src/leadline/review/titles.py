"""What an entry is called in lists."""

from __future__ import annotations

LONGEST = 90


def title(text: str) -> str:
    """A question on one line, cut where it is long.

    >>> title("How\\nmany?")
    'How many?'
    """
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
