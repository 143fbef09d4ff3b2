"""Markdown, LaTeX and terminal tables say what the findings say, whatever signs the names are made of."""

from __future__ import annotations

import re

import pytest

from leadline.lenses.finding import Claim, ClaimStatus, Figure, Finding, Row
from leadline.report.claims import claim_groups
from leadline.report.document import FindingsDocument
from leadline.report.headline import headlines
from leadline.report.numbers import printed
from leadline.report.page import render_page
from leadline.report.tables import table
from leadline.report.tables_latex import escape as latex_escape
from leadline.report.tables_latex import latex_tables
from leadline.report.tables_markdown import markdown_tables
from leadline.report.terminal import headline_text
from tests.report.conftest import Written
from tests.report.documents import small_frame, study_document
from tests.report.stability import stability_document

NASTY = r"50% of_a & b | c # {d} ~ \e ^ $x$ <b>*"


@pytest.fixture(scope="module")
def bare() -> FindingsDocument:
    """A document without findings."""
    return study_document(small_frame(4), lenses=False)


def unheard_of(label: str = "alpha") -> Finding:
    """A table of a lens that the report has never seen."""
    return Finding(
        lens="sonar",
        table="by depth",
        model="small",
        title=f"Echo of {label}",
        definition=f"Share of pings that {label} returns.",
        rows=(
            Row(
                keys={"depth": label, "method": "recite"},
                figures={
                    "echo_share": Figure(value=0.25, numerator=1, denominator=4, low=0.046, high=0.699),
                    "lag": Figure(value=1.25, method="clock"),
                },
            ),
            Row(keys={"depth": "two"}, figures={"lag": Figure(value=None, note=f"no echo from {label}")}),
        ),
        claims=(Claim(text=f"{label} has a floor.", status=ClaimStatus.UNREACHABLE),),
    )


def test_a_new_lens_needs_no_change_here(bare: FindingsDocument) -> None:
    document = bare.model_copy(update={"findings": (unheard_of(),)})
    html = render_page(document, small_frame(4), {})
    for words in (
        "Sonar",
        "Echo of alpha",
        "Echo share",
        "Unreachable by construction",
        "no echo from alpha",
    ):
        assert words in html
    shown = table(document, document.findings[0])
    assert shown.key_heads == ("Depth", "Method") and shown.rows[0].keys == ("alpha", "RECITE")
    assert str(shown.rows[0].cells[0].printed) == "25.0 % (1/4) [4.6, 69.9]"
    assert shown.rows[1].cells[0] is None
    assert "25.0 % (1/4) [4.6, 69.9]" in markdown_tables(document)
    assert r"25.0 \%" in latex_tables(document)


def test_a_study_without_findings_still_has_a_page(bare: FindingsDocument) -> None:
    html = render_page(bare, small_frame(4), {})
    assert "make no claims" in html and "headline-h" not in html
    assert "No method was compared" in headline_text(bare)
    assert markdown_tables(bare).startswith("# ")


def test_markdown_holds_every_row_in_columns_that_line_up(written: Written) -> None:
    text = markdown_tables(written.document)
    assert text == written.paths.markdown.read_text(encoding="utf-8")
    blocks = [block.splitlines() for block in text.split("\n\n") if block.startswith("|")]
    groups = claim_groups(written.document)
    before = len(headlines(written.document)) + len(groups)
    assert len(blocks) == before + sum(1 for finding in written.document.findings if finding.rows)
    for lines in blocks:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1
    claims = sum(len(lines) - 2 for lines in blocks[len(headlines(written.document)) : before])
    assert claims == sum(len(group.sentences) for group in groups)
    rows = sum(len(lines) - 2 for lines in blocks[before:])
    assert rows == sum(len(finding.rows) for finding in written.document.findings)


def test_nasty_names_break_no_table(bare: FindingsDocument) -> None:
    document = bare.model_copy(update={"findings": (unheard_of(NASTY),), "study": NASTY})
    lines = [line for line in markdown_tables(document).splitlines() if line.startswith("| ")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {5}
    assert "<b>" not in re.sub(r"\\.", "", markdown_tables(document))
    _assert_sound_latex(latex_tables(document))


def test_latex_is_sound_and_holds_every_row(written: Written) -> None:
    text = written.paths.latex.read_text(encoding="utf-8")
    _assert_sound_latex(text)
    rows = sum(len(finding.rows) for finding in written.document.findings)
    heads = sum(1 for finding in written.document.findings if finding.rows)
    overhead = sum(2 + len(entry.rows) for entry in headlines(written.document))
    overhead += sum(1 + len(group.sentences) for group in claim_groups(written.document))
    longs = text.count(r"\begin{longtable}")  # their caption ends a line as well
    assert text.count(r"\\" + "\n") == rows + heads + overhead + longs
    labels = re.findall(r"\\label\{(.*?)\}", text)
    assert len(labels) == len(set(labels))


def test_latex_escapes_every_sign_that_means_something() -> None:
    assert latex_escape("50% & {a}_b#$") == r"50\% \& \{a\}\_b\#\$"
    assert latex_escape("a\\b^c~d") == r"a\textbackslash{}b\textasciicircum{}c\textasciitilde{}d"
    assert latex_escape("line\nbreak\x00") == "line break"


def test_latex_has_a_form_for_every_sign_that_the_lenses_use(written: Written) -> None:
    """A bare ρ stops pdflatex."""
    for document in (written.document, stability_document()):
        assert [sign for sign in set(latex_tables(document)) if not sign.isascii()] == []


def test_the_terminal_shows_the_headline_without_colour_in_eighty_columns(written: Written) -> None:
    text = headline_text(written.document, width=80)
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 80
    for entry in headlines(written.document):
        assert f"{entry.model}: baseline Greedy, Acc {printed('acc', entry.baseline_accuracy)}" in text
        for row in entry.rows:
            for column, value in zip(entry.columns, row.figures, strict=True):
                if value is not None:
                    assert printed(column.figure, value).value in text
                    assert printed(column.figure, value).interval in text
    assert "…" not in text


def _assert_sound_latex(text: str) -> None:
    """Braces and environments balance, and every line of a table has as many cells as columns."""
    text = re.sub(r"(?m)^%.*$", "", text)
    bare_text = text.replace(r"\\", "").replace(r"\{", "").replace(r"\}", "")
    depth = 0
    for sign in bare_text:
        depth += (sign == "{") - (sign == "}")
        assert depth >= 0
    assert depth == 0
    stack = []
    for verb, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
        if verb == "begin":
            stack.append(name)
        else:
            assert stack.pop() == name
    assert not stack
    for columns, body in re.findall(
        r"\\begin\{(?:tabular|longtable)\}\{((?:[lr]|p\{[^}]*\})+)\}(.*?)\\end\{", text, re.DOTALL
    ):
        for line in body.splitlines():
            if line.endswith(r"\\") and "caption" not in line:
                spanned = sum(int(width) - 1 for width in re.findall(r"\\multicolumn\{(\d+)\}", line))
                width = len(re.sub(r"\{[^}]*\}", "", columns))
                assert len(re.findall(r"(?<!\\)&", line)) + 1 + spanned == width, line
