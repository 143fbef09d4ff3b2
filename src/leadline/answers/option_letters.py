"""Labels that are single letters, as the options of a question: "B) A lease", "(B)", "Option B", "So B."

A letter counts where it is marked as an option or stands by itself. "A lease is not a licence" names no
option: the article is none, nor is the pronoun I.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_EDGE = r"[\s*_`\"'“”‘’\[\](){}<>.,;:!?$\\#=-]"
_ONLY = re.compile(rf"{_EDGE}*([A-Za-z]){_EDGE}*")
_MARKED = re.compile(
    r"(?:^|[\n|])[ \t>*_#`\"'(\[-]*(?P<first>[A-Za-z])"
    r"(?:[*_`]*[).:\]](?=\s|\*|\Z)|[*_`]*\s+[–—-]\s|[*_`]*,\s|[*_`]*[ \t]*(?=\n|\Z))"
    r"|\((?P<bracket>[A-Za-z])\)|\[(?P<square>[A-Z])\]"
    r"|\b(?:option|choice|letter|answer|answer is|answer:|choose|select|pick)[ :]*[*_`\"'(]*"
    r"(?P<named>[A-Za-z])(?![\w'’-])"
    r"|(?<![\w'’.&/-])(?P<alone>[A-Z])(?![\w'’&-])",
    re.IGNORECASE,
)
# After a letter by itself these show that it is no article: "A and B are wrong", "A is correct".
_GOES_ON = re.compile(
    r"[*_`\"'”)}\]$]*(?:\s*(?:[.,;:!?)\n–—]|\Z)"
    r"|\s+(?:and|or|is|are|was|because|since|as|not|but|nor|would|seems|follows)\b)"
)


def letters_in(text: str, letters: frozenset[str]) -> Iterator[tuple[str, int, int]]:
    """The options of `letters` (lower case) that `text` names, and where.

    >>> [letter for letter, _, _ in letters_in("I choose B. A lease is longer.", frozenset("abcd"))]
    ['b']
    """
    if (only := _ONLY.fullmatch(text)) and only[1].lower() in letters:
        yield only[1].lower(), *only.span(1)
        return
    for match in _MARKED.finditer(text):
        group = next(name for name, found in match.groupdict().items() if found)
        letter, (start, end) = match[group], match.span(group)
        if letter.lower() not in letters or not _is_option(text, group, letter, end):
            continue
        yield letter.lower(), start, end


def _is_option(text: str, group: str, letter: str, end: int) -> bool:
    if group in ("bracket", "square", "first"):
        return True
    goes_on = _GOES_ON.match(text, end) is not None
    if group == "named":
        return goes_on if letter in "aAI" else letter.isupper() or goes_on
    if not letter.isupper():
        return False
    return goes_on if letter != "I" else text[end : end + 1] in (".", ")", "")
