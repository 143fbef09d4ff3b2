"""Where quotes lie: in the window, and in the document where that window stands."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from leadline.bench import load_benchmark
from leadline.bench.item import Evidence, Item
from leadline.documents import Sources
from leadline.review.evidence import in_sources, in_window
from leadline.review.passages import Documents
from tests.review.doubted import CLAUSE, DEED, Doubted, doubted


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Doubted:
    return doubted(tmp_path_factory.mktemp("doubted"))


def marked(item: Item, **options: bool) -> list[str]:
    return [piece.text for piece in in_window(item, **options) if piece.spans]


def test_a_quote_is_marked_in_the_window_across_a_line_end(made: Doubted) -> None:
    item = load_benchmark(made.benchmark).by_id["crate-quibbleforth"]
    assert marked(item) == ["shall return every borrowed crate\nbefore the season"]
    assert "".join(piece.text for piece in in_window(item)) == item.window


def test_without_quotes_nothing_is_marked(made: Doubted) -> None:
    item = load_benchmark(made.benchmark).by_id["crate-quibbleforth"]
    assert marked(item, quotes=False) == []
    (place,) = in_sources(item, Documents(Sources.of(made.benchmark)), quotes=False)
    assert place.spans == () and DEED[place.at :].startswith("Preamble of the deed."), "where the window is"


def test_a_quote_that_the_window_lacks_leaves_no_trace(made: Doubted) -> None:
    item = load_benchmark(made.benchmark).by_id["season-evidence-absent"]
    pieces = in_window(item)
    assert [(piece.text, piece.spans, piece.near) for piece in pieces] == [(item.window, (), ())]


def test_in_the_document_the_quote_is_marked_where_the_window_stands(made: Doubted) -> None:
    items = load_benchmark(made.benchmark).by_id
    found = {}
    for name in ("number-of-crates", "unsteady-colour"):  # which quote the same words
        (place,) = in_sources(items[name], Documents(Sources.of(made.benchmark)))
        ((start, end),) = place.spans
        assert DEED[start:end] == "every borrowed crate"
        assert place.at == start
        found[name] = DEED.rindex("Of ", 0, start)
    assert DEED[found["number-of-crates"] :].startswith("Of crates.")
    assert DEED[found["unsteady-colour"] :].startswith("Of colours.")


def test_every_quote_of_the_licences_is_where_the_audit_finds_it() -> None:
    bench = load_benchmark("licences")
    assert bench.origin is not None
    documents = Documents(Sources.of(bench.origin))
    for item in bench.items[::7]:
        assert marked(item), item.id
        (place,) = in_sources(item, documents)
        assert place.spans, item.id
        opened = documents.open(place.document)
        assert opened is not None
        words = "".join(one.quote for one in item.evidence)
        start, end = place.spans[0]
        assert "".join(opened.text[start:end].split())[:10].lower() in "".join(words.split()).lower()


def test_what_is_not_held_is_left_out_and_nothing_outside_is_opened(tmp_path: Path) -> None:
    (tmp_path / "sources").mkdir()
    (tmp_path / "secret.txt").write_text(CLAUSE, "utf-8")
    documents = Documents(Sources.of(tmp_path))
    for pointer in ("../secret.txt", "/etc/passwd", "https://example.org/a", "sources/../secret.txt", ""):
        item = Item(
            id="1",
            question="?",
            answer="x",
            window=CLAUSE,
            source=pointer,
            evidence=(Evidence(quote=CLAUSE),),
        )
        assert in_sources(item, documents) == ()


def test_an_item_of_a_question_alone_has_nothing_to_mark() -> None:
    item = Item(id="1", question="?", answer="x")
    assert in_window(item) == () and in_sources(item, Documents(Sources(Path("nowhere")))) == ()


def test_a_very_long_window_is_cut_and_says_so() -> None:
    item = Item(id="1", question="?", answer="x", window="word " * 100_000)
    pieces = in_window(item, limit=10_000)
    assert sum(len(piece.text) for piece in pieces) == 10_000
    assert sum(piece.cut for piece in pieces) == 490_000


def test_a_document_of_hundreds_of_megabytes_is_not_looked_through(tmp_path: Path) -> None:
    (tmp_path / "sources").mkdir()
    with (tmp_path / "sources" / "huge.txt").open("wb") as file:
        file.write(b"every borrowed crate\n")
        file.truncate(200 * 2**20)  # sparse: it takes no room
    item = Item(
        id="1", question="?", answer="x", source="huge.txt", evidence=(Evidence(quote="every borrowed"),)
    )
    begun = time.process_time()
    (place,) = in_sources(item, Documents(Sources.of(tmp_path)))
    assert (place.name, place.at, place.spans) == ("huge.txt", 0, ())
    assert time.process_time() - begun < 0.5
