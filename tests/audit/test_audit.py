"""The audit as a whole: states, routes, the test of the checker, several processes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from leadline.audit import audit
from leadline.audit import run as run_module
from leadline.audit.document import AnswerStated, AuditDocument, Failure, ItemVerdict, Route, State
from leadline.audit.matching import FoundSpan, Match, Matcher, match_quote
from leadline.audit.normal import Normal
from leadline.audit.self_test import Reservoir, Sample, self_test
from leadline.bench import load_benchmark
from leadline.bench.stream import open_stream
from leadline.documents import Sources
from leadline.errors import UsageError

CLAUSE = (
    "The Licensee may terminate this Agreement by giving notice of 45 days in writing. Upon termination the "
    "Licensee shall return all copies within 30 days, and shall certify in writing that no copy was kept."
)
OTHER = (
    "The Warranty Period begins on the date of delivery and ends after 24 months, unless the parties agree "
    "otherwise in writing; parts that were replaced are covered for 6 months more, at no further charge."
)
FILLER = "\n\n".join(
    f"Section {number}. This paragraph number {number} of the agreement is about other matters, such as "
    f"deliveries of lot {number * 7} to the place of business, and is of no consequence here."
    for number in range(60)
)


def item(name: str, **fields: Any) -> dict[str, Any]:
    """An item about the clause: sound unless fields say otherwise."""
    sound = {
        "id": name,
        "question": "How many days' notice must the licensee give?",
        "answer": "45",
        "answer_type": "number",
        "window": CLAUSE,
        "evidence": [{"quote": "terminate this Agreement by giving notice of 45 days in writing"}],
        "source": "agreement.txt",
    }
    return {key: value for key, value in {**sound, **fields}.items() if value is not None}


def benchmark(folder: Path, *items: dict[str, Any], **sources: str | bytes) -> Path:
    """A benchmark folder; sources are .txt files."""
    (folder / "sources").mkdir(parents=True)
    (folder / "benchmark.yaml").write_text('name: clauses\nversion: "1"\n', encoding="utf-8")
    lines = "".join(json.dumps(one) + "\n" for one in items)
    (folder / "items.jsonl").write_text(lines, encoding="utf-8")
    for name, text in {"agreement": f"{FILLER}\n\n{CLAUSE}\n\n{FILLER}", **sources}.items():
        data = text if isinstance(text, bytes) else text.encode()
        (folder / "sources" / f"{name}.txt").write_bytes(data)
    return folder


def run(folder: Path, **settings: Any) -> AuditDocument:
    return audit(open_stream(folder), Sources.of(folder), **settings)


def only(folder: Path) -> ItemVerdict:
    (verdict,) = run(folder).items
    return verdict


def test_a_sound_item_is_present_in_its_window_and_its_declared_source(tmp_path: Path) -> None:
    verdict = only(benchmark(tmp_path / "b", item("a")))
    assert (verdict.state, verdict.route) == (State.PRESENT, Route.DECLARED)
    assert (verdict.quote_in_window, verdict.quote_in_source, verdict.flagged) == (True, True, False)
    (span,) = verdict.spans
    assert span.in_window is not None and span.in_source is not None
    text = (tmp_path / "b" / "sources" / "agreement.txt").read_text(encoding="utf-8")
    assert CLAUSE[span.in_window.start : span.in_window.end] == span.text
    assert text[span.in_source.start : span.in_source.end] == span.text


NOT_CHECKABLE = {
    "a source that is not held": ({"source": "lost.txt"}, "lost.txt is not among the documents held"),
    "no source at all": ({"source": None}, "no source is declared"),
    "no quote": ({"evidence": None}, "the item has no quote"),
    "no window": ({"window": None, "source": "lost.txt"}, "the item has no window"),
    "a source that cannot be read": ({"source": "broken.txt"}, "broken.txt"),
}


@pytest.mark.parametrize(("fields", "reason"), NOT_CHECKABLE.values(), ids=NOT_CHECKABLE.keys())
def test_what_cannot_be_checked_is_kept_apart_and_said(
    fields: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    folder = benchmark(tmp_path / "b", item("a", **fields), broken=bytes(range(256)) * 20)
    (folder / "sources" / "agreement.txt").write_text(FILLER, encoding="utf-8")
    verdict = only(folder)
    assert verdict.state is State.NOT_CHECKABLE
    assert verdict.quote_in_source is None
    assert not verdict.flagged
    assert any(reason in one for one in verdict.reasons), verdict.reasons


def test_a_source_that_cannot_be_read_does_not_hide_the_right_one(tmp_path: Path) -> None:
    folder = benchmark(tmp_path / "b", item("a", source="broken.txt"), broken=bytes(range(256)) * 20)
    verdict = only(folder)
    assert (verdict.state, verdict.route, verdict.source) == (State.PRESENT, Route.ELSEWHERE, "agreement.txt")
    assert any("cannot be read" in reason for reason in verdict.reasons)


def test_a_wrong_pointer_is_found_out_by_content(tmp_path: Path) -> None:
    folder = benchmark(tmp_path / "b", item("a", source="warranty.txt"), warranty=f"{FILLER} {OTHER}")
    verdict = only(folder)
    assert (verdict.route, verdict.source) == (Route.ELSEWHERE, "agreement.txt")
    assert any("warranty.txt holds neither the window nor the quote" in reason for reason in verdict.reasons)


def test_of_two_editions_the_one_that_the_window_is_cut_from_is_found(tmp_path: Path) -> None:
    edition = f"{FILLER}\n\n{CLAUSE.replace('45 days', '60 days')}\n\n{FILLER}"
    verdict = only(benchmark(tmp_path / "b", item("a", source="edition.txt"), edition=edition))
    assert (verdict.route, verdict.source) == (Route.ELSEWHERE, "agreement.txt")


def test_evidence_elsewhere_in_the_document_is_absent_from_the_window(tmp_path: Path) -> None:
    window = FILLER[:900]
    verdict = only(benchmark(tmp_path / "b", item("a", window=window)))
    assert (verdict.quote_in_window, verdict.quote_in_source) == (False, True)
    assert verdict.failure is Failure.EVIDENCE_ABSENT


def test_a_quote_in_other_words_beside_a_stated_answer(tmp_path: Path) -> None:
    quote = "whoever wants to end the contract has to say so forty-five days ahead"
    verdict = only(benchmark(tmp_path / "b", item("a", evidence=[{"quote": quote}])))
    assert verdict.failure is Failure.ANSWER_STATED
    assert verdict.state is State.ABSENT


def test_a_calculation_is_told_apart_and_printed(tmp_path: Path) -> None:
    fields = {"question": "How many days in all?", "answer": "75"}
    quotes = [{"quote": "45 days of notice + 30 days for the copies = 75 days"}]
    verdict = only(benchmark(tmp_path / "b", item("a", evidence=quotes, **fields)))
    assert (verdict.failure, verdict.derivation) == (
        Failure.COMPUTATIONAL,
        "45 days of notice + 30 days for the copies = 75",
    )


def test_a_written_calculation_is_none_the_less_one_for_standing_in_its_source(tmp_path: Path) -> None:
    quotes = [{"quote": "45 days + 30 days = 75 days"}]
    folder = benchmark(tmp_path / "b", item("a", evidence=quotes, answer="75"))
    path = folder / "sources" / "agreement.txt"
    path.write_text(f"{path.read_text(encoding='utf-8')}\n45 days + 30 days = 75 days\n", encoding="utf-8")
    verdict = only(folder)
    assert (verdict.state, verdict.failure) == (State.PRESENT, Failure.COMPUTATIONAL)


@pytest.mark.parametrize(
    ("answer_type", "answer", "window", "part"),
    [
        ("text", "Vienna", "The seat is Vienna, and notices go to Graz.", "Vienna"),
        ("enum", "granted", "The right is granted to the holder.", "is granted"),
        ("number", "10", "The fee is ten dollars a month.", "ten dollars"),
    ],
)
def test_the_short_span_that_states_the_answer_must_be_found(
    answer_type: str, answer: str, window: str, part: str, tmp_path: Path
) -> None:
    long = "The Licensee may terminate this Agreement by giving notice"
    fields: dict[str, Any] = {"answer": answer, "answer_type": answer_type, "source": None}
    if answer_type == "enum":
        fields["vocabulary"] = ["granted", "refused"]
    quote = [{"quote": f"{long} ... {part}"}]
    with_it = only(
        benchmark(tmp_path / "a", item("a", window=f"{CLAUSE} {window}", evidence=quote, **fields))
    )
    assert with_it.quote_in_window is True
    without = only(benchmark(tmp_path / "b", item("a", window=CLAUSE, evidence=quote, **fields)))
    assert without.quote_in_window is False
    assert any(part in reason for reason in without.reasons)


def test_what_stands_in_the_window_by_accident_is_not_stated(tmp_path: Path) -> None:
    fields = {"answer": "30", "question": "How high is the fee?"}
    quote = [{"quote": "a fee of thirty dollars falls due upon each transfer of the licence"}]
    verdict = only(benchmark(tmp_path / "b", item("a", evidence=quote, **fields)))
    assert verdict.failure is Failure.EVIDENCE_ABSENT
    assert verdict.answer_in_window is AnswerStated.UNDECIDABLE
    assert any("perhaps by accident" in remark for remark in verdict.remarks)


def test_a_quote_without_a_letter_or_digit_is_no_quote(tmp_path: Path) -> None:
    verdict = only(benchmark(tmp_path / "a", item("a", evidence=[{"quote": "..."}])))
    assert (verdict.state, verdict.quote_in_window, verdict.flagged) == (State.NOT_CHECKABLE, None, False)
    assert "not checkable: the quote has no letter and no digit" in verdict.reasons
    quotes = [{"quote": "giving notice of 45 days in writing"}, {"quote": "$"}]
    verdict = only(benchmark(tmp_path / "b", item("a", evidence=quotes)))
    assert verdict.quote_in_window and len(verdict.spans) == 1


def test_two_pieces_of_evidence_from_two_documents_are_each_looked_for_in_their_own(tmp_path: Path) -> None:
    evidence = [
        {"quote": "terminate this Agreement by giving notice of 45 days", "source": "agreement.txt"},
        {"quote": "parts that were replaced are covered for 6 months more", "source": "warranty.txt"},
    ]
    window = f"{CLAUSE}\n\n{OTHER}"
    folder = benchmark(
        tmp_path / "b", item("a", evidence=evidence, window=window), warranty=f"{FILLER} {OTHER}"
    )
    verdict = only(folder)
    assert (verdict.state, verdict.route) == (State.PRESENT, Route.DECLARED)
    assert verdict.source == "agreement.txt, warranty.txt"


def test_markup_is_quoted_in_html_and_xml(tmp_path: Path) -> None:
    filing = f"<name>A firm</name><item>06b</item><text>{FILLER[:500]}</text>"
    xml = f"<?xml version='1.0'?>\n<filing>{filing}</filing>"
    quote = {"evidence": [{"quote": "<item>06b</item>"}], "answer": "506b", "answer_type": "text"}
    folder = benchmark(tmp_path / "b", item("a", window=filing[:300], source="form.txt", **quote), form=xml)
    verdict = only(folder)
    assert verdict.state is State.PRESENT
    assert "the quote is one of the document's markup" in verdict.remarks


def test_a_benchmark_without_sources_is_checked_as_far_as_that_goes() -> None:
    document = audit(open_stream("facts"), None)
    assert document.self_test.passed
    assert {verdict.state for verdict in document.items} == {State.NOT_CHECKABLE}
    assert not document.flagged


# The checker itself -------------------------------------------------------------------------------------


def always(quote: str, text: Normal | str, /) -> Match:
    return Match(True, (FoundSpan(quote, True, (0, 1)),))


def never(quote: str, text: Normal | str, /) -> Match:
    return Match(False, (FoundSpan(quote, True, None),))


def literal(quote: str, text: Normal | str, /) -> Match:
    raw = text.raw if isinstance(text, Normal) else text
    return Match(quote in raw, (FoundSpan(quote, True, None),))


def digits_do_not_matter(quote: str, text: Normal | str, /) -> Match:
    without = str.maketrans("", "", "0123456789")
    raw = text.raw if isinstance(text, Normal) else text
    return match_quote(quote.translate(without), raw.translate(without))


def beginnings_will_do(quote: str, text: Normal | str, /) -> Match:
    return match_quote(quote[:30], text)


def numbers_may_go_on(quote: str, text: Normal | str, /) -> Match:
    normal = text if isinstance(text, Normal) else Normal(text)
    found = Normal(quote).text in normal.text
    return Match(found, (FoundSpan(quote, True, None),)) if found else match_quote(quote, normal)


BROKEN = (always, never, literal, digits_do_not_matter, beginnings_will_do, numbers_may_go_on)


@pytest.mark.parametrize("matcher", BROKEN, ids=lambda matcher: matcher.__name__)
def test_a_broken_matcher_is_caught_and_gives_no_verdicts(matcher: Matcher, tmp_path: Path) -> None:
    windows = (CLAUSE, OTHER, FILLER[:900])
    items = [item(f"i{number}", window=window) for number, window in enumerate(windows)]
    document = run(benchmark(tmp_path / "b", *items), matcher=matcher)
    assert not document.self_test.passed
    assert document.items == ()
    assert any(trial.failures for trial in document.self_test.trials)


def test_the_matcher_passes_on_windows_of_every_kind() -> None:
    samples = [
        Sample(
            "curly",
            "“The Company’s” shares — all 1,250,000 of them — were “sold” at $1.25 per share in cash.",
        ),
        Sample(
            "entities",
            "The company&rsquo;s pool of 500,000 shares &#8203; &#8203; at $&nbsp;0.24 per share today.",
        ),
        Sample(
            "markup",
            "<a><item>06b</item>\n <total>14040000</total>\n <entityName>A Firm, Inc.</entityName></a>",
        ),
        Sample(
            "table",
            "Total revenue 11,272 17,541 42,949 5,684 13,743 Operating expenses: 1,646 1,969 9,853 670",
        ),
        Sample(
            "brackets",
            "is up to […***…], the aggregate number of US$[PURCHASE PRICE] on December 22, 2025 of it",
        ),
        Sample(
            "cyrillic",
            "Лицензиат вправе расторгнуть договор, уведомив об этом за 45 дней в письменной форме.",
        ),
        Sample("one word", "x" * 300),
        Sample("numbers", " ".join(str(number) for number in range(100, 180))),
    ]
    test = self_test(samples, match_quote)
    assert test.passed, [trial.failures for trial in test.trials if trial.failures]
    assert sum(trial.tried for trial in test.trials) > 25


def test_without_windows_and_quotes_the_self_test_says_that_it_was_not_tried() -> None:
    test = self_test([], never)
    assert test.passed and not test.tried
    assert test.note.startswith("not tried: no item has a window")
    assert all(trial.note.startswith("not tried: ") for trial in test.trials)


RULED = (
    "Name: "
    + "_" * 300
    + "\n"
    + "=" * 200
    + "\n"
    + "★★☆ ✓✗ ┌──┐ " * 20
    + "\nRent: $ 1,250 a month\n"
    + "-" * 250
)


def test_ruled_lines_and_rows_of_signs_are_no_quotes() -> None:
    test = self_test([Sample(f"i{number}", RULED) for number in range(40)], match_quote)
    assert test.passed, [trial.failures for trial in test.trials if trial.failures]
    assert test.trials[0].tried == 40


SHORT = {
    "a sentence": ("The lease is renewed for 5 years.", "The fee is 30 dollars a month."),
    "a number": ("1,250", "17"),
    "a word": ("granted", "denied"),
    "Chinese": ("合同金额为人民币125万元整，乙方应付清。", "租期为三年，每月租金5000元。"),
    "Korean": ("임차인은 매월 1000원을 지급하여야 한다.", "기간은 3년으로 한다."),
    "Hindi": ("किरायेदार को हर महीने 1234 रुपये देना होगा", "यह पाँच तारीख तक देय है"),
    "code": ("for (int i=0; i<10; i++) { a[i] = b[i-1] * 2; }", "while (x > 15) { x -= 3; } // ..."),
}


@pytest.mark.parametrize("windows", SHORT.values(), ids=SHORT.keys())
def test_short_windows_of_every_script_are_tried_too(windows: tuple[str, ...]) -> None:
    samples = [Sample(window, window) for window in windows]
    test = self_test(samples, match_quote)
    assert test.passed, [trial.failures for trial in test.trials if trial.failures]
    for matcher in (always, never):
        assert not self_test(samples, matcher).passed


def test_a_test_in_which_nothing_could_be_changed_is_not_passed() -> None:
    test = self_test([Sample("i", "[a] | [b] | [7]")], match_quote)
    assert not test.passed
    assert "nothing shows that it works" in test.note


def test_a_matcher_for_which_a_short_span_never_matters_is_caught(tmp_path: Path) -> None:
    def long_spans_will_do(quote: str, text: Normal | str, /) -> Match:
        match = match_quote(quote, text)
        found = all(
            span.place is not None for span in match.spans if len(span.text) >= 40 or len(match.spans) < 2
        )
        return Match(found, match.spans)

    windows = (FILLER[:1200], FILLER[2000:3500])
    test = self_test([Sample(window, window) for window in windows], long_spans_will_do)
    assert not test.passed
    assert [trial.name for trial in test.trials if trial.failures] == [
        "a long excerpt with a short one whose number was changed fails"
    ]


def test_quotes_are_tried_where_there_are_no_windows(tmp_path: Path) -> None:
    document = run(benchmark(tmp_path / "b", item("a", window=None)))
    assert document.self_test.passed and document.self_test.tried
    assert [verdict.state for verdict in document.items] == [State.PRESENT]


def test_a_reservoir_is_an_even_sample_and_the_same_every_time() -> None:
    first, second = Reservoir(20), Reservoir(20)
    for reservoir in (first, second):
        for number in range(1000):
            reservoir.offer(f"i{number}", CLAUSE)
    assert first.samples == second.samples
    numbers = [int(sample.item[1:]) for sample in first.samples]
    assert len(set(numbers)) == 20
    assert 300 < sum(numbers) / 20 < 700


# Several processes --------------------------------------------------------------------------------------


def many(folder: Path) -> Path:
    """Forty items, of which each fourth names another item's document."""
    items, sources = [], {}
    for number in range(40):
        clause = CLAUSE.replace("45", str(1000 + number))
        name = f"agreement{(number + 1) % 40 if number % 4 == 0 else number}"
        quote = {"evidence": [{"quote": f"by giving notice of {1000 + number} days in writing"}]}
        items.append(
            item(f"i{number}", window=clause, answer=str(1000 + number), source=f"{name}.txt", **quote)
        )
        sources[f"agreement{number}"] = f"{FILLER}\n{clause}\n{number * FILLER[:200]}"
    return benchmark(folder, *items, **sources)


def test_processes_side_by_side_give_the_same_verdicts_in_the_same_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = many(tmp_path / "b")
    alone = run(folder, workers=1)
    monkeypatch.setattr(run_module, "_WORTH_PROCESSES", 10)
    done: list[int] = []
    together = run(folder, workers=2, progress=done.append)
    assert together.items == alone.items
    assert sum(done) == len(alone.items) == 40
    elsewhere = [verdict for verdict in alone.items if verdict.route is Route.ELSEWHERE]
    assert [verdict.item for verdict in elsewhere] == [f"i{number}" for number in range(0, 40, 4)]
    assert all(verdict.source == f"agreement{verdict.item[1:]}.txt" for verdict in elsewhere)


def test_a_fault_in_the_middle_of_a_stream_is_a_users_mistake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = many(tmp_path / "b")
    with (folder / "items.jsonl").open("a", encoding="utf-8") as file:
        file.write("{broken\n")
    monkeypatch.setattr(run_module, "_WORTH_PROCESSES", 10)
    with pytest.raises(UsageError, match=r"items\.jsonl:41"):
        run(folder, workers=2)


def test_the_content_hash_is_that_of_the_benchmark(tmp_path: Path) -> None:
    folder = many(tmp_path / "b")
    assert run(folder).benchmark.content_hash == load_benchmark(folder).content_hash
