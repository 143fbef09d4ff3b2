"""The text of a window that is most like a span that is missing from it. It explains; it never passes."""

from __future__ import annotations

from rapidfuzz import fuzz

# Less alike than this, two texts of one language share little but its letters. Short ones have those in
# common more often. By the length of the span.
_LEAST = ((16, 0.8), (40, 0.65), (10**9, 0.5))
_LONGEST_SPAN, _LONGEST_TEXT = 4_000, 500_000


def nearest(span: str, text: str) -> tuple[str, float] | None:
    """The stretch of `text` most similar to `span`, and how similar (0 to 1); None where nothing is.

    >>> nearest("remaining assets shall be paid rateably", "… the remaining assets are paid ratably to all …")
    ('… the remaining assets are paid ratably', 0.8205)
    """
    needle = " ".join(span.split())[:_LONGEST_SPAN].lower()
    haystack = text[:_LONGEST_TEXT]
    lowered = haystack.lower()
    if len(lowered) != len(haystack):  # a letter whose small form is two: places would shift
        lowered = haystack
    least = next(least for length, least in _LEAST if len(needle) < length)
    aligned = fuzz.partial_ratio_alignment(needle, lowered, score_cutoff=100 * least)
    if aligned is None or not needle:
        return None
    # Of two texts the shorter is slid over the longer: a short window lies within a long span.
    start, end = (aligned.dest_start, aligned.dest_end) if len(needle) <= len(lowered) else (0, len(haystack))
    # Whole words: what is cut off of one at the edges says nothing.
    while start < end and start > 0 and haystack[start].isalnum() and haystack[start - 1].isalnum():
        start += 1
    while end > start and end < len(haystack) and haystack[end - 1].isalnum() and haystack[end].isalnum():
        end -= 1
    found = " ".join(haystack[start:end].split())
    # What is much shorter than the span is a word of it.
    worth = any(map(str.isalnum, found)) and 2 * len(found) >= min(len(needle), len(haystack))
    return (found, round(aligned.score / 100, 4)) if worth else None
