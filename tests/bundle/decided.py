"""The study that holds something of everything, and what people decided on its labels: every outcome, one
taken back, one gone stale, one about no item, and one on an item that the audit leaves out anyway."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from leadline.bench import load_benchmark
from leadline.bench.adjudications import FILE, Adjudication, add_adjudication, label_hash
from leadline.review.filled_sheet import read_sheet
from leadline.review.pack import draw_pack, items_of
from leadline.review.pack_files import write_pack
from leadline.review.score import score_pack
from leadline.review.score_text import write_score
from leadline.review.scorings import score_path
from leadline.review.sheet import Answer, sheet_of, write_sheet
from tests.bundle.studies import make_study

# Item, outcome, corrected answer; in the order in which they were decided.
DECISIONS: tuple[tuple[str, Any, str | None], ...] = (
    ("i-000", "upheld", "The sonata"),
    ("i-005", "excluded-ambiguous", None),
    ("i-001", "excluded-ambiguous", None),
    ("i-002", "upheld", None),
    ("i-003", "rejected", None),
    ("i-005", "withdrawn", None),
    ("i-010", "rejected", None),
    ("i-010", "upheld", "117.25"),
    ("i-004", "excluded-ambiguous", None),
)
CORRECTED, AMBIGUOUS, WRONG, REJECTED, WITHDRAWN, STALE = "i-000", "i-001", "i-002", "i-003", "i-005", "i-006"
READERS = ("Ada Reader", "Ben <b>Bold</b>")


def decide(bench: Path) -> Path:
    """Write the decisions beside the benchmark."""
    items, file = load_benchmark(bench).by_id, bench / FILE
    for number, (item, outcome, corrected) in enumerate(DECISIONS):
        add_adjudication(
            file,
            Adjudication(
                item=item,
                outcome=outcome,
                reader=READERS[number % 2],
                date=f"2026-03-{number + 1:02d}",
                reason=f"as I read it,\nnumber {number} & so",
                label=label_hash(items[item]),
                corrected=corrected,
                reading="The sonata" if corrected else "",
            ),
        )
    for item, label in ((STALE, f"sha256:{'0' * 64}"), ("i-999", f"sha256:{'1' * 64}")):
        add_adjudication(
            file,
            Adjudication(
                item=item,
                outcome="excluded-ambiguous",
                reader=READERS[0],
                date="2026-03-20",
                reason="two readings",
                label=label,
            ),
        )
    return file


def make_decided(folder: Path, items: int = 36, samples: int = 6) -> Path:
    """The study in `folder`, with its decisions and a pack of its benchmark that Ada Reader has filled."""
    study = make_study(folder, items=items, samples=samples)
    decide(study / "bench")
    make_pack(study / "bench", study / "bench" / "review" / "packs" / "spring")
    return study


def make_pack(bench: Path, folder: Path, seed: int = 0) -> Path:
    """A pack of the benchmark that its author has filled again, scored; and what an editor left beside it."""
    benchmark, reader = load_benchmark(bench), READERS[0]
    pack = write_pack(draw_pack(benchmark, per_stratum=2, seed=seed, author=reader), folder)
    answers = {row.token: Answer(items_of(pack, benchmark)[row.token].answer) for row in pack.rows}
    sheet = sheet_of(folder, reader)
    write_sheet(pack, answers, sheet)
    scored = score_pack(pack, benchmark, read_sheet(pack, sheet), reader)
    write_score(scored.score, score_path(folder, reader))
    (folder / ".~lock.sheet.csv#").write_text("left by an editor", encoding="utf-8")
    return folder
