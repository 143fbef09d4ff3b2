"""Figures for papers: from findings alone, the same bytes each time, readable without colour."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from xml.etree import ElementTree

import pytest

from leadline.errors import UsageError
from leadline.report.document import FindingsDocument, load_findings, to_json, write_findings
from leadline.report.figures import fonts
from leadline.report.figures.write import FORMATS, write_figures
from tests.report.documents import small_frame, study_document
from tests.report.stability import CONFIGURATIONS, stability_document

NAMES = ("wobble", "contrast", "observability", "transfer", "split-half", "categories")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All figures in every format, from a findings.json that was written and read again."""
    out = tmp_path_factory.mktemp("figures")
    write_findings(stability_document(), out / "findings.json")
    found = write_figures(load_findings(out / "findings.json"), out, FORMATS)
    assert found.skipped == ()
    return out


def words(svg: Path) -> str:
    return " ".join("".join(node.itertext()) for node in ElementTree.parse(svg).getroot().iter(f"{SVG}text"))


def test_every_figure_comes_in_every_format_with_a_caption(drawn: Path) -> None:
    assert {path.name for path in drawn.iterdir()} == {
        "findings.json",
        "captions.md",
        *(f"{name}.{kind}" for name in NAMES for kind in FORMATS),
    }
    captions = (drawn / "captions.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", captions, re.MULTILINE) == list(NAMES)


def test_the_same_findings_give_the_same_bytes(drawn: Path, tmp_path: Path) -> None:
    for path in write_figures(stability_document(), tmp_path, FORMATS).paths:
        content = path.read_bytes()
        assert content == (drawn / path.name).read_bytes(), path.name
        assert b"CreationDate" not in content and b"<dc:date>" not in content


def test_words_are_words_and_every_configuration_is_named(drawn: Path) -> None:
    for name in ("wobble", "split-half"):
        shown = words(drawn / f"{name}.svg")
        assert [label for label in CONFIGURATIONS if label not in shown] == []
    assert b"/Subtype /Type0" in (drawn / "wobble.pdf").read_bytes()  # embedded type, not outlines


def test_groups_are_told_apart_without_colour(drawn: Path) -> None:
    """Only greys, and hatches on the configurations beyond the break and on flagged items."""
    for name in NAMES:
        text = (drawn / f"{name}.svg").read_text(encoding="utf-8")
        colours = set(re.findall(r"#[0-9a-f]{6}", text))
        assert {colour for colour in colours if len({colour[1:3], colour[3:5], colour[5:]}) > 1} == set()
    for name in ("wobble", "contrast", "observability"):
        assert "<pattern" in (drawn / f"{name}.svg").read_text(encoding="utf-8"), name


def test_the_caption_says_where_the_axis_is_broken(drawn: Path) -> None:
    captions = (drawn / "captions.md").read_text(encoding="utf-8")
    below, above = map(float, re.findall(r"broken between ([\d.]+) and ([\d.]+)", captions)[0])
    finding = stability_document().finding("wobble", "overall", "all models")
    assert finding is not None
    for row in finding.rows[:-1]:
        figure = row.figures["wobble"]
        assert figure.high < below or figure.low > above


@pytest.mark.parametrize(("width", "inches"), [("column", 3.3), ("page", 7.0)])
def test_figures_are_as_wide_as_a_column_or_a_page(tmp_path: Path, width: str, inches: float) -> None:
    write_figures(stability_document(), tmp_path, ("svg",), width)
    for path in tmp_path.glob("*.svg"):
        assert ElementTree.parse(path).getroot().get("width") == f"{inches * 72:g}pt"


def test_what_the_findings_lack_is_skipped_with_a_reason(tmp_path: Path) -> None:
    bare = study_document(small_frame(4), lenses=False)
    found = write_figures(bare, tmp_path / "none")
    assert found.paths == () and found.captions is None and not (tmp_path / "none").exists()
    assert [name for name, _ in found.skipped] == list(NAMES)
    assert all(reason for _, reason in found.skipped)


def test_hostile_names_stay_words(tmp_path: Path) -> None:
    nasty = "$\\frac{1}{</text><script>alert(1)</script>\x1b[31m 模型 & 'x'"
    document = renamed(stability_document(), "haiku-4.5", nasty)
    write_figures(document, tmp_path, ("svg", "pdf"))
    for path in tmp_path.glob("*.svg"):
        root = ElementTree.parse(path).getroot()
        assert [node.tag for node in root.iter() if node.tag.endswith("script")] == []
    assert "$\\frac{1}{</text>" in words(tmp_path / "wobble.svg")
    assert "\x1b" not in (tmp_path / "captions.md").read_text(encoding="utf-8")


def test_an_unknown_format_or_width_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such format: bmp"):
        write_figures(stability_document(), tmp_path, ("svg", "bmp"))
    with pytest.raises(UsageError, match="no such width: poster"):
        write_figures(stability_document(), tmp_path, ("svg",), "poster")
    assert list(tmp_path.iterdir()) == []


def renamed(document: FindingsDocument, old: str, new: str) -> FindingsDocument:
    """The document with a configuration called otherwise in every table."""
    findings = tuple(
        finding.model_copy(
            update={
                "rows": tuple(
                    row.model_copy(
                        update={"keys": {key: new if at == old else at for key, at in row.keys.items()}}
                    )
                    for row in finding.rows
                )
            }
        )
        for finding in document.findings
    )
    return document.model_copy(update={"findings": findings})


def test_a_script_without_a_font_is_told_once_and_leaves_words_in_an_svg(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fonts, "FALLBACKS", ())  # a machine without fonts of that script
    document = stability_document()
    text = to_json(document).replace("gemma3-1b-qat", "\u7532\u4e59")
    renamed = FindingsDocument.model_validate_json(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        drawn = write_figures(renamed, tmp_path, ("svg", "png"))
        assert drawn.missing == "\u4e59\u7532"
        assert write_figures(renamed, tmp_path, ("svg",)).missing == ""
        assert write_figures(document, tmp_path / "plain", ("png",)).missing == ""
    assert "\u7532\u4e59" in (tmp_path / "wobble.svg").read_text("utf-8")


def test_installed_fonts_stand_in_only_where_the_own_lacks_a_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "FALLBACKS", ("DejaVu Serif", "No Such Font"))
    assert fonts.families(set("plain words, τ")) == ["DejaVu Sans", "sans-serif"]
    assert fonts.families({"\u7532"}) == ["DejaVu Sans", "DejaVu Serif", "sans-serif"]
