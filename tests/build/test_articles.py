"""Pages of real dumps become articles, and each that does not has its reason."""

from __future__ import annotations

import bz2
import gzip
import json
import re
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("mwxml", reason="building needs the 'build' extra")

from leadline.build.articles.article import Rules, article_of
from leadline.build.articles.page import Page
from leadline.build.articles.stage import ArticlesStage
from leadline.build.parts import reading
from leadline.build.plan import ArticlesSection, ExtractSection, Plan
from leadline.build.progress import Quiet
from leadline.build.records import Article, DroppedPage
from leadline.build.run import run_build
from leadline.build.workspace import StageFolder, Workspace
from leadline.workers.engine import Engine
from leadline.workers.in_process import InProcess
from tests.build.real_inputs import DATA, SLICE, needs_data

WIKIPEDIA = DATA / "wikipedia"


class Listening(Quiet):
    """Keeps what a build tells."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, line: str) -> None:
        self.lines.append(line)


def built(
    folder: Path, *, engine: Engine | None = None, told: Quiet | None = None, **section: object
) -> StageFolder:
    """The stage's folder after a run on these inputs."""
    plan = Plan(
        name="fruit",
        articles=ArticlesSection.model_validate(section),
        extract=ExtractSection(method="distant"),
    )
    plan._file = folder / "plan.yaml"
    run_build(plan, engine or InProcess(), told or Quiet(), chosen=[ArticlesStage()])
    return Workspace(plan.work).stage("articles")


def articles(here: StageFolder) -> list[Article]:
    return [article for part in here.parts() for article in reading(part, Article)]


def dropped(here: StageFolder) -> list[DroppedPage]:
    return [page for part in here.parts("dropped") for page in reading(part, DroppedPage)]


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> StageFolder:
    if not SLICE.exists():
        pytest.skip(f"needs the real inputs in {DATA}")
    return built(tmp_path_factory.mktemp("real"), dump=str(SLICE))


def test_the_slice_loses_its_redirects_disambiguations_lists_and_short_pages(real: StageFolder) -> None:
    lost = dropped(real)
    by_reason: dict[str, list[str]] = {}
    for page in lost:
        by_reason.setdefault(page.reason, []).append(page.title)
    assert len(by_reason.pop("redirect")) == 100
    assert sorted(by_reason.pop("disambiguation")) == [
        "Aa River", "Aberdeen (disambiguation)", "Ada", "Alien", "Animal (disambiguation)",
        "Argument (disambiguation)", "Asia Minor (disambiguation)", "Austin (disambiguation)",
    ]  # fmt: skip
    assert sorted(by_reason.pop("list")) == ["List of Atlas Shrugged characters", "List of anthropologists"]
    # Two pages have under 100 words: one of them is a disambiguation, which is its reason; both say how many.
    assert by_reason == {"short": ["Algorithms (journal)"]}
    few = {
        page.title: page.detail for page in lost if page.detail.endswith(" words") and len(page.detail) < 9
    }
    assert few == {"Asia Minor (disambiguation)": "52 words", "Algorithms (journal)": "54 words"}
    assert len(articles(real)) == real.counts()["kept"] == 95


def test_every_sentence_and_link_of_the_slice_is_a_part_of_its_text(real: StageFolder) -> None:
    count = Counter[str]()
    for article in articles(real):
        assert article.text == article.text.strip()
        for sentence in article.sentences:
            said = article.said(sentence)
            assert said == said.strip()
            assert said
            assert "\n" not in said
            assert sentence.damage or not any(
                mark in said for mark in ("thumb|", "[[", "{{", "|}", "<ref", "''")
            )
            count["damaged" if sentence.damage else "sound"] += 1
        for link in article.links:
            words = article.text[link.start : link.end]
            assert words == words.strip()
            assert words
            assert not any(mark in words for mark in ("[[", "|", "\n", "\ue000"))
            count["links"] += 1
    assert count["sound"] > 19_000
    assert 300 < count["damaged"] < 1_500
    assert count["links"] > 20_000


def test_links_of_a_real_page_are_on_their_words(real: StageFolder) -> None:
    alabama = next(article for article in articles(real) if article.title == "Alabama")
    named = {(alabama.text[link.start : link.end], link.target) for link in alabama.links}
    assert {("Montgomery", "Montgomery, Alabama"), ("Birmingham", "Birmingham, Alabama")} <= named


def test_a_sentence_that_lost_a_measure_is_marked(real: StageFolder) -> None:
    alabama = next(article for article in articles(real) if article.title == "Alabama")
    lost = next(one for one in alabama.sentences if "one of the longest navigable" in alabama.said(one))
    assert alabama.said(lost).startswith("At, Alabama has")
    assert lost.damage == ("template",)
    kept = next(one for one in alabama.sentences if alabama.said(one).startswith("The oldest city is Mobile"))
    assert kept.damage == ()


def test_sentences_of_the_slice_stand_verbatim_in_another_corpus_of_wikipedia(real: StageFolder) -> None:
    with gzip.open(DATA / "qa" / "nq-open-oracle.jsonl.gz", "rt", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    corpus = "\n".join(context["text"] for line in lines for context in line["ctxs"])
    found = [
        said
        for article in articles(real)
        for sentence in article.sentences
        if not sentence.damage and len(said := article.said(sentence)) >= 40 and said in corpus
    ]
    assert len(found) >= 15


@needs_data
def test_tables_leave_nothing_behind(tmp_path: Path) -> None:
    here = built(tmp_path, dump=str(WIKIPEDIA / "enwiki-2017-table-markup.xml.bz2"))
    assert [page.reason for page in dropped(here)] == ["list"]
    kept = articles(here)
    assert len(kept) == 4
    for article in kept:
        for debris in ("{|", "|}", "|-", "||", "wikitable", "colspan", "rowspan", "align=", "style="):
            assert debris not in article.text


@needs_data
def test_of_several_revisions_the_last_is_taken_whatever_the_schema(tmp_path: Path) -> None:
    # Version 0.3 says no namespaces of pages; "Pear" has four revisions in it.
    files = [str(WIKIPEDIA / name) for name in ("article-pear.xml", "pair-0.10.xml")]
    here = built(tmp_path, dump=files, min_words=0)
    pear = next(article for article in articles(here) if article.title == "Pear")
    source = (WIKIPEDIA / "article-pear.xml").read_text("utf-8").partition("</page>")[0]
    stamps = re.findall("<timestamp>(.*?)<", source)
    assert len(stamps) == source.count("<revision>") > 1
    assert pear.timestamp == max(stamps)
    # Version 0.10 has a talk page beside.
    assert [page.reason for page in dropped(here) if page.title.startswith("Talk:")] == ["namespace"]


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (Page("1", "Talk:Pear", "x", namespace=1), "namespace"),
        (Page("1", "Pear", "", redirect=True, wikitext=True), "redirect"),
        (Page("1", "Pear", "#redirect:[[Fig]] {{R from x}}", wikitext=True), "redirect"),
        (Page("1", "Birne", "\n#WEITERLEITUNG [[Feige]]", wikitext=True), "redirect"),
        (Page("1", "Груша", "#перенаправление [[Фига]]", wikitext=True), "redirect"),
        (Page("1", "Pear", " \n", wikitext=True), "empty"),
        (Page("1", "Pear", "{{Infobox fruit|a=b}}", wikitext=True), "empty"),
        (Page("1", "Pear (disambiguation)", "Pears " * 200, wikitext=True), "disambiguation"),
        (Page("1", "Pear", "Pears " * 200 + "{{Hndis|Pear}}", wikitext=True), "disambiguation"),
        (Page("1", "Pear", "Pears " * 200 + "{{Disambiguation|geo}}", wikitext=True), "disambiguation"),
        (Page("1", "Pear", "Pears " * 200 + "{{surname}}", wikitext=True), "disambiguation"),
        (Page("1", "Pear", "Pear may refer to:\n\n" + "Pears " * 200), "disambiguation"),
        (Page("1", "List of pears", "Pears " * 200), "list"),
        (Page("1", "Index of pears", "Pears " * 200, wikitext=True), "list"),
        (Page("1", "HMS Pear", "Pears " * 200 + "{{shipindex}}", wikitext=True), "list"),
        (Page("1", "Pear", "Pears " * 99, wikitext=True), "short"),
        (Page("1", "Pear", "x" * 3_000_000, wikitext=True), "broken"),
    ],
)
def test_a_page_that_is_no_article_has_its_reason(page: Page, reason: str) -> None:
    result = article_of(page, Rules())
    assert isinstance(result, DroppedPage)
    assert result.reason == reason


@pytest.mark.parametrize(
    "page",
    [
        Page("1", "Pear", "Pears " * 100, wikitext=True),
        Page("1", "Listing of ships", "# [[Pear]] grows.\n" + "Pears " * 100, wikitext=True),
        Page("1", "Pear", "Pears {{disambiguation needed}} " + "grow " * 100, wikitext=True),
        Page("1", "Pear", "{{other uses|Pear (disambiguation)}} " + "Pears " * 100, wikitext=True),
    ],
)
def test_an_article_is_kept(page: Page) -> None:
    assert isinstance(article_of(page, Rules()), Article)


@needs_data
def test_the_same_bytes_from_two_workers_and_after_an_interruption(tmp_path: Path, real: StageFolder) -> None:
    from leadline.workers.processes import Processes

    text = bz2.decompress(SLICE.read_bytes())
    cuts = [0, *(text.index(b"<page>", at) for at in (500_000, 900_000, 1_300_000))]
    for number in range(3):
        piece = text[cuts[number] : cuts[number + 1]]
        (tmp_path / f"{number}.xml.bz2").write_bytes(bz2.compress(piece))

    def files(here: StageFolder) -> dict[str, bytes]:
        found = (path for path in here.path.rglob("*") if path.is_file())
        return {str(path.relative_to(here.path)): path.read_bytes() for path in found}

    here = built(tmp_path, dump="*.xml.bz2", engine=Processes(2))
    first = files(here)
    kept = articles(here)
    assert len(kept) > 15
    assert kept == articles(real)[: len(kept)]  # one file, or the same pages in three
    # Killed while the second part was written: its counts are not there, and the stage has not ended.
    (here.path / "done.json").unlink()
    here.part(1, "counts", ".json").unlink()
    here.part(1).unlink()
    untouched = here.part(0).stat().st_mtime_ns
    assert files(built(tmp_path, dump="*.xml.bz2")) == first
    assert here.part(0).stat().st_mtime_ns == untouched
