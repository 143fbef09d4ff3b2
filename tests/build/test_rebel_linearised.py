"""REBEL's linearised output is read as its grammar says, and nothing is made up where it is broken."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.build.extract.linearised import grouped, linearise, parse
from leadline.build.records import Triplet

SAMPLE = Path(__file__).parents[3] / "shared" / "data" / "build" / "rebel" / "sample.jsonl"

PF = ("Paris", "capital of", "France")
PS = ("Paris", "located next to body of water", "Seine")
BG = ("Berlin", "capital of", "Germany")

# Output, triplets (subject, relation, object), codes of what was left out.
TABLE: list[tuple[str, list[tuple[str, str, str]], list[str]]] = [
    # As the grammar has it.
    ("<triplet> Paris <subj> France <obj> capital of", [PF], []),
    ("<s><triplet> Paris <subj> France <obj> capital of</s>", [PF], []),
    ("</s><s><triplet> Paris <subj> France <obj> capital of</s><pad><pad>", [PF], []),
    ("<s> <triplet>  Paris\t<subj>\nFrance <obj>  capital   of </s>", [PF], []),
    ("<triplet>\u00a0Paris <subj> France\u00a0<obj> capital\u00a0of", [PF], []),
    (
        "<triplet> Paris <subj> France <obj> capital of <subj> Seine <obj> located next to body of water",
        [PF, PS],
        [],
    ),
    (
        "<triplet> Paris <subj> France <obj> capital of <triplet> Berlin <subj> Germany <obj> capital of",
        [PF, BG],
        [],
    ),
    (
        "<triplet> Paris <subj> France <obj> capital of <subj> France <obj> country",
        [PF, ("Paris", "country", "France")],
        [],
    ),
    # The object of one is the subject of the next.
    (
        "<triplet> Paris <subj> France <obj> capital of <triplet> France <subj> Paris <obj> capital",
        [PF, ("France", "capital", "Paris")],
        [],
    ),
    (
        "<triplet> 1984 <subj> 8 June 1949 <obj> publication date",
        [("1984", "publication date", "8 June 1949")],
        [],
    ),
    # A head that comes again, after itself or later.
    (
        "<triplet> Paris <subj> France <obj> capital of <triplet> Paris <subj> Seine <obj> "
        "located next to body of water",
        [PF, PS],
        [],
    ),
    (
        "<triplet> Paris <subj> France <obj> capital of <triplet> Berlin <subj> Germany <obj> capital of "
        "<triplet> Paris <subj> Seine <obj> located next to body of water",
        [PF, BG, PS],
        [],
    ),
    # The same triplet again: beams loop.
    ("<triplet> Paris <subj> France <obj> capital of <subj> France <obj> capital of", [PF], ["repeated"]),
    (
        "<triplet> Paris <subj> France <obj> capital of <triplet> Paris <subj> France <obj> capital of "
        "<triplet> Paris  <subj> France <obj> capital of",
        [PF],
        ["repeated", "repeated"],
    ),
    # Tags that touch the words.
    ("<triplet>Paris<subj>France<obj>capital of", [PF], []),
    (
        "<s><triplet>Paris<subj>France<obj>capital of<triplet>Berlin<subj>Germany<obj>capital of</s>",
        [PF, BG],
        [],
    ),
    ("<triplet> Paris<subj> France<obj> capital of</s>", [PF], []),
    # Cut at each point, without special tokens: only what is not there is missing.
    (
        "<triplet> Paris <subj> France <obj> capital of <triplet> Berlin <subj> Germany <obj>",
        [PF],
        ["no-relation"],
    ),
    ("<triplet> Paris <subj> France <obj> capital of <triplet> Berlin <subj> Germany", [PF], ["no-relation"]),
    ("<triplet> Paris <subj> France <obj> capital of <triplet> Berlin <subj>", [PF], ["no-relation"]),
    ("<triplet> Paris <subj> France <obj> capital of <triplet> Berlin", [PF], ["bare-subject"]),
    ("<triplet> Paris <subj> France <obj> capital of <triplet>", [PF], ["bare-subject"]),
    ("<triplet> Paris <subj> France <obj> capital of <subj> Seine", [PF], ["no-relation"]),
    ("<triplet> Paris <subj> France <obj> capital of <subj> Seine <obj>", [PF], ["no-relation"]),
    ("<triplet> Paris", [], ["bare-subject"]),
    ("<triplet>", [], ["bare-subject"]),
    # Cut in the middle of a tag.
    ("<triplet> Paris <subj> France <obj> capital of <tripl", [PF], ["cut"]),
    ("<triplet> Paris <subj> France <obj> capital of <", [PF], ["cut"]),
    ("<triplet> Paris <subj> France <obj> capital of <triplet> Berlin <su", [PF], ["cut"]),
    ("<triplet> Paris <subj> France <o", [], ["cut"]),
    # Cut by the greatest length: <s> but no </s>, so the last relation may be half a relation.
    ("<s><triplet> Paris <subj> France <obj> capital of <subj> Seine <obj> located next", [PF], ["cut"]),
    ("<s><triplet> Paris <subj> France <obj> capital of <triplet> Berlin <subj> Ger", [PF], ["cut"]),
    ("<s><triplet> Paris <subj> France <obj> capital of <triplet> Ber", [PF], ["cut"]),
    ("</s><s><triplet> Paris <subj> France <obj> capit", [], ["cut"]),
    ("</s><triplet> Paris <subj> France <obj> capit", [], ["cut"]),
    # Parts without a tag: what stood before is not used again.
    ("<triplet> Paris <obj> capital of", [], ["no-object"]),
    ("<triplet> Paris <subj> France <obj> capital of <obj> country", [PF], ["no-object"]),
    (
        "<triplet> Paris <subj> France <obj> capital of <triplet> Berlin <obj> capital of",
        [PF],
        ["no-object"],
    ),
    ("<triplet> Paris <subj> France <subj> Seine <obj> located next to body of water", [PS], ["no-relation"]),
    ("<subj> France <obj> capital of", [], ["no-subject"]),
    ("<obj> capital of", [], ["no-subject"]),
    ("<subj> France", [], ["no-relation"]),
    (
        "<obj> capital of <subj> France <triplet> Berlin <subj> Germany <obj> capital of",
        [BG],
        ["no-subject", "no-relation"],
    ),
    ("<triplet> Paris <triplet> Berlin <subj> Germany <obj> capital of", [BG], ["bare-subject"]),
    # Parts without text.
    ("<triplet> <subj> France <obj> capital of", [], ["no-subject"]),
    ("<triplet> Paris <subj> <obj> capital of", [], ["no-object"]),
    (
        "<triplet> Paris <subj> France <obj> <subj> Seine <obj> located next to body of water",
        [PS],
        ["no-relation"],
    ),
    ("<triplet><subj><obj>", [], ["no-subject"]),
    (
        "<triplet> Berlin <subj> Germany <obj> capital of <triplet> <subj> France <obj> capital of",
        [BG],
        ["no-subject"],
    ),
    # No triplets at all.
    ("", [], []),
    ("<s></s>", [], []),
    ("</s><s></s><pad>", [], []),
    ("  \n ", [], []),
    ("Paris is the capital of France.", [], ["stray"]),
    ("Well: <triplet> Paris <subj> France <obj> capital of", [PF], ["stray"]),
    # Whatever is in a name stays as it is.
    ("<triplet> Zürich <subj> Schweiz <obj> Land", [("Zürich", "Land", "Schweiz")], []),
    ("<triplet> Zu\u0308rich <subj> 瑞士 <obj> country", [("Zu\u0308rich", "country", "瑞士")], []),
    ("<triplet> القاهرة <subj> مصر <obj> capital of", [("القاهرة", "capital of", "مصر")], []),
    ("<triplet> I <3 U SO <subj> Big Bang <obj> performer", [("I <3 U SO", "performer", "Big Bang")], []),
    ("<triplet> a < b <subj> x > y <obj> part of", [("a < b", "part of", "x > y")], []),
    ("<TRIPLET> Paris <subj> France <obj> capital of", [], ["stray", "no-subject"]),
    ("<triplet> 🚲 <subj> <per> Ann <obj> creator", [("🚲", "creator", "<per> Ann")], []),
]


@pytest.mark.parametrize(("output", "triplets", "codes"), TABLE)
def test_an_output_gives_these_triplets_and_no_others(
    output: str, triplets: list[tuple[str, str, str]], codes: list[str]
) -> None:
    said = parse(output)
    assert [(one.subject, one.relation, one.object) for one in said.triplets] == triplets
    assert [fault.code for fault in said.faults] == codes


def test_the_table_is_long_enough() -> None:
    assert len({output for output, *_ in TABLE}) >= 40


def test_a_model_that_says_it_was_cut_loses_its_last_triplet_only() -> None:
    output = "<triplet> Paris <subj> France <obj> capital of <subj> Seine <obj> located next"
    assert len(parse(output, ended=True).triplets) == 2
    cut = parse(output, ended=False)
    assert [one.object for one in cut.triplets] == ["France"]
    assert cut.faults[0].piece == "<subj> Seine <obj> located next"


def test_every_beginning_of_an_output_gives_a_beginning_of_its_triplets() -> None:
    """Nothing is ever invented: what a cut output yields, the whole one yields too."""
    whole = (
        "<s><triplet> Paris <subj> France <obj> capital of <subj> Seine <obj> located next to body of water "
        "<triplet> Berlin <subj> Germany <obj> capital of</s>"
    )
    every = parse(whole).triplets
    for end in range(len(whole)):
        cut = parse(whole[:end]).triplets
        assert cut == every[: len(cut)], whole[:end]


names = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=12).filter(
    lambda text: bool(text.strip()) and "<" not in text
)


@given(st.lists(st.builds(lambda s, r, o: Triplet(subject=s, relation=r, object=o), names, names, names)))
def test_what_was_linearised_is_read_back(triplets: list[Triplet]) -> None:
    said = parse(linearise(triplets))
    assert list(said.triplets) == grouped(triplets)
    assert said.faults == ()
    assert list(parse(f"<s>{linearise(triplets)}</s><pad>").triplets) == grouped(triplets)


@given(
    st.lists(st.sampled_from(["<triplet>", "<subj>", "<obj>", "<s>", "</s>", "<pad>", "<su", " ", "a", "b"]))
)
def test_no_output_breaks_the_parser_and_all_that_it_yields_is_whole(pieces: list[str]) -> None:
    for one in parse("".join(pieces)).triplets:
        assert one.subject and one.relation and one.object


@pytest.mark.parametrize("bad", ["", "a <obj> b", "x</s>", "ends in <tri"])
def test_a_name_that_cannot_be_told_from_a_tag_is_not_written(bad: str) -> None:
    with pytest.raises(ValueError, match="cannot be written"):
        linearise([Triplet(subject=bad, relation="r", object="o")])


@pytest.mark.skipif(not SAMPLE.is_file(), reason="REBEL's sample (../shared/data/build/rebel) is not here")
def test_gold_triplets_of_a_thousand_abstracts_survive_the_round_trip() -> None:
    abstracts = count = 0
    for line in SAMPLE.read_text("utf-8").splitlines():
        page = json.loads(line)
        gold = [
            Triplet(
                subject=one["subject"]["surfaceform"],
                relation=one["predicate"]["surfaceform"],
                object=one["object"]["surfaceform"],
            )
            for one in page["triples"]
        ]
        said = parse(f"</s><s>{linearise(gold)}</s>")
        assert said.faults == ()
        assert set(said.triplets) == set(gold)
        heads = list(dict.fromkeys(one.subject for one in gold))
        assert list(dict.fromkeys(one.subject for one in said.triplets)) == heads
        # Within a head, the order is the gold's.
        for head in heads:
            mine = [one for one in said.triplets if one.subject == head]
            assert mine == list(dict.fromkeys(one for one in gold if one.subject == head))
        abstracts, count = abstracts + 1, count + len(page["triples"])
    assert (abstracts, count) == (1000, 2868)
