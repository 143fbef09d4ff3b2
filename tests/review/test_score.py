"""Agreement of a second reading: judged as models are, under its right name, with an interval or a reason."""

from __future__ import annotations

import re
from typing import Any

import pytest

from leadline.bench import Benchmark, Item
from leadline.errors import UsageError
from leadline.review.agreeing import LEAST_ROWS, Group
from leadline.review.filled_sheet import FilledSheet
from leadline.review.pack import draw_pack
from leadline.review.score import Scored, score_pack
from leadline.review.score_sentence import relation_of
from leadline.review.score_text import disagreement_flags, remarks, summary, table
from leadline.review.sheet import Answer
from leadline.review.understood import Dialect, understood
from leadline.stats.agreement import alpha, kappa
from leadline.stats.intervals import wilson
from tests.review.packs import Change, benchmark, by_label


def scored(whole: Benchmark, change: Change = lambda item: None, **how: Any) -> Scored:
    """All of a benchmark as a pack, answered as labelled but for what `change` says."""
    pack = draw_pack(whole, per_stratum=1000, author=how.pop("author", "A. Author"))
    sheet = FilledSheet(by_label(pack, whole, change), "0" * 64)
    return score_pack(pack, whole, sheet, how.pop("reader", "R. Reader"), **how)


def group(found: Scored, by: str, **keys: str) -> Group:
    (one,) = (
        one
        for one in found.score.groups
        if one.by == by and all(getattr(one, name) == value for name, value in keys.items())
    )
    return one


def asked(answers: list[str], **form: Any) -> Benchmark:
    """One question for each label."""
    items = tuple(
        Item(id=f"q{at}", question=f"Number {at}?", answer=answer, **form)
        for at, answer in enumerate(answers)
    )
    return Benchmark(name="asked", version="1", items=items)


def number_of(item: Item) -> int:
    return int(re.sub(r"\D", "", item.id))


def item(answer: str, answer_type: str = "text", **form: Any) -> Item:
    return Item(id="one", question="What is it?", answer=answer, answer_type=answer_type, **form)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("asks", "said"),
    [
        (item("United States", aliases=("USA", "America")), "USA"),
        (item("Free Software Foundation"), "the free software foundation"),
        (item("1250000", "number"), "1,250,000"),
        (item("1250000", "number"), "1.25E+06"),
        (item("0.909", "number"), "0.9091"),
        (item("30", "number", unit="day"), "30 days"),
        (item("12", "number"), "12 marks"),
        (item("0.5", "number"), "0,5"),
        (item("yes", "boolean"), "TRUE"),
        (item("1989-02", "date"), "February 1989"),
        (item("red", "enum", vocabulary={"red": ["crimson"], "blue": []}), "Crimson"),
        (item('{"rate": 8}', "parts", fields=({"name": "rate", "answer_type": "number"},)), "rate: 8.0"),
    ],
)
def test_one_answer_written_otherwise_agrees_and_counts_as_the_labels_value(asks: Item, said: str) -> None:
    read = understood(asks, Answer(said))
    assert read.state == "agrees" and read.label == read.said
    assert read.places is None or read.places[0] == read.places[1]


@pytest.mark.parametrize(
    ("asks", "said"),
    [
        (item("United States"), "not the United States"),
        (item("Au"), "because"),
        (item("1250000", "number"), "about 1250000"),
        (item("30", "number"), "31"),
        (item("yes", "boolean"), "no"),
        (item("1989-02-01", "date"), "1989-02"),
        (item("red", "enum", vocabulary=("red", "blue")), "blue"),
    ],
)
def test_another_answer_differs_also_where_the_published_rule_finds_the_label_in_it(
    asks: Item, said: str
) -> None:
    read = understood(asks, Answer(said))
    assert read.state == "differs" and read.label != read.said


def test_by_the_published_rule_a_label_within_a_longer_answer_agrees_and_such_rows_are_counted() -> None:
    whole = asked(["Au", "Ag", "Fe"])
    found = scored(whole, lambda one: "because" if one.answer == "Au" else None)
    assert (found.score.overall.all_rows.agree.numerator, found.score.published_only) == (2, 1)
    assert any("1 row would agree by the published rule" in line for line in remarks(found.score))
    as_published = scored(
        whole, lambda one: "because" if one.answer == "Au" else None, correctness="maple"
    ).score
    assert (as_published.overall.all_rows.agree.numerator, as_published.published_only) == (3, 0)


@pytest.mark.parametrize("said", ["?", "??", " ？", "unknown", "not stated"])
def test_that_the_text_settles_nothing_is_a_reading_of_its_own(said: str) -> None:
    assert understood(item("yes", "boolean"), Answer(said)).state == "unsettled"


@pytest.mark.parametrize(
    ("asks", "said", "told"),
    [
        (item("1989-02", "date"), "Feb-89", "a spreadsheet may have made this of it"),
        (item("1989-02-01", "date"), "01/02/1989", "write YYYY-MM-DD, or say --date-order"),
        (item("1989-02-01", "date"), "32540", "a spreadsheet made a number of it"),
        (item("0.5", "number"), "02-Jan", "a spreadsheet made a date of it"),
        (item("0.5", "number"), "02. Mär", "a spreadsheet made a date of it"),
        (item("1250", "number"), "1,250", "write it with a point, or say --locale"),
        (item("1250000", "number", precision="1"), "1.25E+06", "a spreadsheet shortened it"),
        (item("30", "number"), "thirty or forty-one", "a range or an alternative"),
        (item("yes", "boolean"), "WAHR", "no yes or no"),
        (item("red", "enum", vocabulary=("red", "blue")), "orange", "no label"),
    ],
)
def test_what_cannot_be_told_is_unreadable_by_its_form_alone(asks: Item, said: str, told: str) -> None:
    read = understood(asks, Answer(said))
    assert read.state == "unreadable" and told in read.fault
    other = asks.model_copy(update={"answer": "7", "aliases": ()})
    assert understood(other, Answer(said)).fault == read.fault


def test_how_the_sheet_writes_dates_and_numbers_can_be_said() -> None:
    dates = Dialect(date_order="dmy")
    assert understood(item("1989-02-01", "date"), Answer("01/02/1989"), dialect=dates).state == "agrees"
    german = Dialect(locale="de-DE")
    assert understood(item("1250", "number"), Answer("1.250"), dialect=german).state == "agrees"
    assert understood(item("1.25", "number"), Answer("1,250"), dialect=german).state == "agrees"


def test_unreadable_answers_are_refused_by_row_or_counted_as_disagreements_if_one_wishes() -> None:
    whole = asked([f"1989-02-{at + 10}" for at in range(12)], answer_type="date")
    wrong = lambda one: "Feb-89" if number_of(one) < 5 else None  # noqa: E731
    with pytest.raises(UsageError) as refused:
        scored(whole, wrong, where="sheet.csv")
    assert re.match(
        r"sheet\.csv: 5 answers cannot be read .*: row \d+, 'Feb-89': no date", str(refused.value)
    )
    assert "and 2 more" in str(refused.value) and "\n" not in str(refused.value)
    found = scored(whole, wrong, count_unreadable=True).score
    assert (found.unreadable, found.overall.all_rows.agree.numerator, found.rows) == (5, 7, 12)


def test_figures_are_those_of_the_statistics_room() -> None:
    colours = ("red", "green", "blue")
    whole = asked([colours[at % 3] for at in range(60)], answer_type="enum", vocabulary=colours)
    change = lambda one: "red" if number_of(one) % 7 == 0 else None  # noqa: E731
    found = scored(whole, change).score.overall.all_rows
    labels = [one.answer for one in whole.items]
    said = [change(one) or one.answer for one in whole.items]
    agreeing = sum(one == other for one, other in zip(labels, said, strict=True))
    assert (found.agree.value, found.agree.low, found.agree.high) == (
        agreeing / 60,
        *wilson(agreeing, 60),
    )
    value, asymptotic = kappa(labels, said)
    assert found.kappa.value == pytest.approx(value)
    assert (found.kappa_asymptotic.low, found.kappa_asymptotic.high) == pytest.approx(asymptotic)
    assert found.kappa.low == pytest.approx(asymptotic.low, abs=0.05) and found.kappa.high is not None
    codes = [[colours.index(one) for one in side] for side in (labels, said)]
    assert found.alpha.value == pytest.approx(alpha(codes, "nominal", draws=1)[0])
    assert found.expected == pytest.approx(1 / 3, abs=0.02) and found.labels == 3


def test_alpha_of_numbers_is_of_ratios_and_of_dates_of_days() -> None:
    values = [float(at + 1) for at in range(40)]
    near = lambda one: str(float(one.answer) + 0.5) if number_of(one) % 3 == 0 else None  # noqa: E731
    whole = asked([str(value) for value in values], answer_type="number", precision="0.1")
    found = scored(whole, near).score.overall.all_rows
    said = [float(near(one) or one.answer) for one in whole.items]
    assert found.level == "ratio"
    assert found.alpha.value == pytest.approx(alpha([values, said], "ratio", draws=1)[0])
    # Half a unit aside is a small distance, and for kappa another value.
    assert found.alpha.value is not None and found.kappa.value is not None
    assert found.alpha.value > 0.95 and found.kappa.value < 0.7
    below = asked([str(value - 20) for value in values], answer_type="number", precision="0.1")
    negative = scored(below, near).score.overall
    assert negative.all_rows.level == "interval" and "below zero" in negative.notes[0]
    days = asked([f"2020-01-{at + 1:02}" for at in range(31)], answer_type="date")
    later = scored(days, lambda one: "2020-01-03" if one.answer == "2020-01-02" else None).score.overall
    assert later.all_rows.level == "interval"
    assert later.all_rows.alpha.value is not None and later.all_rows.alpha.value > 0.999


def test_settling_nothing_is_counted_as_disagreement_and_left_out_beside_it() -> None:
    whole = asked(["yes", "no"] * 30, answer_type="boolean")
    found = scored(whole, lambda one: "?" if number_of(one) < 12 else None).score
    overall = found.overall
    assert (overall.rows, overall.unsettled, overall.all_rows.agree.value) == (60, 12, 48 / 60)
    assert overall.settled is not None
    assert (overall.settled.agree.value, overall.settled.agree.denominator) == (1.0, 48)
    assert overall.all_rows.labels == 3 and overall.settled.labels == 2
    assert any("12 rows the text could not settle" in line for line in summary(found))
    assert scored(whole).score.overall.settled is None


def test_small_groups_have_counts_and_no_coefficient() -> None:
    found = scored(benchmark(), lambda one: "blue" if one.answer_type == "enum" else None)
    small = group(found, "stratum", category="names", answer_type="enum")
    assert (small.rows, small.all_rows.agree.numerator) == (8, 0)
    assert small.all_rows.agree.high == pytest.approx(wilson(0, 8).high)
    for figure in (small.all_rows.kappa, small.all_rows.alpha):
        assert figure.value is None and figure.low is None
        assert figure.note == f"8 rows, fewer than {LEAST_ROWS}"
    large = group(found, "category", category="names")
    assert large.rows == 31 and large.all_rows.kappa.value is not None
    assert any(line.startswith("groups of fewer than 30 rows") for line in remarks(found.score))


def test_one_value_throughout_leaves_kappa_undefined_and_one_sided_it_is_zero_by_construction() -> None:
    whole = asked(["yes"] * 40, answer_type="boolean")
    same = scored(whole).score.overall.all_rows
    assert same.agree.value == 1 and same.kappa.value is None and same.alpha.value is None
    assert same.kappa.note == same.alpha.note == "both readings are one and the same value throughout"
    turned = scored(whole, lambda one: "no" if number_of(one) < 4 else None).score.overall
    assert turned.all_rows.kappa.value == pytest.approx(0)
    assert "kappa is 0 by construction" in turned.all_rows.kappa.note
    assert any("one value is nearly all" in note for note in turned.notes)


def test_without_a_disagreement_no_interval_of_no_width_is_printed() -> None:
    found = scored(asked(["yes", "no"] * 20, answer_type="boolean")).score
    for figure in (found.overall.all_rows.kappa, found.overall.all_rows.alpha):
        assert (figure.value, figure.low, figure.high) == (1.0, None, None)
        assert figure.note.startswith("no disagreement, so no interval")
    assert found.overall.all_rows.agree.low == pytest.approx(wilson(40, 40).low)
    assert "kappa    1.000 (no disagreement" in "\n".join(summary(found))


def test_many_distinct_values_make_kappa_nearly_the_share_of_agreement_and_that_is_said() -> None:
    whole = asked([f"Person {chr(65 + at // 26)}{chr(65 + at % 26)}" for at in range(50)])
    found = scored(whole, lambda one: "somebody else" if number_of(one) % 10 == 0 else None).score.overall
    assert found.all_rows.kappa.value == pytest.approx(0.9, abs=0.01)
    assert any(
        re.match(r"51 distinct values: chance alone would give 1\.\d% agreement", note)
        for note in found.notes
    )


def test_the_weighted_share_stands_for_the_population_not_for_the_sample() -> None:
    def of(category: str, number: int) -> tuple[Item, ...]:
        yes = {"answer": "yes", "answer_type": "boolean", "category": category}
        return tuple(Item(id=f"{category}{at}", question=f"{at} {category}?", **yes) for at in range(number))  # type: ignore[arg-type]

    whole = Benchmark(name="two", version="1", items=(*of("big", 90), *of("small", 10)))
    pack = draw_pack(whole, per_stratum=10, author="A. Author")
    wrong = lambda one: "no" if one.category == "small" else None  # noqa: E731
    found = score_pack(pack, whole, FilledSheet(by_label(pack, whole, wrong), ""), "R. Reader").score
    assert found.overall.all_rows.agree.value == 0.5
    assert found.weighted.value == pytest.approx(0.9) and found.weighted.denominator == 20
    assert found.overall.all_rows.weighted == found.weighted
    # Kish: (10·9 + 10·1)² / (10·81 + 10·1) = 12.2 effective rows of 20.
    assert "12.2 effective rows" in found.weighted.method
    assert (found.weighted.low, found.weighted.high) == pytest.approx(wilson(0.9 * 10000 / 820, 10000 / 820))


@pytest.mark.parametrize(
    ("reader", "author", "called"),
    [
        ("Jane Doe", " jane   DOE ", "intra-annotator agreement"),
        ("Ｊane Doe", "Jane Doe", "inter-annotator agreement"),
        ("John Roe", "Jane Doe", "inter-annotator agreement"),
        ("John Roe", "", "annotator agreement of unknown kind"),
    ],
)
def test_agreement_is_called_by_who_read_and_who_labelled(reader: str, author: str, called: str) -> None:
    found = scored(asked(["yes", "no"]), reader=reader, author=author).score
    assert found.agreement == called
    assert summary(found)[0].startswith(called)
    words = {"intra-annotator": "must be reported in those words", "unknown": "cannot be told"}
    assert words.get(relation_of(reader, author), "This is inter-annotator agreement") in found.sentence


@pytest.mark.parametrize(
    ("reader", "author", "alike"),
    [
        ("B. Li", "Bo Li", True),
        ("Bó Li", "Bo Li", True),
        ("Ｂo Li", "Bo Li", True),
        ("Ann Lee", "Bo Li", False),
    ],
)
def test_agreement_goes_by_the_names_given_and_where_they_are_alike_that_is_said(
    reader: str, author: str, alike: bool
) -> None:
    score = scored(asked(["yes", "no"]), reader=reader, author=author).score
    assert score.sentence.startswith("This is inter-annotator agreement by the names given: ")
    assert ("The two names are alike" in score.sentence) is alike


def test_an_author_can_be_named_later_but_not_another_one() -> None:
    whole = asked(["yes", "no"])
    pack = draw_pack(whole)
    sheet = FilledSheet(by_label(pack, whole), "")
    assert score_pack(pack, whole, sheet, "Ann", author="ann").score.relation == "intra-annotator"
    signed = draw_pack(whole, author="Bo")
    with pytest.raises(UsageError, match="the pack names 'Bo' as author"):
        score_pack(signed, whole, sheet, "Ann", author="Ann")
    with pytest.raises(UsageError, match="--reader is blank"):
        score_pack(pack, whole, sheet, "  ")


def test_a_score_holds_no_label_and_disagreements_become_flags() -> None:
    whole = benchmark()
    found = scored(whole, lambda one: "Somebody" if one.answer == "Quibble 3" else None)
    assert "uibble" not in found.score.model_dump_json()
    (flag,) = disagreement_flags(found, whole).flags
    assert (flag.kind, flag.label, flag.value, flag.reader) == (
        "reread",
        "Quibble 3",
        "Somebody",
        "R. Reader",
    )
    assert found.score.population == "all 60 items"


def test_an_alpha_that_leaves_rows_out_says_how_many_it_is_of() -> None:
    """44 numbers, 12 of them answered "?": 27 % disagree, and of what alpha sees nothing does."""
    whole = asked([str(at + 1) for at in range(44)], answer_type="number")
    found = scored(whole, lambda one: "?" if number_of(one) < 12 else None).score
    figure = found.overall.all_rows.alpha
    assert (figure.value, figure.denominator) == (1.0, 32)
    assert figure.note.startswith("over the 32 of 44 rows with two numbers; no disagreement among these")
    (line,) = (line for line in summary(found) if line.startswith("alpha"))
    assert "32 of 44 rows" in line
    near = scored(
        whole, lambda one: "?" if number_of(one) < 12 else "7" if one.answer == "20" else None
    ).score
    (line,) = (line for line in summary(near) if line.startswith("alpha"))
    assert "[" in line and "32 of 44 rows" in line


def test_a_group_of_unequally_drawn_strata_has_its_share_weighted_too_and_so_has_what_is_settled() -> None:
    """14 numbers, of which 6 are drawn and all agree, and 6 texts, all drawn, of which 2 do."""
    numbers = tuple(
        Item(id=f"n{at}", question=f"{at}?", answer=str(at + 1), answer_type="number", category="one")
        for at in range(14)
    )
    texts = tuple(Item(id=f"t{at}", question=f"t{at}?", answer=f"T {at}", category="one") for at in range(6))
    whole = Benchmark(name="mixed", version="1", items=(*numbers, *texts))
    pack = draw_pack(whole, per_stratum=6, author="A")
    change = lambda one: ("?" if one.id == "t5" else "no") if one.id > "t1" else None  # noqa: E731
    found = score_pack(pack, whole, FilledSheet(by_label(pack, whole, change), ""), "R").score
    category = next(one for one in found.groups if one.by == "category")
    assert category.all_rows.agree.value == pytest.approx(8 / 12)
    assert category.all_rows.weighted is not None
    assert category.all_rows.weighted.value == pytest.approx((14 + 2) / 20)
    assert category.all_rows.weighted.denominator == 12
    assert category.settled is not None and category.settled.weighted is not None
    assert category.settled.weighted.value == pytest.approx((14 + 2) / 19)
    assert category.settled.weighted.denominator == 11
    assert all(one.all_rows.weighted is None for one in found.groups if one.by == "stratum")
    said = "\n".join(summary(found))
    assert "80.0 % (n=12)" in said and "12 rows read, 10.3 effective" in said
    assert "kappa and alpha are of the rows" in said
    columns, rows = table(found)
    assert "weighted" in columns and "kappa" not in columns
    assert [row[0] for row in rows] == ["overall", "answer type", "answer type"]  # each stratum once


def test_rows_of_one_document_are_said_to_resemble_each_other() -> None:
    assert any("resemble each other" in note for note in scored(benchmark()).score.notes)
    assert not any("resemble" in note for note in scored(asked(["yes", "no"])).score.notes)


def test_who_has_seen_keys_is_not_called_blind() -> None:
    whole = asked(["yes", "no", "no"])
    found = scored(whole, seen={"q0", "q2"}).score
    assert (found.stood.items, found.stood.rows) == (2, 2)
    assert found.sentence.endswith(
        "R. Reader is not known to be blind: 2 items of this benchmark, 2 of the pack's rows, had been "
        "read or decided on in that name, with the label shown."
    )
