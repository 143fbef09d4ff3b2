"""`leadline review flags`, `decide`, `decisions`: what is printed, written and refused."""

from __future__ import annotations

import csv
import io
import json
import re
from html import unescape
from pathlib import Path

import pytest

from leadline.bench import load_benchmark
from leadline.bench.adjudications import FILE, label_hash, read_adjudications
from leadline.review.flag_files import read_flags
from tests.review.test_flags_of_study import a_study
from tests.study.conftest import Leadline

# A label that only a person reads, an answer that all agree on, and texts that mean harm.
KEY, SAID = "the pale heron", "the dark otter"
HOSTILE = '</style><script>alert("x")</script> \x1b[2J'
ITEMS = [
    {"id": "animal", "question": f"Which animal? {HOSTILE}", "answer": KEY, "task": "=1+1"},
    {"id": "sound", "question": "Which one?", "answer": "left"},
    {"id": "unsure", "question": "How many?", "answer": "5", "answer_type": "number"},
]
READINGS = {
    "animal": [SAID, SAID, SAID, "the grey gull"],
    "sound": ["left"] * 4,
    "unsure": ["5", "6", "5", "7"],
}


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return a_study(tmp_path / "s", ITEMS, dict.fromkeys(("ann", "bob", "cem"), READINGS))


@pytest.fixture
def decide(study: Path, leadline: Leadline) -> Leadline:
    def run(*arguments: str | Path) -> object:
        given = (study / "items.jsonl", *arguments, "--reader", "Jane  Doe", "--into", study / "review")
        return leadline("review", "decide", *given)

    return run  # type: ignore[return-value]


def test_the_list_is_printed_with_its_sentence(study: Path, leadline: Leadline) -> None:
    ended = leadline("review", "flags", study)
    assert ended.code == 0 and ended.err == ""
    # The animal is doubted twice: against the label, and as unstable everywhere.
    assert "3 flags on 2 items: against the label 1, unstable everywhere 2" in ended.out
    rows = [line.split("\t") for line in ended.out.splitlines()]
    assert ["Item", "Task", "Label", "Models say", "Runs", "Floor", "Unanimous", "Adjudication"] in rows
    assert ["animal", "=1+1", KEY, SAID, "9/12", "3/4 ann", "yes", ""] in rows
    assert "A flag proposes; it changes no label." in ended.out
    assert "\x1b" not in ended.out


def test_a_list_is_cut_where_it_is_told_to_and_says_so(study: Path, leadline: Leadline) -> None:
    ended = leadline("review", "flags", study, "--list", "1")
    assert "... and 1 more unstable everywhere" in ended.out


def test_every_form_is_written_and_inert(study: Path, tmp_path: Path, leadline: Leadline) -> None:
    outs = [tmp_path / f"flags.{ending}" for ending in ("jsonl", "csv", "md", "html")]
    ended = leadline("review", "flags", study, *(f"--out={out}" for out in outs))
    assert ended.code == 0 and ended.err.count("written: ") == 4
    kept, table, text, page = outs
    benchmark = load_benchmark(study / "items.jsonl")
    assert read_flags(kept, benchmark).counts == {"label": 1, "unstable": 2}
    rows = list(csv.DictReader(io.StringIO(table.read_text("utf-8"))))
    assert len(rows) == 3
    assert (rows[0]["runs"], rows[0]["readings"], rows[0]["floor"], rows[0]["floor_of"]) == (
        "9",
        "12",
        "3",
        "4",
    )
    assert rows[0]["task"] == "'=1+1" and "\x1b" not in rows[0]["question"]
    assert f"| animal | =1+1 | {KEY} | {SAID} |" in text.read_text("utf-8")
    html = page.read_text("utf-8")
    assert "<script" not in html and "&lt;script&gt;" in html and f'<td dir="auto">{SAID}</td>' in html
    policy = re.search('Content-Security-Policy" content="([^"]*)"', html)
    assert policy and unescape(policy[1]).startswith("default-src 'none'; style-src 'unsafe-inline'; img-src")
    assert "script-src" not in html and "http://" not in html and "https://" not in html


def test_json_is_the_list(study: Path, leadline: Leadline) -> None:
    told = json.loads(leadline("review", "flags", study, "--json").out)
    assert told["study"] == "flagged" and len(told["flags"]) == 3
    assert told["flags"][0]["runs"] == [9, 12] and told["flags"][0]["value"] == SAID


def test_a_blind_list_shows_neither_label_nor_answers_nor_kinds(
    study: Path, tmp_path: Path, leadline: Leadline
) -> None:
    outs = [tmp_path / f"flags.{ending}" for ending in ("jsonl", "csv", "md", "html")]
    printed = leadline("review", "flags", study, "--blind", *(f"--out={out}" for out in outs))
    as_json = leadline("review", "flags", study, "--blind", "--json")
    assert printed.code == as_json.code == 0
    assert "Which animal?" in outs[1].read_text("utf-8") and "Which animal?" in outs[3].read_text("utf-8")
    for text in (printed.out, as_json.out, *(out.read_text("utf-8") for out in outs)):
        assert "#1" in text and "#3" in text
        for word in (
            "sha256:" + label_hash(load_benchmark(study / "items.jsonl").by_id["animal"])[7:],
            KEY,
            SAID,
            "heron",
            "otter",
            "gull",
            "unstable",
            "nanim",
            "ispersion",
            "9/12",
        ):
            assert word not in text, word


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["--out", "flags.txt"], "its ending does not say what to write"),
        (["--out", "nowhere/flags.md"], "there is no folder"),
        (["--audit", "none.json"], "no audit here"),
        (["--adjudications", "none.jsonl"], "cannot be read"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(
    study: Path, leadline: Leadline, arguments: list[str], fault: str
) -> None:
    assert fault in leadline("review", "flags", study, *arguments).fault


def test_an_audit_s_flags_are_listed_before_any_model_answered(
    tmp_path: Path, leadline: Leadline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a benchmark, and of a study that has yet to run; by what was decided already, too."""
    monkeypatch.chdir(tmp_path)
    bench = tmp_path / "bench"
    (bench / "sources").mkdir(parents=True)
    (bench / "sources" / "deed.txt").write_text("The fee is 30 days of work.\n", "utf-8")
    (bench / "benchmark.yaml").write_text('name: deeds\nversion: "1"\n', "utf-8")
    found, missing = (
        {"quote": "The fee is 30 days"},
        {"quote": "The licence ends with the third lambing season"},
    )
    items = [
        {
            "id": "fee",
            "question": "How long?",
            "answer": "30 days",
            "source": "deed.txt",
            "evidence": [found],
        },
        {
            "id": "end",
            "question": "When?",
            "answer": "the third",
            "source": "deed.txt",
            "evidence": [missing],
        },
    ]
    (bench / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items), "utf-8")
    assert leadline("audit", "bench", "--out", "audit.json").code in (0, 1)
    (tmp_path / "st").mkdir()
    config = "name: st\nbenchmark: ../bench\nmodels: [smollm2-135m]\n"
    (tmp_path / "st" / "study.yaml").write_text(config, "utf-8")
    for about in ("bench", "st"):
        ended = leadline("review", "flags", about, "--audit", "audit.json", "--out", "f.jsonl")
        assert ended.code == 0, ended.err
        assert "1 flag on 1 item: flagged by the audit 1" in ended.out
        assert "No model has answered yet" in ended.out
        assert [flag.item for flag in read_flags(Path("f.jsonl"), load_benchmark("bench")).flags] == ["end"]
    assert (
        leadline(
            "review", "decide", "bench", "end", "--outcome", "rejected", "--reason", "r", "--reader", "Jo"
        ).code
        == 0
    )
    assert "no flags; 1 item is left out" in leadline("review", "flags", "bench", "--audit", "audit.json").out
    assert "no answers" in leadline("review", "flags", "st").fault
    other = leadline("review", "flags", "licences", "--audit", "audit.json")
    assert "the audit is of other content" in other.fault


# Deciding


def test_from_a_flag_to_a_decision_to_a_shorter_list(
    study: Path, tmp_path: Path, leadline: Leadline, decide: Leadline
) -> None:
    flags, into = tmp_path / "flags.jsonl", ["--into", study / "review"]
    leadline("review", "flags", study, "--out", flags)
    ended = decide(
        *("animal", "--outcome", "upheld", "--corrected", SAID, "--reason", "The text has an otter."),
        *("--reading", "an otter", "--flags", flags),
    )
    assert ended.code == 0 and ended.out.startswith(
        f"animal: upheld, the label is read as '{SAID}' (Jane Doe"
    )
    # The items are a bare file: a study does not find the decisions by itself, and the command says how.
    assert f"applied with: --adjudications {study / 'review' / FILE}" in ended.err
    (kept,) = read_adjudications(study / "review" / FILE)
    assert (kept.reader, kept.reading, kept.corrected) == ("Jane Doe", "an otter", SAID)
    assert kept.flag["kind"] == "label" and kept.flag["runs"] == [9, 12] and kept.flag["also"] == ["unstable"]
    assert "item" not in kept.flag
    shorter = leadline("review", "flags", study, *into)
    assert "1 flag on 1 item: unstable everywhere 1; 1 item is left out" in shorter.out
    assert SAID not in shorter.out
    everything = leadline("review", "flags", study, "--all", *into)
    assert "3 flags on 2 items" in everything.out and "\tupheld" in everything.out
    # Nothing of the items was touched: the label is what it was.
    assert load_benchmark(study / "items.jsonl").by_id["animal"].answer == KEY


def test_a_decision_made_twice_is_said(decide: Leadline, study: Path) -> None:
    once = decide("unsure", "--outcome", "rejected", "--reason", "It says five.")
    twice = decide("unsure", "--outcome", "rejected", "--reason", "It says five.")
    assert "note: " not in once.err and "note: was decided so before" in twice.err
    assert len(read_adjudications(study / "review" / FILE)) == 2


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["animl", "--outcome", "rejected"], "has no item 'animl' (did you mean 'animal'?)"),
        (["unsure", "--outcome", "upheld", "--corrected", "many"], "not of the item's type, number"),
        (["unsure", "--outcome", "upheld", "--corrected", "5.0"], "the corrected answer is the label: '5'"),
        (["unsure", "--outcome", "rejected", "--source", "a.txt"], "the benchmark holds no sources"),
        (["unsure", "--outcome", "withdrawn"], "there is no decision to take back"),
        (["unsure", "--outcome", "rejected", "--flags", "none.jsonl"], "no flag list here"),
    ],
)
def test_what_cannot_be_decided_is_refused_and_nothing_is_written(
    study: Path, decide: Leadline, arguments: list[str], fault: str
) -> None:
    assert fault in decide(*arguments, "--reason", "as it says").fault
    assert not (study / "review" / FILE).exists()


def test_the_list_of_decisions(study: Path, leadline: Leadline, decide: Leadline) -> None:
    decide("unsure", "--outcome", "rejected", "--reason", f"It says five. {HOSTILE}")
    decide("animal", "--outcome", "excluded-ambiguous", "--reason", "Both live there.")
    about = (study / "items.jsonl", "--into", study / "review")
    ended = leadline("review", "decisions", *about)
    assert "2 decisions in force (1 rejected, 1 excluded-ambiguous)" in ended.out
    assert "unsure\trejected\tin force\t" in ended.out and "\x1b" not in ended.out
    told = json.loads(leadline("review", "decisions", *about, "--json").out)
    assert told["counts"]["rejected"] == 1 and told["counts"]["stale"] == 0
    assert [one["item"] for one in told["decisions"]] == ["unsure", "animal"]
