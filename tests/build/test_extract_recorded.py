"""Recorded extractions are found by their text or their page; whatever is wrong with a file is one line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
import zstandard

from leadline.build.extract.extractor import Passage
from leadline.build.extract.recorded import RecordedExtractor, RecordedLine, read_recorded
from leadline.errors import LeadlineError, UsageError

ANN = "Ann Lee is an English rower. She was born in Ulm in 1990. Ann Lee lives in Bonn."
OUTPUT = (
    "<triplet> Ann Lee <subj> Ulm <obj> place of birth <subj> 1990 <obj> date of birth <subj> Bonn <obj> "
    "residence <triplet> Bob <subj> Ulm <obj> place of birth"
)


def said(extractor: RecordedExtractor, passage: Passage) -> tuple[list[str], str]:
    (found,) = extractor.read([passage])
    return [f"{one.subject}|{one.relation}|{one.object}" for one in found.triplets], found.note


@pytest.fixture
def ann() -> RecordedExtractor:
    return RecordedExtractor([RecordedLine(title="Ann Lee", text=ANN, output=OUTPUT)])


def test_a_recorded_text_gives_all_that_was_recorded_for_it(ann: RecordedExtractor) -> None:
    every = ["Ann Lee|place of birth|Ulm", "Ann Lee|date of birth|1990", "Ann Lee|residence|Bonn"]
    every.append("Bob|place of birth|Ulm")
    assert said(ann, Passage("Ann Lee", ANN)) == (every, "")
    # White space may differ, and the article may be longer.
    assert said(ann, Passage("Ann Lee", ANN.replace(". ", ".\n") + "\n\nLater life.")) == (every, "")
    assert said(ann, Passage("another title", ANN)) == (every, "")


def test_a_sentence_of_a_recorded_text_gives_what_it_can_state_itself(ann: RecordedExtractor) -> None:
    assert said(ann, Passage("Ann Lee", "Ann Lee lives in Bonn."))[0] == ["Ann Lee|residence|Bonn"]
    assert said(ann, Passage("Ann_Lee", "She was born in Ulm in 1990."))[0] == [
        "Ann Lee|place of birth|Ulm",
        "Ann Lee|date of birth|1990",
    ]
    assert said(ann, Passage("Ann Lee", "Ann Lee is an English rower.")) == ([], "")


def test_a_sentence_that_was_recorded_itself_gives_what_was_said_of_it() -> None:
    sentence = "Ann Lee lives in Bonn."
    lines = [
        RecordedLine(title="Ann Lee", text=ANN, output=OUTPUT),
        RecordedLine(text=sentence, output="<triplet> Ann Lee <subj> Bonn <obj> work location"),
    ]
    extractor = RecordedExtractor(lines)
    assert said(extractor, Passage("Ann Lee", sentence))[0] == ["Ann Lee|work location|Bonn"]
    # In an article it comes on top of what the page has.
    spans = ((ANN.index(sentence), len(ANN)),)
    article = Passage("Ann Lee", f"{ANN} More.", sentences=spans)
    assert said(extractor, article)[0][-2:] == ["Bob|place of birth|Ulm", "Ann Lee|work location|Bonn"]


def test_what_is_not_recorded_is_said(ann: RecordedExtractor) -> None:
    assert said(ann, Passage("Bob", "Bob was born in Ulm.")) == ([], "unrecorded")
    assert said(ann, Passage("Ann Lee", "A text of another year.")) == ([], "other-text")


def test_pages_of_one_name_are_told_apart_by_their_id() -> None:
    lines = [
        RecordedLine(
            article="1", title="Ann", text="Ann is tall.", output="<triplet> Ann <subj> tall <obj> size"
        ),
        RecordedLine(
            article="2", title="Ann", text="Ann is here.", output="<triplet> Ann <subj> here <obj> place"
        ),
    ]
    found = said(RecordedExtractor(lines), Passage("Ann", "Ann is tall. So it is.", "1"))
    assert found[0] == ["Ann|size|tall"]


def test_ids_beside_an_output_go_with_its_names() -> None:
    line = RecordedLine(
        text="Ann Lee lives in Bonn.",
        output="<triplet> Ann Lee <subj> Bonn <obj> residence",
        ids={"Bonn": "Q586"},
        relations={"residence": "P551"},
    )
    ((one,),) = RecordedExtractor([line]).extract([Passage("Ann Lee", line.text)])
    assert (one.subject_id, one.relation_id, one.object_id) == (None, "P551", "Q586")


def test_faults_of_the_recorded_output_are_counted() -> None:
    line = RecordedLine(text="Ann.", output="<triplet> Ann <subj> tall <obj> size <triplet> Bob <subj> sm")
    (found,) = RecordedExtractor([line]).read([Passage("Ann", "Ann.")])
    assert found.faults == {"no-relation": 1}


def test_plain_and_compressed_files_say_the_same(tmp_path: Path) -> None:
    data = (
        json.dumps({"title": "Zürich", "text": "Zürich.", "output": "", "model": "x"}) + "\n\n"
    ).encode() * 3
    plain, packed, frames = tmp_path / "a.jsonl", tmp_path / "a.jsonl.gz", tmp_path / "a.jsonl.zst"
    plain.write_bytes(b"\xef\xbb\xbf" + data)
    packed.write_bytes(gzip.compress(data))
    frames.write_bytes(zstandard.compress(data[:40]) + zstandard.compress(data[40:]))
    lines = list(read_recorded(plain))
    assert len(lines) == 3
    assert list(read_recorded(packed)) == lines == list(read_recorded(frames))


@pytest.mark.parametrize(
    ("data", "kind", "words"),
    [
        (b'{"text": "a", "output": ""}\nnope\n', UsageError, r"a\.jsonl:2: no JSON object"),
        (b'{"text": "a"}\n', UsageError, r"a\.jsonl:1: output: Field required"),
        (b'{"text": " ", "output": ""}\n', UsageError, r"a\.jsonl:1: .*text is empty"),
        (b"\n[1, 2]\n", UsageError, r"a\.jsonl:2: "),
        (b'{"text": "\xff", "output": ""}\n', UsageError, r"a\.jsonl:1: "),
        (b'{"text": "a", "output": ""}\n' * 2 + b'{"text": "\xff"}\n', UsageError, r"a\.jsonl:3: "),
        (b"[" * 100_000, UsageError, r"a\.jsonl:1: "),
    ],
)
def test_a_line_that_is_none_is_named(tmp_path: Path, data: bytes, kind: type[Exception], words: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(data)
    with pytest.raises(kind, match=words) as caught:
        list(read_recorded(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_a_file_that_was_cut_off_is_no_shorter_file(tmp_path: Path, suffix: str) -> None:
    data = b"".join(b'{"text": "%d", "output": ""}\n' % number for number in range(5000))
    packed = gzip.compress(data) if suffix == ".gz" else zstandard.compress(data)
    path = tmp_path / f"a.jsonl{suffix}"
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(LeadlineError):
        list(read_recorded(path))
    path.write_bytes(b"not packed at all")
    with pytest.raises(LeadlineError):
        list(read_recorded(path))
