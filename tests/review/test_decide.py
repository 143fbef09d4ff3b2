"""A decision is checked, stamped with the label that it is about, and never lost."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from leadline.bench import Benchmark, load_benchmark
from leadline.bench.adjudications import FILE, add_adjudication, label_hash, read_adjudications
from leadline.errors import LeadlineError, UsageError
from leadline.review.decide import DecidedSinceError, Written, decide
from leadline.review.decision_list import decision_list
from leadline.review.text_read import text_read

ITEMS: list[dict[str, Any]] = [
    {
        "id": "date",
        "question": "When?",
        "answer": "2007-06-29",
        "answer_type": "date",
        "aliases": ["29 June 2007"],
    },
    {"id": "sum", "question": "How much?", "answer": "1250000", "answer_type": "number", "unit": "USD"},
    {"id": "who", "question": "Who?", "answer": "The Free Software Foundation", "aliases": ["FSF"]},
    {
        "id": "law",
        "question": "Which law?",
        "answer": "Belgium",
        "answer_type": "enum",
        "vocabulary": {"Belgium": ["Belgian law"], "France": []},
    },
    {"id": "may", "question": "May one?", "answer": "yes", "answer_type": "boolean"},
]


def a_benchmark(folder: Path, items: list[dict[str, Any]] = ITEMS) -> Benchmark:
    folder.mkdir(exist_ok=True)
    (folder / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items), "utf-8")
    return load_benchmark(folder / "items.jsonl")


@pytest.fixture
def benchmark(tmp_path: Path) -> Benchmark:
    return a_benchmark(tmp_path / "b")


def say(benchmark: Benchmark, file: Path, item: str, outcome: Any = "rejected", **more: Any) -> Written:
    return decide(benchmark, file, item, outcome, **{"reason": "as it says", "reader": "me", **more})


def test_a_decision_is_about_the_label_of_the_moment(benchmark: Benchmark, tmp_path: Path) -> None:
    done = say(benchmark, tmp_path / FILE, "who", "upheld", corrected="Software in the Public Interest")
    (kept,) = read_adjudications(tmp_path / FILE)
    assert kept == done.decision and done.notes == ()
    assert kept.label == label_hash(benchmark.by_id["who"])
    assert kept.date == datetime.now(UTC).date().isoformat()
    changed = [{**item, "answer": "SPI"} if item["id"] == "who" else item for item in ITEMS]
    later = a_benchmark(tmp_path / "b", changed)
    assert decision_list(later, tmp_path / FILE).counts["stale"] == 1
    assert decision_list(benchmark, tmp_path / FILE).counts["stale"] == 0


def test_reading_text_and_flag_are_kept(benchmark: Benchmark, tmp_path: Path) -> None:
    say(
        benchmark, tmp_path / FILE, "sum", reading="about 1.3 million", flag={"kind": "label", "runs": [9, 9]}
    )
    (kept,) = read_adjudications(tmp_path / FILE)
    assert kept.reading == "about 1.3 million" and kept.flag == {"kind": "label", "runs": [9, 9]}


def test_an_unknown_item_is_refused_with_the_one_that_is_meant(benchmark: Benchmark, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"has no item 'dat' \(did you mean 'date'\?\)"):
        say(benchmark, tmp_path / FILE, "dat")
    assert not (tmp_path / FILE).exists()


@pytest.mark.parametrize(
    ("item", "corrected", "fault"),
    [
        ("date", "the day after", "not of the item's type, date"),
        ("sum", "a lot", "not of the item's type, number"),
        ("law", "Norway", "not of the item's type, enum"),
        ("may", "perhaps", "not of the item's type, boolean"),
        ("who", "  ", "blank"),
        # The label, written otherwise.
        ("date", "29 June 2007", "is the label"),
        ("sum", "$1.25 million", "is the label"),
        ("law", "Belgian law", "is the label"),
        ("may", "Yes.", "is the label"),
        ("who", "the  free software foundation", "is the label"),
    ],
)
def test_a_correction_that_is_none_is_refused(
    benchmark: Benchmark, tmp_path: Path, item: str, corrected: str, fault: str
) -> None:
    with pytest.raises(UsageError) as caught:
        say(benchmark, tmp_path / FILE, item, "upheld", corrected=corrected)
    assert fault in str(caught.value) and f"item {item}" in str(caught.value)
    assert not (tmp_path / FILE).exists()


@pytest.mark.parametrize(
    ("item", "corrected"),
    [
        ("date", "30 June 2007"),
        ("sum", "1250001"),
        ("law", "France"),
        ("may", "no"),
        # A longer text is another label, though answers that contain it count as right; so is an alias.
        ("who", "The Free Software Foundation Europe"),
        ("who", "FSF"),
    ],
)
def test_another_answer_of_the_type_is_a_correction(
    benchmark: Benchmark, tmp_path: Path, item: str, corrected: str
) -> None:
    assert (
        say(benchmark, tmp_path / FILE, item, "upheld", corrected=corrected).decision.corrected == corrected
    )


def test_only_what_is_upheld_is_corrected(benchmark: Benchmark, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="upheld"):
        say(benchmark, tmp_path / FILE, "may", "rejected", corrected="no")


@pytest.mark.parametrize(("name", "text"), [("reader", " "), ("reason", "\n"), ("reader", "a\x1b[2Jb")])
def test_a_decision_has_a_reader_and_a_reason(
    benchmark: Benchmark, tmp_path: Path, name: str, text: str
) -> None:
    with pytest.raises(UsageError, match=name):
        say(benchmark, tmp_path / FILE, "may", **{name: text})


def test_what_is_no_text_is_refused(benchmark: Benchmark, tmp_path: Path) -> None:
    """Bytes on a command line that are no UTF-8 become halves of characters."""
    for name in ("reason", "reader", "reading", "corrected"):
        with pytest.raises(UsageError, match=f"{name} is no UTF-8"):
            say(benchmark, tmp_path / FILE, "who", "upheld", **{name: "a\udcffb"})
    assert not (tmp_path / FILE).exists()


def test_deciding_again_is_said_and_not_refused(benchmark: Benchmark, tmp_path: Path) -> None:
    file = tmp_path / FILE
    say(benchmark, file, "may")
    assert "decided so before, by the same reader" in say(benchmark, file, "may").notes[0]
    assert "by me on" in say(benchmark, file, "may", reader="you").notes[0]
    assert "takes the place" in say(benchmark, file, "may", "excluded-ambiguous").notes[0]
    assert "taken back: excluded-ambiguous" in say(benchmark, file, "may", "withdrawn").notes[0]
    with pytest.raises(UsageError, match="no decision to take back"):
        say(benchmark, file, "may", "withdrawn")
    assert [one.outcome for one in read_adjudications(file)] == [
        *["rejected"] * 3,
        "excluded-ambiguous",
        "withdrawn",
    ]


def test_nobody_is_overruled_unseen(benchmark: Benchmark, tmp_path: Path) -> None:
    file = tmp_path / FILE
    say(benchmark, file, "may", reader="Ann", seen=0)
    with pytest.raises(DecidedSinceError, match=r"Ann has decided on this item since \(rejected\)"):
        say(benchmark, file, "may", "upheld", reader="Bob", seen=0)
    say(benchmark, file, "may", "upheld", reader="ann ", seen=0)  # what one did oneself is known
    say(benchmark, file, "may", "excluded-ambiguous", reader="Bob", seen=2)
    say(benchmark, file, "who", reader="Bob", seen=0)
    assert [one.outcome for one in read_adjudications(file)] == [
        "rejected",
        "upheld",
        "excluded-ambiguous",
        "rejected",
    ]


# The text that was read


def test_the_text_read_is_named_with_the_checksum_of_its_file() -> None:
    licences = load_benchmark("licences")
    assert licences.origin is not None
    name = "sources/MIT.txt"
    file = licences.origin / name
    (read,) = text_read(licences, name, 10, 20)
    assert (read.source, read.start, read.end) == (name, 10, 20)
    assert read.sha256 == hashlib.sha256(file.read_bytes()).hexdigest()
    assert text_read(licences, "") == ()


@pytest.mark.parametrize(
    ("source", "start", "end", "fault"),
    [
        ("MIT.txtt", None, None, "did you mean 'MIT.txt'"),
        ("../benchmark.yaml", None, None, "has no source"),
        ("/etc/passwd", None, None, "has no source"),
        ("MIT.txt", 20, 10, "characters 20 to 10 are not in it"),
        ("MIT.txt", 0, 10**9, "are not in it"),
        ("", 3, None, "--source"),
    ],
)
def test_a_text_that_is_not_there_was_not_read(
    source: str, start: int | None, end: int | None, fault: str
) -> None:
    with pytest.raises(UsageError, match=fault):
        text_read(load_benchmark("licences"), source, start, end)


# The file

WRITER = """
import sys
from pathlib import Path
from leadline.bench import load_benchmark
from leadline.review.decide import decide
benchmark, file, name, number = sys.argv[1:]
benchmark = load_benchmark(benchmark)
for at in range(int(number)):
    reason = f"{name}-{at} " + "x" * (20_000 if at % 5 == 0 else 40)  # longer than any buffer now and then
    decide(benchmark, Path(file), "may", "rejected", reason=reason, reader=name)
"""


def test_processes_that_decide_at_once_lose_nothing(benchmark: Benchmark, tmp_path: Path) -> None:
    file, number = tmp_path / FILE, 40
    say(benchmark, file, "law", reason="whole")
    arguments = [str(tmp_path / "b" / "items.jsonl"), str(file)]
    running = [
        subprocess.Popen([sys.executable, "-c", WRITER, *arguments, name, str(number)])
        for name in ("ann", "bob", "cem")
    ]
    assert [one.wait(timeout=120) for one in running] == [0, 0, 0]
    found = read_adjudications(file)
    assert found[0].reason == "whole"
    for name in ("ann", "bob", "cem"):
        said = [one.reason.split()[0] for one in found if one.reader == name]
        assert said == [f"{name}-{at}" for at in range(number)]
    assert len(found) == 1 + 3 * number


AT_ONCE = """
import sys, time
from pathlib import Path
from leadline.bench import load_benchmark
from leadline.review.decide import DecidedSinceError, decide
benchmark, file, name, number = sys.argv[1:]
benchmark = load_benchmark(benchmark)
print("ready", flush=True)
sys.stdin.readline()
won = 0
for at in range(int(number)):
    try:
        decide(benchmark, Path(file), "may", "rejected", reason=f"{name}-{at}", reader=name, seen=at)
        won += 1
    except DecidedSinceError:
        pass
    while len(Path(file).read_bytes().splitlines()) <= at:
        time.sleep(0.001)
print(won)
"""


def test_of_two_who_saw_the_same_at_once_one_decides(benchmark: Benchmark, tmp_path: Path) -> None:
    file, number = tmp_path / FILE, 40
    arguments = [str(tmp_path / "b" / "items.jsonl"), str(file)]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", AT_ONCE, *arguments, name, str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("ann", "bob")
    ]
    for one in running:
        assert one.stdout is not None and one.stdout.readline() == "ready\n"
    for one in running:
        assert one.stdin is not None
        one.stdin.write("\n")
        one.stdin.flush()
    won = [int(one.communicate(timeout=120)[0]) for one in running]
    assert sum(won) == number == len(read_adjudications(file)), won


def test_a_full_disk_leaves_the_file_as_it_was(benchmark: Benchmark, tmp_path: Path) -> None:
    """A limit on the size of files is what the system has for a disk that is full."""
    file = tmp_path / FILE
    say(benchmark, file, "law")
    before = file.read_bytes()
    limited = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({len(before) + 100}, {len(before) + 100}));"
    )
    ended = subprocess.run(
        [sys.executable, "-c", limited + WRITER, str(tmp_path / "b" / "items.jsonl"), str(file), "ann", "1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode != 0 and "cannot be written" in ended.stderr
    assert file.read_bytes() == before


def test_a_folder_that_cannot_be_written_is_said(benchmark: Benchmark, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file", "utf-8")
    with pytest.raises(LeadlineError, match="cannot be written"):
        say(benchmark, tmp_path / "taken" / FILE, "may")


# What is in force


def test_the_list_tells_what_counts_and_what_does_not(benchmark: Benchmark, tmp_path: Path) -> None:
    file = tmp_path / FILE
    say(benchmark, file, "may", "excluded-ambiguous")
    say(benchmark, file, "may")
    say(benchmark, file, "who", "upheld", corrected="SPI")
    say(benchmark, file, "law")
    say(benchmark, file, "law", "withdrawn")
    done = say(benchmark, file, "sum").decision
    for changes in ({"item": "gone"}, {"item": "date", "label": "sha256:" + "0" * 64}):
        add_adjudication(file, done.model_copy(update=changes))
    found = decision_list(benchmark, file)
    assert found.counts == {
        "upheld": 1,
        "rejected": 2,
        "excluded-ambiguous": 0,
        "stale": 1,
        "unknown": 1,
        "withdrawn": 1,
    }
    assert "3 decisions in force (1 upheld, 2 rejected); 1 stale; 1 unknown; 1 withdrawn" in found.sentence
    states = {row[0]: row[2].split(":")[0] for row in found.rows}
    assert states == {
        "may": "in force",
        "who": "in force",
        "law": "withdrawn",
        "sum": "in force",
        "gone": "unknown item",
        "date": "stale",
    }
    assert [row[3] for row in found.rows if row[0] == "who"] == ["SPI"]


def test_without_a_file_nothing_was_decided(benchmark: Benchmark, tmp_path: Path) -> None:
    found = decision_list(benchmark, tmp_path / FILE)
    assert found.rows == () and "0 decisions in force; 0 lines" in found.sentence


def test_a_copy_of_the_benchmark_keeps_its_decisions(benchmark: Benchmark, tmp_path: Path) -> None:
    """A decision is about what the item says, not about where the file lies or how it is ordered."""
    say(benchmark, tmp_path / FILE, "may")
    shutil.copytree(tmp_path / "b", tmp_path / "c")
    again = a_benchmark(tmp_path / "c", ITEMS[::-1])
    assert decision_list(again, tmp_path / FILE).counts["rejected"] == 1
