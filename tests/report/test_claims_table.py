"""Every claim with its status and both readings, in every form of the report."""

from __future__ import annotations

import pytest

from leadline.lenses.finding import Claim, ClaimStatus, Finding
from leadline.report.claims import claim_counts, claim_groups
from leadline.report.document import FindingsDocument
from leadline.report.tables_latex import latex_tables
from leadline.report.tables_markdown import markdown_tables
from leadline.report.terminal import plain
from leadline.report.terminal_claims import claims_summary, claims_table
from tests.report.conftest import Written
from tests.report.documents import small_frame, study_document
from tests.report.stability import stability_document


@pytest.fixture(scope="module")
def claimed() -> FindingsDocument:
    """Three claims of known words."""
    claims = (
        Claim(
            text="Alpha wobbles.", status=ClaimStatus.SUPPORTED, point="2.64×", conservative="0.60× at worst"
        ),
        Claim(text="Beta wobbles.", status=ClaimStatus.NOT_SUPPORTED, point="1.10×", conservative="0.2×"),
        Claim(text="Gamma wobbles.", status=ClaimStatus.UNREACHABLE),
        Claim(
            text="Alpha wobbles.", status=ClaimStatus.SUPPORTED, point="2.64×", conservative="0.60× at worst"
        ),
    )
    finding = Finding(
        lens="x", table="y", model="small", title="A table", definition="", rows=(), claims=claims
    )
    return study_document(small_frame(4), lenses=False).model_copy(update={"findings": (finding,)})


def test_claims_are_grouped_by_status_and_said_once(claimed: FindingsDocument) -> None:
    groups = claim_groups(claimed)
    assert [(group.status, len(group.sentences)) for group in groups] == [
        ("supported", 1),
        ("not supported", 1),
        ("unreachable by construction", 1),
    ]
    assert [group.has_readings for group in groups] == [True, True, False]
    assert claim_counts(claimed) == "1 supported, 1 not supported, 1 unreachable by construction"


def test_both_readings_stand_in_markdown_and_latex(claimed: FindingsDocument) -> None:
    line = "| Alpha wobbles. | 2.64× | 0.60× at worst | A table (small) |"
    assert line in markdown_tables(claimed)
    assert r"Alpha wobbles. & 2.64$\times$ & 0.60$\times$ at worst & A table (small) \\" in latex_tables(
        claimed
    )


def test_the_terminal_counts_statuses_and_says_what_is_supported(claimed: FindingsDocument) -> None:
    short = plain(claims_summary(claimed))
    assert "1 supported, 1 not supported" in short and "Alpha wobbles." in short
    assert "Conservatively: 0.60× at worst" in short and "Beta wobbles." not in short
    full = plain(claims_table(claimed), 100)
    for words in ("Alpha wobbles.", "Beta wobbles.", "Gamma wobbles.", "1.10×", "0.2×"):
        assert words in full
    assert max(map(len, full.splitlines())) <= 100


def test_a_study_without_claims_says_so() -> None:
    bare = study_document(small_frame(4), lenses=False)
    assert "Claims: none." in plain(claims_summary(bare))
    assert "make no claims" in plain(claims_table(bare))


@pytest.mark.parametrize("which", ["techniques", "stability"])
def test_every_claim_that_could_be_estimated_says_what_would_be_quoted_and_what_is_left(
    written: Written, which: str
) -> None:
    document = written.document if which == "techniques" else stability_document()
    estimable = [
        (finding.lens, finding.table, claim.text)
        for finding in document.findings
        for claim in finding.claims
        if claim.status in (ClaimStatus.SUPPORTED, ClaimStatus.NOT_SUPPORTED)
        and not (claim.point and claim.conservative)
    ]
    assert estimable == []
    assert any(finding.claims for finding in document.findings)
