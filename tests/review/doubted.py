"""A benchmark in doubt: items with documents, and a study of recorded answers that contradict its labels.

What must stay hidden until a reading is committed stands in `SECRETS`, and nowhere but in keys and answers.
"""

from __future__ import annotations

import csv
import dataclasses
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leadline.audit.run import audit
from leadline.bench import open_stream
from leadline.documents import Sources
from leadline.interop.table import import_table
from leadline.review.adjudicating import AdjudicateJob, offer
from leadline.review.drafts import Drafts
from leadline.review.places import DRAFTS
from leadline.review.start import ServeOptions, what_is_wanted

# A window and a document that say none of the answers below.
CLAUSE = "The Licensee shall return every borrowed crate\nbefore the season named in the Schedule ends."
LINES = [f"{number}. Nothing of note is said in paragraph {number} of the deed." for number in range(1, 400)]
LURE = "<img src=x onerror=\"document.title='obeyed'\"><script>document.title='obeyed'</script>"
ESCAPE = "\x1b]0;obeyed\x07\x1b[2J"

ITEMS: list[dict[str, Any]] = [
    {
        "id": "crate-quibbleforth",  # an id may tell the label
        "question": "Who receives the crates?",
        "answer": "Quibbleforth",
        "aliases": ["Brinderhaus Union"],
        "task": "receiver",
        "category": "returns",
        "window": f"Preamble of the deed.\n{CLAUSE}\nEnd of the extract.",
        "evidence": [{"quote": "shall return every borrowed crate before the season"}],
        "source": "deed.txt",
    },
    {
        "id": "season-evidence-absent",
        "question": "Which season is named?",
        "answer": "Marnistide",
        "task": "season",
        "category": "returns",
        "window": "The season is named elsewhere in the deed, as the parties agreed.",
        "evidence": [{"quote": "the season called Marnistide begins with the wolvering of the third lamb"}],
        "source": "deed.txt",
    },
    {
        "id": "number-of-crates",
        "question": "How many crates were borrowed?",
        "answer": "7316",
        "answer_type": "number",
        "task": "number",
        "category": "amounts",
        "window": f"Of crates. {CLAUSE}",
        "evidence": [{"quote": "every borrowed crate"}],
        "source": "deed.txt",
    },
    {
        "id": "unsteady-colour",
        "question": "Which colour do the crates have?",
        "answer": "grellow",
        "task": "colour",
        "category": "amounts",
        "window": f"Of colours. {CLAUSE}",
        "evidence": [{"quote": "every borrowed crate"}],
        "source": "deed.txt",
    },
    {
        "id": "hostile",
        "question": f"What does {LURE} mean?",
        "answer": "Ostrakine",
        "task": "meaning",
        "category": "returns",
        "window": f"Here stands {LURE} and {ESCAPE} too. {CLAUSE}",
        "evidence": [{"quote": "shall return every borrowed crate before the season"}],
        "source": "deed.txt",
    },
    {
        "id": "undoubted",
        "question": "What is returned?",
        "answer": "the crates",
        "task": "receiver",
        "category": "returns",
        "window": f"What is returned are the crates. {CLAUSE}",
        "evidence": [{"quote": "What is returned are the crates"}],
        "source": "deed.txt",
    },
]
# The document holds all windows, below what a first look at it shows.
DEED = "\n\n".join([*LINES[:300], *(item["window"] for item in ITEMS), *LINES[300:]]) + "\n"
# What each of three configurations answers in four samples.
WRONG = {
    "crate-quibbleforth": ["Zanthoxa"] * 4,
    "season-evidence-absent": ["Marnistide"] * 4,
    "number-of-crates": ["8429", "8429", "8429", "about 8429 crates"],
    "unsteady-colour": ["grellow", "murple", "blorange", "vermillow"],
    "hostile": [f"Kelpandor {LURE}{ESCAPE}" + " long" * 900] * 4,
    "undoubted": ["the crates"] * 4,
}
# By item: what no response may hold before a reading of it; of a quote that the window lacks, that too.
SECRETS: dict[str, tuple[str, ...]] = {
    "crate-quibbleforth": ("quibbleforth", "brinderhaus", "zanthoxa"),
    "season-evidence-absent": ("marnistide", "wolvering", "evidence-absent"),
    "number-of-crates": ("7316", "8429", "7,316", "8,429", "number-of-crates"),
    "unsteady-colour": ("grellow", "murple", "blorange", "vermillow", "unsteady-colour"),
    "hostile": ("ostrakine", "kelpandor"),
}
# What tells why an item is in doubt.
REASONS = ("unanim", "evidence absent", "unstable", "dissent", "dispersion", "untraceable", "contradict")
MODELS = ("alderwood-1b", "birchwood-2b", "cedarwood-3b")


@dataclass(frozen=True)
class Doubted:
    """Where everything lies."""

    benchmark: Path
    study: Path
    audit: Path


def doubted(place: Path) -> Doubted:
    """Written under `place`: benchmark, documents, recorded answers, audit."""
    bench = place / "bench"
    (bench / "sources").mkdir(parents=True)
    (bench / "sources" / "deed.txt").write_text(DEED, "utf-8")
    (bench / "benchmark.yaml").write_text('name: crates\nversion: "1"\n', "utf-8")
    lines = "".join(json.dumps(item) + "\n" for item in ITEMS)
    (bench / "items.jsonl").write_text(lines, "utf-8")
    table = place / "answers.csv"
    with table.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("item", "model", "configuration", "sample", "text"))
        for model in MODELS:
            for item, texts in WRONG.items():
                for sample, text in enumerate(texts):
                    rows.writerow((item, model, "asked-plainly", sample, text))
    study = place / "study"
    import_table([table], study, benchmark=str(bench))
    document = audit(open_stream(str(bench)), Sources.of(bench))
    path = place / "audit.json"
    path.write_text(document.model_dump_json(by_alias=True), "utf-8")
    with (study / "study.yaml").open("a", encoding="utf-8") as file:
        file.write("audit: ../audit.json\n")
    return Doubted(bench, study, path)


def copied(made: Doubted, place: Path) -> Doubted:
    """The same, to be written to."""
    shutil.copytree(made.benchmark.parent, place, dirs_exist_ok=True)
    return Doubted(*(place / path.name for path in dataclasses.astuple(made)))


def adjudicate(made: Doubted, **more: Any) -> tuple[AdjudicateJob, Drafts]:
    """The job as the command offers it, and its drafts; `more` goes into what is wanted."""
    folder = made.benchmark / "review"
    drafts = Drafts(folder / DRAFTS)
    options = ServeOptions(benchmark=str(made.benchmark), study=made.study)
    wanted, _ = what_is_wanted(dataclasses.replace(options, **more))
    job = offer(wanted, drafts)
    assert job is not None
    return job, drafts
