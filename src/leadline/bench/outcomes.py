"""What becomes of a doubt, in words: one wording for pages, reports and commands.

The words are about the item, for doubts are of several kinds: models that agree on something else, a quote
that stands nowhere, answers that differ each time. Under each of them one of the three is true.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from leadline.bench.adjudications import Outcome

NAMES: Mapping[Outcome, str] = {
    "upheld": "upheld",
    "rejected": "rejected",
    "excluded-ambiguous": "ambiguous",
    "withdrawn": "withdrawn",
}
MEANINGS: Mapping[Outcome, str] = {
    "upheld": "the label is wrong, or the text does not give it",
    "rejected": "the label stands",
    "excluded-ambiguous": "the item admits more than one reading",
    "withdrawn": "the decision in force is taken back",
}
# What settles a doubt; a decision that is withdrawn opens it again.
SETTLING: tuple[Outcome, ...] = ("upheld", "rejected", "excluded-ambiguous")


def worded(outcome: Outcome) -> str:
    """Name and meaning.

    >>> worded("rejected")
    'rejected: the label stands'
    """
    return f"{NAMES[outcome]}: {MEANINGS[outcome]}"


def tally(in_force: Iterable[Outcome], **beside: int) -> str:
    """How many decisions are in force, by outcome, and how many stand beside them and are not.

    >>> tally(["upheld", "rejected", "upheld"], stale=1, unknown=0, withdrawn=2)
    '3 decisions in force (2 upheld, 1 rejected); 1 stale; 2 withdrawn'
    """
    counts = Counter(in_force)
    by_outcome = ", ".join(f"{counts[name]:,} {name}" for name in SETTLING if counts[name])
    number = counts.total()
    said = f"{number:,} decision{'' if number == 1 else 's'} in force"
    said += f" ({by_outcome})" if by_outcome else ""
    return "; ".join([said, *(f"{count:,} {what}" for what, count in beside.items() if count)])
