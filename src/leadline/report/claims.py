"""What may be taken home, sorted by whether it may: the claims table of every report."""

from __future__ import annotations

from dataclasses import dataclass

from leadline.lenses.finding import ClaimStatus
from leadline.report.document import FindingsDocument
from leadline.report.tables import anchor

# Said above the sentences of each status.
MEANING = {
    ClaimStatus.SUPPORTED: "The data of this study support these sentences.",
    ClaimStatus.NOT_SUPPORTED: "The data do not support these sentences; they need not support the contrary.",
    ClaimStatus.NOT_ESTIMABLE: "There was nothing, or too little, to count.",
    ClaimStatus.UNREACHABLE: "No outcome of this design could have shown these.",
}
SIGN = {
    ClaimStatus.SUPPORTED: "✓",
    ClaimStatus.NOT_SUPPORTED: "○",
    ClaimStatus.NOT_ESTIMABLE: "?",
    ClaimStatus.UNREACHABLE: "⊘",
}
HEADS = ("Claim", "Point estimate", "Conservative reading", "Table")
# What the two readings mean, wherever the table stands.
LEAD = (
    "Point estimate: the number that a reader of the aggregate would quote. Conservative reading: what is "
    "left of it under the reading that does most against the claim, such as the interval's unfavourable end."
)


@dataclass(frozen=True)
class Sentence:
    """A claim with both its readings, the model it is about, and the table that it rests on."""

    text: str
    model: str
    anchor: str
    table: str
    point: str = ""
    conservative: str = ""


@dataclass(frozen=True)
class ClaimGroup:
    """All claims of one status."""

    status: str
    sign: str
    meaning: str
    sentences: tuple[Sentence, ...]

    @property
    def has_readings(self) -> bool:
        """Whether any of them says what would be quoted, or what is left of it."""
        return any(sentence.point or sentence.conservative for sentence in self.sentences)


def claim_groups(document: FindingsDocument) -> list[ClaimGroup]:
    """The document's claims by status, in the order of `ClaimStatus`; a status without claims is left out."""
    found: dict[ClaimStatus, dict[tuple[str, str], Sentence]] = {status: {} for status in ClaimStatus}
    for finding in document.findings:
        for claim in finding.claims:
            sentence = Sentence(
                claim.text, finding.model, anchor(finding), finding.title, claim.point, claim.conservative
            )
            found[claim.status].setdefault((finding.model, claim.text), sentence)
    return [
        ClaimGroup(status.value, SIGN[status], MEANING[status], tuple(sentences.values()))
        for status, sentences in found.items()
        if sentences
    ]


def claim_counts(document: FindingsDocument) -> str:
    """ "3 supported, 5 not supported, 2 not estimable"; "none" where no finding makes a claim."""
    counts = [f"{len(group.sentences)} {group.status}" for group in claim_groups(document)]
    return ", ".join(counts) or "none"
