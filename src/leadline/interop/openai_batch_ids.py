"""What a batch's `custom_id` says: which item was asked, and the how manieth answer to it this is."""

from __future__ import annotations

import re
from dataclasses import dataclass

from leadline.errors import UsageError

_PARTS = {"item": r"(?P<item>.+)", "sample": r"(?P<sample>\d{1,6})", "": r".*?"}


@dataclass(frozen=True)
class IdPattern:
    """How custom ids are made. `text` is what the user wrote, "" where each is an item's id.

    >>> pattern = id_pattern("{item}-{sample}")
    >>> pattern.read("vienna-river-3")
    ('vienna-river', 3)
    >>> id_pattern("").read("vienna-river-3")
    ('vienna-river-3', None)
    """

    text: str
    expression: re.Pattern[str] | None

    def read(self, custom_id: str) -> tuple[str, int | None] | None:
        """Item and sample (None where it says none); None where the id is made otherwise."""
        if self.expression is None:
            return custom_id, None
        match = self.expression.fullmatch(custom_id)
        if match is None or not match["item"]:
            return None
        sample = match.groupdict().get("sample")
        return match["item"], None if sample is None else int(sample)


def id_pattern(text: str) -> IdPattern:
    """`{item}-{sample}`, with `{}` for what does not matter, or a regular expression with these groups.

    Raises UsageError for what is neither.
    """
    if not text:
        return IdPattern("", None)
    if "(?P<item>" in text:
        source = text
    else:
        pieces = re.split(r"\{(item|sample|)\}", text)
        if "item" not in pieces[1::2] or len(set(pieces[1::2]) - {""}) < len([p for p in pieces[1::2] if p]):
            raise UsageError(
                f"--id-pattern: {text!r} does not say where the item is",
                fix="such as '{item}-{sample}', or a regular expression with (?P<item>...)",
            )
        source = "".join(_PARTS[one] if at % 2 else re.escape(one) for at, one in enumerate(pieces))
    try:
        expression = re.compile(source, re.DOTALL)
    except re.error as error:
        raise UsageError(f"--id-pattern: {text!r} is no regular expression: {error}") from error
    return IdPattern(text, expression)
