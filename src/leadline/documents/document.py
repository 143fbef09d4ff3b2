"""A document as text, and the one way in which it can fail to be one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from leadline.errors import LeadlineError

Kind = Literal["text", "html", "xml", "pdf"]


@dataclass(frozen=True)
class Document:
    """What a file says.

    `text` is what a person reads in it. `markup` is the file itself, decoded, where it is HTML or XML: a
    quote such as `<item>06b</item>` is a quote of the markup. `encoding` is how bytes became characters, and
    `notes` say what was odd about them.
    """

    text: str
    kind: Kind = "text"
    markup: str | None = None
    encoding: str = "utf-8"
    notes: tuple[str, ...] = ()


class UnreadableDocument(LeadlineError):  # noqa: N818  # an outcome of its own, not a fault of the program
    """A file that is not there, or cannot be turned into text."""
