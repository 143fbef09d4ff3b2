"""Titles lead to Wikidata items as the wiki itself would lead a reader, redirects included."""

from __future__ import annotations

import gzip
import sqlite3
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from leadline.build.link.index import TitleIndex, build_index, index_of_titles, open_index, read_titles
from leadline.build.link.index_build import IndexCounts
from leadline.build.link.sql_value import Value
from leadline.errors import LeadlineError, UsageError
from tests.build.sql_dumps import dump, write_dump

DUMPS = Path(__file__).parents[3] / "shared" / "data" / "build" / "sqldumps"
needs_dumps = pytest.mark.skipif(not DUMPS.exists(), reason=f"needs the real SQL dumps in {DUMPS}")

Dumps = tuple[Path, Path, Path]

# title: (id, item or None, redirect)
PAGES: dict[str, tuple[int, str | None, bool]] = {
    "9/11_conspiracy_theories": (10, "Q209137", False),
    "Zürich": (11, "Q72", False),
    "AC/DC": (12, "Q27593", False),
    "AT&T": (13, "Q35476", False),
    'O\'Reilly_"Quoted"': (14, "Q100", False),
    "C": (15, "Q9820", False),
    "IPhone": (16, "Q2766", False),
    "100%": (17, "Q101", False),
    "Élan": (18, "Q102", False),
    "ß": (19, "Q9693", False),
    "Marks&reg": (20, "Q103", False),
    "Mercury": (21, "Q104", False),
    "Nameless": (22, None, False),
    "2001:_A_Space_Odyssey": (23, "Q103474", False),
    "Zurich": (30, None, True),
    "Zuerich": (5, None, True),
    "Zürich_city": (31, None, True),
    "Turicum": (32, None, True),
    "Round": (33, None, True),
    "And_round": (34, None, True),
    "Itself": (35, None, True),
    "Old_town": (36, None, True),
    "Help_me": (37, None, True),
    "Italian": (38, None, True),
    "Gone": (39, None, True),
    "Lindenhof": (40, "Q687079", True),
    "Lindenhof_hill": (41, None, True),
    "Mercurius": (42, None, True),
    "Unnamed": (43, None, True),
    "No_row": (44, None, True),
}
TARGETS: list[tuple[int, int, bytes, bytes | None, bytes | None]] = [
    (5, 0, "Zürich".encode(), b"", b""),
    (30, 0, "Zürich".encode(), None, None),
    (31, 0, b"Turicum", b"", b""),  # three steps, its target is resolved after it
    (32, 0, b"Zuerich", b"", b""),
    (33, 0, b"And_round", b"", b""),
    (34, 0, b"Round", b"", b""),
    (35, 0, b"Itself", b"", b""),
    (36, 0, "Zürich".encode(), b"", b"Old town"),
    (37, 4, b"Help", b"", b""),
    (38, 0, "Zürich".encode(), b"it", b""),
    (39, 0, b"No_such_page", b"", b""),
    (40, 0, "Zürich".encode(), b"", b"Lindenhof"),
    (41, 0, b"Lindenhof", b"", b""),
    (42, 0, b"Mercury", b"", b""),
    (43, 0, b"Nameless", b"", b""),
    (99, 0, "Zürich".encode(), b"", b""),  # of a page in another namespace
]


def _rows() -> tuple[list[Sequence[Value]], list[Sequence[Value]]]:
    pages: list[Sequence[Value]] = [
        (number, 0, title.encode(), int(redirect), 0.5) for title, (number, _, redirect) in PAGES.items()
    ]
    pages += [(99, 1, "Zürich".encode(), 1, 0.5), (98, 4, b"Help", 0, 0.5)]
    props: list[Sequence[Value]] = [(98, b"wikibase_item", b"Q999", None), (21, b"disambiguation", b"", None)]
    for number, item, _ in PAGES.values():
        props.append((number, b"page_image_free", b"Q1.jpg", None))
        if item:
            props.append((number, b"wikibase_item", item.encode(), None))
    return pages, props


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> Dumps:
    folder = tmp_path_factory.mktemp("dumps")
    pages, props = _rows()
    tables: list[tuple[str, list[Any]]] = [("page", pages), ("page_props", props), ("redirect", TARGETS)]
    page, page_props, redirect = (write_dump(folder, table, rows) for table, rows in tables)
    return page, page_props, redirect


@pytest.fixture(scope="module")
def built(dumps: Dumps, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, IndexCounts]:
    out = tmp_path_factory.mktemp("index") / "titles.sqlite"
    return out, build_index(*dumps, out)


@pytest.fixture(scope="module")
def index(built: tuple[Path, IndexCounts]) -> TitleIndex:
    return open_index(built[0])


@pytest.mark.parametrize(
    ("name", "item"),
    [
        ("9/11 conspiracy theories", "Q209137"),
        ("9/11_conspiracy_theories", "Q209137"),
        ("9%2F11_conspiracy_theories", "Q209137"),
        ("9/11 conspiracy theories#Motives", "Q209137"),
        ("https://en.wikipedia.org/wiki/9/11_conspiracy_theories", "Q209137"),
        ("https://en.wikipedia.org/wiki/Z%C3%BCrich#Old_town", "Q72"),
        ("Zürich", "Q72"),
        (unicodedata.normalize("NFD", "Zürich"), "Q72"),
        ("zürich", "Q72"),
        ("Z%C3%BCrich", "Q72"),
        ("Z%c3%bcrich", "Q72"),
        ("Z&uuml;rich", "Q72"),
        ("Z&#252;rich", "Q72"),
        (":Zürich", "Q72"),
        (" _Zürich_ ", "Q72"),
        ("Zürich\u200e", "Q72"),
        ("ac/dc", None),  # only the first letter's case is free
        ("aC/DC", "Q27593"),
        ("AC/DC", "Q27593"),
        ("AT&T", "Q35476"),
        ("AT&amp;T", "Q35476"),
        ("AT%26T", "Q35476"),
        ('O\'Reilly  "Quoted"', "Q100"),
        ("O&#39;Reilly &quot;Quoted&quot;", "Q100"),
        ("2001: A Space Odyssey", "Q103474"),
        ("2001:\u00a0A\u2009Space   Odyssey", "Q103474"),
        ("iPhone", "Q2766"),
        ("100%", "Q101"),
        ("100%25", "Q101"),
        (unicodedata.normalize("NFD", "élan"), "Q102"),
        ("ß", "Q9693"),
        ("Marks&reg", "Q103"),  # no ® without a semicolon
        ("C", "Q9820"),
        ("C#", None),  # a language, and not the letter
        ("C# minor", None),
        ("fr:Zürich", None),
        ("Help", None),
        ("", None),
        ("#Motives", None),
        (" : ", None),
        ("%FF%FE", None),
        ("\ud800", None),
        ("Zürich\0", None),
    ],
)
def test_a_title_is_found_however_it_is_written(index: TitleIndex, name: str, item: str | None) -> None:
    assert index.entity(name) == item


@pytest.mark.parametrize(
    ("name", "item", "why"),
    [
        ("Zurich", "Q72", "it comes after its target"),
        ("Zuerich", "Q72", "it comes before its target"),
        ("Zürich city", "Q72", "a chain of three, each after the next"),
        ("Turicum", "Q72", "the middle of the chain"),
        ("Round", None, "a circle"),
        ("And round", None, "a circle"),
        ("Itself", None, "a circle of one"),
        ("Old town", None, "a part is not the whole"),
        ("Help me", None, "another namespace"),
        ("Italian", None, "another wiki"),
        ("Gone", None, "no such page"),
        ("Lindenhof", "Q687079", "its own item counts more than its target's"),
        ("Lindenhof hill", "Q687079", "the next item down the chain"),
        ("Unnamed", None, "its target has no item"),
        ("No row", None, "the redirect table does not know it"),
        ("Mercurius", None, "a disambiguation page"),
        ("Mercury", None, "a disambiguation page"),
    ],
)
def test_redirects_lead_where_readers_are_led(
    index: TitleIndex, name: str, item: str | None, why: str
) -> None:
    assert index.entity(name) == item, why


def test_a_disambiguation_page_is_told_from_an_unknown_title(index: TitleIndex) -> None:
    assert index.ambiguous("Mercurius")
    assert not index.ambiguous("Zürich")
    assert not index.ambiguous("No such page")


def test_an_items_names_are_its_page_first_and_its_redirects(index: TitleIndex) -> None:
    assert index.titles("Q72") == ("Zürich", "Turicum", "Zuerich", "Zurich", "Zürich city")
    assert index.titles("Q687079") == ("Lindenhof", "Lindenhof hill")
    assert index.titles("Q1") == ()


def test_every_page_is_counted_once(built: tuple[Path, IndexCounts], index: TitleIndex) -> None:
    counts = built[1]
    redirects = sum(1 for _, _, redirect in PAGES.values() if redirect)
    assert counts.pages == len(PAGES)
    assert counts.redirects == redirects
    assert counts.articles == len(PAGES) - redirects
    assert (counts.without_item, counts.disambiguation, counts.own) == (1, 1, 1)
    assert (counts.elsewhere, counts.section) == (2, 1)
    assert counts.resolved + counts.elsewhere + counts.section + counts.broken == redirects
    assert counts.unresolved == redirects - counts.resolved == 9
    assert index.counts()["resolved"] == counts.resolved == 7


def test_sections_are_followed_if_asked(dumps: Dumps, tmp_path: Path) -> None:
    counts = build_index(*dumps, tmp_path / "t.sqlite", sections=True)
    with open_index(tmp_path / "t.sqlite") as index:
        assert index.entity("Old town") == "Q72"
    assert counts.section == 0


def test_one_row_per_line_makes_the_same_index_as_all_rows_on_one(
    dumps: Dumps, built: tuple[Path, IndexCounts], tmp_path: Path
) -> None:
    pages, props = _rows()
    lines = []
    for table, rows in (("page", pages), ("page_props", props), ("redirect", TARGETS)):
        lines.append(tmp_path / f"{table}.sql")
        lines[-1].write_bytes(dump(table, rows, between=b",\n  "))
    assert build_index(lines[0], lines[1], lines[2], tmp_path / "t.sqlite") == built[1]
    assert (tmp_path / "t.sqlite").read_bytes() == built[0].read_bytes()


def test_the_order_of_rows_changes_nothing(
    dumps: Dumps, built: tuple[Path, IndexCounts], tmp_path: Path
) -> None:
    pages, props = _rows()
    backwards: list[tuple[str, list[Any]]] = [("page", pages), ("page_props", props), ("redirect", TARGETS)]
    turned = [write_dump(tmp_path, table, rows[::-1]) for table, rows in backwards]
    assert build_index(turned[0], turned[1], turned[2], tmp_path / "t.sqlite") == built[1]
    query = "SELECT * FROM mapping ORDER BY wikipedia_id"
    ours, theirs = (
        sqlite3.connect(path).execute(query).fetchall() for path in (tmp_path / "t.sqlite", built[0])
    )
    assert ours == theirs


def test_a_title_on_two_pages_belongs_to_the_newer(tmp_path: Path) -> None:
    page = write_dump(tmp_path, "page", [(1, 0, b"Moved", 0, 0.1), (2, 0, b"Moved", 0, 0.1)])
    props = write_dump(
        tmp_path, "page_props", [(1, b"wikibase_item", b"Q1", None), (2, b"wikibase_item", b"Q2", None)]
    )
    assert build_index(page, props, [], tmp_path / "t.sqlite").pages == 1
    with open_index(tmp_path / "t.sqlite") as index:
        assert index.entity("Moved") == "Q2"


def test_a_cut_dump_leaves_no_index_and_keeps_the_one_before(dumps: Dumps, tmp_path: Path) -> None:
    out = tmp_path / "folder" / "t.sqlite"
    cut = tmp_path / "page.sql.gz"
    cut.write_bytes(dumps[0].read_bytes()[:-200])
    with pytest.raises(LeadlineError, match=r"page\.sql\.gz:\d+: is cut off"):
        build_index(cut, dumps[1], dumps[2], out)
    assert list(out.parent.iterdir()) == []
    build_index(*dumps, out)
    before = out.read_bytes()
    with pytest.raises(LeadlineError):
        build_index(cut, dumps[1], dumps[2], out)
    assert out.read_bytes() == before


@pytest.mark.parametrize("page_id", [None, b"seven", 2**64])
def test_an_id_that_is_no_number_is_said_in_one_line(dumps: Dumps, tmp_path: Path, page_id: Value) -> None:
    page = write_dump(tmp_path, "page", [(page_id, 0, b"A", 0, 0.5)])
    with pytest.raises(LeadlineError, match=r"page\.sql\.gz: has a row whose id is no number"):
        build_index(page, dumps[1], dumps[2], tmp_path / "t.sqlite")


@needs_dumps
def test_real_dumps_with_one_row_per_line_make_a_complete_index(tmp_path: Path) -> None:
    page, props, redirect = (
        DUMPS / f"rmwiki-20240301-{table}.sql.gz" for table in ("page", "page_props", "redirect")
    )
    counts = build_index(page, props, redirect, tmp_path / "t.sqlite")
    assert (counts.pages, counts.articles, counts.redirects, counts.resolved) == (4, 2, 2, 1)
    assert (counts.elsewhere, counts.without_item) == (1, 0)
    with open_index(tmp_path / "t.sqlite") as index:
        assert index.entity("Turitg") == index.entity("Zürich") == "Q72"
        assert index.entity("obergesteln") == "Q662541"
        assert index.entity("Main Page") is None  # leads into another namespace
        assert index.titles("Q72") == ("Turitg", "Zürich")


@needs_dumps
@pytest.mark.parametrize(
    ("wiki", "pages", "without"), [("loginwiki-20240501", 1, 1), ("wikidatawiki-20240401", 3, 3)]
)
def test_real_dumps_without_redirects_make_an_index(
    wiki: str, pages: int, without: int, tmp_path: Path
) -> None:
    page, props = (DUMPS / f"{wiki}-{table}.sql.gz" for table in ("page", "page_props"))
    counts = build_index(page, props, [], tmp_path / "t.sqlite")
    assert (counts.pages, counts.without_item) == (pages, without)


def _wikimapper() -> Any:
    return pytest.importorskip("wikimapper", reason="needs wikimapper: pip install wikimapper")


def test_wikimapper_opens_what_is_built_here(built: tuple[Path, IndexCounts]) -> None:
    mapper = _wikimapper().WikiMapper(str(built[0]))
    assert mapper.title_to_id("9/11_conspiracy_theories") == "Q209137"
    assert mapper.title_to_id("Zürich_city") == "Q72"
    assert mapper.title_to_id("Nameless") is None
    assert set(mapper.id_to_titles("Q72")) == {"Zürich", "Turicum", "Zuerich", "Zurich", "Zürich_city"}
    assert mapper.wikipedia_id_to_id(11) == "Q72"
    assert mapper.title_to_wikipedia_id("AC/DC") == 12
    assert sorted(mapper.id_to_wikipedia_ids("Q687079")) == [40, 41]


def test_what_wikimapper_wrote_opens_here_and_knows_less(dumps: Dumps, tmp_path: Path) -> None:
    package = _wikimapper()
    path = tmp_path / "theirs.db"
    package.create_index("xxwiki-20240501", str(dumps[0].parent), str(path))
    theirs = package.WikiMapper(str(path))
    with open_index(path) as index:
        for title in ("9/11_conspiracy_theories", "Zurich", "AC/DC", "Nameless"):
            assert index.entity(title) == theirs.title_to_id(title)
        # What its own look-up fails on.
        for name in (
            "9/11 conspiracy theories",
            "9%2F11_conspiracy_theories",
            "zürich",
            "Zu\u0308rich",
            "AT&amp;T",
        ):
            assert theirs.title_to_id(name) is None
            assert index.entity(name)
        assert theirs.url_to_id("https://en.wikipedia.org/wiki/9/11_conspiracy_theories") is None
        assert index.entity("https://en.wikipedia.org/wiki/9/11_conspiracy_theories") == "Q209137"
        # What it did not resolve: a redirect that is read before its target is resolved.
        assert index.entity("Zürich city") is None
        # It follows redirects to other wikis.
        assert index.entity("Italian") == "Q72"
        assert set(index.titles("Q72")) >= {"Zürich", "Zurich"}


def test_wikimapper_reads_one_row_per_line_as_nothing_and_that_is_said(tmp_path: Path) -> None:
    package = _wikimapper()
    pages, props = _rows()
    for table, rows in (("page", pages), ("page_props", props), ("redirect", TARGETS)):
        packed = gzip.compress(dump(table, rows, between=b",\n").replace(b"VALUES (", b"VALUES\n("))
        (tmp_path / f"xxwiki-20240501-{table}.sql.gz").write_bytes(packed)
    try:
        package.create_index("xxwiki-20240501", str(tmp_path), str(tmp_path / "theirs.db"))
    except IndexError:
        pytest.skip("this version of wikimapper no longer takes such a dump for an empty one")
    with pytest.raises(LeadlineError, match="is empty"):
        open_index(tmp_path / "theirs.db")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [(b"not a database, but quite long enough to be one" * 40, "is no index"), (b"", "no table mapping")],
)
def test_a_file_that_is_no_index_is_said_in_one_line(tmp_path: Path, content: bytes, complaint: str) -> None:
    path = tmp_path / "x.db"
    path.write_bytes(content)
    with pytest.raises(LeadlineError, match=complaint) as error:
        open_index(path)
    assert "\n" not in str(error.value)
    with pytest.raises(UsageError, match="no index"):
        open_index(tmp_path / "none.db")


def test_pairs_are_read_with_their_oddities(tmp_path: Path) -> None:
    path = tmp_path / "titles.tsv"
    path.write_text("\ufeff# comment\nzürich\tQ72\r\n\nTab\tin title\tQ5\nZürich\tQ72\n", "utf-8")
    index = index_of_titles(read_titles(path))
    assert index.entity("Zürich") == "Q72"
    assert index.entity("Tab in title") == "Q5"


@pytest.mark.parametrize(
    ("text", "line"),
    [("A\tQ1\nB Q2\n", 2), ("A\tP1\n", 1), ("A\tQ01\n", 1), ("\tQ1\n", 1), ("A\tQ1\n\na\tQ2\n", 3)],
)
def test_a_wrong_pair_is_named_with_its_line(tmp_path: Path, text: str, line: int) -> None:
    path = tmp_path / "titles.tsv"
    path.write_text(text, "utf-8")
    with pytest.raises(UsageError, match=rf"titles\.tsv:{line}: "):
        read_titles(path)


def test_the_first_index_that_knows_a_title_answers(index: TitleIndex) -> None:
    both = index_of_titles({"Zürich": "Q1", "Bern": "Q70"}).joined(index)
    assert (both.entity("Zürich"), both.entity("Bern"), both.entity("Zurich")) == ("Q1", "Q70", "Q72")
    assert TitleIndex().entity("Zürich") is None
    assert TitleIndex().empty
