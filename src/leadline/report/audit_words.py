"""The sentences that every output of an audit shares: who was audited, what words mean, what may be said."""

from __future__ import annotations

from dataclasses import dataclass

from leadline.audit.document import AuditDocument, Failure, ItemVerdict, State, Trial
from leadline.report.numbers import count, plural

# What an audit cannot show, whatever it found.
NO_CLAIMS = (
    "An audit checks provenance, not truth: a label can be wrong although its quote stands in the window.",
    "“Not checkable” is neither present nor absent, and counts as neither.",
    "An item without a flag is not thereby a good question: the audit reads quotes, not meanings.",
    "A failure type says where the evidence went missing, not who is at fault.",
    "An interval speaks of drawing items like these, not of the checks’ own mistakes.",
)
SCOPE = "provenance only, not whether the answer is true"


@dataclass(frozen=True)
class FailureWords:
    """What a failure type means, and what to do about it. `key` is its name in flags and rule ids."""

    key: str
    title: str
    meaning: str
    remedy: str


FAILURES: dict[Failure | None, FailureWords] = {
    Failure.EVIDENCE_ABSENT: FailureWords(
        "evidence-absent",
        "The evidence is not in the window",
        "The quote that validates the label does not stand in the text that the model is shown. The model "
        "can only guess, or answer from memory.",
        "Cut the window again around the evidence (leadline repair), or drop the item.",
    ),
    Failure.COMPUTATIONAL: FailureWords(
        "computational",
        "The answer has to be calculated",
        "The stored quote is a calculation or points at a table; every number that the answer needs is in "
        "the window. The item tests arithmetic, not reading.",
        "Keep it if arithmetic is meant to be tested, and quote the operands; another window does not help.",
    ),
    Failure.LABEL_UNTRACEABLE: FailureWords(
        "label-untraceable",
        "The label cannot be traced to a document",
        "The quote stands in no document held, though the window may answer the question by itself.",
        "Quote the window or the source word for word, or add the document that the quote comes from.",
    ),
    Failure.ANSWER_STATED: FailureWords(
        "answer-stated",
        "The answer is in the window, the quote is not",
        "The gold value stands in the window; only the wording of the quote differs.",
        "Replace the quote by the words of the window.",
    ),
    None: FailureWords(
        "unclassified",
        "A check failed, and no failure type fits",
        "A check of the quote failed, and the audit could not tell why.",
        "Read the item's reasons.",
    ),
}
KEYS = {words.key: failure for failure, words in FAILURES.items()}


def failure_key(verdict: ItemVerdict) -> str:
    """The failure type of a flagged item as flags and rules spell it: "evidence-absent"."""
    return FAILURES[verdict.failure].key


def failure_name(verdict: ItemVerdict) -> str:
    """The failure type of a flagged item as people read it; "" for an item that is not flagged."""
    if not verdict.flagged:
        return ""
    return verdict.failure.value if verdict.failure else "unclassified"


def unchecked(verdict: ItemVerdict) -> bool:
    """Whether something about the item could not be checked: its source or its window."""
    return verdict.state is State.NOT_CHECKABLE or verdict.quote_in_window is None


def checked(verdict: ItemVerdict) -> bool:
    """Whether the quote could be looked for at all, in the window or in the source."""
    return verdict.quote_in_window is not None or verdict.quote_in_source is not None


def nothing_checked(document: AuditDocument) -> str:
    """A sentence, where no item could be checked; "" where one could, or where there are no verdicts."""
    if not document.items or any(map(checked, document.items)):
        return ""
    items = plural(len(document.items), "item")
    return (
        f"nothing could be checked: of {items} none has a quote that says something and a text to find it in"
    )


def population(document: AuditDocument) -> str:
    """Who was audited, in one line: "licences 1.0: 82 items, 14 documents held"; a part says of what."""
    whole = document.benchmark
    if not document.self_test.passed or len(document.items) == whole.items:
        items = plural(whole.items, "item")
    else:
        items = f"{count(len(document.items))} of {plural(whole.items, 'item')}"
    return f"{whole.name} {whole.version}: {items}, {plural(whole.sources, 'document')} held"


def not_checked(document: AuditDocument) -> str:
    """What could not be checked, in one line; "" when all was."""
    if not document.self_test.passed:
        return "No item has a verdict: the checker failed its self-test."
    source = sum(verdict.state is State.NOT_CHECKABLE for verdict in document.items)
    window = sum(verdict.quote_in_window is None for verdict in document.items)
    parts = []
    if source:
        parts.append(f"the source of {plural(source, 'item')}")
    if window:
        parts.append(f"the window of {plural(window, 'item')}")
    return f"Not checkable: {', '.join(parts)}; counted as neither present nor absent." if parts else ""


def self_test_line(document: AuditDocument) -> str:
    """ "Self-test passed: 240 of 240 trials on 80 windows of this benchmark came out right"."""
    test = document.self_test
    if test.passed and test.trials and not test.tried:
        return f"Self-test {test.note or 'not tried'}"
    tried, right = sum(trial.tried for trial in test.trials), sum(trial.right for trial in test.trials)
    counted = test.note or f"{count(right)} of {plural(tried, 'trial')} came out right"
    return f"Self-test {'passed' if test.passed else 'FAILED'}: {counted}"


def trial_result(trial: Trial) -> str:
    """How a kind of trial came out: "92/100", or why there was none."""
    if not trial.tried and trial.note:
        return trial.note
    return f"{count(trial.right)}/{count(trial.tried)}"


def failed_trials(document: AuditDocument) -> str:
    """Which trials went wrong, with an example of each; the self-test's note where none did."""
    wrong = [
        f"{trial.name}: {count(trial.right)} of {count(trial.tried)} right"
        + (f" ({trial.failures[0]})" if trial.failures else "")
        for trial in document.self_test.trials
        if trial.right != trial.tried
    ]
    return "; ".join(wrong) or document.self_test.note


def first_reason(verdict: ItemVerdict) -> str:
    """Why an item is flagged, in one sentence; the derivation stands for a computational one."""
    if verdict.derivation and verdict.failure is Failure.COMPUTATIONAL:
        return f"to be calculated: {verdict.derivation}"
    return next(iter(verdict.reasons), "no reason was given") if verdict.flagged else ""
