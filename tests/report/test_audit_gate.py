"""What lets a benchmark pass: thresholds, ignored failure types, items that could not be checked."""

from __future__ import annotations

from typing import Any

import pytest

from leadline.audit.document import AuditDocument, Failure
from leadline.errors import UsageError
from leadline.report.audit_gate import judge, read_gate
from tests.report.audit_documents import audit_document, item


def document(flagged: int, fine: int) -> AuditDocument:
    failed = {"flagged": True, "quote_in_window": False, "failure": Failure.EVIDENCE_ABSENT}
    items = [*(item(f"f{n}", **failed) for n in range(flagged)), *(item(f"o{n}") for n in range(fine))]
    return audit_document(items=tuple(items))


@pytest.mark.parametrize(
    ("threshold", "flagged", "fine", "passes"),
    [
        ("0", 0, 5, True),
        ("0", 1, 5, False),
        ("1", 1, 5, True),
        ("1", 2, 5, False),
        ("2%", 1, 49, True),  # one of fifty is two per cent
        ("2 %", 1, 48, False),
        ("2.5%", 1, 39, True),
        ("0.1%", 1, 998, False),
        ("100%", 3, 0, True),
        ("0", 0, 0, True),
        ("2%", 0, 0, True),
    ],
)
def test_as_many_items_may_be_flagged_as_the_threshold_says(
    threshold: str, flagged: int, fine: int, passes: bool
) -> None:
    outcome = judge(document(flagged, fine), read_gate(threshold, [], False))
    assert (outcome.passes, outcome.counted) == (passes, flagged)
    assert outcome.sentence.startswith("pass" if passes else "fail")


@pytest.mark.parametrize("text", ["", "%", "-1", "1.5", "101%", "nan", "inf", "1e400%", "few", "2%%"])
def test_a_threshold_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"--max-flagged .* 2%"):
        read_gate(text, [], False)


def test_ignored_failure_types_do_not_count_and_are_named() -> None:
    whole = audit_document()
    all_flagged = judge(whole, read_gate("0", [], False))
    without = judge(whole, read_gate("0", ["computational", "answer stated"], False))
    assert all_flagged.counted == len(whole.flagged) == 10
    assert without.counted == 7
    assert "3 ignored: answer-stated, computational" in without.sentence
    every = ["evidence-absent", "computational", "label-untraceable", "answer_stated", "unclassified"]
    assert judge(whole, read_gate("0", every, False)).passes


def test_a_mistyped_failure_type_is_refused_with_the_right_one() -> None:
    with pytest.raises(UsageError, match="did you mean 'computational'"):
        read_gate("0", ["computation"], False)


@pytest.mark.parametrize("missing", [{"state": "not checkable"}, {"quote_in_window": None}])
def test_items_that_could_not_be_checked_count_only_where_that_is_asked_for(missing: dict[str, Any]) -> None:
    whole = audit_document(items=(item("a"), item("b", **missing)))
    assert judge(whole, read_gate("0", [], False)).passes
    strict = judge(whole, read_gate("0", [], True))
    assert not strict.passes and strict.counted == 1 and "1 item is flagged or unchecked" in strict.sentence


def test_an_item_that_is_flagged_and_unchecked_counts_once() -> None:
    both = item("a", flagged=True, quote_in_window=False, state="not checkable")
    assert judge(audit_document(items=(both,)), read_gate("0", [], True)).counted == 1
