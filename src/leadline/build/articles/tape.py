"""A text under edits, whose links stay on their words."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import accumulate

from leadline.build.records import Link

Edit = tuple[int, int, str]
"""Characters from, to, and what takes their place."""


@dataclass(frozen=True)
class Tape:
    """A text and the links that stand in it.

    >>> tape = Tape("see ''[the pear]''", (Link(start=7, end=15, target="Pear"),))
    >>> after = tape.edited(re.compile("['[]+"), lambda found: "")
    >>> after.text, after.links[0].start
    ('see the pear]', 4)
    """

    text: str
    links: tuple[Link, ...] = ()

    def edited(self, pattern: re.Pattern[str], new: Callable[[re.Match[str]], str | None]) -> Tape:
        """Every match replaced by what `new` gives for it; None leaves it as it is."""
        edits = []
        for found in pattern.finditer(self.text):
            text = new(found)
            if text is not None:
                edits.append((found.start(), found.end(), text))
        return self.with_edits(edits)

    def with_edits(self, edits: Iterable[Edit]) -> Tape:
        """All edits done at once: they are in order and do not overlap.

        A link that begins or ends within a replaced part is cut there; one that loses all its words goes.
        """
        wanted = list(edits)
        if not wanted:
            return self
        pieces: list[str] = []
        at = 0
        for start, end, new in wanted:
            pieces += self.text[at:start], new
            at = end
        pieces.append(self.text[at:])
        if not self.links:
            return Tape("".join(pieces))
        starts = [start for start, _, _ in wanted]
        grown = [0, *accumulate(len(new) - (end - start) for start, end, new in wanted)]

        def moved(place: int, first: bool) -> int:
            # The last edit that begins before this place (for a link's end: strictly before it).
            index = bisect_right(starts, place if first else place - 1) - 1
            if index < 0:
                return place
            start, end, new = wanted[index]
            if place < end or (place == end and not first):
                begin = start + grown[index]
                after = begin + len(new)
                if first:
                    return begin if place == start else after
                return after if place == end else begin
            return place + grown[index + 1]

        links = []
        for link in self.links:
            start, end = moved(link.start, True), moved(link.end, False)
            if start < end:
                links.append(replace_link(link, start, end))
        return Tape("".join(pieces), tuple(links))

    def trimmed(self) -> Tape:
        """Links without blanks at their edges, and none that is only blanks."""
        links = []
        for link in self.links:
            words = self.text[link.start : link.end]
            start = link.start + len(words) - len(words.lstrip())
            end = link.end - (len(words) - len(words.rstrip()))
            if start < end and "\n" not in words.strip():
                links.append(replace_link(link, start, end))
        return replace(self, links=tuple(links))


def replace_link(link: Link, start: int, end: int) -> Link:
    """The same link elsewhere."""
    return link if (start, end) == (link.start, link.end) else Link(start=start, end=end, target=link.target)
