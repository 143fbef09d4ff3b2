"""The text of a window that is most like a span that is missing from it. It explains; it never passes."""

from __future__ import annotations

from rapidfuzz import fuzz

# Less alike than this, two texts of one language have nothing in common but its letters.
LEAST_SIMILARITY = 0.5
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
    aligned = fuzz.partial_ratio_alignment(needle, lowered, score_cutoff=100 * LEAST_SIMILARITY)
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
    return (found, round(aligned.score / 100, 4)) if found else None
