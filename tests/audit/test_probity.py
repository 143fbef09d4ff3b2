"""The audit on real cases, against the verdicts that were published for them: item by item.

The published verdict is a reference and no oracle. Where the audit differs, `DIFFERENT` says why.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from leadline.audit import audit
from leadline.audit.document import AuditDocument, Failure, ItemVerdict, Route, State
from leadline.bench.stream import open_stream
from leadline.documents import Sources
from tests.audit import probity

pytestmark = pytest.mark.skipif(
    not probity.FOLDER.is_dir(), reason="the real cases (../shared/data/probity) are not here"
)

WRONG_DOCUMENT = (
    "the published look-up opened another document; the filing itself is held here and has the quote"
)
HELD_NOW = "published as not checkable, for that look-up held no document; the filing is held here"
# item → (published quote_in_source, ours, why). There is no difference in quote_in_window.
DIFFERENT = {
    "round_size/1981408": (False, True, WRONG_DOCUMENT),
    "securities_exemption/1498738": (False, True, WRONG_DOCUMENT),
    "round_size/1498738": (None, True, HELD_NOW),
    "securities_exemption/1981408": (None, True, HELD_NOW),
}
COMPUTATIONAL = (
    *("current_ownership_pct",) * 9,
    *("founder_ownership_pct",) * 3,
    *("investor_ownership_pct",) * 4,
    "employee_pool_pct",
    *("liquidation_waterfall_payout",) * 4,  # their quotes point at a table
)
EVIDENCE_ABSENT = (
    *("multi_round_stacked_dilution",) * 5,
    *("option_pool_shuffle",) * 3,
    *("convert_vs_preference_decision",) * 2,
    *("participation_type",) * 3,  # the quotes are paraphrases
)


def run(folder: Path) -> AuditDocument:
    return audit(open_stream(folder), Sources.of(folder))


def declared(case: probity.Case) -> str:
    """The held file where there is one, else the URL: a document that is not held."""
    return case.get("source_file") or case["source_url"] or ""


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> AuditDocument:
    return run(probity.write(tmp_path_factory.mktemp("real") / "cases", declared))


@pytest.fixture(scope="module")
def verdicts(document: AuditDocument) -> dict[str, ItemVerdict]:
    return {verdict.item: verdict for verdict in document.items}


CASES = probity.cases() if probity.FOLDER.is_dir() else {}


@pytest.mark.parametrize("item", CASES)
def test_the_quote_is_in_the_window_as_published(item: str, verdicts: dict[str, ItemVerdict]) -> None:
    assert verdicts[item].quote_in_window is bool(CASES[item]["expected"]["quote_in_window"])


@pytest.mark.parametrize("item", [item for item, case in CASES.items() if case.get("source_file")])
def test_the_quote_is_in_its_source_as_published_or_the_difference_is_explained(
    item: str, verdicts: dict[str, ItemVerdict]
) -> None:
    published = CASES[item]["expected"]["quote_in_source"]
    published = None if published is None else bool(published)
    before, ours, _ = DIFFERENT.get(item, (published, published, ""))
    assert before is published, "the table of differences is out of date"
    verdict = verdicts[item]
    assert verdict.quote_in_source is ours
    assert verdict.state is (State.PRESENT if ours else State.ABSENT)
    assert (verdict.route, verdict.source) == (Route.DECLARED, CASES[item].get("source_file"))


def test_every_explained_difference_is_one(verdicts: dict[str, ItemVerdict]) -> None:
    for item, (published, ours, why) in DIFFERENT.items():
        assert verdicts[item].quote_in_source is ours is not published, why


def test_what_is_not_held_is_not_checkable_and_counts_as_neither(verdicts: dict[str, ItemVerdict]) -> None:
    for item, case in CASES.items():
        if not case.get("source_file"):
            assert verdicts[item].state is State.NOT_CHECKABLE
            assert verdicts[item].quote_in_source is None
            assert any(reason.startswith("not checkable in its source") for reason in verdicts[item].reasons)


def test_those_are_flagged_whose_quote_is_not_in_the_window(document: AuditDocument) -> None:
    published = {item for item, case in CASES.items() if case["expected"]["issues"]}
    lookup_errors = {item for item, (_, _, why) in DIFFERENT.items() if why == WRONG_DOCUMENT}
    assert {verdict.item for verdict in document.flagged} == published - lookup_errors
    assert len(published) == 36


def test_the_two_groups_of_failures_are_told_apart(document: AuditDocument) -> None:
    tasks = {
        failure: Counter(verdict.task for verdict in document.flagged if verdict.failure is failure)
        for failure in Failure
    }
    assert tasks[Failure.COMPUTATIONAL] == Counter(COMPUTATIONAL)
    assert tasks[Failure.EVIDENCE_ABSENT] == Counter(EVIDENCE_ABSENT)
    assert not tasks[Failure.LABEL_UNTRACEABLE] and not tasks[Failure.ANSWER_STATED]


DERIVATIONS = {
    "current_ownership_pct/uber_holder_one": "81,575 / 1,362,500 = 5.987 %",
    "current_ownership_pct/uber_all_directors_officers_group": "462,351 / 1,362,500 = 33.934 %",
    "employee_pool_pct/uber_2019_equity_incentive_plan_pool": "130.0 million / 1,362,500 thousand = 9.541 %",
    "liquidation_waterfall_payout/col1_selected_companies_ltm": (
        "($124.3 million − $0.3 million − $32.6 million − $78.6 million) / 25.2 million = 0.5079"
    ),
    "liquidation_waterfall_payout/col2_selected_companies_fy17e": (
        "($122.0 million − $0.3 million − $32.6 million − $78.6 million) / 25.2 million = 0.4167"
    ),
    "liquidation_waterfall_payout/col3_selected_companies_fy18e": (
        "($121.2 million − $0.3 million − $32.6 million − $78.6 million) / 25.2 million = 0.3849"
    ),
    "liquidation_waterfall_payout/col4_discounted_cash_flow": (
        "($122.6 million − $0.3 million − $32.6 million − $78.6 million) / 25.2 million = 0.4405"
    ),
}


@pytest.mark.parametrize(("item", "derivation"), DERIVATIONS.items())
def test_the_calculation_is_printed(item: str, derivation: str, verdicts: dict[str, ItemVerdict]) -> None:
    assert verdicts[item].derivation == derivation


def test_every_computational_item_has_its_calculation(document: AuditDocument) -> None:
    for verdict in document.flagged:
        assert bool(verdict.derivation) == (verdict.failure is Failure.COMPUTATIONAL), verdict.item


def test_a_label_that_the_windows_own_arithmetic_does_not_round_to_is_remarked_upon(
    verdicts: dict[str, ItemVerdict],
) -> None:
    remarks = verdicts["liquidation_waterfall_payout/col3_selected_companies_fy18e"].remarks
    assert any("does not round to the label 0.39" in remark for remark in remarks)
    others = verdicts["liquidation_waterfall_payout/col1_selected_companies_ltm"].remarks
    assert not any("does not round" in remark for remark in others)


def test_evidence_is_absent_although_the_answer_can_be_calculated_and_that_is_said(
    verdicts: dict[str, ItemVerdict],
) -> None:
    verdict = verdicts["multi_round_stacked_dilution/hyrecar"]
    assert verdict.failure is Failure.EVIDENCE_ABSENT
    assert any("$ 3.00 − $ 0.91 = 2.09" in remark for remark in verdict.remarks)


def test_every_flag_has_its_reason_and_names_what_is_missing(document: AuditDocument) -> None:
    for verdict in document.flagged:
        missing = [span for span in verdict.spans if span.required and span.in_window is None]
        assert missing
        assert any(reason.startswith("the window lacks “") for reason in verdict.reasons)


def test_what_a_person_should_look_at_is_remarked_upon(verdicts: dict[str, ItemVerdict]) -> None:
    expected = {
        "safe_pro_rata_side_letter/0001104659-21-005324_tm213128d1_ex99-1": "the ordinary word “safe”",
        "participation_type/1722271_000091205720000111": "goes on behind the quote with a proviso",
        "flag_missing_pro_rata/rapid7_waiver": "looks like a table of contents",
        "form_d_fields/1549044_000154904412000001": "the window is little more than the quote",
        "price_per_share/kiwa_series_b": "1 other value in the same words",
        "financial_statement_qa/castlebio": "the quote does not state the label",
        "conversion_ratio/uwink_4p57to1": "cut in the middle of a number",
    }
    for item, words in expected.items():
        assert any(words in remark for remark in verdicts[item].remarks), (item, verdicts[item].remarks)


def test_the_self_test_is_made_from_these_windows_and_passed(document: AuditDocument) -> None:
    assert document.self_test.passed
    for trial in document.self_test.trials:
        assert trial.right == trial.tried >= 50, trial


def test_documents_are_found_by_content_when_no_source_is_declared(tmp_path: Path) -> None:
    for verdict in run(probity.write(tmp_path / "cases", lambda case: "")).items:
        held = CASES[verdict.item].get("source_file")
        assert verdict.source == (held or "")
        assert verdict.route is (Route.ELSEWHERE if held else Route.UNRESOLVED)


def test_a_declared_source_that_is_another_document_is_found_out(tmp_path: Path) -> None:
    """Forms that differ in little more than names: 85 % of one window stands in another firm's form."""
    forms = ["1498738.xml", "1549044_000154904412000001.txt", "1981408.xml"]
    other = dict(zip(forms, [*forms[1:], forms[0]], strict=True))
    folder = probity.write(tmp_path / "cases", lambda case: other.get(case.get("source_file") or "", ""))
    swapped = [v for v in run(folder).items if CASES[v.item].get("source_file") in forms]
    assert len(swapped) == 5
    for verdict in swapped:
        assert verdict.route is Route.ELSEWHERE
        assert verdict.source == CASES[verdict.item].get("source_file")
        assert verdict.state is State.PRESENT
        assert any("the declared source is another document" in reason for reason in verdict.reasons)


def test_another_form_proves_nothing_although_it_has_the_short_quote_too(tmp_path: Path) -> None:
    form = (probity.FOLDER / "sources" / "1549044_000154904412000001.txt").read_text(encoding="utf-8")
    other = form.replace("<item>06</item>", "<item>06b</item>")
    assert "<item>06b</item>" in other
    folder = probity.write(tmp_path / "cases", lambda case: "other.xml", documents={"other.xml": other})
    (folder / "sources" / "1981408.xml").unlink()
    verdict = next(v for v in run(folder).items if v.item == "securities_exemption/1981408")
    assert (verdict.route, verdict.state) == (Route.UNRESOLVED, State.NOT_CHECKABLE)
    assert not verdict.flagged


def test_a_quote_that_neither_its_declared_source_nor_another_document_has_cannot_be_traced(
    tmp_path: Path,
) -> None:
    folder = probity.write(tmp_path / "cases", lambda case: "0001575872-26-000442_amass027_8k.txt")
    (folder / "sources" / "1981408.xml").unlink()
    verdict = next(v for v in run(folder).items if v.item == "round_size/1981408")
    assert (verdict.route, verdict.state) == (Route.UNRESOLVED, State.ABSENT)
    assert verdict.failure is Failure.LABEL_UNTRACEABLE
    assert any("holds neither window nor quote" in reason for reason in verdict.reasons)


def test_failure_types_stay_what_they_are_when_the_filing_is_held(tmp_path: Path) -> None:
    """Filings made up around the real windows: the cited passages exist, a page away from the window."""
    pages = "\n\n".join(f"Page {number} of the filing says other things." for number in range(400))
    documents = {}
    for item, case in CASES.items():
        if case["expected"]["quote_in_window"] or "ownership" in case["task"]:
            continue
        cells = case["quote"].replace(" ... ", "   $0.07   ")
        documents[f"{item.replace('/', '-')}.txt"] = f"{case['window']}\n\n{pages}\n\n{cells}. The end."
    folder = probity.write(tmp_path / "cases", lambda case: _own_file(case, documents), documents=documents)
    held = [v for v in run(folder).items if _own_file(CASES[v.item], documents)]
    assert len(held) == len(documents)
    for verdict in held:
        expected = Failure.EVIDENCE_ABSENT if verdict.task in EVIDENCE_ABSENT else Failure.COMPUTATIONAL
        assert (verdict.failure, verdict.state) == (expected, State.PRESENT), verdict.item


def _own_file(case: probity.Case, documents: dict[str, str]) -> str:
    name = f"{case['task']}-{case['item']}.txt"
    return name if name in documents else ""
